package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// token creates a personal token of a person with a session. The path of the token is for its revocation.
func (s *server) token(as caller, scopes ...string) (c caller, path string) {
	s.Helper()
	made := s.do(as, post, "/v1/tokens", m{"name": "laptop", "scopes": scopes, "expires_in_seconds": 3600}).is(201)
	secret := decode[struct{ Token string }](made).Token
	require.NotContains(s, s.do(as, get, "/v1/tokens", nil).is(200).body, secret, "only the answer that creates a token has its secret")
	return caller{name: fmt.Sprintf("%s with a token for %s", as.name, scopes), token: secret}, made.header.Get("Location")
}

// A valid token is accepted on each API. A token that is malformed, of another type, expired or revoked, or whose person is not active,
// is refused on each.
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
	token, path := s.token(bob, "read")
	all(token, 200)
	for name, secret := range map[string]string{
		"empty": "", "malformed": "x", "cut": token.token[:40], "unknown": "iris_p_" + strings.Repeat("0", 51),
		"of another type": strings.Replace(token.token, "iris_p_", "iris_s_", 1),
	} {
		all(caller{name: "a token that is " + name, token: secret + " "}, 401)
	}
	s.exec("update users set active = false where name = 'bob'")
	all(token, 401)
	s.exec("update users set active = true where name = 'bob'")
	all(token, 200)
	s.do(admin, del, path, nil).is(204)
	all(token, 401)

	token, _ = s.token(owner, "read")
	s.exec("update personal_tokens set expires_at = now()")
	all(token, 401)
	status := s.do(token, get, "/incidents", nil).status
	require.Contains(t, []int{302, 401}, status, "pages accept no tokens")
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
}

// TestReadTokensChangeNothing sends every operation that changes something with the read token of an administrator.
func TestReadTokensChangeNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.open()
	token, _ := s.token(admin, "read")
	s.do(token, get, "/v1/incidents", nil).is(200) // records the token's use
	before := s.everything()
	for _, o := range s.api.operations {
		if o.method == get || o.access == "public" || o.access == "vendor" || o.access == "webhook" || o.access == "token" || o.access == "session" {
			continue
		}
		a := s.do(token, o.method, stand(o.path), m{})
		require.Contains(t, []int{401, 403}, a.status, "%s: %s", a.what, a.body)
	}
	require.Equal(t, before, s.everything())
}
