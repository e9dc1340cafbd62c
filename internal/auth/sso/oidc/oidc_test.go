package oidc_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	capoidc "github.com/hashicorp/cap/oidc"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/sso/oidc"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

const (
	client   = "iris"
	redirect = "https://iris.test/login/sso/corp/callback"
)

// idp is an identity provider whose tokens a test forges.
type idp struct {
	*httptest.Server
	mu         sync.Mutex
	key        *ecdsa.PrivateKey
	kid        string
	sendsIss   bool
	challenges map[string]string // by code
	idToken    string            // the answer to the next exchange
	userInfo   map[string]any
	tokenDown  bool
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := &idp{challenges: map[string]string{}}
	p.rotate(t, "one")
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth",
			"token_endpoint": p.URL + "/token",
			"jwks_uri":       p.URL + "/keys", "userinfo_endpoint": p.URL + "/userinfo", "end_session_endpoint": p.URL +
				"/logout",
			"id_token_signing_alg_values_supported":          []string{"HS256", "ES256", "none"},
			"authorization_response_iss_parameter_supported": p.sendsIss})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: p.kid,
			Algorithm: "ES256", Use: "sig"}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		switch {
		case p.tokenDown:
			w.WriteHeader(http.StatusBadGateway)
		case p.challenges[r.PostFormValue("code")] != base64.RawURLEncoding.EncodeToString(sum[:]):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "at", "token_type": "Bearer",
				"id_token": p.idToken, "expires_in": 60})
		}
	})
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.userInfo)
	})
	p.Server = httptest.NewTLSServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *idp) rotate(t *testing.T, kid string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.kid = key, kid
}

func (p *idp) provider(t *testing.T) *oidc.Provider {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	out, err := oidc.New(oidc.Config{Name: "corp", Issuer: p.URL, ClientID: client, ClientSecret: "s3cret",
		Scopes: []string{"profile", "groups"}, CA: string(ca), RedirectURL: redirect,
		NameClaim: "preferred_username", GroupsClaim: "groups", RequiredClaims: map[string]string{"tenant": "ours"}},
		zap.NewNop())
	require.NoError(t, err)
	return out
}

type content = map[string]any

// changed returns base with other values; nil removes one.
func changed(base, with content) content {
	out := maps.Clone(base)
	for k, v := range with {
		if out[k] = v; v == nil {
			delete(out, k)
		}
	}
	return out
}

func (p *idp) sign(t *testing.T, c content) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256,
		Key: jose.JSONWebKey{Key: p.key, KeyID: p.kid}}, nil)
	require.NoError(t, err)
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	signed, err := signer.Sign(raw)
	require.NoError(t, err)
	out, err := signed.CompactSerialize()
	require.NoError(t, err)
	return out
}

