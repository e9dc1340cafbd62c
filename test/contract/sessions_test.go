package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type webSession struct {
	ID      int64
	How     string
	Address string
	Device  string
	Current bool
}

func (s *server) sessionsOf(as caller, query string) []webSession {
	s.Helper()
	return decode[struct{ Items []webSession }](s.do(as, get, "/v1/sessions"+query, nil).is(200)).Items
}

// A person sees and ends sessions; an ended one is refused with the next request. Administrators do so for anybody.
func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.join("dora")
	dora := caller{name: "dora", session: "dora"}
	second, _, _ := s.logIn("dora")
	status := func(c *http.Client) int {
		r, err := c.Get(s.url + "/v1/incidents")
		require.NoError(t, err)
		defer r.Body.Close()
		return r.StatusCode
	}
	require.Equal(t, 200, status(second))
	found := s.sessionsOf(dora, "")
	require.Len(t, found, 2)
	require.Equal(t, []bool{false, true}, []bool{found[0].Current, found[1].Current}, "newest first")
	require.Equal(t, "password", found[0].How)
	require.Equal(t, "127.0.0.1", found[0].Address)
	require.NotEmpty(t, found[0].Device)
	s.do(bob, get, "/v1/sessions?user=dora", nil).is(403)
	s.do(bob, del, "/v1/sessions?user=dora", nil).is(403)
	s.do(admin, get, "/v1/sessions?user=nobody", nil).is(400)
	s.do(dora, del, "/v1/sessions/900000", nil).is(404)

	s.do(dora, del, "/v1/sessions", nil).is(204)
	require.Equal(t, 401, status(second))
	require.Len(t, s.sessionsOf(dora, ""), 1)
	personal, _ := s.token(dora, "admin")
	require.False(t, s.sessionsOf(personal, "")[0].Current, "a token has no session")
	s.do(admin, del, "/v1/sessions?user=dora", nil).is(204)
	s.do(dora, get, "/v1/incidents", nil).is(401)
	s.do(personal, get, "/v1/incidents", nil).is(200)
	require.EqualValues(t, 2, s.number("select count(*) from audit_log where action = 'sessions ended' and object = 'user dora'"))
}

// A session ends when it is not used, and at its latest end, whatever it is used for. A log-in changes its token.
func TestSessionsEndByTime(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "http: {session_idle: 1h, session_ttl: 8h}\n"))
	s.join("dora")
	dora := caller{name: "dora", session: "dora"}
	age := func(column, by string) {
		t.Helper()
		s.exec("update sessions set " + column + " = " + column + " - interval '" + by +
			"' where user_id = (select id from users where name = 'dora')")
	}
	age("last_used_at", "59 minutes")
	s.do(dora, get, "/v1/incidents", nil).is(200)
	age("last_used_at", "59 minutes")
	s.do(dora, get, "/v1/incidents", nil).is(200)
	age("last_used_at", "59 minutes")
	s.do(dora, get, "/incidents", nil, "HX-Request", "true", "X-Seen", "x").is(200)
	s.stream(s.sessions["dora"], "/incidents").next("part")
	age("last_used_at", "2 minutes")
	s.do(dora, get, "/v1/incidents", nil).is(401) // an open page does not extend the session

	c, before, _ := s.logIn("dora")
	r, err := c.PostForm(s.url+"/login/", map[string][]string{"username": {"dora"}, "password": {password}})
	require.NoError(t, err)
	defer r.Body.Close()
	require.EqualValues(t, 1, s.number("select count(*) from sessions where user_id = (select id from users where name = 'dora') and last_used_at > now() - interval '1 minute'"),
		"the token from before the log-in is gone")
	require.NotEmpty(t, before)
	s.exec("update sessions set expiry = now() where user_id = (select id from users where name = 'dora')")
	again, err := c.Get(s.url + "/v1/incidents")
	require.NoError(t, err)
	defer again.Body.Close()
	require.Equal(t, 401, again.StatusCode)
}

