package contract

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The search of messages has the filters of the API, and its export has no formula.
func TestMessagesAreSearchedAndExported(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	incident, _ := s.page("sms")
	s.exec(`insert into messages (bucket, incident_id, application_id, plan_id, step, position, repeat, recipient, purpose, user_id, target, class, mode, priority, state, settled_at)
		select 1, i.id, i.application_id, i.plan_id, 1, 90 + n, 0, 'user:' || u.id, 'fallback', u.id, 'bob', 1, 'sms', 'low', 'failed', clock_timestamp() from incidents i, users u, generate_series(1, 60) n where u.name = 'bob';
		insert into message_contents (message_id, destination, subject, body)
		select m.id, '+15551110002', '=HYPERLINK("https://evil.example")', 'tap https://iris.example.com/ack/secret_token_of_a_link_1234' from messages m where m.purpose = 'fallback';
		insert into attempts (message_id, attempt, mode, vendor, account, destination, process_id, finished_at, outcome, detail)
		select m.id, 1, 'sms', 'twilio', 'main', '+15551110002', 'p', clock_timestamp(), 'rejected', 'no <b>credit</b>' from messages m where m.purpose = 'fallback'`)
	count := func(query string) int {
		t.Helper()
		return len(decode[struct{ Items []any }](s.do(bob, get, "/v1/messages?limit=500&"+query, nil).is(200)).Items)
	}
	for _, query := range []string{"state=failed", "purpose=fallback", "vendor=TWILIO", "subject=hyperlink", "body=tap", "destination=1110002", "plan=pager&state=failed", "target=bob&mode=sms&priority=low&incident_id=" + fmt.Sprint(incident)} {
		require.Equal(t, 60, count(query), query)
		page := s.do(bob, get, "/messages?"+query, nil).is(200).body
		require.Contains(t, page, "Older messages", query)
		require.Contains(t, page, "/messages/export?", query)
	}
	for _, query := range []string{"state=sent&vendor=twilio", "vendor=nobody", "subject=100%25", "body=secret_token_of_a_link", "plan=none"} {
		require.Zero(t, count(query), query)
		require.Contains(t, s.do(bob, get, "/messages?"+query, nil).is(200).body, "No message matches.", query)
	}
	for _, wrong := range []string{"incident_id=x", "from=yesterday"} {
		require.Contains(t, s.do(bob, get, "/messages?"+wrong, nil).is(400).body, `role="alert"`, wrong)
	}
	require.NotContains(t, s.do(viewer, get, "/messages/export?vendor=twilio", nil).is(200).body, "1110002",
		"who may only read gets numbers of people on call")
	file := s.do(bob, get, "/messages/export?vendor=twilio", nil).is(200)
	require.Equal(t, "text/csv; charset=utf-8", file.header.Get("Content-Type"))
	rows, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 61)
	require.Equal(t, []string{"'+15551110002", `'=HYPERLINK("https://evil.example")`},
		[]string{rows[1][6], rows[1][12]})
	require.NotContains(t, file.body, "secret_token", "the API hides the links that answer in another person's name")

	one := s.do(viewer, get, "/messages/"+rows[1][0], nil).is(200).body
	require.Contains(t, one, "no &lt;b&gt;credit&lt;/b&gt;")
	require.Contains(t, one, "This person is a fallback")
	require.Contains(t, one, fmt.Sprintf(`href="/incidents/%d"`, incident))
	require.NotContains(t, one, "secret_token")
	s.do(viewer, get, "/messages/999999", nil).is(404)
	s.do(viewer, get, "/messages/none", nil).is(404)
}

// The HTML of an e-mail is shown in a frame that runs and loads nothing.
func TestMailsAreShownInASandbox(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	_, message := s.page("email")
	s.exec(`update message_contents set email_html = '<p>down</p><script>alert(1)</script>"><img src="https://evil.example/x">' where message_id = $1`, message)
	a := s.do(bob, get, fmt.Sprintf("/messages/%d", message), nil).is(http.StatusOK)
	require.Contains(t, a.body, `<iframe class="mail" sandbox="" referrerpolicy="no-referrer"`)
	require.NotContains(t, a.body, "<script>alert")
	require.NotContains(t, a.body, `<img src="https://evil`)
	require.Contains(t, a.body, fmt.Sprintf(`src="/messages/%d/html"`, message))
	require.Contains(t, a.header.Get("Content-Security-Policy"), "frame-src 'self'")
	mail := s.do(bob, get, fmt.Sprintf("/messages/%d/html", message), nil).is(http.StatusOK)
	require.Contains(t, mail.body, "<p>down</p>")
	require.Equal(t, "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
		mail.header.Get("Content-Security-Policy"))
	s.do(bob, get, "/messages/none/html", nil).is(http.StatusNotFound)
}

