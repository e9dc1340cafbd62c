package site

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/users"
)

// HashCode stands for a keyed hash.
func (plainKeys) HashCode(code, purpose string) []byte {
	return fmt.Appendf(nil, "%s %s", purpose, code)
}

// factors keeps the second factor of ann; nil = none.
type factors struct{ kept *accounts.Factor }

func (f *factors) Factor(_ context.Context, user users.ID) (accounts.Factor, error) {
	if f.kept == nil || user != 1 {
		return accounts.Factor{}, accounts.ErrNoFactor
	}
	return *f.kept, nil
}

func (f *factors) Save(_ context.Context, _ users.User, to accounts.Factor, _ string) error {
	f.kept = &to
	return nil
}

func (f *factors) Try(ctx context.Context, user users.ID, judge func(accounts.Factor) (accounts.Tried, error)) (accounts.Tried, error) {
	now, err := f.Factor(ctx, user)
	if err != nil {
		return accounts.Tried{}, err
	}
	tried, err := judge(now)
	if err == nil {
		f.kept.LastStep, f.kept.Failures, f.kept.RetryAt = tried.LastStep, tried.Failures, tried.RetryAt
		f.kept.Recovery = slices.DeleteFunc(f.kept.Recovery,
			func(h []byte) bool { return bytes.Equal(h, tried.UsedRecovery) })
	}
	return tried, err
}

func (f *factors) SetRecovery(_ context.Context, _ users.User, hashes [][]byte, _ string) error {
	f.kept.Recovery = hashes
	return nil
}

func (f *factors) Remove(context.Context, users.User, string) error {
	f.kept = nil
	return nil
}

// set gives ann a second factor and returns its secret.
func (f *factors) set(t *testing.T) (secret string) {
	t.Helper()
	p, err := accounts.NewFactors(f, plainKeys{}, accounts.Optional, "Iris").Begin(users.User{ID: 1, Name: "ann"})
	require.NoError(t, err)
	f.kept = &accounts.Factor{Secret: p.Sealed}
	return p.Secret
}

func codeOf(t *testing.T, secret string) url.Values {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	require.NoError(t, err)
	return url.Values{"code": {code}}
}

var typedSecret = regexp.MustCompile(`class="mono secret">([A-Z2-7]+)<`)

func secretOn(t *testing.T, body string) string {
	t.Helper()
	found := typedSecret.FindStringSubmatch(body)
	require.Len(t, found, 2, body)
	return found[1]
}

func TestThePasswordAloneIsNotEnough(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	secret := w.factors.set(t)
	_, body := b.post("/login/?next=/silences", right)
	require.Equal(t, "/login/second-factor", b.at.Path)
	require.Contains(t, body, `autocomplete="one-time-code"`)
	for _, path := range []string{"/incidents", "/account/second-factor", "/account/second-factor/set-up"} {
		_, body = b.get(path)
		require.Contains(t, body, `name="password"`, path)
	}
	_, body = b.get("/login/second-factor/set-up")
	require.NotContains(t, body, "secret", "the password cannot replace the second factor")
	status, _ := b.post("/login/second-factor/set-up", codeOf(t, secret))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "/login/second-factor", b.at.Path)

	status, body = b.post("/login/second-factor?next=/silences", url.Values{"code": {"000000x"}})
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "The code is wrong")
	b.post("/login/second-factor?next=/silences", codeOf(t, secret))
	require.Equal(t, "/silences", b.at.Path)
	_, body = b.get("/login/second-factor")
	require.NotContains(t, body, "one-time-code", "the log-in is over")
}

func TestPendingLogInsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world){
		"with a new password":                  func(w *world) { w.ann.LoginEpoch++ },
		"when switched off":                    func(w *world) { w.ann.Active = false },
		"when the name goes to another person": func(w *world) { w.ann.ID++ },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := setup(t)
			secret := w.factors.set(t)
			b.post("/login/", right)
			end(w)
			_, body := b.post("/login/second-factor", codeOf(t, secret))
			require.Contains(t, body, `name="password"`)
			require.Contains(t, body, "Begin again")
			_, body = b.get("/incidents")
			require.Contains(t, body, `name="password"`)
		})
	}
}

func TestAPendingLogInEndsTheSessionBefore(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.factors.set(t)
	b.post("/login/", right)
	_, body := b.get("/incidents")
	require.Contains(t, body, `name="password"`)
}

