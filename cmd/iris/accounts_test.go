package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

func TestAccountsOfUsers(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	environ := []string{"IRIS_DATABASE_URL=" + url}
	says := func(code int, want, stdin string, args ...string) {
		t.Helper()
		got, _, errs := iris(t, environ, stdin, args...)
		require.Equal(t, code, got, errs)
		require.Contains(t, errs, want)
	}
	says(0, "up to date", "", "migrate")
	says(0, "user ann added", "secret words\n", "user", "add", "ann", "--email", "ann@example.com")
	db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	people := pgpeople.NewUsers(db)
	accounts := auth.NewAccounts(people, auth.NewPasswords())
	ann := func() users.User {
		t.Helper()
		u, err := people.ByName(t.Context(), "ann")
		require.NoError(t, err)
		return u
	}
	logsIn := func(password string) bool {
		_, err := accounts.Authenticate(t.Context(), "ann", password)
		return err == nil
	}
	before := ann()
	require.True(t, logsIn("secret words"))
	says(0, "ann has a new password; their sessions have ended", "other words\n", "user", "passwd", "ANN")
	require.False(t, logsIn("secret words"))
	require.True(t, logsIn("other words"))
	require.Greater(t, ann().LoginEpoch, before.LoginEpoch, "sessions have ended")

	before = ann()
	says(0, "ann is switched off", "", "user", "disable", "Ann")
	require.False(t, ann().Active)
	require.False(t, logsIn("other words"))
	require.Greater(t, ann().LoginEpoch, before.LoginEpoch, "sessions have ended")
	says(0, "ann is switched off already", "", "user", "disable", "ann")
	says(0, "ann is switched on: can log in and is paged", "", "user", "enable", "ann")
	says(0, "ann is switched on already", "", "user", "enable", "ann")
	require.True(t, logsIn("other words"))

	before = ann()
	says(0, "ann has no password in Iris now; their sessions have ended", "", "user", "passwd", "--none", "ann")
	require.False(t, logsIn("other words"))
	require.False(t, logsIn(""))
	require.Greater(t, ann().LoginEpoch, before.LoginEpoch, "sessions have ended")
	says(0, "new password", "other words\n", "user", "passwd", "ann")

	says(1, "there is no user bob", "other words\n", "user", "passwd", "bob")
	says(1, "there is no user bob", "", "user", "disable", "bob")
	says(1, "at least 8 characters", "short\n", "user", "passwd", "ann")
	says(1, "no password on standard input: give one\n", "", "user", "passwd", "ann")
	require.True(t, logsIn("other words"))

	says(0, "team ops added", "", "team", "add", "ops", "ann", "--director", "ann")
	says(1, "there is no user bob", "", "team", "add", "other", "ann", "--director", "bob")
	ops, err := pgpeople.NewTeams(db).ByName(t.Context(), "ops")
	require.NoError(t, err)
	require.Equal(t, ann().ID, ops.DirectorID)
	require.Zero(t, ops.ManagerID)

	records, err := pg.NewAudit(db).List(t.Context(), filters.Query{Limit: 10})
	require.NoError(t, err)
	var actions []string
	for _, r := range records {
		actions = append(actions, r.Actor+": "+string(r.Action)+", "+r.Object)
	}
	require.Equal(t, []string{
		"iris command: team added, team ops",
		"iris command: password set, user ann", "iris command: password removed, user ann", "iris command: user switched on, user ann", "iris command: user switched off, user ann",
		"iris command: password set, user ann", "iris command: user created, user ann",
	}, actions)
}
