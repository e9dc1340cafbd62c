package login

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// guard is the counts of an installation.
type guard struct {
	*testing.T
	db *postgres.DB
	*pgauth.Attempts
}

func newGuard(t *testing.T) guard {
	db := pgtest.New(t)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	return guard{t, db, pgauth.NewAttempts(db, keys)}
}

// try counts an attempt and returns how long it must wait; 0 = it is allowed.
func (g guard) try(address, name string, known bool) time.Duration {
	g.Helper()
	a := attempt(address, name)
	a.Known = known
	err := g.Enter(g.Context(), a, limits)
	if err == nil {
		return 0
	}
	require.True(g, fault.Is(err, fault.Throttled), "%v", err)
	var f *fault.Error
	require.ErrorAs(g, err, &f)
	require.Positive(g, f.RetryAfter)
	return f.RetryAfter
}

// pass lets time pass.
func (g guard) pass(d time.Duration) {
	g.Helper()
	_, err := g.db.Pool().Exec(g.Context(),
		`update login_attempts set last_at = last_at - $1::interval, blocked_until = blocked_until - $1::interval`,
		fmt.Sprintf("%d milliseconds", d.Milliseconds()))
	require.NoError(g, err)
}

// Wrong passwords from a stranger's address must not lock a person out at other addresses.
func TestWrongPasswordsDoNotLockOtherAddressesOut(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	for range limits.FreeOfPair {
		require.Zero(t, g.try("6.6.6.6", "Demo", false))
	}
	require.LessOrEqual(t, g.try("6.6.6.6", "ＤＥＭＯ", false), time.Second, "spellings of a name are one account")
	require.Zero(t, g.try("1.2.3.4", "demo", false), "another address")
	require.Zero(t, g.try("6.6.6.6", "other", false), "another account")

	allowed := 0
	for range 600 {
		if g.pass(time.Second); g.try("6.6.6.6", "demo", false) == 0 {
			allowed++
		}
	}
	require.Less(t, allowed, 20, "ten minutes of guessing")

	require.NoError(t, g.Succeeded(t.Context(), attempt("6.6.6.6", "demo")))
	require.Zero(t, g.try("6.6.6.6", "demo", false), "the right password ends the wait")
}

// Many addresses together guess an account slowly. The person's own addresses do not wait for them.
func TestAnAccountIsSlowedDownForAllUnknownAddresses(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	for n := range limits.FreeOfAccount {
		require.Zero(t, g.try(fmt.Sprint("6.6.6.", n), "demo", false))
	}
	require.Positive(t, g.try("7.7.7.7", "demo", false))
	require.Zero(t, g.try("7.7.7.7", "other", false))
	for range limits.FreeOfKnown {
		require.Zero(t, g.try("1.2.3.4", "demo", true))
	}
	require.Positive(t, g.try("1.2.3.4", "demo", true), "a known address has an allowance of its own")
}

// Two processes of iris-api share the known addresses and the counts, and a process knows them after a restart.
func TestAKnownAddressIsNeverSlowedDown(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	passwords := auth.NewPasswords()
	hash, err := passwords.Hash(t.Context(), "right password")
	require.NoError(t, err)
	_, err = db.Pool().Exec(t.Context(), `insert into users (name, password_hash) values ('demo', $1)`, hash)
	require.NoError(t, err)
	process := func() *People {
		rows := pg.NewUsers(db)
		return NewPeople(rows, auth.NewAccounts(rows, passwords), pgauth.NewKnownAddresses(db, keys),
			pgauth.NewAttempts(db, keys), zaptest.NewLogger(t))
	}
	login := func(p *People, address, password string) error {
		_, err := p.Authenticate(wire.WithClient(context.WithoutCancel(t.Context()), wire.Client{Address: address}),
			"Demo", password)
		return err
	}
	one, other := process(), process()
	require.NoError(t, login(one, "1.2.3.4", "right password"))
	for _, address := range []string{"1.2.3.4", "6.6.6.6"} {
		for n := range limits.FreeOfPair {
			require.ErrorIs(t, login([]*People{one, other}[n%2], address, "wrong"), auth.ErrLogin)
		}
	}
	require.True(t, fault.Is(login(other, "6.6.6.6", "right password"), fault.Throttled),
		"an address that nobody logged in from")
	require.ErrorIs(t, login(other, "1.2.3.4", "wrong"), auth.ErrLogin, "the known address may still try")
	require.NoError(t, login(other, "1.2.3.4", "right password"))
}

func TestAnAddressIsSlowedDownForAllAccounts(t *testing.T) {
	t.Parallel()
	g := newGuard(t)
	for n := range limits.AddressPerMinute {
		require.Zero(t, g.try("6.6.6.6", fmt.Sprint("user", n), false))
	}
	require.Positive(t, g.try("6.6.6.6", "one more", false))
	g.pass(time.Minute)
	require.Zero(t, g.try("6.6.6.6", "one more", false))
	g.pass(auth.KeepAttempts)
	n, err := g.Expire(t.Context())
	require.NoError(t, err)
	require.Positive(t, n)
}
