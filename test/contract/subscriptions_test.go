package contract

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeCalendar is the server of an external calendar.
type fakeCalendar struct {
	*httptest.Server
	mu      sync.Mutex
	events  []string
	status  int // 0 = 200, or 304 if the client has the ETag
	raw     string
	answers []int
}

func newFakeCalendar(t *testing.T) *fakeCalendar {
	t.Helper()
	f := &fakeCalendar{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		text, tag := f.raw, fmt.Sprintf(`"%d"`, len(strings.Join(f.events, "")))
		if text == "" {
			text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + strings.Join(f.events, "") + "END:VCALENDAR\r\n"
		}
		status := http.StatusOK
		switch {
		case r.URL.Path == "/moved":
			w.Header().Set("Location", "/secret-key.ics")
			status = http.StatusFound
		case f.status != 0:
			status = f.status
		case r.Header.Get("If-None-Match") == tag:
			status = http.StatusNotModified
		}
		f.answers = append(f.answers, status)
		w.Header().Set("ETag", tag)
		w.WriteHeader(status)
		if status == http.StatusOK {
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeCalendar) set(status int, raw string, events ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status, f.raw, f.events = status, raw, events
}

func (f *fakeCalendar) answered(status int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.answers {
		if a == status {
			return true
		}
	}
	return false
}

func icalEvent(uid, summary string, lines ...string) string {
	return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:" + summary + "\r\n" +
		strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\n"
}

// whole returns an all-day event that begins in some days.
func whole(uid string, in, days int, more ...string) string {
	from := time.Now().UTC().AddDate(0, 0, in)
	return icalEvent(uid, "away", append([]string{"DTSTART;VALUE=DATE:" + from.Format("20060102"),
		"DTEND;VALUE=DATE:" + from.AddDate(0, 0, days).Format("20060102")}, more...)...)
}

// subscription is a subscription in an answer.
type subscription struct {
	ID       int64
	State    string
	Problem  string
	Host     string
	Events   int
	Failures int
	LeftOut  []string `json:"left_out"`
}

// readAs has the subscription read again, and waits until the condition holds.
func (s *server) readAs(by caller, list string, id int64, until func(subscription) bool) (out subscription) {
	s.Helper()
	s.do(by, post, fmt.Sprintf("/v1/calendar-subscriptions/%d/refresh", id), nil).is(202)
	s.exec("update calendar_subscriptions set next_read_at = now() where id = $1", id)
	require.Eventually(s, func() bool {
		for _, one := range itemsOf[subscription](s.do(by, get, list, nil).is(200)) {
			if one.ID == id {
				out = one
			}
		}
		return until(out)
	}, 20*time.Second, 100*time.Millisecond, "subscription %+v", &out)
	return out
}

func withCalendars(t *testing.T) (*server, *fakeCalendar) {
	t.Helper()
	private := configured(t, "oncall: {private_calendars: true}\n")
	s := newCalendar(t, private)
	s.deliver(private)
	return s, newFakeCalendar(t)
}

func TestSubscribedUnavailability(t *testing.T) {
	t.Parallel()
	s, f := withCalendars(t)
	s.exec("update users set time_zone = 'Europe/Berlin' where name = 'bob'")
	const list, absences = "/v1/users/bob/calendar-subscriptions", "/v1/teams/ops/unavailability"
	now := time.Now().Unix()
	s.event("bob", "primary", now+2*day, now+5*day)
	f.set(0, "", whole("a", 3, 2), whole("weekly", 30, 1, "RRULE:FREQ=WEEKLY;COUNT=3"),
		whole("free", 60, 1, "TRANSP:TRANSPARENT"),
		icalEvent("meeting", "sync", "DTSTART;TZID=America/New_York:"+
			time.Now().UTC().AddDate(0, 0, 90).Format("20060102")+"T090000", "DURATION:PT1H"))
	s.do(bob, post, list, m{"url": ""}).problem(400, "url")
	s.do(bob, post, list, m{"url": "ftp://x/y"}).problem(400, "url")
	s.do(bob, post, list, m{"url": "https://me:secret@x/y"}).problem(400, "url")
	s.do(viewer, post, list, m{"url": f.URL}).problem(403, "")
	answer := s.do(bob, post, list, m{"url": f.URL + "/moved", "name": "holidays of bob"}).is(201)
	id := decode[subscription](answer).ID
	require.NotContains(t, answer.body, "/moved", "the URL is a secret")

	current := func(events int) func(subscription) bool {
		return func(c subscription) bool { return c.State == "current" && c.Events == events }
	}
	s.readAs(bob, list, id, current(4))
	rows := itemsOf[m](s.do(bob, get, absences, nil).is(200))
	require.Len(t, rows, 4)
	require.EqualValues(t, id, rows[0]["subscription"])
	require.Equal(t, []any{"holidays of bob", "bob", "Europe/Berlin"},
		[]any{rows[0]["note"], rows[0]["set_by"], rows[0]["timezone"]})
	begins, err := time.Parse(time.RFC3339, rows[0]["start"].(string))
	require.NoError(t, err)
	require.Zero(t, begins.In(changeOf(t, "Europe/Berlin", true).Location()).Hour(),
		"a whole day begins at midnight in the person's zone")
	require.Len(t, itemsOf[m](s.do(bob, get, "/v1/teams/ops/conflicts", nil).is(200)), 1)
	s.do(bob, del, fmt.Sprintf("/v1/unavailability/%d", int64(rows[0]["id"].(float64))), nil).problem(409, "")

	// All busy events, then a moved and a removed event.
	s.do(bob, put, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), m{"whole_days": false, "name": "busy"}).is(200)
	s.readAs(bob, list, id, current(5))
	f.set(0, "", whole("a", 7, 1))
	s.readAs(bob, list, id, current(1))
	require.Equal(t, "busy", itemsOf[m](s.do(bob, get, absences, nil).is(200))[0]["note"])
	require.Empty(t, itemsOf[m](s.do(bob, get, "/v1/teams/ops/conflicts", nil).is(200)))

	// A calendar that has not changed.
	s.exec("update calendar_subscriptions set next_read_at = now() where id = $1", id)
	require.Eventually(t, func() bool { return f.answered(http.StatusNotModified) }, 20*time.Second,
		50*time.Millisecond)

	// Failures keep what was read before.
	for _, bad := range []struct {
		status int
		raw    string
		says   string
	}{
		{500, "", "the server answered 500 Internal Server Error"},
		{0, "<html>log in</html>", "line 1 of the iCalendar cannot be read"},
		{0, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + whole("b", 9, 1), "it does not end in END:VCALENDAR"},
		{0, strings.Repeat("x", 5<<20), "the calendar is larger than 4 MiB"},
	} {
		f.set(bad.status, bad.raw, whole("a", 6, 1))
		found := s.readAs(bob, list, id, func(c subscription) bool {
			return c.State == "failing" &&
				strings.Contains(c.Problem, bad.says)
		})
		require.Equal(t, 1, found.Events)
		require.Len(t, itemsOf[m](s.do(bob, get, absences, nil).is(200)), 1)
	}
	require.EqualValues(t, 4, s.number("select failures from calendar_subscriptions where id = $1", id))
	require.EqualValues(t, 1, s.number("select count(*) from calendar_subscriptions where next_read_at > now() + interval '15 minutes'"), "back-off")
	f.set(0, "", whole("a", 6, 1), whole("b", 9, 1))
	s.readAs(bob, list, id, current(2))

	s.do(bob, del, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), nil).empty(204)
	require.Empty(t, itemsOf[m](s.do(bob, get, absences, nil).is(200)))
	require.EqualValues(t, 3, s.number("select count(*) from audit_log where object = 'user bob' and action like 'calendar subscri%'"))
	require.Zero(t, s.number("select count(*) from audit_log where changes::text like '%/moved%' or detail like '%/moved%'"))
}

