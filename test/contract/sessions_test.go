package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
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
		s.exec("update sessions set " + column + " = " + column + " - interval '" + by + "' where user_id = (select id from users where name = 'dora')")
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

// Every operation that needs a recent log-in is listed here, so that a renamed route does not lose it.
func TestWhichOperationsNeedARecentLogIn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var found []string
	for _, o := range s.api.operations {
		if auth.NeedsRecentLogin(strings.ToUpper(o.method), o.path, true) {
			found = append(found, strings.ToUpper(o.method)+" "+o.path)
		}
	}
	require.ElementsMatch(t, []string{
		"POST /v1/tokens", "POST /v1/service-tokens", "POST /v1/scim-connections", "PUT /v1/scim-connections/{connection}/token",
		"POST /v1/scim-connections/{connection}/users", "DELETE /v1/scim-connections/{connection}", "POST /v1/held-deactivations/{deactivation}/confirm",
		"POST /v1/identities", "POST /v1/invitations", "POST /v1/users", "PUT /v1/users/{user}", "POST /v1/users/{user}/password-link", "DELETE /v1/users/{user}", "DELETE /v1/users/{user}/second-factor",
		"POST /v1/users/{user}/contacts/{mode}/verify", "PUT /v1/users/{user}/contacts/{mode}", "DELETE /v1/teams/{team}", "POST /tokens", "POST /service-tokens", "POST /login/command-line",
		"POST /invitations", "POST /invitations/{invitation}/send", "POST /v1/messages/purge", "PUT /v1/system/pauses/{key}", "PUT /v1/applications/{app}/paused",
	}, found)
}

// In a session, dangerous changes need a recent log-in, here one of the last nanosecond. What the person typed is kept. Tokens are not asked.
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
	asked := s.do(admin, post, "/people/bob/contacts", formOf("mode", "email", "destination", "eve@example.com"), "Content-Type", form).is(403).body
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
	page = s.do(bob, post, "/tokens", typed+"&confirm_password="+url.QueryEscape(password), "Content-Type", form).is(200).body
	require.Contains(t, page, "iris_p_")
	require.EqualValues(t, 1, s.number("select count(*) from personal_tokens"))
}
