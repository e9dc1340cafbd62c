package auth

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
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

func TestWithAnyPassword(t *testing.T) {
	t.Parallel()
	a := NewAccounts(fakeCredentials{
		"ann":  {users.User{ID: 1, Name: "ann", Active: true}, ""},
		"gone": {users.User{ID: 2, Name: "gone"}, ""},
	}, NewPasswords()).WithAnyPassword()
	user, err := a.Authenticate(t.Context(), "ann", "whatever")
	require.NoError(t, err)
	require.Equal(t, "ann", user.Name)
	for _, name := range []string{"gone", "nobody"} {
		_, err := a.Authenticate(t.Context(), name, "whatever")
		require.ErrorIs(t, err, ErrLogin, name)
	}
	_, err = a.Authenticate(t.Context(), "broken", "whatever")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

// fakeDirectory has passwords by name; the value is its spelling of the name.
type fakeDirectory struct {
	people map[string]string
	away   bool
	asked  []string
	came   []string
}

func (f *fakeDirectory) Check(_ context.Context, name, password string) (directory.Entry, error) {
	f.asked = append(f.asked, name)
	switch spelled, ok := f.people[name]; {
	case f.away:
		return directory.Entry{}, fault.Wrap(fault.Unavailable, io.EOF, "the directory cannot be reached")
	case !ok || password != "theirs":
		return directory.Entry{}, fault.New(fault.Unauthenticated, "no")
	default:
		return directory.Entry{Name: spelled}, nil
	}
}

func (f *fakeDirectory) Store(_ context.Context, e directory.Entry) error {
	f.came = append(f.came, e.Name)
	return nil
}

func TestDirectoryIsTriedAfterPasswordsOfIris(t *testing.T) {
	t.Parallel()
	p := NewPasswords()
	hash, err := p.Hash(t.Context(), "ours")
	require.NoError(t, err)
	here := fakeCredentials{
		"both": {users.User{ID: 1, Name: "both", Active: true}, hash},
		"ann":  {users.User{ID: 2, Name: "ann", Active: true}, ""},
		"gone": {users.User{ID: 3, Name: "gone"}, hash},
	}
	d := &fakeDirectory{people: map[string]string{"both": "both", "ann": "ann", "Ann ": "ann", "gone": "gone",
		"new": "new", "ａnn": "ann"}}
	a := NewAccounts(here, p).WithDirectory(d, nil)
	check := func(name, password, want string, err error) {
		t.Helper()
		user, got := a.Authenticate(t.Context(), name, password)
		require.Equal(t, want, user.Name)
		require.ErrorIs(t, got, err)
	}
	check("both", "ours", "both", nil)
	require.Empty(t, d.asked, "our own passwords go nowhere")
	check("both", "theirs", "both", nil)
	check("ann", "theirs", "ann", nil)
	check("ａnn", "theirs", "ann", nil) // the directory's spelling decides who the person is
	check("ann", "wrong", "", ErrLogin)
	check("gone", "theirs", "", ErrLogin)
	check("gone", "ours", "", ErrLogin)
	check("new", "theirs", "", ErrUnknownPerson)
	d.asked = nil
	check("nobody", "theirs", "", ErrLogin)
	require.Equal(t, []string{"nobody"}, d.asked, "names that nobody has take as long")
	d.asked = nil
	check("ann", "", "", ErrLogin)
	check("ann", strings.Repeat("x", maxPassword+1), "", ErrLogin)
	require.Empty(t, d.asked)
	require.Empty(t, d.came, "nobody is added unless that is wanted")

	d.away = true
	check("both", "ours", "both", nil)
	check("ann", "theirs", "", ErrDirectoryUnavailable)
	check("nobody", "theirs", "", ErrDirectoryUnavailable)
	_, err = a.Authenticate(t.Context(), "ann", "theirs")
	require.True(t, fault.Is(err, fault.Unavailable))
	require.NotContains(t, fault.Public(err), "EOF")

	d.away = false
	a = a.WithDirectory(d, d)
	check("new", "theirs", "", ErrUnknownPerson) // the fake stores nothing
	check("ann", "wrong", "", ErrLogin)
	require.Equal(t, []string{"new"}, d.came, "whoever gives the right password, and nobody else")
	require.NotNil(t, a.WithAnyPassword().directory)
}