func TestSubscribedShiftsAndHolidays(t *testing.T) {
	t.Parallel()
	s, f := withCalendars(t)
	const list, days = "/v1/teams/ops/calendar-subscriptions", "/v1/teams/ops/holidays"
	first := time.Now().UTC().AddDate(0, 0, 3)
	shift := func(uid, who string, in int, more ...string) string {
		at := first.AddDate(0, 0, in)
		return icalEvent(uid, who, append([]string{"DTSTART:" + at.Format("20060102") + "T090000Z", "DTEND:" +
			at.Format("20060102") + "T170000Z"}, more...)...)
	}
	f.set(0, "", shift("a", "bob", 0, "RRULE:FREQ=DAILY;COUNT=3", "EXDATE:"+first.AddDate(0, 0, 1).Format("20060102")+
		"T090000Z"), shift("b", "ann", 10), shift("c", "nobody knows", 11))
	s.do(owner, post, list, m{"url": f.URL, "kind": "shifts", "role": "nope"}).problem(400, "role")
	s.do(owner, post, list, m{"url": f.URL, "kind": "unavailability"}).problem(400, "kind")
	s.do(bob, post, list, m{"url": f.URL, "kind": "shifts", "role": "primary"}).problem(403, "")
	id := decode[subscription](s.do(owner, post, list, m{"url": f.URL, "kind": "shifts", "role": "Primary"}).is(201)).ID
	found := s.readAs(owner, list, id, func(c subscription) bool { return c.State == "current" && c.Events == 3 })
	require.Equal(t, []string{"nobody knows: no person of the team, or more than one, has this name"}, found.LeftOut)
	shifts := func() int64 { return s.number("select count(*) from shifts where starts_at > now()") }
	require.EqualValues(t, 3, shifts())

	// A changed occurrence, a removed event and a new event. A shift that was changed by hand stays.
	edited := s.number("select id from shifts where user_id = (select id from users where name = 'ann')")
	s.do(owner, put, fmt.Sprintf("/api/v0/events/%d", edited), m{"note": "by hand"}).is(200)
	f.set(0, "", shift("d", "ann", 20))
	s.readAs(owner, list, id, func(c subscription) bool {
		return c.State == "current" && c.Events == 1 &&
			shifts() == 2
	})
	written := s.number("select count(*) from audit_log where action = 'calendar imported'")
	s.readAs(owner, list, id, func(subscription) bool {
		return s.number("select count(*) from calendar_subscriptions where id = $1 and read_at > now() - interval '2 seconds' and next_read_at > now() + interval '50 minutes'", id) == 1
	})
	require.Equal(t, written, s.number("select count(*) from audit_log where action = 'calendar imported'"),
		"a reading without changes is not audited")
	s.do(owner, del, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), nil).empty(204)
	require.EqualValues(t, 1, shifts(), "the shift that was changed by hand")

	f.set(0, "", icalEvent("x", "New Year", "DTSTART;VALUE=DATE:20270101", "RRULE:FREQ=YEARLY"))
	id = decode[subscription](s.do(owner, post, list, m{"url": f.URL, "kind": "holidays"}).is(201)).ID
	s.do(owner, post, list, m{"url": f.URL, "kind": "holidays"}).problem(409, "")
	s.readAs(owner, list, id, func(c subscription) bool { return c.Events > 10 })
	require.Contains(t, s.do(bob, get, days, nil).is(200).body, "New Year")
	s.do(owner, put, days, aFeast).problem(409, "")
	s.do(owner, del, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), nil).empty(204)
	s.do(bob, get, days, nil).says(200, `{"holidays": [], "uploaded_by": "", "uploaded_at": null, "left_out": []}`)
}