func TestAnAdministratorMustSetUpASecondFactor(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.Admin = true
	_, body := b.post("/login/?next=/silences", right)
	require.Equal(t, "/login/second-factor/set-up", b.at.Path)
	secret := secretOn(t, body)
	require.Contains(t, body, `src="data:image/png;base64,`, "the picture needs no other host")
	require.Contains(t, body, `href="otpauth://totp/`)
	_, body = b.get("/incidents")
	require.Contains(t, body, `name="password"`, "no rights before the set-up")
	_, body = b.get("/login/second-factor")
	require.Equal(t, secret, secretOn(t, body), "the secret stays while the person sets up")
	status, body := b.post("/login/second-factor/set-up?next=/silences", url.Values{"code": {"1"}})
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, secret, secretOn(t, body))
	require.Nil(t, w.factors.kept)

	status, body = b.post("/login/second-factor/set-up?next=/silences", codeOf(t, secret))
	require.Equal(t, http.StatusOK, status)
	require.Len(t, regexp.MustCompile(`<li>[A-Z2-7]{5}-[A-Z2-7]{5}</li>`).FindAllString(body, -1), 10)
	require.Contains(t, body, `href="/silences"`)
	_, body = b.get("/incidents")
	require.Contains(t, body, "Escalating")
	_, body = b.get("/account/second-factor")
	require.Contains(t, body, "10 recovery codes are left")
	require.NotContains(t, body, "/remove", "the policy requires it")
	status, _ = b.post("/account/second-factor/remove", right)
	require.Equal(t, http.StatusForbidden, status)
	require.NotNil(t, w.factors.kept)
}

func TestOwnSecondFactor(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/account/second-factor/set-up")
	require.Contains(t, body, `name="password"`, "a set-up begins with the password")
	status, body := b.post("/account/second-factor/set-up", url.Values{"code": {"1"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `name="password"`)
	for _, path := range []string{"", "/remove", "/recovery-codes"} {
		status, body = b.post("/account/second-factor"+path, url.Values{"password": {"wrong"}})
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "The password is wrong")
		status, _ = b.post("/account/second-factor"+path, right, "Sec-Fetch-Site", "cross-site")
		require.Equal(t, http.StatusForbidden, status)
	}
	_, body = b.post("/account/second-factor", right)
	secret := secretOn(t, body)
	_, body = b.post("/account/second-factor/set-up", codeOf(t, secret))
	require.Contains(t, body, "Recovery codes")
	_, body = b.post("/account/second-factor", right)
	other := secretOn(t, body)
	require.NotEqual(t, secret, other)
	_, body = b.get("/incidents")
	require.Contains(t, body, "Escalating")
	before := *w.factors.kept
	_, body = b.post("/account/second-factor/recovery-codes", right)
	require.Contains(t, body, "Recovery codes")
	require.Equal(t, before.Secret, w.factors.kept.Secret, "the old one counts until the new one is confirmed")
	require.NotEqual(t, before.Recovery, w.factors.kept.Recovery)
	_, body = b.post("/account/second-factor/remove", right)
	require.Contains(t, body, "is removed")
	require.Nil(t, w.factors.kept)
}

func TestANewPasswordMayEndTokens(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	form := url.Values{"password": {"right"}, "new_password": {"another one"}, "again": {"another one"}}
	_, body := b.post("/account/password", form)
	require.Contains(t, body, "Personal tokens still work.")
	require.Zero(t, w.revoked)
	form.Set("end_tokens", "true")
	_, body = b.post("/account/password", form)
	require.Contains(t, body, "2 personal tokens have ended.")
	require.Equal(t, 1, w.revoked)
}

func TestPasswordKeptElsewhere(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/account/second-factor")
	require.Contains(t, body, `action="/account/password"`)
	w.elsewhere = true
	_, body = b.get("/account/second-factor")
	require.NotContains(t, body, `action="/account/password"`)
	require.Contains(t, body, "Iris keeps no password for you")
	status, body := b.post("/account/password", url.Values{"password": {"right"}, "new_password": {"another one"},
		"again": {"another one"}})
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "change it where you log in")
}

func TestOncallLogInWithASecondFactor(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.Admin = true
	status, body := b.post("/login", right)
	require.Equal(t, http.StatusUnauthorized, status)
	require.JSONEq(t, `{"title":"Second factor required","description":"log in on the page of Iris and set up a second factor"}`, body)
	secret := w.factors.set(t)
	status, body = b.post("/login", right)
	require.Equal(t, http.StatusUnauthorized, status)
	require.JSONEq(t, `{"title":"Second factor required","description":"send the code in the field second_factor"}`,
		body)
	form := url.Values{"username": {"ann"}, "password": {"right"}, "second_factor": {"wrong"}}
	status, body = b.post("/login", form)
	require.Equal(t, http.StatusUnauthorized, status)
	require.JSONEq(t, `{"title":"Authentication failure","description":"the code of the second factor is wrong, or was used already"}`, body)
	_, body = b.get("/incidents")
	require.Contains(t, body, `name="password"`)
	form.Set("second_factor", codeOf(t, secret).Get("code"))
	status, _ = b.post("/login", form)
	require.Equal(t, http.StatusOK, status)
	_, body = b.get("/incidents")
	require.Contains(t, body, "Escalating")
}