// Operators see what went wrong, and administrators the configuration, without a secret.
func TestTheSystemShowsNoSecret(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.exec(`insert into timeline_entries (incident_id, kind, actor, text)
		values ($1, 'fallback', '', 'Step 1: bob has no contact, and no fallback can be paged either (<b>none</b>): this notification reaches NOBODY'), ($1, 'fallback', '', 'another')`, s.open())
	found := decode[struct{ Items []struct{ Text string } }](s.do(bob, get, "/v1/system/unreached", nil).is(200)).Items
	require.Len(t, found, 1)
	require.Contains(t, s.do(bob, get, "/system?tab=unreached", nil).is(200).body, "&lt;b&gt;none&lt;/b&gt;")

	settings := s.do(admin, get, "/v1/system/configuration", nil).is(200).body
	shown := s.do(admin, get, "/system?tab=configuration", nil).is(200).body
	require.Contains(t, settings, `"key":"database.url","value":"set"`)
	for _, body := range []string{settings, shown} {
		require.NotContains(t, body, "postgres://")
		require.Contains(t, body, "http.session_ttl")
	}
	require.NotContains(t, s.do(bob, get, "/system", nil).is(200).body, "configuration",
		"a member is not offered the tab")
	s.do(bob, get, "/system?tab=configuration", nil).is(403)
}

// Operators change the running system, with entries in the audit log.
func TestOperatorsChangeTheRunningSystem(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	incident, message := s.page("email")

	s.exec(`update messages set state = 'pending', settled_at = null where id = $1`, message)
	s.do(admin, post, fmt.Sprintf("/v1/messages/%d/resend", message), nil).is(409)
	s.exec(`update messages set state = 'failed', settled_at = now() where id = $1`, message)
	again := decode[struct{ ID int64 }](s.do(admin, post, fmt.Sprintf("/v1/messages/%d/resend", message), nil).is(201))
	require.Contains(t, s.do(bob, get, fmt.Sprintf("/v1/messages/%d", again.ID), nil).is(200).body, `"target":"ann"`)
	require.Contains(t, s.do(bob, get, fmt.Sprintf("/messages/%d", again.ID), nil).is(200).body,
		fmt.Sprintf(`<a href="/messages/%d">`, message))
	require.Contains(t, s.do(bob, get, fmt.Sprintf("/incidents/%d", incident), nil).is(200).body,
		fmt.Sprintf("is sent again as message %d", again.ID))
	second := s.do(admin, post, fmt.Sprintf("/v1/messages/%d/resend", message), nil).is(201)
	require.NotContains(t, second.body, fmt.Sprintf(`"id":%d}`, again.ID))

	s.do(admin, post, "/v1/messages/purge", m{"reason": "stale"}).is(400)
	s.do(admin, post, "/v1/messages/purge", m{"application": "nothing", "reason": "stale"}).is(400)
	for _, wrong := range []any{0, -incident, float64(incident) + 0.2} {
		s.do(admin, post, "/v1/messages/purge", m{"incident_id": wrong, "mode": "sms", "reason": "stale"}).problem(400,
			"incident_id")
	}
	require.Contains(t, s.do(admin, post, "/v1/messages/purge",
		m{"incident_id": incident, "reason": "stale"}).is(200).body, `"dropped":2`)
	require.Contains(t, s.do(bob, get, fmt.Sprintf("/incidents/%d", incident), nil).is(200).body, "was dropped: stale")
	s.do(admin, post, fmt.Sprintf("/v1/messages/%d/resend", message), nil).is(201)
	require.Equal(t, 400, s.sends(admin, "/system/purge", "incident_id", fmt.Sprint(incident, "x"), "mode", "sms",
		"reason", "stale").status, "not all messages by SMS")
	require.Equal(t, 400, s.sends(admin, "/system/purge", "minutes", "x", "mode", "sms", "reason", "stale").status)
	s.sends(admin, "/system/purge", "incident_id", fmt.Sprint(incident), "minutes", "0", "reason", "stale").is(303)
	require.Zero(t, s.number("select count(*) from messages where state = 'pending'"))

	s.do(admin, put, "/v1/system/pauses/account:twilio%2Fmain", m{"seconds": 600, "reason": "<b>they move</b>"}).is(200)
	s.do(admin, put, "/v1/system/pauses/twilio", m{"seconds": 600, "reason": "x"}).is(400)
	s.do(admin, put, "/v1/system/pauses/mode:sms", m{"seconds": 0, "reason": "x"}).is(400)
	s.do(admin, put, "/v1/applications/demo/paused", m{"paused": true}).is(200)
	s.do(admin, put, "/v1/applications/iris/paused", m{"paused": true}).is(409)
	s.do(admin, put, "/v1/applications/nothing/paused", m{"paused": true}).is(404)
	shown := s.do(admin, get, "/system?tab=vendors", nil).is(200).body
	require.Contains(t, shown, "&lt;b&gt;they move&lt;/b&gt;")
	require.Contains(t, shown, "End the pause")
	require.NotContains(t, s.do(bob, get, "/system?tab=vendors", nil).is(200).body, "End the pause", "a member cannot")
	s.do(admin, post, "/system/pauses", formOf("key", "mode:sms", "minutes", "15"), "Content-Type", form).is(400)
	s.do(admin, post, "/system/pauses/end", formOf("key", "account:twilio/main"), "Content-Type", form).is(303)
	s.do(admin, del, "/v1/system/pauses/account:twilio%2Fmain", nil).is(404)

	s.exec(`insert into members (process_id, host, version, data_shape) values ('only', 'h', 'v', 1)`)
	s.do(admin, put, "/v1/system/members/only/draining", m{"draining": true}).is(409)
	s.do(admin, put, "/v1/system/members/other/draining", m{"draining": true}).is(404)

	log := s.do(admin, get, "/v1/audit?limit=100", nil).is(200).body
	for _, action := range []string{"message sent again", "messages purged", "sending paused", "sending resumed", "application paused"} {
		require.Contains(t, log, `"action":"`+action+`"`)
	}
}