// A line that cannot be read is listed wherever a calendar passes, and the rest is used: in subscriptions of shifts,
// holidays and absences, in previews and imports, and in holidays of a file.
func TestALineThatCannotBeReadIsShownAtEveryDoor(t *testing.T) {
	t.Parallel()
	s, f := withCalendars(t)
	const line = `line 11: "not folded https://calendar.test/" is no property like NAME:value`
	tomorrow := time.Now().UTC().AddDate(0, 0, 1)
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:a\nSUMMARY:on call\nATTENDEE;EMAIL=\"ann@example.com\":/x/principal/\n" +
		"DTSTART;TZID=Eastern Standard Time:" + tomorrow.Format("20060102") + "T000000\nDURATION:P1D\nEND:VEVENT\nEND:VCALENDAR\n" +
		"not folded https://calendar.test/\n"
	f.set(0, text)
	s.exec("update user_contacts set destination = 'ann@example.com' where mode = 'email' and user_id = (select id from users where name = 'ann')")
	s.exec(`insert into user_contacts (user_id, mode, destination) select u.id, 'email', 'ann@example.com' from users u
		where u.name = 'ann' and not exists (select from user_contacts c where c.user_id = u.id and c.mode = 'email')`)
	for path, body := range map[string]m{
		"/v1/teams/ops/calendar-subscriptions": {"url": f.URL, "kind": "shifts", "role": "primary"},
		"/v1/users/ann/calendar-subscriptions": {"url": f.URL, "whole_days": false},
	} {
		id := decode[subscription](s.do(owner, post, path, body).is(201)).ID
		found := s.readAs(owner, path, id, func(c subscription) bool { return c.State == "current" })
		require.Equal(t, []string{line}, found.LeftOut, path)
		require.Equal(t, 1, found.Events, path)
	}
	id := decode[subscription](s.do(owner, post, "/v1/teams/ops/calendar-subscriptions", m{"url": f.URL, "kind": "holidays"}).is(201)).ID
	found := s.readAs(owner, "/v1/teams/ops/calendar-subscriptions", id, func(c subscription) bool { return c.State == "current" })
	require.Equal(t, []string{line}, found.LeftOut)
	s.do(owner, del, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), nil).empty(204)

	type left struct {
		LeftOut   []string `json:"left_out"`
		Unmatched []struct{ Summary, Why string }
	}
	for _, preview := range []string{"&preview=true", ""} {
		got := decode[left](s.do(owner, post, "/v1/teams/ops/imports?role=secondary"+preview, text).is(200))
		require.Len(t, got.Unmatched, 1)
		require.Equal(t, line, got.Unmatched[0].Summary+": "+got.Unmatched[0].Why)
	}
	require.EqualValues(t, 2, s.number("select count(*) from shifts s join users u on u.id = s.user_id where u.name = 'ann'"))
	s.do(owner, put, "/v1/teams/ops/holidays", text).empty(204)
	require.Equal(t, []string{line}, decode[left](s.do(bob, get, "/v1/teams/ops/holidays", nil).is(200)).LeftOut)
}

