package contract

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// peoplePages are the rows of pages (see pages). The marks are for nobody, four applications, bob, ann, an
// administrator, and somebody who may only read.
func peoplePages() []right {
	const (
		own         = "11111o3o3" // a form about bob
		admins      = "1111133o3"
		preferences = "lllllo3o3"
	)
	form := func(pairs ...string) string { return formOf(pairs...) }
	mail := func(s *server) {
		s.exec("delete from contact_codes; insert into user_contacts (user_id, mode, destination) select id, 'email', 'bob@example.com' from users where name = 'bob' on conflict do nothing")
	}
	return []right{
		{get, "/people", nil, 200, people, nil},
		{get, "/people?q=b&role=member&without=phone&team=ops", nil, 200, people, nil},
		{post, "/people", form("name", "zed", "contacts.email", "zed@example.com"), 303, admins,
			func(s *server) { s.exec("delete from users where name = 'zed'") }},
		{get, "/people/bob", nil, 200, people, nil},
		{get, "/people/bob/preferences", nil, 200, preferences, nil},
		{get, "/people/bob/reminders", nil, 200, preferences, nil},
		{post, "/people/bob/contacts", form("mode", "phone", "destination", "+15552220002"), 303, own, nil},
		{post, "/people/bob/contacts/email/test", nil, 303, own, mail},
		{post, "/people/bob/contacts/email/remove", nil, 303, own, mail},
		{post, "/people/bob/rules", form("rules[1].mode", "call", "rules[1].follow_ups[0].mode", "sms",
			"rules[1].follow_ups[0].delay_seconds", "2"), 303, own, nil},
		{post, "/people/bob/quiet", form("calls_and_texts_per_day", "5", "working_days_only", "low"), 303, own, nil},
		{post, "/people/bob/preferences", form("form", "times", "time_zone", "UTC", "clock", "24"), 303, own, nil},
		{post, "/people/bob/reminders", form("form", "reminder", "team", "ops", "roles", "primary", "mode", "email",
			"type", "oncall_reminder", "before_seconds", "1", "unit", "3600"), 303, own, nil},
		{post, "/people/zed/account", form("action", "role", "role", "read_only"), 303, admins, zed},
		{get, "/reachability", nil, 200, people, nil},
		{post, "/reachability", form("form", "create", "name", "spare team", "time_zone", "UTC"), 303,
			"11111ooo3", func(s *server) { s.exec("delete from teams where name = 'spare team'") }},
		{get, "/on-call-roles", nil, 200, people, nil},
		{post, "/on-call-roles", form("form", "add", "name", "spare"), 303, admins,
			func(s *server) { s.exec("delete from oncall_roles where name = 'spare'") }},
		{post, "/held-deactivations", form("id", "900", "user", "pushed", "decision", "keep"), 303, admins,
			heldDeactivation},
	}
}

// post sends a form as a browser does.
func (s *server) post(as caller, path string, pairs ...string) answer {
	s.Helper()
	return s.do(as, post, path, formOf(pairs...), "Content-Type", form)
}

// TestContactsOfAPerson adds, tests and changes contacts on the page of a person.
func TestContactsOfAPerson(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	refused := s.post(bob, "/people/bob/contacts", "mode", "phone", "destination", "12").is(400)
	require.Contains(t, refused.body, "phone number has no country code")
	require.Contains(t, refused.body, `value="12"`, "what was typed stays")
	require.Contains(t, refused.body, `aria-invalid="true"`, "the field is named")
	changed := s.post(bob, "/people/bob/contacts", "mode", "email", "change", "true", "destination", "nowhere").is(400)
	require.Contains(t, changed.body, `value="nowhere"`)
	require.Equal(t, 1, strings.Count(changed.body, `aria-invalid="true"`))
	s.post(owner, "/people/bob/contacts", "mode", "sms", "destination", "+15552220002").is(403)
	s.post(viewer, "/people/viewer/contacts", "mode", "phone", "destination",
		"+15552220009").is(303) // read-only people change their own settings
	s.post(bob, "/people/bob/contacts", "mode", "phone", "destination", "+15552220002").is(303)
	page := s.do(bob, get, "/people/bob", nil).is(200).body
	require.Equal(t, 2, strings.Count(page, "not verified"), "calls and texts")
	require.Contains(t, page, "A high priority page is sent by SMS at once.")
	s.post(admin, "/people/bob/contacts", "mode", "slack", "destination", "bob").is(303)
	require.Equal(t, int64(1), s.number("select count(*) from user_contacts where mode = 'slack' and verified_destination = 'bob'"), "an administrator vouches for it")

	sent := s.post(bob, "/people/bob/contacts/sms/test").is(303)
	require.Contains(t, s.do(bob, get, strings.TrimSuffix(sent.header.Get("Location"), "#test"), nil).is(200).body,
		"on its way")
	require.Equal(t, int64(1), s.number("select count(*) from messages where mode = 'sms' and literal = '+15552220002' and target = 'bob'"))
	require.Contains(t, s.post(bob, "/people/bob/contacts/sms/test").is(429).body, "try again later")
	s.post(owner, "/people/bob/contacts/email/test").is(403)
	require.Negative(t, s.number("select max(id) from contact_codes"),
		"the release before takes the highest number as the newest code")
	s.post(bob, "/people/bob/contacts/fax/test").is(400)
	s.post(bob, "/people/bob/contacts/sms/explode").is(404)
	s.post(bob, "/people/bob/contacts/call/code").is(303)
	require.Contains(t, s.post(bob, "/people/bob/contacts/call/verify", "code", "1").is(400).body, "the code is wrong")
	s.post(bob, "/people/bob/contacts/sms/remove").is(303)
	require.Contains(t, s.do(bob, get, "/people/bob", nil).is(200).body, "(there is no contact for SMS)")

	s.exec("insert into directory_contacts select id, 'email', 'bob@example.com' from users where name = 'bob'")
	require.Contains(t, s.do(bob, get, "/people/bob", nil).is(200).body, "from the directory")
	require.Contains(t, s.post(bob, "/people/bob/contacts", "mode", "email", "destination",
		"b@example.com").is(409).body, "a directory gives this email contact")
}