// A dangerous change asks for a recent log-in whatever its door is: /v1, /v0, /api/v0 or a page. It changes nothing
// then. A token is not asked.
func TestDangerousChangesAskAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "http: {session_confirm: 1ns}\nauth: {oidc: [{name: corp, issuer: \"http://127.0.0.1:1\", client_id: iris}]}\n"))
	typed := formOf("name", "laptop", "scopes", "admin", "days", "30") + "&confirm_password=" +
		url.QueryEscape(password)
	shown := s.do(admin, post, "/tokens", typed, "Content-Type", form).is(200).body
	personal := caller{name: "an administrator with a token",
		token: regexp.MustCompile("iris_p_[0-9A-Za-z]+").FindString(shown)}
	person := func(name string) func(*server) {
		return func(s *server) {
			s.exec("insert into users (name, password_hash) values ($1, 'x') on conflict do nothing", name)
		}
	}
	const year = 365 * 24 * 3600
	var wrong []string
	for _, c := range []struct {
		method, path string
		body         any
		before       func(*server)
	}{
		{post, "/v1/tokens", m{"name": "t", "scopes": []string{"read"}}, nil},
		{post, "/v1/service-tokens", m{"name": "deploy", "scopes": []string{"read"}}, nil},
		{put, "/v1/integrations/new", m{"type": "generic", "application": "demo", "default_plan": "pager"}, nil},
		{put, "/v1/integrations/generic/token", nil, (*server).integrations},
		{put, "/v1/integrations/generic/secrets", m{"secrets": []string{}}, (*server).integrations},
		{get, "/v0/applications/demo/key", nil, nil},
		{post, "/v0/applications/demo/secondary", nil, nil},
		{post, "/v0/applications/demo/rekey", nil, nil},
		{get, "/v1/applications/demo/key", nil, nil},
		{post, "/v1/applications/demo/secondary-key", nil, nil},
		{post, "/v1/applications/demo/key/rotate", nil, nil},
		{post, "/v1/scim-connections", m{"name": "corp"}, nil},
		{put, "/v1/scim-connections/corp/token", nil, scimConnection},
		{post, "/v1/scim-connections/corp/users", m{"user": "pushed"},
			func(s *server) { person("pushed")(s); s.exec("delete from scim_users") }},
		{post, "/v1/held-deactivations/900/confirm", nil, heldDeactivation},
		{del, "/v1/scim-connections/corp", nil, nil},
		{post, "/v1/identities", m{"user": "bob", "provider": "corp", "subject": "s"}, nil},
		{post, "/v1/invitations", m{"name": "zoe", "email": "zoe@example.com"}, nil},
		{post, "/v1/invitations/1/send", nil, withInvitation},
		{post, "/v1/users", m{"name": "zed", "contacts": m{"email": "zed@example.com"}}, nil},
		{put, "/v1/users/zed", m{"admin": true}, nil},
		{put, "/v1/users/zed", m{"active": false}, nil},
		{put, "/v1/users/zed", m{"active": true}, nil},
		{post, "/v1/users/bob/password-link", nil, nil},
		{del, "/v1/users/bob/second-factor", nil, withFactor},
		{put, "/v1/users/bob/contacts/email", m{"destination": "eve@example.com"}, nil},
		{put, "/api/v0/users/bob", m{"contacts": m{"email": "mallory@example.com"}}, nil},
		{put, "/api/v0/users/zed", m{"name": "zedd"}, nil},
		{put, "/api/v0/users/zedd", m{"active": 0}, nil},
		{post, "/api/v0/users", m{"name": "made"}, nil},
		{del, "/api/v0/users/made", nil, nil},
		{post, "/api/v0/teams/ops/admins", m{"name": "bob"}, nil},
		{del, "/api/v0/teams/ops/admins/bob", nil, nil},
		{post, "/v1/silences", m{"match": "severity=~\".*\"", "for_seconds": year, "comment": "c"}, nil},
		{put, "/v1/silences/1", m{"match": "severity=~\".*\"", "for_seconds": year, "comment": "c"}, (*server).silence},
		{put, "/v1/applications/demo/paused", m{"paused": true}, nil},
		{put, "/v1/system/pauses/mode:push", m{"seconds": 60, "reason": "r"}, nil},
		{del, "/v1/teams/gone-team", nil,
			func(s *server) { s.exec("insert into teams (name) values ('gone-team') on conflict do nothing") }},
		{del, "/v1/users/gone-user", nil, person("gone-user")},
	} {
		if c.before != nil {
			c.before(s)
		}
		entries := s.number("select count(*) from audit_log")
		a := s.do(admin, c.method, c.path, c.body)
		if a.status != 403 || !strings.Contains(a.body, "recent log-in") || entries != s.number("select count(*) from audit_log") {
			wrong = append(wrong, fmt.Sprintf("%s: %d %s", a.what, a.status, a.body))
		}
		if a = s.do(personal, c.method, c.path, c.body); a.status >= 400 {
			wrong = append(wrong, fmt.Sprintf("%s: %d %s", a.what, a.status, a.body))
		}
	}
	for path, body := range map[string]string{
		"/tokens": formOf("name", "t", "scopes", "read", "days", "3"), "/service-tokens": formOf("name", "t2",
			"scopes", "read", "days", "3"),
		"/invitations": formOf("name", "yul", "email",
			"yul@example.com"), "/applications/other/key": "",
		"/people":             formOf("name", "xia", "email", "xia@example.com"),
		"/login/command-line": askedBy("read") + "&answer=allow",
	} {
		if a := s.do(admin, post, path, body, "Content-Type", form); a.status != 403 || !strings.Contains(a.body, `name="confirm_password"`) {
			wrong = append(wrong, fmt.Sprintf("%s: %d %s", a.what, a.status, a.body))
		}
	}
	require.Empty(t, wrong)
	// What only one's own page changes, or pages nobody less for long, needs no recent log-in.
	s.do(admin, post, "/v1/silences", m{"application": "demo", "for_seconds": year, "comment": "c"}).is(201)
	s.do(admin, post, "/v1/silences", m{"match": "severity=info", "for_seconds": 3600, "comment": "c"}).is(201)
	s.do(admin, put, "/api/v0/users/bob", m{"full_name": "Bob"}).is(204)
	s.do(bob, put, "/v1/users/bob/contacts/call", m{"destination": "+15550001113"}).is(204)
}

