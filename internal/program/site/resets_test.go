package site

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// SealForRecipient stands for encryption.
func (plainKeys) SealForRecipient(secret, destination string) string {
	return "sealed-" + secret + "-for-" + destination
}

// resets stores the links of ann, sends the mails, and hashes passwords.
type resets struct {
	links  map[string]bool // by hash
	mails  []string
	stored string // the hash of the new password
	noMail bool
}

var annReset = accounts.Addressee{User: users.User{ID: 1, Name: "ann"}, Address: "ann@example.com"}

func (s *resets) Add(_ context.Context, login string, hash []byte, _ time.Duration, _ string) (accounts.Addressee, error) {
	if login != "ann" {
		return accounts.Addressee{}, fault.New(fault.NotFound, "nobody")
	}
	s.links = map[string]bool{string(hash): true}
	return annReset, nil
}

func (s *resets) Find(_ context.Context, hash []byte) (accounts.Addressee, error) {
	if !s.links[string(hash)] {
		return accounts.Addressee{}, accounts.ErrLink
	}
	return annReset, nil
}

func (s *resets) Use(ctx context.Context, hash []byte, passwordHash string) (accounts.Addressee, error) {
	found, err := s.Find(ctx, hash)
	if err == nil {
		s.links, s.stored = nil, passwordHash
	}
	return found, err
}

func (s *resets) Send(_ context.Context, to, subject, body string, _ time.Duration) error {
	s.mails = append(s.mails, to+": "+subject+": "+body)
	return nil
}

func (s *resets) can(context.Context) (bool, error) { return !s.noMail, nil }

func (s *resets) HashNew(_ context.Context, password string) (string, error) {
	if len(password) < 8 {
		return "", fault.Invalidf("password", "the password must have at least 8 characters")
	}
	return "hash of " + password, nil
}

func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	_, body := b.get("/login")
	require.Contains(t, body, `href="/login/password"`)
	var answers []string
	for _, login := range []string{"ann", "nobody", ""} {
		status, body := b.post("/login/password", url.Values{"login": {login}}, "Host", "evil.test",
			"X-Forwarded-Host", "evil.test")
		require.Equal(t, http.StatusOK, status)
		answers = append(answers, body)
	}
	require.Equal(t, answers[0], answers[1], "the answer does not reveal whether there is such a person")
	require.Equal(t, answers[0], answers[2])
	require.Len(t, w.resets.mails, 1)
	found := regexp.MustCompile(`https://iris.test/login/password/sealed-([A-Z2-7]{52})-for-ann@example.com\n`).FindStringSubmatch(w.resets.mails[0])
	require.Len(t, found, 2, "the link begins with the configured address, and is sealed: %s", w.resets.mails[0])
	link := "/login/password/" + found[1]

	for range 2 { // mail scanners follow links
		_, body = b.get(link)
		require.Contains(t, body, `value="ann"`)
	}
	for _, wrong := range []url.Values{{"password": {"long enough"}, "again": {"other words"}}, {"password": {"short"}, "again": {"short"}}} {
		status, body := b.post(link, wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, body, `role="alert"`)
	}
	status, _ := b.post(link[:len(link)-1], url.Values{"password": {"long enough"}, "again": {"long enough"}})
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, w.resets.stored)
	status, body = b.post(link, url.Values{"password": {"long enough"}, "again": {"long enough"},
		"end_tokens": {"true"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "Your password is set")
	require.Contains(t, body, "2 personal tokens have ended.")
	require.Equal(t, "hash of long enough", w.resets.stored)
	require.Contains(t, w.resets.mails[1], "your password was changed")
	for _, visit := range []func() (int, string){
		func() (int, string) { return b.get(link) },
		func() (int, string) {
			return b.post(link, url.Values{"password": {"long enough"}, "again": {"long enough"}})
		},
	} {
		status, body = visit()
		require.Equal(t, http.StatusNotFound, status)
		require.Contains(t, body, "This link is not valid")
	}
	_, body = b.get("/incidents")
	require.Contains(t, body, `name="password"`, "a reset logs nobody in")
}

func TestForgottenPasswordIsLimited(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	for range 20 {
		status, _ := b.post("/login/password", url.Values{"login": {"ann"}})
		require.Equal(t, http.StatusOK, status)
	}
	status, body := b.post("/login/password", url.Values{"login": {"ann"}})
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Contains(t, body, "Too many links")
}

func TestForgottenPasswordWithoutMail(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.resets.noMail = true
	_, body := b.get("/login/password")
	require.True(t, strings.Contains(body, "sends no mails") &&
		!strings.Contains(body, "<form method=\"post\" action=\"/login/password\""))
}