// TestRulesAndPreferencesOfAPerson changes how pages reach a person, and how times are shown.
func TestRulesAndPreferencesOfAPerson(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.post(bob, "/people/bob/contacts", "mode", "phone", "destination", "+15552220002").is(303)
	s.post(bob, "/people/bob/rules", "rules[1].mode", "call", "rules[1].follow_ups[0].mode", "sms",
		"rules[1].follow_ups[0].delay_seconds", "2",
		"rules[1].follow_ups[1].mode", "email", "rules[1].follow_ups[1].delay_seconds", "10").is(303)
	require.Contains(t, s.do(bob, get, "/people/bob", nil).is(200).body,
		"A high priority page is sent by call at once, then by SMS after 2 min, then by e-mail after 10 min.")
	late := s.post(bob, "/people/bob/rules", "rules[1].follow_ups[0].mode", "sms",
		"rules[1].follow_ups[0].delay_seconds", "5",
		"rules[1].follow_ups[1].mode", "email", "rules[1].follow_ups[1].delay_seconds", "2").is(400)
	require.Contains(t, late.body, "ascending order")
	require.Contains(t, s.post(bob, "/people/bob/rules", "rules[0].follow_ups[0].mode", "sms").is(400).body,
		"after how many minutes")
	s.post(bob, "/people/bob/quiet", "calls_and_texts_per_day", "7", "working_days_only", "medium").is(303)
	s.do(bob, get, "/v1/users/bob/quiet-limits", nil).says(200,
		`{"calls_and_texts_per_day": 7, "working_days_only": ["medium"]}`)
	s.post(bob, "/people/bob/quiet", "calls_and_texts_per_day", "many").is(400)

	s.post(bob, "/people/bob/preferences", "form", "times", "time_zone", "Asia/Tokyo", "clock", "12").is(303)
	require.Contains(t, s.do(bob, get, "/", nil).is(200).body, `data-zone="Asia/Tokyo" data-clock="12"`)
	page := s.do(bob, get, "/people/bob/preferences", nil).is(200).body
	require.Contains(t, page, `data-zone="Asia/Tokyo" data-clock="12"`)
	s.do(bob, get, "/v0/users/settings/bob", nil).says(200, `{"timezone": "Asia/Tokyo"}`)
	require.Contains(t, s.post(bob, "/people/bob/preferences", "form", "times", "time_zone", "Mars/Base").is(400).body,
		"there is no time zone")
	s.post(bob, "/people/bob/preferences", "form", "times").is(303)
	s.do(bob, get, "/v1/users/bob/settings", nil).says(200, `{"time_zone": null, "clock": null}`)
	s.post(bob, "/people/bob/preferences", "form", "application", "application", "demo", "high", "slack", "low",
		"default").is(303)
	s.post(bob, "/people/bob/preferences", "form", "application", "application", "nix", "high", "slack").is(400)
	s.post(bob, "/people/bob/preferences", "form", "limit", "count", "3", "mode", "call", "window_seconds", "10m",
		"to", "email").is(303)
	require.Contains(t, s.do(bob, get, "/people/bob/preferences", nil).is(200).body, "More than 3 by call in 10 min")
	s.post(bob, "/people/bob/preferences", "form", "no-limit", "mode", "call").is(303)
	s.post(bob, "/people/bob/preferences", "form", "fixed-text", "sms", "true").is(303)
	s.post(bob, "/people/bob/preferences", "form", "nothing").is(400)

	s.post(bob, "/people/bob/reminders", "form", "reminder", "team", "ops", "roles", "primary", "mode", "email",
		"type", "oncall_reminder", "before_seconds", "2", "unit", "3600").is(303)
	s.post(bob, "/people/bob/reminders", "form", "reminder", "team", "ops", "mode", "email", "type", "oncall_reminder",
		"before_seconds", "2", "unit", "3600").is(400)
	s.post(bob, "/people/bob/reminders", "form", "feed", "team", "").is(303)
	page = s.do(bob, get, "/people/bob/reminders", nil).is(200).body
	require.Contains(t, page, "By email, 2 h before my shift starts")
	key := s.text("select key from ical_keys")
	require.NotEmpty(t, key)
	s.post(bob, "/people/bob/reminders", "form", "no-reminder", "id",
		fmt.Sprint(s.number("select id from notice_settings"))).is(303)
}

