package auth

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

type fakeCredentials map[string]struct {
	user users.User
	hash string
}

func (f fakeCredentials) Credentials(_ context.Context, name string) (users.User, string, error) {
	if name == "broken" {
		return users.User{}, "", fault.New(fault.Unavailable, "database away")
	}
	c, ok := f[name]
	if !ok {
		return users.User{}, "", fault.New(fault.NotFound, "not found")
	}
	return c.user, c.hash, nil
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	hash, err := p.Hash(t.Context(), "demo")
	require.NoError(t, err)
	a := NewAccounts(fakeCredentials{
		"demo": {users.User{ID: 1, Name: "demo", Active: true}, hash},
		"gone": {users.User{ID: 2, Name: "gone"}, hash},
		"none": {users.User{ID: 3, Name: "none", Active: true}, ""},
	}, p)
	user, err := a.Authenticate(t.Context(), "demo", "demo")
	require.NoError(t, err)
	require.Equal(t, "demo", user.Name)
	for _, c := range [][2]string{{"demo", "Demo"}, {"demo", ""}, {"gone", "demo"}, {"none", ""}, {"none", "demo"}, {"nobody", "demo"}} {
		_, err := a.Authenticate(t.Context(), c[0], c[1])
		require.ErrorIs(t, err, ErrLogin, c)
	}
	_, err = a.Authenticate(t.Context(), "broken", "demo")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}
