package site

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// invited keeps one invitation, by the hash of its link.
type invited struct {
	kept     accounts.Invitation
	hash     string // "" = there is none
	accepted string // hash of the password
}

func (s *invited) Add(_ context.Context, i accounts.Invitation, hash []byte, _ time.Duration) (accounts.Invitation, error) {
	if i.Name == "taken" {
		return i, fault.New(fault.Conflict, "a user named taken exists already")
	}
	s.kept, s.hash = i, string(hash)
	s.kept.ID = 7
	return s.kept, nil
}

func (s *invited) Renew(_ context.Context, _ int64, hash []byte, _ time.Duration, _ string) (accounts.Invitation, error) {
	s.hash = string(hash)
	return s.kept, nil
}

func (s *invited) Page(context.Context, int64, int) ([]accounts.Invitation, error) {
	if s.hash == "" {
		return nil, nil
	}
	return []accounts.Invitation{s.kept}, nil
}

func (s *invited) Revoke(context.Context, int64, string) error {
	s.hash = ""
	return nil
}

func (s *invited) Find(_ context.Context, hash []byte) (accounts.Invitation, error) {
	if s.hash == "" || s.hash != string(hash) {
		return accounts.Invitation{}, accounts.ErrLink
	}
	return s.kept, nil
}

// Accept makes the invited person ann, whom the pages find.
func (s *invited) Accept(ctx context.Context, hash []byte, passwordHash string) (users.User, error) {
	_, err := s.Find(ctx, hash)
	if err == nil {
		s.hash, s.accepted = "", passwordHash
	}
	return users.User{ID: 1, Name: "ann", Active: true, Admin: s.kept.Role == "admin"}, err
}

var invitationLink = regexp.MustCompile(`https://iris.test(/invitation/)sealed-([A-Z2-7]{52})-for-zoe@example.com\n`)

// link returns the address in the newest mail.
func (w *world) link(t *testing.T) string {
	t.Helper()
	found := invitationLink.FindStringSubmatch(w.resets.mails[len(w.resets.mails)-1])
	require.Len(t, found, 3, w.resets.mails)
	return found[1] + found[2]
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	zoe := url.Values{"name": {"zoe"}, "full_name": {"<b>Zoe"}, "email": {"zoe@example.com"}, "teams": {" ops, db ,"}}
	b.login()
	for _, visit := range []func() (int, string){
		func() (int, string) { return b.get("/invitations") },
		func() (int, string) { return b.post("/invitations", zoe) },
		func() (int, string) { return b.post("/invitations/7/send", nil) },
		func() (int, string) { return b.post("/invitations/7/revoke", nil) },
	} {
		status, _ := visit()
		require.Equal(t, http.StatusForbidden, status, "only administrators")
	}
	w.ann.Admin = true
	for field, wrong := range map[string]string{"name": "taken", "email": "zoe", "role": "root"} {
		form := url.Values{"name": {"zoe"}, "email": {"zoe@example.com"}}
		form.Set(field, wrong)
		status, body := b.post("/invitations", form)
		require.Equal(t, http.StatusUnprocessableEntity, status, field)
		require.Contains(t, body, `role="alert"`)
	}
	require.Empty(t, w.resets.mails)
	status, body := b.post("/invitations", zoe)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "&lt;b&gt;Zoe")
	require.Equal(t, []string{"ops", "db"}, w.invited.kept.Teams)
	require.Equal(t, "ann", w.invited.kept.InvitedBy)
	first := w.link(t)
	b.post("/invitations/7/send", nil)
	second := w.link(t)
	require.NotEqual(t, first, second)
	status, _ = b.get(first)
	require.Equal(t, http.StatusNotFound, status, "the earlier link is void")
	b.post("/invitations/7/revoke", nil)
	status, _ = b.get(second)
	require.Equal(t, http.StatusNotFound, status)
	w.resets.noMail = true
	_, body = b.get("/invitations")
	require.Contains(t, body, "sends no mails")
	status, _ = b.post("/invitations", zoe)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Len(t, w.resets.mails, 2)
}

func TestInvitedPeopleChooseAPassword(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	w.ann.Admin = true // the policy requires a second factor of administrators
	b.post("/login/", right)
	_, err := accounts.Invitations{InvitationStore: &w.invited, Mail: &w.resets, Mails: w.resets.can,
		Keys: plainKeys{}, PublicURL: "https://iris.test"}.
		Invite(t.Context(), accounts.Invitation{Name: "ann", Email: "zoe@example.com", Role: "admin"})
	require.NoError(t, err)
	link := w.link(t)
	for range 2 {
		_, body := b.get(link)
		require.Contains(t, body, `value="ann"`)
	}
	for _, wrong := range []url.Values{{"password": {"long enough"}, "again": {"other words"}}, {"password": {"short"}, "again": {"short"}}} {
		status, _ := b.post(link, wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status)
	}
	require.Empty(t, w.invited.accepted)
	b.post(link, url.Values{"password": {"long enough"}, "again": {"long enough"}})
	require.Equal(t, "hash of long enough", w.invited.accepted)
	require.Equal(t, "/login/second-factor/set-up", b.at.Path)
	status, _ := b.post(link, url.Values{"password": {"long enough"}, "again": {"long enough"}})
	require.Equal(t, http.StatusNotFound, status, "the link works once")
}
