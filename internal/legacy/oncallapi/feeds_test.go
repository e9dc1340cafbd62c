package oncallapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

// vevents returns the events of a feed, with long lines joined.
func vevents(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n ", ""), "\r\n", "\n")
	return strings.Split(text, "BEGIN:VEVENT\n")[1:]
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now, later := f.event("bob", "primary", -1, 3), f.event("ann", "secondary", 5, 2)
	text := f.ok(program, "GET", "/api/v0/teams/ops/ical", "")
	require.Contains(t, text, "X-WR-CALNAME:ops Oncall Calendar\r\n")
	events := vevents(text)
	require.Len(t, events, 2)
	require.Contains(t, events[0], fmt.Sprintf("UID:event-%d@oncall\n", now))
	require.Contains(t, events[0], "SUMMARY:ops primary shift: Bob Ray\n")
	require.Contains(t, events[0], `DESCRIPTION:Bob Ray\ncall: `)
	require.Contains(t, events[1], fmt.Sprintf("UID:event-%d@oncall\n", later))

	require.Len(t, vevents(f.ok(program, "GET", "/api/v0/teams/ops/ical?roles=secondary&roles=nonsense", "")), 1)
	require.Len(t, vevents(f.ok(program, "GET", "/api/v0/teams/ops/ical?roles=nonsense", "")), 2,
		"roles that do not exist narrow nothing")
	require.Len(t, vevents(f.ok(program, "GET", fmt.Sprintf("/api/v0/teams/ops/ical?start=%d", f.hour(3)), "")), 1)
	require.NotContains(t, f.ok(program, "GET", "/api/v0/teams/ops/ical?contact=false", ""), "bob@example.com")
	require.Len(t, vevents(f.ok(bob, "GET", "/api/v0/users/bob/ical", "")), 1)
	require.Empty(t, vevents(f.ok(bob, "GET", "/api/v0/users/bob/ical?excludedTeams=ops", "")))
	require.Empty(t, vevents(f.ok(bob, "GET", "/api/v0/users/nobody/ical", "")))
	require.Empty(t, vevents(f.ok(bob, "GET", "/api/v0/teams/none/ical", "")))
	require.Equal(t, 400, f.do(bob, "GET", "/api/v0/teams/ops/ical?start=soon", "").Code)
	require.Equal(t, 400, f.do(bob, "GET", "/api/v0/teams/ops/ical?contact=perhaps", "").Code)
	require.Equal(t, 401, f.do(nobody, "GET", "/api/v0/teams/ops/ical", "").Code)
	require.Equal(t, 403, f.do(stranger, "GET", "/api/v0/users/bob/ical", "").Code)
}

func TestFeedsKeepHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
		select t.id, 1, u.id, now() - make_interval(days => d + 1), now() - make_interval(days => d)
		from teams t, users u, unnest(array[10, 80, 100]) d where t.name = 'ops' and u.name = 'bob'`)
	require.Len(t, vevents(f.ok(bob, "GET", "/api/v0/users/bob/ical", "")), 2)
	require.Len(t, vevents(f.ok(bob, "GET", "/api/v0/users/bob/ical?start=0", "")), 3)
}

// A shift keeps its UID when it is edited, shortened or gets another person. The feed of the former person shows it as
// cancelled.
func TestShiftsKeepTheirUIDInFeeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.event("bob", "primary", 10, 10)
	uid := fmt.Sprintf("UID:event-%d@oncall\n", id)
	one := func(who string) string {
		events := vevents(f.ok(root, "GET", "/api/v0/users/"+who+"/ical", ""))
		require.Len(t, events, 1)
		require.Contains(t, events[0], uid)
		return events[0]
	}
	require.Contains(t, one("bob"), "SEQUENCE:0\n")
	f.ok(root, "PUT", fmt.Sprintf("/api/v0/events/%d", id), `{"note":"no news for calendars"}`)
	require.Contains(t, one("bob"), "SEQUENCE:0\n")
	f.ok(root, "PUT", fmt.Sprintf("/api/v0/events/%d", id),
		fmt.Sprintf(`{"start":%d,"end":%d,"user":"ann","role":"primary"}`, f.hour(10), f.hour(22)))
	require.Contains(t, one("ann"), "SEQUENCE:1\nDTSTART")
	require.Contains(t, one("ann"), "STATUS:CONFIRMED\n")
	require.Contains(t, one("bob"), "STATUS:CANCELLED\n")
	require.Contains(t, one("bob"), "SEQUENCE:1\n")

	// Bob covers the middle of Ann's shift. Its first part keeps the UID; its last part and Bob's shift get new ones.
	f.ok(root, "POST", "/api/v0/events/override", fmt.Sprintf(`{"start":%d,"end":%d,"event_ids":[%d],"user":"bob"}`,
		f.hour(12), f.hour(14), id))
	events := vevents(f.ok(root, "GET", "/api/v0/users/ann/ical", ""))
	require.Len(t, events, 2)
	require.Contains(t, events[0], uid)
	require.Contains(t, events[0], "SEQUENCE:2\n")
	require.Contains(t, events[0], "STATUS:CONFIRMED\n")
	require.NotContains(t, events[1], uid)
	require.Len(t, vevents(f.ok(root, "GET", "/api/v0/teams/ops/ical", "")), 3,
		"what somebody else has now is not cancelled for the team")

	left := f.count("select id from shifts where feed_id = $1", id)
	f.ok(root, "DELETE", fmt.Sprintf("/api/v0/events/%d", left), "")
	for _, feed := range []string{"/api/v0/users/ann/ical", "/api/v0/teams/ops/ical"} {
		first := vevents(f.ok(root, "GET", feed, ""))[0]
		require.Contains(t, first, uid)
		require.Contains(t, first, "SEQUENCE:3\n")
		require.Contains(t, first, "STATUS:CANCELLED\n")
	}
}

func TestFeedKeysOpenFeeds(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *deps) { d.Requests.Openings = auth.Openings{} })
	f.event("bob", "primary", 1, 2)
	mine := f.ok(bob, "POST", "/api/v0/ical_key/user/bob", "")
	teams := f.ok(eve, "POST", "/api/v0/ical_key/team/ops", "")
	for _, key := range []string{mine, teams} {
		rec := f.do(nobody, "GET", "/api/v0/ical/"+key+"?contact=true", "")
		require.Equal(t, 200, rec.Code)
		require.Equal(t, "text/calendar; charset=utf-8", rec.Header().Get("Content-Type"))
		require.Len(t, vevents(rec.Body.String()), 1)
		require.NotContains(t, rec.Body.String(), "bob@example.com", "secret addresses show no contacts")
		tag := rec.Header().Get("ETag")
		again := f.do(nobody, "GET", "/api/v0/ical/"+key, "", "If-None-Match", tag)
		require.Equal(t, http.StatusNotModified, again.Code)
		require.Empty(t, again.Body.String())
	}
	require.Empty(t, vevents(f.ok(nobody, "GET", "/api/v0/ical/"+mine+"?excludedTeams=ops", "")))
	tag := f.do(nobody, "GET", "/api/v0/ical/"+teams, "").Header().Get("ETag")
	f.event("ann", "primary", 4, 2)
	rec := f.do(nobody, "GET", "/api/v0/ical/"+teams, "", "If-None-Match", tag)
	require.Equal(t, 200, rec.Code, "a change is a new text")
	f.exec("update teams set name = 'operations' where name = 'ops'")
	require.Contains(t, f.ok(nobody, "GET", "/api/v0/ical/"+teams, ""), "X-WR-CALNAME:operations Oncall Calendar")
	f.ok(bob, "DELETE", "/api/v0/ical_key/user/bob", "")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+mine, "").Code)
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/nonsense", "").Code)
}

func TestTeamFeedsShowWhatTheySubscribeTo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.event("bob", "primary", 1, 2)
	id := f.event("ann", "secondary", 1, 2)
	f.ok(root, "POST", "/api/v0/teams/empty/subscriptions", `{"subscription":"ops","role":"secondary"}`)
	events := vevents(f.ok(root, "GET", "/api/v0/teams/empty/ical", ""))
	require.Len(t, events, 1)
	require.Contains(t, events[0], "SUMMARY:ops secondary shift: Ann Lee\n")
	require.Empty(t, vevents(f.ok(root, "GET", "/api/v0/teams/empty/ical?include_subscribed=false", "")))
	f.ok(root, "DELETE", fmt.Sprintf("/api/v0/events/%d", id), "")
	require.Contains(t, f.ok(root, "GET", "/api/v0/teams/empty/ical", ""), "STATUS:CANCELLED\r\n")
}

// A person who was switched off cannot read calendars with an old feed key.
func TestFeedKeysOfInactivePeopleOpenNoFeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := f.ok(bob, "POST", "/api/v0/ical_key/team/ops", "")
	require.Equal(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+key, "").Code)
	f.ok(root, "PUT", "/api/v0/users/bob", `{"active":false}`)
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+key, "").Code)
}
