package site

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/sso/oidc"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

const idpIssuer = "https://idp.test"

// plainKeys stands for encryption: it only knows its own texts.
type plainKeys struct{}

func (plainKeys) Seal(plain []byte, about string) []byte { return append([]byte(about+"|"), plain...) }

func (plainKeys) Unseal(sealed []byte, about string) ([]byte, error) {
	plain, ok := strings.CutPrefix(string(sealed), about+"|")
	if !ok {
		return nil, fault.New(fault.Invalid, "altered")
	}
	return []byte(plain), nil
}

// provider is a provider that confirms an account, and the store of its sessions.
type provider struct {
	begun    int
	err      error
	finished []string // the states of finished log-ins
	authTime time.Time
	used     map[string]bool
	sessions map[string]sso.Session
	ended    []string
}

func (p *provider) Begin(context.Context, bool) (oidc.Request, string, error) {
	p.begun++
	state := strings.Repeat("s", p.begun)
	return oidc.Request{State: state, Nonce: "n", Verifier: "v"}, idpIssuer + "/auth?state=" + state, p.err
}

func (p *provider) CheckAnswer(r oidc.Request, answer url.Values) error {
	if answer.Get("state") != r.State {
		return fault.New(fault.Unauthenticated, "foreign state")
	}
	return nil
}

func (p *provider) Finish(_ context.Context, r oidc.Request, _ url.Values) (sso.Identity, sso.Session, error) {
	p.finished = append(p.finished, r.State)
	return sso.Identity{Provider: "corp", Issuer: idpIssuer, Subject: "1"}, sso.Session{Issuer: idpIssuer, Subject: "1", Sid: "sid", IDToken: "jwt", AuthTime: p.authTime}, p.err
}

func (p *provider) LogoutURL(idToken, after string) string {
	return idpIssuer + "/logout?" + url.Values{"id_token_hint": {idToken}, "post_logout_redirect_uri": {after}}.Encode()
}

func (p *provider) LogoutToken(_ context.Context, raw string) (oidc.Logout, error) {
	if raw == "" {
		return oidc.Logout{}, fault.New(fault.Unauthenticated, "no token")
	}
	return oidc.Logout{Subject: "1", Sid: "sid", ID: raw}, nil
}

func (p *provider) Began(_ context.Context, token string, from sso.Session) error {
	if p.sessions == nil {
		p.sessions = map[string]sso.Session{}
	}
	p.sessions[token] = from
	return nil
}

func (p *provider) Of(_ context.Context, token string) (sso.Session, error) {
	return p.sessions[token], nil
}

func (p *provider) End(_ context.Context, issuer, subject, sid string) (int64, error) {
	p.ended = append(p.ended, issuer+" "+subject+" "+sid)
	return 1, nil
}

func (p *provider) Use(_ context.Context, value string, _ time.Duration) (bool, error) {
	if p.used == nil {
		p.used = map[string]bool{}
	}
	first := !p.used[value]
	p.used[value] = true
	return first, nil
}

// admit logs ann in for subject 1.
func (w *world) admit(_ context.Context, id sso.Identity) (users.User, error) {
	if id.Subject != "1" {
		return users.User{}, sso.ErrNotLinked
	}
	return w.ann, nil
}

// begin begins a log-in and returns where it leads.
func (b *browser) begin(next string) string {
	b.t.Helper()
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer func() { b.CheckRedirect = nil }()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+"/login/sso/corp?next="+url.QueryEscape(next), nil)
	require.NoError(b.t, err)
	resp, err := b.Do(req)
	require.NoError(b.t, err)
	require.NoError(b.t, resp.Body.Close())
	require.Equal(b.t, http.StatusFound, resp.StatusCode)
	return resp.Header.Get("Location")
}

func TestLogInWithAnAccountOfAProvider(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	_, body := b.get("/login?next=/silences")
	require.Contains(t, body, `href="/login/sso/corp?next=%2fsilences"`)
	require.Contains(t, body, "Log in with Corp")
	require.Contains(t, body, `name="password"`)

	require.Equal(t, idpIssuer+"/auth?state=s", b.begin("/silences"))
	cookie := b.cookie("iris-login")
	status, body := b.get("/login/sso/corp/callback?state=s&code=c")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `>Log out<`)
	require.Empty(t, b.cookie("iris-login"))
	require.Len(t, w.idp.sessions, 1)

	_, body = b.post("/logout/", nil)
	require.Contains(t, body, `id_token_hint=jwt`)
	require.Contains(t, body, `http-equiv="refresh"`)
	require.Contains(t, body, "https://idp.test/logout?")
	_, body = b.get("/silences")
	require.Contains(t, body, `name="password"`)

	b.setCookie("iris-login", cookie)
	_, body = b.get("/login/sso/corp/callback?state=s&code=c")
	require.Contains(t, body, "took too long", "a state is used once")
	require.Equal(t, []string{"s"}, w.idp.finished)
}