// The holidays of a country are a subscription without an address.
func TestTheHolidaysOfACountry(t *testing.T) {
	t.Parallel()
	s, f := withCalendars(t)
	const list, days = "/v1/teams/ops/calendar-subscriptions", "/v1/teams/ops/holidays"
	require.Contains(t, s.do(bob, get, "/v1/holiday-countries", nil).is(200).body, `{"code":"CH-ZH","name":"Switzerland, ZH"}`)
	s.do(owner, post, list, m{"kind": "holidays", "country": "ZH"}).problem(400, "country")
	s.do(owner, post, list, m{"kind": "holidays", "country": "DE", "url": f.URL}).problem(400, "url")
	s.do(owner, post, list, m{"kind": "holidays"}).problem(400, "url")
	s.do(owner, post, list, m{"kind": "shifts", "role": "primary", "country": "DE", "url": f.URL}).problem(400, "country")
	s.do(bob, post, list, m{"kind": "holidays", "country": "DE"}).problem(403, "")
	a := s.do(owner, post, list, m{"kind": "holidays", "country": "DE"}).is(201)
	require.Contains(t, a.body, `"name":"Holidays of Germany","host":"","country":"DE"`)
	id := decode[subscription](a).ID
	s.readAs(owner, list, id, func(c subscription) bool { return c.State == "current" && c.Events > 150 })
	require.Contains(t, s.do(bob, get, days, nil).is(200).body, "Tag der Deutschen Einheit")
	require.False(t, f.answered(http.StatusOK), "nothing is read from a server")
	s.do(owner, put, days, aFeast).problem(409, "")
	s.do(owner, post, list, m{"kind": "holidays", "country": "US"}).problem(409, "")

	at := fmt.Sprintf("/v1/calendar-subscriptions/%d", id)
	s.do(owner, put, at, m{"url": f.URL}).problem(400, "url")
	require.Contains(t, s.do(owner, put, at, m{"country": "CH-ZH"}).is(200).body, `"name":"Holidays of Switzerland, ZH","host":"","country":"CH-ZH"`)
	s.readAs(owner, list, id, func(subscription) bool {
		return s.number("select count(*) from holidays where name = 'Bundesfeiertag'") > 20
	})
	require.NotContains(t, s.do(bob, get, days, nil).is(200).body, "Tag der Deutschen Einheit")
	s.do(owner, del, at, nil).empty(204)
	s.do(bob, get, days, nil).says(200, `{"holidays": [], "uploaded_by": "", "uploaded_at": null, "left_out": []}`)

	id = decode[subscription](s.do(owner, post, list, m{"url": f.URL, "kind": "holidays"}).is(201)).ID
	s.do(owner, put, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), m{"country": "DE"}).problem(400, "country")
}

