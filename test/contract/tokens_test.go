package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/tokens"
)

// token creates a personal token of a person with a session. The path of the token is for its revocation.
func (s *server) token(as caller, scopes ...string) (c caller, path string) {
	s.Helper()
	made := s.do(as, post, "/v1/tokens", m{"name": "laptop", "scopes": scopes, "expires_in_seconds": 3600}).is(201)
	secret := decode[struct{ Token string }](made).Token
	require.NotContains(s, s.do(as, get, "/v1/tokens", nil).is(200).body, secret,
		"only the answer that creates a token has its secret")
	return caller{name: fmt.Sprintf("%s with a token for %s", as.name, scopes),
		token: secret}, made.header.Get("Location")
}

// A valid token is accepted on each API. A token that is malformed, of another type, expired or revoked, or whose
// person is not active, is refused on each.
func TestTokensOnEveryAPI(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	apis := []string{"/v0/modes", "/api/v0/teams", "/v1/incidents", "/v1/teams"}
	all := func(c caller, status int) {
		t.Helper()
		for _, path := range apis {
			s.do(c, get, path, nil).is(status)
		}
	}
	token, _ := s.token(bob, "read")
	all(token, 200)
	for name, secret := range map[string]string{
		"empty": "", "malformed": "x", "cut": token.token[:40], "without the right checksum": token.token[:50] + "00000000",
		"unknown": tokens.Make(tokens.Personal), "of an unknown service": tokens.Make(tokens.ForService),
		"of another kind": strings.Replace(token.token, "iris_p_", "iris_s_", 1),
	} {
		all(caller{name: "a token that is " + name, token: secret + " "}, 401)
	}
	s.exec("update users set active = false where name = 'bob'")
	all(token, 401)
	s.exec("update users set active = true where name = 'bob'")
	all(token, 401) // switching a person off ended it for good
	s.sessions["bob"], _, s.tokens["bob"] = s.logIn("bob")
	token, path := s.token(bob, "read")
	all(token, 200)
	s.do(admin, del, path, nil).is(204)
	all(token, 401)

	token, _ = s.token(owner, "read")
	s.exec("update personal_tokens set expires_at = now()")
	all(token, 401)
	status := s.do(token, get, "/incidents", nil).status
	require.Contains(t, []int{302, 401}, status, "pages accept no tokens")

	token, _ = s.token(admin, "read")
	for _, path := range apis {
		for _, name := range []string{"access_token", "token"} {
			refused := s.do(anonymous, get, path+"?"+name+"="+token.token, nil) // addresses end up in logs
			require.Contains(t, []int{400, 401}, refused.status, refused.what)
		}
	}
}

// An installation can allow shorter lives. A request without an expiry then gets the maximum.
func TestTheLongestLifeOfATokenIsConfigured(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "auth: {tokens: {personal_max_life: 1h}}\n"))
	content := m{"name": "x", "scopes": []string{"read"}, "expires_in_seconds": 3601}
	require.Contains(t, s.do(bob, post, "/v1/tokens", content).is(400).body, "between 1 and 3600")
	made := decode[struct {
		CreatedAt time.Time `json:"created_at"`
		ExpiresAt time.Time `json:"expires_at"`
	}](s.do(bob, post, "/v1/tokens", m{"name": "x", "scopes": []string{"read"}}).is(201))
	require.Equal(t, time.Hour, made.ExpiresAt.Sub(made.CreatedAt).Round(time.Second))
}

// serviceToken creates a service token; team "" = of the administrators.
func (s *server) serviceToken(as caller, team string, scopes ...string) (c caller, path string) {
	s.Helper()
	body := m{"name": fmt.Sprint("job ", team, scopes), "scopes": scopes}
	if team != "" {
		body["team"] = team
	}
	made := s.do(as, post, "/v1/service-tokens", body).is(201)
	secret := decode[struct{ Token string }](made).Token
	require.NotContains(s, s.do(as, get, "/v1/service-tokens", nil).is(200).body, secret,
		"only the answer that creates a token has its secret")
	return caller{name: fmt.Sprintf("a service token of %q for %s", team, scopes),
		token: secret}, made.header.Get("Location")
}

