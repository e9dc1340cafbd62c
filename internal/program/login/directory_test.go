package login

import (
	"context"
	"io"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/directories"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// answers is a directory that gives the same answer for everybody.
type answers struct {
	entry directory.Entry
	err   error
}

func (a *answers) Check(context.Context, string, string) (directory.Entry, error) {
	return a.entry, a.err
}

func TestADirectoryOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	d := &answers{}
	p := newCheckedPasswords(zap.New(core), prometheus.NewRegistry())
	p.directory = d
	ask := func(ctx context.Context, err error) {
		t.Helper()
		d.err = err
		_, got := p.Check(ctx, "ann", "secret")
		require.Equal(t, err, got)
	}
	away := fault.Wrap(fault.Unavailable, io.EOF, "away")
	left, cancel := context.WithCancel(t.Context())
	cancel()
	ask(left, away)
	require.Zero(t, logs.Len(), "whoever asked has left")
	ask(t.Context(), away)
	ask(t.Context(), away)
	require.Equal(t, 1, logs.FilterMessage("directory does not answer: only local passwords work").Len())
	ask(t.Context(), fault.New(fault.Unauthenticated, "no"))
	ask(t.Context(), nil)
	require.Equal(t, 1, logs.FilterMessage("directory answers again").Len())
	for outcome, want := range map[string]float64{"unavailable": 3, "wrong": 1, "right": 1} {
		require.InDelta(t, want, testutil.ToFloat64(p.answers.WithLabelValues(outcome)), 0, outcome)
	}
	for _, e := range logs.All() {
		require.NotContains(t, e.ContextMap(), "name")
	}
}

func TestEveryoneInTheDirectoryMayLogIn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	rows, store := pg.NewUsers(db), pg.NewDirectorySync(db, "log-in")
	d := &answers{entry: directory.Entry{Name: "Ann", FullName: "Ann Lee", Email: "ann@example.com",
		Phone: "079 123 45 67"}}
	rules, err := directories.Rules(config.Sync{PhoneRegion: "CH", SlackContact: "none"})
	require.NoError(t, err)
	accounts := auth.NewAccounts(rows, auth.NewPasswords()).WithDirectory(d,
		&newcomers{store: store, rules: rules, stores: true})
	u, err := accounts.Authenticate(t.Context(), "ANN", "theirs")
	require.NoError(t, err)
	require.Equal(t, "Ann", u.Name, "as the directory spells it")
	require.Equal(t, "Ann Lee", u.FullName)
	require.False(t, u.Admin)
	contacts, err := rows.Contacts(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, map[users.Mode]string{users.Email: "ann@example.com", users.Call: "+41791234567",
		users.SMS: "+41791234567"}, contacts)

	require.NoError(t, rows.SetContact(t.Context(), u.ID, users.Slack, "@ann"))
	d.entry.FullName, d.entry.Phone = "Ann Ray", ""
	u, err = accounts.Authenticate(t.Context(), "ann", "theirs")
	require.NoError(t, err)
	require.Equal(t, "Ann Ray", u.FullName, "and brought up to date")
	contacts, err = rows.Contacts(t.Context(), u.ID)
	require.NoError(t, err)
	require.Equal(t, map[users.Mode]string{users.Email: "ann@example.com", users.Slack: "@ann"}, contacts)

	d.entry.Email = "none" // the entry cannot be stored
	_, err = accounts.Authenticate(t.Context(), "ann", "theirs")
	require.NoError(t, err)
	require.NoError(t, rows.SetActive(t.Context(), u.ID, false))
	_, err = accounts.Authenticate(t.Context(), "ann", "theirs")
	require.ErrorIs(t, err, auth.ErrLogin, "a log-in switches nobody on")
	d.entry = directory.Entry{Name: "with space"}
	_, err = accounts.Authenticate(t.Context(), "x", "theirs")
	require.ErrorIs(t, err, auth.ErrUnknownPerson)
}

func TestAPersonRenamedInTheDirectoryKeepsTheirAccount(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	rows, store := pg.NewUsers(db), pg.NewDirectorySync(db, "log-in")
	rules, err := directories.Rules(config.Sync{From: "ldap"})
	require.NoError(t, err)
	d := &answers{entry: directory.Entry{Name: "ann", Email: "ann@example.com", Stable: "A"}}
	for name, stores := range map[string]bool{"anna": true, "annie": false} {
		accounts := auth.NewAccounts(rows, auth.NewPasswords()).WithDirectory(d,
			&newcomers{store: store, rules: rules, stores: true})
		ann, err := accounts.Authenticate(t.Context(), "x", "theirs")
		require.NoError(t, err)
		accounts = auth.NewAccounts(rows, auth.NewPasswords()).WithDirectory(d,
			&newcomers{store: store, rules: rules, stores: stores})
		d.entry.Name, d.entry.FullName = name, name
		renamed, err := accounts.Authenticate(t.Context(), "x", "theirs")
		require.NoError(t, err)
		require.Equal(t, ann.ID, renamed.ID)
		require.Equal(t, name, renamed.Name)
		require.Equal(t, stores, renamed.FullName == name,
			"what else the entry says is taken only where log-ins are imported")

		for _, other := range []string{"boss-of-" + name, "boss of " + name} {
			_, err = rows.Create(t.Context(), pg.NewUser{Name: other})
			require.NoError(t, err)
			d.entry.Name = other
			_, err = accounts.Authenticate(t.Context(), "x", "theirs")
			require.ErrorIs(t, err, auth.ErrNameConflict, "nobody becomes somebody else by a new name")
		}
		d.entry.Name, d.entry.Stable = name, "B"
		_, err = accounts.Authenticate(t.Context(), "x", "theirs")
		require.ErrorIs(t, err, auth.ErrNameConflict, "nor by one that was another's")
		d.entry.Stable = "A"
	}
}
