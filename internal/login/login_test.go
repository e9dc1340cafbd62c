package login

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

// Wrong passwords from a stranger's address must not lock a person out at other addresses.
func TestWrongPasswordsDoNotLockOtherAddressesOut(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for range freeAttempts {
		require.NoError(t, g.enter("6.6.6.6", "Demo", now))
	}
	err := g.enter("6.6.6.6", "ＤＥＭＯ", now)
	require.True(t, fault.Is(err, fault.Throttled), "spellings of a name are one account")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, time.Second, f.RetryAfter)
	require.NoError(t, g.enter("1.2.3.4", "demo", now), "another address")
	require.NoError(t, g.enter("6.6.6.6", "other", now), "another account")

	allowed := 0
	for second := range 600 {
		if g.enter("6.6.6.6", "demo", now.Add(time.Duration(second)*time.Second)) == nil {
			allowed++
		}
	}
	require.Less(t, allowed, 20, "ten minutes of guessing")

	g.succeeded("6.6.6.6", "demo")
	require.NoError(t, g.enter("6.6.6.6", "demo", now), "the right password ends the wait")
}

// Two processes of iris-api share the known addresses, and a process knows them after a restart.
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
		rows := people.NewUsers(db)
		return NewPeople(rows, auth.NewAccounts(rows, passwords), access.NewKnownAddresses(db, keys), zaptest.NewLogger(t))
	}
	login := func(p *People, address, password string) error {
		_, err := p.Authenticate(context.WithValue(t.Context(), addressKey{}, address), "Demo", password)
		return err
	}
	one, other := process(), process()
	require.NoError(t, login(one, "1.2.3.4", "right password"))
	for _, address := range []string{"1.2.3.4", "6.6.6.6"} {
		for range freeAttempts {
			require.ErrorIs(t, login(other, address, "wrong"), auth.ErrLogin)
		}
	}
	require.True(t, fault.Is(login(other, "6.6.6.6", "right password"), fault.Throttled), "an address that nobody logged in from")
	require.ErrorIs(t, login(other, "1.2.3.4", "wrong"), auth.ErrLogin, "the known address is still heard")
	require.NoError(t, login(other, "1.2.3.4", "right password"))
}

func TestAnAddressIsSlowedDownForAllAccounts(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for n := range addressAttempts {
		require.NoError(t, g.enter("6.6.6.6", fmt.Sprint("user", n), now))
	}
	require.True(t, fault.Is(g.enter("6.6.6.6", "one more", now), fault.Throttled))
	require.NoError(t, g.enter("6.6.6.6", "one more", now.Add(time.Minute)))
	for n := range 3 * maxGuarded {
		_ = g.enter(fmt.Sprint("address", n), "demo", now)
	}
	require.LessOrEqual(t, len(g.pairs), maxGuarded)
}