// forged returns a token with a header of the attacker, signed with a key of bytes; nil = not signed.
func forged(t *testing.T, header string, c content, key []byte) string {
	t.Helper()
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(raw)
	if key == nil {
		return text + "."
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// begin begins a log-in, and makes the provider give code c for it.
func (p *idp) begin(t *testing.T, at *oidc.Provider) oidc.Request {
	t.Helper()
	r, address, err := at.Begin(t.Context(), false)
	require.NoError(t, err)
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.Equal(t, []string{"openid profile groups", client, redirect, "code", r.State, r.Nonce},
		[]string{q.Get("scope"), q.Get("client_id"), q.Get("redirect_uri"), q.Get("response_type"), q.Get("state"),
			q.Get("nonce")})
	require.NotContains(t, address, r.Verifier)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.challenges["c"] = q.Get("code_challenge")
	return r
}

// idContent is the content of an ID token that is accepted.
func (p *idp) idContent(r oidc.Request) content {
	return content{"iss": p.URL, "aud": client, "sub": "1", "nonce": r.Nonce, "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Minute).Unix(), "sid": "session",
		"preferred_username": "ana", "name": "Ana Ruiz", "email": "ana@example.com", "email_verified": true, "groups": []string{"/ops/db"}, "tenant": "ours"}
}

func (p *idp) answer(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idToken = token
}

func answered(r oidc.Request) url.Values { return url.Values{"state": {r.State}, "code": {"c"}} }

func TestLogIn(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	for _, kid := range []string{"one", "two"} { // the provider changes its key
		p.rotate(t, kid)
		r := p.begin(t, at)
		p.answer(p.sign(t, p.idContent(r)))
		require.NoError(t, at.CheckAnswer(r, answered(r)))
		id, session, err := at.Finish(t.Context(), r, answered(r))
		require.NoError(t, err)
		require.Equal(t, sso.Identity{Provider: "corp", Issuer: p.URL, Subject: "1", Name: "ana", FullName: "Ana Ruiz",
			Email: "ana@example.com", EmailVerified: true,
			Groups: []string{"/ops/db"}, HasGroups: true}, id)
		require.Equal(t, sso.Session{Issuer: p.URL, Subject: "1", Sid: "session", IDToken: p.idToken}, session)
	}
	require.Contains(t, at.LogoutURL("jwt", "https://iris.test/login"), p.URL+
		"/logout?client_id=iris&id_token_hint=jwt&post_logout_redirect_uri=")
}

func TestClaims(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	finish := func(with content) (sso.Identity, error) {
		r := p.begin(t, at)
		p.answer(p.sign(t, changed(p.idContent(r), with)))
		id, _, err := at.Finish(t.Context(), r, answered(r))
		return id, err
	}
	p.userInfo = content{"sub": "1", "email": "other@example.com", "email_verified": true}
	id, err := finish(content{"groups": nil, "email_verified": nil})
	require.NoError(t, err)
	require.False(t, id.HasGroups, "no list is not an empty list")
	require.Equal(t, "ana@example.com", id.Email)
	require.False(t, id.EmailVerified, "the verification belongs to another address")
	id, err = finish(content{"email": nil, "email_verified": true, "groups": []string{}})
	require.NoError(t, err)
	require.Equal(t, "other@example.com", id.Email)
	require.True(t, id.EmailVerified && id.HasGroups)
	id, err = finish(content{"groups": []any{1}, "email_verified": "false"})
	require.NoError(t, err)
	require.False(t, id.HasGroups || id.EmailVerified)
	_, err = finish(content{"tenant": "theirs"})
	require.True(t, fault.Is(err, fault.Forbidden), "%v", err)
	p.userInfo = content{"sub": "2", "groups": []string{"root"}}
	id, err = finish(content{"groups": nil})
	require.NoError(t, err)
	require.Empty(t, id.Groups, "user information about another account")
}

// Entra names an address instead of the groups of people who have many. Iris asks only the provider, so it knows no
// groups then.
func TestGroupsElsewhere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"value":["admins"]}`))
	}))
	t.Cleanup(elsewhere.Close)
	p := newIDP(t)
	at := p.provider(t)
	p.userInfo = content{"sub": "1"}
	r := p.begin(t, at)
	p.answer(p.sign(t, changed(p.idContent(r), content{"groups": nil, "_claim_names": content{"groups": "src1"},
		"_claim_sources": content{"src1": content{"endpoint": elsewhere.URL + "/users/1/getMemberObjects"}}})))
	id, _, err := at.Finish(t.Context(), r, answered(r))
	require.NoError(t, err)
	require.False(t, id.HasGroups, "the groups are unknown, which is not an empty list")
	require.Empty(t, id.Groups)
	require.Zero(t, asked.Load(), "the address is not asked")
}

func TestForgedLogIns(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	public, err := x509.MarshalPKIXPublicKey(p.key.Public())
	require.NoError(t, err)
	past := time.Now().Add(-time.Hour).Unix()
	stranger := newIDP(t)
	for name, token := range map[string]func(content) string{
		"wrong nonce": func(c content) string {
			return p.sign(t,
				changed(c, content{"nonce": "other"}))
		},
		"no nonce":    func(c content) string { return p.sign(t, changed(c, content{"nonce": nil})) },
		"expired":     func(c content) string { return p.sign(t, changed(c, content{"exp": past})) },
		"without end": func(c content) string { return p.sign(t, changed(c, content{"exp": nil})) },
		"from the future": func(c content) string {
			return p.sign(t,
				changed(c, content{"iat": time.Now().Add(time.Hour).Unix()}))
		},
		"not yet": func(c content) string {
			return p.sign(t,
				changed(c, content{"nbf": time.Now().Add(time.Hour).Unix()}))
		},
		"wrong issuer": func(c content) string {
			return p.sign(t,
				changed(c, content{"iss": "https://evil.example"}))
		},
		"wrong audience": func(c content) string {
			return p.sign(t,
				changed(c, content{"aud": "other"}))
		},
		"foreign audience with our azp": func(c content) string {
			return p.sign(t,
				changed(c, content{"aud": "other", "azp": client}))
		},
		"our audience with foreign azp": func(c content) string {
			return p.sign(t,
				changed(c, content{"azp": "other"}))
		},
		"no account": func(c content) string { return p.sign(t, changed(c, content{"sub": nil})) },
		"alg none":   func(c content) string { return forged(t, `{"alg":"none"}`, c, nil) },
		"HS256 with the public key": func(c content) string {
			return forged(t, `{"alg":"HS256","kid":"one"}`, c,
				pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
		},
		"HS256 with the client's secret": func(c content) string {
			return forged(t, `{"alg":"HS256"}`, c,
				[]byte("s3cret"))
		},
		"key of another provider": func(c content) string { return stranger.sign(t, c) },
		"altered":                 func(c content) string { s := p.sign(t, c); return s[:len(s)-4] + "AAAA" },
		"no token":                func(content) string { return "" },
	} {
		r := p.begin(t, at)
		p.answer(token(p.idContent(r)))
		_, _, err := at.Finish(t.Context(), r, answered(r))
		require.True(t, fault.Is(err, fault.Unauthenticated), "%s: %v", name, err)
	}
	r := p.begin(t, at)
	p.answer(p.sign(t, p.idContent(r)))
	other := r
	other.Verifier = strings.Repeat("x", 43)
	_, _, err = at.Finish(t.Context(), other, answered(r))
	require.True(t, fault.Is(err, fault.Unauthenticated), "the verifier of another log-in: %v", err)
	p.tokenDown = true
	_, _, err = at.Finish(t.Context(), r, answered(r))
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
}

func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	p.sendsIss = true
	at := p.provider(t)
	r := p.begin(t, at)
	require.NoError(t, at.CheckAnswer(r, url.Values{"state": {r.State}, "code": {"c"}, "iss": {p.URL}}))
	for name, answer := range map[string]url.Values{
		"no state":          {"code": {"c"}, "iss": {p.URL}},
		"foreign state":     {"state": {"x"}, "code": {"c"}, "iss": {p.URL}},
		"two states":        {"state": {r.State, "x"}, "code": {"c"}, "iss": {p.URL}},
		"no issuer":         {"state": {r.State}, "code": {"c"}},
		"issuer of another": {"state": {r.State}, "code": {"c"}, "iss": {"https://evil.example"}},
		"error":             {"state": {r.State}, "code": {"c"}, "iss": {p.URL}, "error": {"access_denied"}},
		"no code":           {"state": {r.State}, "iss": {p.URL}},
	} {
		require.True(t, fault.Is(at.CheckAnswer(r, answer), fault.Unauthenticated), name)
	}
	require.Error(t, at.CheckAnswer(oidc.Request{}, url.Values{"state": {""}, "code": {"c"}, "iss": {p.URL}}))
}

func TestLogoutTokens(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	right := content{"iss": p.URL, "aud": client, "sub": "1", "sid": "session", "jti": "j", "iat": time.Now().Unix(),
		"exp":    time.Now().Add(time.Minute).Unix(),
		"events": content{"http://schemas.openid.net/event/backchannel-logout": content{}}}
	out, err := at.LogoutToken(t.Context(), p.sign(t, right))
	require.NoError(t, err)
	require.Equal(t, oidc.Logout{Subject: "1", Sid: "session", ID: "j"}, out)
	out, err = at.LogoutToken(t.Context(), p.sign(t, changed(right, content{"sid": nil})))
	require.NoError(t, err)
	require.Empty(t, out.Sid)
	old := time.Now().Add(-time.Hour).Unix()
	for name, with := range map[string]content{
		"issuer": {"iss": "https://evil.example"}, "audience": {"aud": "other"}, "expired": {"exp": old}, "old": {"iat": old}, "no event": {"events": nil},
		"another event": {"events": content{"x": content{}}}, "event is a text": {"events": content{"http://schemas.openid.net/event/backchannel-logout": "yes"}},
		"nonce": {"nonce": "n"}, "nobody": {"sub": nil,
			"sid": nil}, "no jti": {"jti": nil}, "future": {"iat": time.Now().Add(time.Hour).Unix()},
	} {
		_, err := at.LogoutToken(t.Context(), p.sign(t, changed(right, with)))
		require.True(t, fault.Is(err, fault.Unauthenticated), "%s: %v", name, err)
	}
	for name, raw := range map[string]string{"none": forged(t, `{"alg":"none"}`, right, nil), "HS256": forged(t, `{"alg":"HS256"}`, right, []byte("s3cret")),
		"another key": newIDP(t).sign(t, right), "empty": "", "an ID token": p.sign(t, p.idContent(oidc.Request{Nonce: "n"}))} {
		_, err := at.LogoutToken(t.Context(), raw)
		require.True(t, fault.Is(err, fault.Unauthenticated), "%s: %v", name, err)
	}
}

func TestAProviderThatIsDown(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	p.Close()
	_, _, err := at.Begin(t.Context(), false)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.Empty(t, at.LogoutURL("", "https://iris.test/login"))
}

// The time of the log-in comes from the signed token. A log-in that must be new is refused without a recent one.
func TestTimeOfTheLogIn(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	at := p.provider(t)
	now := time.Now().Truncate(time.Second)
	p.userInfo = content{"sub": "1", "auth_time": now.Unix()}
	finish := func(again bool, authTime any) (sso.Session, error) {
		r, address, err := at.Begin(t.Context(), again)
		require.NoError(t, err)
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, again, u.Query().Get("prompt") == "login" && u.Query().Get("max_age") == "300")
		p.mu.Lock()
		p.challenges["c"] = u.Query().Get("code_challenge")
		p.mu.Unlock()
		p.answer(p.sign(t, changed(p.idContent(r), content{"auth_time": authTime, "groups": nil})))
		_, session, err := at.Finish(t.Context(), r, answered(r))
		return session, err
	}
	for _, c := range []struct {
		sent any
		want time.Time
	}{{nil, time.Time{}}, {"soon", time.Time{}}, {-5, time.Time{}}, {now.Unix(), now}, {now.Add(-time.Hour).Unix(), now.Add(-time.Hour)}} {
		session, err := finish(false, c.sent)
		require.NoError(t, err)
		require.True(t, c.want.Equal(session.AuthTime), "%v: %v", c.sent, session.AuthTime)
	}
	session, err := finish(true, now.Unix())
	require.NoError(t, err)
	require.True(t, now.Equal(session.AuthTime))
	for _, sent := range []any{nil, "soon", now.Add(-time.Hour).Unix()} {
		_, err = finish(true, sent)
		require.True(t, fault.Is(err, fault.Unauthenticated), "%v: %v", sent, err)
	}
}

// TestAgainstTheTestProvider logs in at the library's own provider.
func TestAgainstTheTestProvider(t *testing.T) {
	t.Parallel()
	p := capoidc.StartTestProvider(t)
	p.SetClientCreds(client, "s3cret")
	p.SetAllowedRedirectURIs([]string{redirect})
	p.SetExpectedAuthCode("c")
	p.SetExpectedExpiry(time.Minute)
	p.SetCustomClaims(map[string]any{"preferred_username": "ana", "groups": []string{"ops"}})
	at, err := oidc.New(oidc.Config{Name: "corp", Issuer: p.Addr(), ClientID: client, ClientSecret: "s3cret",
		CA: p.CACert(), RedirectURL: redirect,
		NameClaim: "preferred_username", GroupsClaim: "groups"}, zap.NewNop())
	require.NoError(t, err)
	r, _, err := at.Begin(t.Context(), false)
	require.NoError(t, err)
	verifier, err := capoidc.NewCodeVerifier(capoidc.WithVerifier(r.Verifier))
	require.NoError(t, err)
	p.SetExpectedAuthNonce(r.Nonce)
	p.SetPKCEVerifier(verifier)
	id, _, err := at.Finish(t.Context(), r, answered(r))
	require.NoError(t, err)
	require.Equal(t, "ana", id.Name)
	require.Equal(t, []string{"ops"}, id.Groups)
	require.NotEmpty(t, id.Subject)
}