// A service token belongs to a team or to the administrators. It works without the person who made it, ends with its
// team, and has nothing that belongs to a person.
func TestServiceTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	incident := s.open()
	team := "crew"
	s.do(admin, post, "/api/v0/teams", m{"name": team, "scheduling_timezone": "UTC"}).is(201)
	s.do(admin, post, "/api/v0/teams/crew/admins", m{"name": "bob"}).is(201)
	apis := []string{"/v0/modes", "/api/v0/teams", "/v1/incidents", "/v1/teams"}
	all := func(c caller, status int) {
		t.Helper()
		for _, path := range apis {
			s.do(c, get, path, nil).is(status)
		}
	}
	s.do(owner, post, "/v1/service-tokens", m{"name": "x", "team": team, "scopes": []string{"read"}}).is(403)
	s.do(bob, post, "/v1/service-tokens", m{"name": "x", "scopes": []string{"read"}}).is(403)
	s.do(bob, post, "/v1/service-tokens", m{"name": "x", "team": "no such team", "scopes": []string{"read"}}).is(400)
	read, path := s.serviceToken(bob, team, "read")
	s.do(bob, post, "/v1/service-tokens", m{"name": "JOB " + team + "[read]", "team": team,
		"scopes": []string{"read"}}).is(409)
	all(read, 200)
	s.do(read, post, "/v1/incidents/"+fmt.Sprint(incident)+"/resolve", nil).is(403)

	whole, _ := s.serviceToken(bob, team, "admin")
	s.do(whole, post, "/v1/incidents/"+fmt.Sprint(incident)+"/resolve", nil).is(200)
	require.Contains(t, s.do(read, get, "/v1/incidents/"+fmt.Sprint(incident)+"/timeline", nil).is(200).body,
		"service token job "+team+"[admin] of team "+team)
	s.do(whole, put, "/api/v0/teams/"+team, m{"name": team, "description": "set by a program"}).is(200)
	number := fmt.Sprint(incident)
	for _, refused := range []struct {
		what, method, path string
		body               any
		status             int
	}{
		{"tokens of a person", get, "/v1/tokens", nil, 403},
		{"service tokens", post, "/v1/service-tokens", m{"name": "y", "team": team, "scopes": []string{"read"}}, 403},
		{"somebody's contacts", put, "/api/v0/users/bob", m{"contacts": m{"email": "x@example.com"}}, 403},
		{"somebody's rules", put, "/v1/users/bob/notification-rules", m{"rules": []m{}}, 403},
		{"an acknowledgement for somebody", post, "/v1/incidents/" + number + "/acknowledge", m{"owner": "bob"}, 401},
		{"keys of applications", get, "/v0/applications/demo/key", nil, 401},
		{"the audit log", get, "/v1/audit", nil, 403},
		{"a mail to a stranger", post, "/v1/notifications",
			m{"targets": []m{{"role": "literal_target", "name": "x@example.com"}}, "mode": "email", "subject": "s",
				"body": "b"}, 403},
	} {
		a := s.do(whole, refused.method, refused.path, refused.body)
		require.Equal(t, refused.status, a.status, "%s: %s", refused.what, a.body)
	}
	root, _ := s.serviceToken(admin, "", "admin")
	s.do(root, get, "/v1/audit", nil).is(200)
	s.do(root, get, "/v1/tokens", nil).is(403)
	require.Contains(t, s.do(read, get, "/v1/tokens/current", nil).is(200).body, `"kind":"service"`)
	s.do(root, del, "/v1/tokens/current", nil).is(204)
	s.do(root, get, "/v1/audit", nil).is(401)
	s.do(bob, get, path, nil).is(200)
	s.do(owner, get, path, nil).is(404)

	s.exec("update users set active = false where name = 'bob'")
	all(read, 200)
	s.exec("update users set active = true where name = 'bob'")
	s.exec("update teams set active = false where name = $1", team)
	all(read, 401)
	s.exec("update teams set active = true where name = $1", team)
	s.do(admin, del, path, nil).is(204)
	all(read, 401)
	s.exec("update service_tokens set expires_at = now()")
	all(whole, 401)
}

// A scope narrows the rights of the person and adds none.
func TestScopesOfTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.open()
	own := m{"name": "x", "scopes": []string{"admin"}}
	incidents, _ := s.token(bob, "incidents")
	s.do(incidents, post, "/v1/incidents/1/resolve", nil).is(200)
	s.do(incidents, post, "/v1/tokens", own).is(403)
	s.do(incidents, del, "/v1/plans/pager", nil).is(403)
	every, _ := s.token(bob, "admin")
	s.do(every, post, "/v1/tokens", own).is(201)
	s.do(every, get, "/v1/audit", nil).is(403)
	config, _ := s.token(admin, "config")
	s.do(config, get, "/v1/audit", nil).is(403)
	s.do(config, get, "/v0/applications/demo/key", nil).is(403)
	s.do(config, post, "/v1/applications", m{"name": "made"}).is(403)
	root, _ := s.token(admin, "admin")
	s.do(root, get, "/v1/audit", nil).is(200)
	s.do(root, post, "/v1/applications", m{"name": "made"}).is(201)
	s.do(root, post, "/v1/tokens", own, "Idempotency-Key", "k").is(400)
	s.do(root, get, "/v1/tokens?all=true", nil).is(200)
	for _, c := range []caller{every, config, asBob, viewer} {
		s.do(c, get, "/v1/tokens?all=true", nil).is(403)
	}
}

// TestReadTokensChangeNothing sends every operation that changes something with read tokens: of an administrator, and
// of a program of the administrators.
func TestReadTokensChangeNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.open()
	personal, _ := s.token(admin, "read")
	service, _ := s.serviceToken(admin, "", "read")
	readers := []caller{personal, service}
	for _, token := range readers {
		s.do(token, get, "/v1/incidents", nil).is(200) // records the token's use
	}
	before := s.everything()
	for _, o := range s.api.operations {
		if o.method == get || o.access == "public" || o.access == "vendor" || o.access == "webhook" || o.access == "token" || o.access == "session" {
			continue
		}
		if o.path == "/v1/tokens/current" {
			continue // every token may revoke itself
		}
		for _, token := range readers {
			a := s.do(token, o.method, stand(o.path), m{})
			require.Contains(t, []int{401, 403}, a.status, "%s: %s", a.what, a.body)
		}
	}
	require.Equal(t, before, s.everything())
}
