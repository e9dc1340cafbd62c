package oncallapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// vcalendar makes an iCalendar text of events. Each is "UID from to rest"; from and to are hours after the next full
// hour.
func (f *fixture) vcalendar(events ...string) string {
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"
	for _, e := range events {
		var uid string
		var from, to int
		head, rest, _ := strings.Cut(e, "\n")
		_, err := fmt.Sscan(head, &uid, &from, &to)
		require.NoError(f, err)
		stamp := func(h int) string { return time.Unix(f.hour(h), 0).UTC().Format("20060102T150405Z") }
		text += "BEGIN:VEVENT\nUID:" + uid + "\nDTSTART:" + stamp(from) + "\nDTEND:" + stamp(to) + "\n" + rest +
			"\nEND:VEVENT\n"
	}
	return strings.ReplaceAll(text+"END:VCALENDAR\n", "\n", "\r\n")
}

type imported struct {
	Preview                 bool
	Added, Changed, Removed []struct {
		ID         int64
		Start, End time.Time
		User, Role string
	}
	Kept      int
	Unmatched []struct {
		UID, Summary, Why string
		Names             []string
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/imports?role=secondary"
	first := f.vcalendar("one 10 12\nATTENDEE;CN=Ann:mailto:ann@example.com", "two 20 22\nSUMMARY:On call: Bob Ray",
		"three 30 31\nSUMMARY:Zoe")
	count := func() int { return f.count("select count(*) from shifts") }

	got := decode[imported](f, ann, "POST", at+"&preview=true", first)
	require.True(t, got.Preview)
	require.Len(t, got.Added, 2)
	require.Zero(t, count(), "a preview writes nothing")
	require.Zero(t, f.count("select count(*) from taken_shifts"))
	require.Zero(t, f.count("select count(*) from oncall_audit"))

	got = decode[imported](f, ann, "POST", at, first)
	require.Len(t, got.Added, 2)
	require.Equal(t, "ann", got.Added[0].User)
	require.Equal(t, "secondary", got.Added[0].Role)
	require.Equal(t, f.hour(10), got.Added[0].Start.Unix())
	require.Equal(t, "bob", got.Added[1].User)
	require.Len(t, got.Unmatched, 1)
	require.Equal(t, []string{"Zoe"}, got.Unmatched[0].Names)
	require.Equal(t, 2, count())
	require.Equal(t, 1, f.count("select count(*) from oncall_audit where action = 'calendar_imported'"))

	got = decode[imported](f, ann, "POST", at, first)
	require.Empty(t, got.Added)
	require.Empty(t, got.Changed)
	require.Empty(t, got.Removed)

	second := f.vcalendar("one 11 13\nATTENDEE;CN=Ann:mailto:ann@example.com\nRRULE:FREQ=DAILY;COUNT=2",
		"two 20 22\nSTATUS:CANCELLED")
	got = decode[imported](f, ann, "POST", at, second)
	require.Len(t, got.Added, 2, "occurrences are told apart by when they begin")
	require.Len(t, got.Removed, 2)
	require.Equal(t, 2, count())

	// Manual edits take precedence: after an override and a deletion, the import does not restore the shifts.
	f.ok(root, "POST", "/api/v0/events/override", fmt.Sprintf(`{"start":%d,"end":%d,"event_ids":[%d],"user":"bob"}`,
		f.hour(11), f.hour(13), got.Added[0].ID))
	f.ok(root, "DELETE", fmt.Sprintf("/api/v0/events/%d", got.Added[1].ID), "")
	got = decode[imported](f, ann, "POST", at, second)
	require.Empty(t, got.Added)
	require.Equal(t, 2, got.Kept)
	require.Equal(t, 1, count())
}

func TestImportAcceptsFeedsOfIris(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.event("ann", "primary", 3, 4)
	f.event("bob", "primary", 7, 4)
	got := decode[imported](f, ann, "POST", "/v1/teams/ops/imports?role=shadow&roster=ops-roster",
		f.ok(ann, "GET", "/api/v0/teams/ops/ical", ""))
	require.Empty(t, got.Unmatched)
	require.Len(t, got.Added, 2)
	require.Equal(t, 2, f.count(`select count(*) from shifts a join shifts b using (user_id, starts_at, ends_at) where a.role_id = 1 and b.role_id <> 1`))
}

func TestImportRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	one := f.vcalendar("one 10 12\nSUMMARY:bob")
	const at = "/v1/teams/ops/imports"
	for path, field := range map[string]string{at: "role", at + "?role=x": "role", at + "?role=primary&roster=x": "roster", at + "?role=primary&end=5": "end"} {
		rec := f.do(ann, "POST", path, one)
		require.Equal(t, 400, rec.Code, path)
		require.Contains(t, rec.Body.String(), `"field":"`+field+`"`)
	}
	require.Equal(t, 400, f.do(ann, "POST", at+"?role=primary&preview=perhaps", one).Code)
	require.Equal(t, 400, f.do(ann, "POST", at+"?role=primary", "hello").Code)
	require.Equal(t, 403, f.do(bob, "POST", at+"?role=primary", one).Code, "members do not administer")
	require.Equal(t, 401, f.do(nobody, "POST", at+"?role=primary", one).Code)
	require.Equal(t, 404, f.do(root, "POST", "/v1/teams/none/imports?role=primary", one).Code)
	require.Zero(t, f.count("select count(*) from shifts"))
}

func TestConcurrentImportsMakeShiftsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	one := f.vcalendar("one 10 12\nSUMMARY:bob\nRRULE:FREQ=DAILY;COUNT=20")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() { f.do(ann, "POST", "/v1/teams/ops/imports?role=primary", one) })
	}
	running.Wait()
	require.Equal(t, 20, f.count("select count(*) from shifts"))
}