// A subscribed calendar also decides about shifts that are running: from now on.
func TestARunningSubscribedShiftFollowsItsCalendar(t *testing.T) {
	t.Parallel()
	s, f := withCalendars(t)
	const list = "/v1/teams/ops/calendar-subscriptions"
	from := time.Now().UTC().Add(-time.Hour)
	running := func(uid, who string) string {
		return icalEvent(uid, who, "DTSTART:"+from.Format("20060102T150405Z"), "DTEND:"+
			from.Add(8*time.Hour).Format("20060102T150405Z"))
	}
	f.set(0, "", running("a", "bob"))
	id := decode[subscription](s.do(owner, post, list, m{"url": f.URL, "kind": "shifts", "role": "primary"}).is(201)).ID
	// read returns who is on call after the next reading, and how many shifts begin in the past that Iris did not see.
	read := func() string {
		t.Helper()
		before := s.text("select coalesce(read_at::text, '') from calendar_subscriptions where id = $1", id)
		s.readAs(owner, list, id, func(c subscription) bool {
			return c.State == "current" &&
				s.text("select coalesce(read_at::text, '') from calendar_subscriptions where id = $1", id) != before
		})
		return s.text(`select coalesce(string_agg(u.name, ' ' order by u.name), '') || ' ' || (select count(*) from shifts where starts_at < now() - interval '2 hours')
			from shifts s join users u on u.id = s.user_id where s.starts_at <= now() and s.ends_at > now()`)
	}
	require.Equal(t, "bob 0", read())
	f.set(0, "", running("a", "ann"))
	require.Equal(t, "ann 0", read(), "the same event with another person")
	all := s.number("select count(*) from shifts")
	for _, uid := range []string{"b", "c"} {
		f.set(0, "", running(uid, "ann"))
		require.Equal(t, "ann 0", read(), "the same person and time with another UID")
		require.Equal(t, all, s.number("select count(*) from shifts"))
	}
	f.set(0, "")
	require.Equal(t, " 0", read(), "the event was removed")

	f.set(0, "", running("d", "bob"))
	require.Equal(t, "bob 0", read())
	s.do(owner, del, fmt.Sprintf("/v1/calendar-subscriptions/%d", id), nil).empty(204)
	require.EqualValues(t, 1, s.number("select count(*) from shifts where starts_at <= now() and ends_at > now()"),
		"a removed subscription takes nobody off call")
}

// Without oncall.private_calendars, the processor connects to public addresses only.
func TestSubscribedCalendarsArePublic(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.deliver()
	f := newFakeCalendar(t)
	const list = "/v1/users/bob/calendar-subscriptions"
	s.do(bob, post, list, m{"url": f.URL}).problem(400, "url")
	id := decode[subscription](s.do(bob, post, list, m{"url": "https" + strings.TrimPrefix(f.URL, "http")}).is(201)).ID
	found := s.readAs(bob, list, id, func(c subscription) bool { return c.State == "failing" })
	require.Contains(t, found.Problem, "the server must be public")
	require.False(t, f.answered(http.StatusOK))
}
