package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// provider is an OpenID Connect provider with one account.
type provider struct {
	*httptest.Server
	t     *testing.T
	key   *ecdsa.PrivateKey
	nonce string // of the latest log-in
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := &provider{t: t, key: key}
	mux := http.NewServeMux()
	answer := func(path string, body func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		return m{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"jwks_uri":          p.URL + "/keys",
			"userinfo_endpoint": p.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"ES256"}}
	})
	answer("/keys", func() any {
		return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one", Algorithm: "ES256",
			Use: "sig"}}}
	})
	answer("/userinfo", func() any { return m{"sub": "7"} })
	answer("/token", func() any {
		return m{"access_token": "a", "token_type": "Bearer", "expires_in": 60,
			"id_token": p.sign(m{"nonce": p.nonce, "preferred_username": "zoe", "sid": "there"})}
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// sign returns a token of the account with more claims.
func (p *provider) sign(more m) string {
	claims := m{"iss": p.URL, "aud": "iris", "sub": "7", "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Minute).Unix()}
	for name, value := range more {
		claims[name] = value
	}
	raw, err := json.Marshal(claims)
	require.NoError(p.t, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256,
		Key: jose.JSONWebKey{Key: p.key, KeyID: "one"}}, nil)
	require.NoError(p.t, err)
	signed, err := signer.Sign(raw)
	require.NoError(p.t, err)
	token, err := signed.CompactSerialize()
	require.NoError(p.t, err)
	return token
}

// A new person logs in at a provider, and the provider ends the session.
func TestLogInAndLogoutAtAProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := newServer(t, configured(t, fmt.Sprintf("auth: {oidc: [{name: corp, label: Corporation, issuer: %q, client_id: iris}]}\n", p.URL)))
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		require.NoError(t, err)
		resp, err := browser.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, resp.Header.Get("Location")
	}
	require.Contains(t, s.do(caller{name: "nobody"}, get, "/login", nil).is(200).body, "Corporation")

	status, to := visit("/login/sso/corp?next=/integrations")
	require.Equal(t, 302, status)
	there, err := url.Parse(to)
	require.NoError(t, err)
	asked := there.Query()
	require.Equal(t, "S256", asked.Get("code_challenge_method"))
	p.nonce = asked.Get("nonce")
	answer := "/login/sso/corp/callback?" + url.Values{"state": {asked.Get("state")}, "code": {"c"}}.Encode()
	status, to = visit(answer)
	require.Equal(t, 302, status)
	require.Equal(t, "/integrations", to)
	status, _ = visit(to)
	require.Equal(t, 200, status)
	require.Equal(t, "zoe", s.text("select u.name from user_identities i join users u on u.id = i.user_id where i.subject = '7'"))
	_, to = visit(answer)
	require.Contains(t, to, "/login", "the answer of the provider works once")

	logout := p.sign(m{"sid": "there", "jti": "1",
		"events": m{"http://schemas.openid.net/event/backchannel-logout": m{}}})
	s.do(caller{name: "the provider"}, post, "/login/sso/corp/backchannel", formOf("logout_token", logout),
		"Content-Type", "application/x-www-form-urlencoded").is(200)
	status, to = visit("/integrations")
	require.Equal(t, 302, status, "the session is over")
	require.Contains(t, to, "/login")
}

// A session that began behind a proxy ends at every door as soon as the proxy names another account or nobody.
func TestASessionBehindAProxyEndsAtEveryDoor(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "auth: {proxy: {networks: [127.0.0.0/8, '::1/128'], auth_time_header: X-Auth-Time}}\n"))
	const header = "X-Forwarded-User"
	zoe := caller{name: "zoe behind a proxy", session: "zoe"}
	for _, named := range []string{"ben@example.com", ""} {
		for door, refused := range map[string]int{"/v1/sessions": 401, "/v0/applications": 401, "/api/v0/users/bob": 401, "/silences": 302} {
			s.sessions["zoe"] = browser(t)
			s.do(zoe, get, "/login", nil, header, "zoe@example.com", "X-Forwarded-Preferred-Username", "zoe").is(302)
			s.do(zoe, get, door, nil, header, "zoe@example.com").is(200)
			a := s.do(zoe, get, door, nil, header, named)
			require.Equal(t, refused, a.status, "%s with %q: %s", door, named, a.body)
			s.do(zoe, get, "/v1/sessions", nil, header, "zoe@example.com").is(401)
		}
	}
}
