package wire

import (
	"context"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

type counted struct {
	user users.User
}

func (c *counted) ByName(context.Context, string) (users.User, error) {

	return c.user, nil
}

func TestASessionEndsWithItsPerson(t *testing.T) {
	t.Parallel()
	sessions := scs.New()
	ctx, err := sessions.Load(t.Context(), "")
	require.NoError(t, err)
	people := &counted{user: users.User{ID: 7, Name: "ann", Active: true, LoginEpoch: 1}}
	_, err = BeginSession(ctx, sessions, "user", people.user, "password", time.Now())
	require.NoError(t, err)
	_, ok, err := SessionUser(ctx, sessions, "user", people)
	require.NoError(t, err)
	require.True(t, ok)
	was := people.user
	for _, change := range []func(*users.User){func(u *users.User) { u.Active = false }, func(u *users.User) { u.LoginEpoch++ },
		func(u *users.User) { u.ID = 8 }} {
		people.user = was
		change(&people.user)
		_, ok, err = SessionUser(ctx, sessions, "user", people)
		require.NoError(t, err)
		require.False(t, ok, "the session has ended")
	}
}

func TestASessionFollowsTheProxy(t *testing.T) {
	t.Parallel()
	sessions := scs.New()
	people := &counted{user: users.User{ID: 7, Name: "ann", Active: true}}
	for named, lives := range map[string]bool{"ann@example.com": true, "ben@example.com": false, "": false} {
		ctx, err := sessions.Load(t.Context(), "")
		require.NoError(t, err)
		_, err = BeginSession(ctx, sessions, "user", people.user, "proxy", time.Time{})
		require.NoError(t, err)
		BindToProxy(ctx, sessions, "ann@example.com")
		require.False(t, LoggedInWithin(ctx, sessions, time.Hour), "the proxy named no time")
		ctx = WithProxyAccount(ctx, ProxyAccount{Subject: named, AuthTime: time.Now().Add(time.Hour)})
		_, ok, err := SessionUser(ctx, sessions, "user", people)
		require.NoError(t, err)
		require.Equal(t, lives, ok, named)
		require.Equal(t, lives, LoggedInWithin(ctx, sessions, time.Hour), named)
		_, ok, err = SessionUser(WithProxyAccount(ctx, ProxyAccount{Subject: "ann@example.com"}), sessions, "user",
			people)
		require.NoError(t, err)
		require.Equal(t, lives, ok, "an ended session stays ended")
	}
}