// TestAccountsOfPeople adds and changes accounts as an administrator.
func TestAccountsOfPeople(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.post(admin, "/people", "name", "zed", "full_name", "Zed <b>", "contacts.sms", "+15553330003", "role",
		"read_only").is(303)
	require.Contains(t, s.post(admin, "/people", "name", "ZED").is(409).body, "exists already")
	require.Contains(t, s.post(admin, "/people", "name", "two words").is(400).body, "spaces or slashes")
	require.Contains(t, s.post(admin, "/people", "name", "yet", "contacts.sms", "1").is(400).body, "country code")
	require.Equal(t, int64(0), s.number("select count(*) from users where name = 'yet'"))
	list := s.do(admin, get, "/people?q=zed&role=read_only", nil).is(200).body
	require.Contains(t, list, "Zed &lt;b&gt;")
	require.NotContains(t, list, "/people/bob")
	s.do(bob, get, "/v1/users?without=phone&q=viewer", nil).says(200,
		`{"items": [{"name": "viewer", "full_name": null, "time_zone": "UTC", "active": true, "admin": false,
		"read_only": true, "modes": ["email"], "managed_by": null, "last_login_at": null}], "next": null}`)
	require.NotEmpty(t, decode[m](s.do(admin, get, "/v1/users/bob", nil).is(200))["last_login_at"])
	s.do(bob, get, "/v1/users?role=king", nil).is(400)
	reach := itemsOf[m](s.do(bob, get, "/v1/reachability", nil).is(200))
	require.Nil(t, reach[0]["team"])
	require.Equal(t, "ops", reach[1]["team"])
	require.InEpsilon(t, 1, reach[1]["without_phone"], 0, "bob")

	last := s.post(admin, "/people/root/account", "action", "role", "role", "member").is(409)
	require.Contains(t, last.body, "the last active administrator")
	require.Contains(t, s.post(admin, "/people/root/account", "action", "off", "force", "true").is(409).body,
		"the last active administrator")
	s.do(admin, put, "/v1/users/zed", m{"admin": true, "read_only": true}).is(400)
	s.post(admin, "/people/zed/account", "action", "role", "role", "admin").is(303)
	s.post(admin, "/people/ann/account", "action", "off").is(409) // a plan pages her
	s.post(admin, "/people/zed/account", "action", "off").is(303)
	s.post(admin, "/people/zed/account", "action", "on").is(303)
	require.Contains(t, s.post(admin, "/people/zed/account", "action", "password").is(409).body, "gets no link")
	s.post(bob, "/people/zed/account", "action", "on").is(403)
	s.exec("insert into directory_people (user_id, source) select id, 'ldap' from users where name = 'zed'")
	require.Contains(t, s.post(admin, "/people/zed/account", "action", "off").is(409).body,
		"a directory (ldap) manages")
	require.Contains(t, s.do(admin, get, "/people/zed", nil).is(200).body, "A directory (ldap) manages the name")
	s.post(admin, "/people/zed/account", "action", "delete").is(303)

	s.post(admin, "/on-call-roles", "form", "add", "name", "bench").is(303)
	s.post(admin, "/on-call-roles", "form", "delete", "name", "bench").is(303)
	s.post(admin, "/reachability", "form", "create", "name", "night shift", "time_zone", "UTC").is(303)
	for i := range 100 {
		s.do(admin, post, "/api/v0/teams", m{"name": fmt.Sprintf("squad %02d", i),
			"scheduling_timezone": "UTC"}).is(201)
	}
	s.exec("delete from team_members where team_id = (select id from teams where name = 'squad 00')")
	first := s.do(admin, get, "/reachability", nil).is(200).body
	require.Contains(t, first, "night shift")
	require.Contains(t, first, "nobody is in this team")
	require.NotContains(t, first, "squad 99")
	more := regexp.MustCompile(`href="(/reachability[^"]*)">Next teams`).FindStringSubmatch(first)
	require.Len(t, more, 2)
	next := s.do(admin, get, html.UnescapeString(more[1]), nil).is(200).body
	require.Contains(t, next, "squad 99", more[1])
	require.NotContains(t, s.do(admin, get, "/reachability?q=SQUAD", nil).is(200).body, "night shift")
	s.post(admin, "/reachability", "form", "delete", "name", "night shift", "force", "true").is(303)
	moved := s.do(bob, get, "/user/"+url.PathEscape("a b"), nil).is(302)
	require.Equal(t, "/people/a%20b", moved.header.Get("Location"))
}