// Only the time at which the person logged in at the provider counts: a log-in without a question is not recent.
func TestASilentLogInIsNotRecent(t *testing.T) {
	t.Parallel()
	fromCommandLine := url.Values{"answer": {"allow"}, "port": {"49152"}, "state": {"s"}, "challenge": {strings.Repeat("A", 43)}, "name": {"laptop"}, "scopes": {"read"}}
	for name, c := range map[string]struct {
		authTime time.Time
		recent   bool
	}{"unknown": {}, "old": {authTime: time.Now().Add(-2 * time.Hour)}, "recent": {authTime: time.Now(), recent: true}} {
		w, b := setup(t)
		w.idp.authTime = c.authTime
		b.begin("/silences")
		_, body := b.get("/login/sso/corp/callback?state=s&code=c")
		require.Contains(t, body, `>Log out<`, name)
		b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		status, body := b.post("/login/command-line", fromCommandLine)
		require.Equal(t, !c.recent, status == http.StatusForbidden && strings.Contains(body, "Confirm that it is you"), "%s: %d", name, status)
	}
	_, b := setup(t)
	_, body := b.get("/silences", "X-Subject", "1")
	require.Contains(t, body, `>Log out<`)
	_, body = b.post("/login/command-line", fromCommandLine, "X-Subject", "1")
	require.Contains(t, body, "Confirm that it is you", "the proxy names no time")
}

func TestAttacksOnTheLogIn(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	for name, forge := range map[string]func() (path string){
		"no attempt":       func() string { return "/login/sso/corp/callback?state=s&code=c" },
		"foreign state":    func() string { b.begin("/"); return "/login/sso/corp/callback?state=other&code=c" },
		"altered attempt":  func() string { b.setCookie("iris-login", "x"); return "/login/sso/corp/callback?state=s&code=c" },
		"foreign sealing":  func() string { b.seal("other|", "corp", time.Minute); return "/login/sso/corp/callback?state=s&code=c" },
		"expired":          func() string { b.seal("", "corp", -time.Second); return "/login/sso/corp/callback?state=s&code=c" },
		"another provider": func() string { b.seal("", "other", time.Minute); return "/login/sso/corp/callback?state=s&code=c" },
	} {
		_, body := b.get(forge())
		require.Contains(t, body, `role="alert"`, name)
		require.Contains(t, body, `name="password"`, name)
	}
	require.Empty(t, w.idp.finished)
	status, _ := b.get("/login/sso/unknown")
	require.Equal(t, http.StatusNotFound, status)

	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`} {
		state := strings.TrimPrefix(b.begin(next), idpIssuer+"/auth?state=")
		b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/login/sso/corp/callback?code=c&state="+state, nil)
		require.NoError(t, err)
		resp, err := b.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, "/", resp.Header.Get("Location"), next)
		b.CheckRedirect = nil
	}
}

func TestAProviderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.idp.err = fault.New(fault.Unavailable, "away")
	_, body := b.get("/login/sso/corp")
	require.Contains(t, body, "Corp cannot be reached")
	w.idp.err = nil
	b.begin("")
	w.idp.err = sso.ErrNotLinked
	_, body = b.get("/login/sso/corp/callback?code=c&state=ss")
	require.Contains(t, body, "ask an administrator to link it")
	b.login()
}

func TestLogoutAnnouncedByTheProvider(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	status, _ := b.post("/login/sso/corp/backchannel", url.Values{"logout_token": {"t"}})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []string{idpIssuer + " 1 sid"}, w.idp.ended)
	status, _ = b.post("/login/sso/corp/backchannel", url.Values{"logout_token": {"t"}})
	require.Equal(t, http.StatusBadRequest, status, "used twice")
	status, _ = b.post("/login/sso/corp/backchannel", url.Values{})
	require.Equal(t, http.StatusBadRequest, status)
	require.Len(t, w.idp.ended, 1)
}

func TestLogInBehindAProxy(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	_, body := b.get("/silences", "X-Subject", "1")
	require.Contains(t, body, `>Log out<`)
	_, body = b.get("/silences", "X-Subject", "2")
	require.Contains(t, body, "ask an administrator to link it", "the proxy names another account")
	_, body = b.get("/silences", "X-Subject", "1")
	require.Contains(t, body, `>Log out<`)
	_, body = b.post("/logout/", nil, "X-Subject", "1")
	require.Contains(t, body, `content="0; url=/bye"`)
	_, body = b.get("/silences", "X-Subject", "1")
	require.Contains(t, body, `>Log out<`)
	_, body = b.get("/silences")
	require.Contains(t, body, `name="password"`, "the proxy names nobody any more")
	b.login()
	_, body = b.get("/silences", "X-Subject", "2")
	require.Contains(t, body, `>Log out<`, "a session with a password does not follow the proxy")
}

// cookie returns the value of a cookie of the browser.
func (b *browser) cookie(name string) string {
	u, _ := url.Parse(b.base)
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (b *browser) setCookie(name, value string) {
	u, _ := url.Parse(b.base)
	b.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// seal gives the browser an attempt at a provider.
func (b *browser) seal(before, name string, life time.Duration) {
	plain := `{"Provider":"` + name + `","Request":{"State":"s"},"Until":"` + time.Now().Add(life).Format(time.RFC3339Nano) + `"}`
	b.setCookie("iris-login", base64.RawURLEncoding.EncodeToString([]byte(before+"log-in at an identity provider|"+plain)))
}
