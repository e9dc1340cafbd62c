package pg_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

var (
	ann = users.User{ID: 901, Name: "Ann"}
	bob = users.User{ID: 902, Name: "bob"}
)

// installation is a database with ann, who has a second factor, and bob, who has none.
type installation struct {
	*accounts.Factors
	t        *testing.T
	db       *postgres.DB
	now      time.Time
	secret   string
	recovery []string
}

func newInstallation(t *testing.T, p accounts.Policy) *installation {
	t.Helper()
	i := &installation{t: t, db: pgtest.New(t), now: time.Date(2026, 11, 23, 12, 0, 5, 0, time.UTC)}
	i.exec(`insert into users (id, name) overriding system value values (901, 'Ann'), (902, 'bob')`)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	i.Factors = accounts.NewFactors(pg.NewFactors(i.db), keys, p, "Iris").At(func() time.Time { return i.now })
	i.setUp()
	return i
}

func (i *installation) exec(sql string) {
	i.t.Helper()
	_, err := i.db.Pool().Exec(i.t.Context(), sql)
	require.NoError(i.t, err)
}

func (i *installation) setUp() {
	i.t.Helper()
	p, err := i.Begin(ann)
	require.NoError(i.t, err)
	i.secret = p.Secret
	i.recovery, err = i.Confirm(i.t.Context(), ann, p.Sealed, i.code(0))
	require.NoError(i.t, err)
}

// code returns the code of so many periods from now.
func (i *installation) code(periods int) string {
	i.t.Helper()
	code, err := totp.GenerateCode(i.secret, i.now.Add(time.Duration(periods)*30*time.Second))
	require.NoError(i.t, err)
	return code
}

func (i *installation) wrong() string {
	i.t.Helper()
	for _, guess := range []string{"000000", "111111", "222222", "333333"} {
		if guess != i.code(-1) && guess != i.code(0) && guess != i.code(1) {
			return guess
		}
	}
	panic("three codes cannot be four guesses")
}

func TestACodeIsUsedOnce(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, accounts.Optional)
	ctx := t.Context()
	require.ErrorIs(t, i.Check(ctx, ann, i.code(0)), accounts.ErrCode, "the code that confirmed the set-up")
	require.ErrorIs(t, i.Check(ctx, ann, i.code(-1)), accounts.ErrCode, "an older code")
	next := i.code(1)
	require.NoError(t, i.Check(ctx, ann, next[:3]+" "+next[3:]), "a clock that is ahead, and a space")
	require.ErrorIs(t, i.Check(ctx, ann, next), accounts.ErrCode)
	i.now = i.now.Add(30 * time.Second)
	require.ErrorIs(t, i.Check(ctx, ann, next), accounts.ErrCode, "in its own period, too")
	i.now = i.now.Add(30 * time.Second)
	require.NoError(t, i.Check(ctx, ann, i.code(0)))
	i.now = i.now.Add(30 * time.Minute)
	for periods, right := range map[int]bool{-3: false, -2: false, 2: false, 3: false} {
		require.Equal(t, right, i.Check(ctx, ann, i.code(periods)) == nil, periods)
	}
	require.ErrorIs(t, i.Check(ctx, bob, i.code(0)), accounts.ErrNoFactor)
}

func TestConcurrentUsesOfACode(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, accounts.Optional)
	for _, code := range []string{i.code(1), i.recovery[0]} {
		var accepted atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if i.Check(context.WithoutCancel(t.Context()), ann, code) == nil {
					accepted.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, accepted.Load())
	}
}

func TestRecoveryCodesAreUsedOnce(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, accounts.Optional)
	ctx := t.Context()
	require.Len(t, i.recovery, 10)
	require.NoError(t, i.Check(ctx, ann, strings.ToLower(i.recovery[0])))
	require.ErrorIs(t, i.Check(ctx, ann, i.recovery[0]), accounts.ErrCode)
	state, err := i.State(ctx, ann)
	require.NoError(t, err)
	require.Equal(t, 9, state.Recovery)
	var stored int
	require.NoError(t, i.db.Pool().QueryRow(ctx, `select count(*) from recovery_codes, second_factors s
		where position($1::bytea in hash) > 0 or position($2::bytea in s.secret) > 0`,
		[]byte(strings.ReplaceAll(i.recovery[1], "-", "")), []byte(i.secret)).Scan(&stored))
	require.Zero(t, stored, "a copy of the database has neither codes nor secrets")

	old := i.recovery[1]
	fresh, err := i.NewRecovery(ctx, ann)
	require.NoError(t, err)
	require.ErrorIs(t, i.Check(ctx, ann, old), accounts.ErrCode)
	require.NoError(t, i.Check(ctx, ann, fresh[9]))
	_, err = i.NewRecovery(ctx, bob)
	require.ErrorIs(t, err, accounts.ErrNoFactor)
}