// In a session, dangerous changes need a recent log-in, here one of the last nanosecond. What the person typed is kept.
// Tokens are not asked.
func TestDangerousChangesNeedARecentLogIn(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "http: {session_confirm: 1ns}\n"))
	content := m{"name": "laptop", "scopes": []string{"read"}}
	refused := s.do(bob, post, "/v1/tokens", content).is(403)
	require.Contains(t, refused.body, `"type":"urn:iris:problem:log-in-again"`)
	s.do(admin, del, "/v1/users/bob?force=true", nil).is(403)
	s.do(bob, get, "/v1/tokens", nil).is(200)
	s.do(admin, put, "/v1/users/bob/contacts/email", m{"destination": "eve@example.com"}).is(403)
	s.do(bob, put, "/v1/users/bob/contacts/email", m{"destination": "bob@example.com"}).is(204) // it is not verified
	asked := s.do(admin, post, "/people/bob/contacts", formOf("mode", "email", "destination", "eve@example.com"),
		"Content-Type", form).is(403).body
	require.Contains(t, asked, `name="confirm_password"`)
	require.Contains(t, asked, `name="destination" value="eve@example.com"`)
	require.EqualValues(t, 0, s.number("select count(*) from personal_tokens"))

	typed := formOf("name", `my "laptop"`, "scopes", "read", "scopes", "incidents", "days", "30")
	page := s.do(bob, post, "/tokens", typed, "Content-Type", form).is(403).body
	require.Contains(t, page, `name="confirm_password"`)
	require.Contains(t, page, `value="my &#34;laptop&#34;"`)
	require.Contains(t, page, `name="scopes" value="incidents"`)
	page = s.do(bob, post, "/tokens", typed+"&confirm_password=wrong", "Content-Type", form).is(403).body
	require.Contains(t, page, "The password is wrong")
	require.NotContains(t, page, `value="wrong"`)
	require.EqualValues(t, 0, s.number("select count(*) from personal_tokens"))
	page = s.do(bob, post, "/tokens", typed+"&confirm_password="+url.QueryEscape(password), "Content-Type",
		form).is(200).body
	require.Contains(t, page, "iris_p_")
	require.EqualValues(t, 1, s.number("select count(*) from personal_tokens"))
}