func TestWrongCodesMustWait(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, accounts.Optional)
	ctx := t.Context()
	for range 5 {
		require.ErrorIs(t, i.Check(ctx, ann, i.wrong()), accounts.ErrCode)
	}
	for _, code := range []string{i.code(1), i.recovery[0], i.wrong()} {
		require.True(t, fault.Is(i.Check(ctx, ann, code), fault.Throttled), "nothing is checked during the pause")
	}
	waited := time.Duration(0)
	for range 10 {
		before := i.now
		for fault.Is(i.Check(ctx, ann, i.wrong()), fault.Throttled) {
			i.now = i.now.Add(15 * time.Second)
		}
		require.GreaterOrEqual(t, i.now.Sub(before), min(waited, time.Hour), "the pauses grow")
		waited = i.now.Sub(before)
	}
	require.Equal(t, time.Hour, waited)
	i.now = i.now.Add(time.Hour)
	require.NoError(t, i.Check(ctx, ann, i.code(0)))
	i.now = i.now.Add(time.Minute)
	require.ErrorIs(t, i.Check(ctx, ann, i.wrong()), accounts.ErrCode, "a right code ends the pauses")
	require.NoError(t, i.Check(ctx, ann, i.code(0)))
}

func TestPolicyOfSecondFactors(t *testing.T) {
	t.Parallel()
	for policy, requires := range map[accounts.Policy][2]bool{accounts.Optional: {false, false}, accounts.Admins: {false, true}, accounts.Everybody: {true, true}} {
		got := [2]bool{policy.Requires(users.User{}), policy.Requires(users.User{Admin: true})}
		require.Equal(t, requires, got, policy)
	}
	i := newInstallation(t, accounts.Admins)
	ctx := t.Context()
	admin := ann
	admin.Admin = true
	require.ErrorIs(t, i.Remove(ctx, admin), accounts.ErrRequired)
	require.NoError(t, i.RemoveOf(ctx, admin, "root"), "an administrator may")
	state, err := i.State(ctx, admin)
	require.NoError(t, err)
	require.Equal(t, accounts.State{Required: true}, state)
	require.ErrorIs(t, i.Remove(ctx, ann), accounts.ErrNoFactor)
	old := i.secret
	i.setUp()
	require.NotEqual(t, old, i.secret)
	i.setUp()
	require.NoError(t, i.Remove(ctx, ann))
	rows, err := i.db.Pool().Query(ctx, `select string_agg(actor || ': ' || action || ' ' || object, ', ' order by id) from audit_log`)
	require.NoError(t, err)
	require.True(t, rows.Next())
	var audit string
	require.NoError(t, rows.Scan(&audit))
	rows.Close()
	require.Equal(t, "Ann: second factor set user Ann, root: second factor removed user Ann, Ann: second factor set user Ann, Ann: second factor set user Ann, Ann: second factor removed user Ann", audit)
}

func TestSecretsBelongToTheirPerson(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, accounts.Optional)
	p, err := i.Begin(ann)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(p.QR), "\x89PNG"))
	require.Contains(t, p.URL, "otpauth://totp/Iris:Ann?")
	require.NotContains(t, string(p.Sealed), p.Secret)
	_, err = i.Resume(bob, p.Sealed)
	require.Error(t, err)
	again, err := i.Resume(ann, p.Sealed)
	require.NoError(t, err)
	require.Equal(t, p, again)
	_, err = i.Confirm(t.Context(), ann, p.Sealed, i.wrong())
	require.ErrorIs(t, err, accounts.ErrCode)
}
