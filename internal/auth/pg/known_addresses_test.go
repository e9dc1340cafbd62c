package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/users"
)

func TestKnownAddresses(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`insert into users (id, name) overriding system value values (901, 'Ann'), (902, 'bob')`)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	k := pg.NewKnownAddresses(d, keys)
	known := func(name, address string) bool {
		t.Helper()
		is, err := k.Known(ctx, name, address)
		require.NoError(t, err)
		return is
	}
	const ann = users.ID(901)
	require.NoError(t, k.Remember(ctx, ann, "10.0.0.1"))
	require.NoError(t, k.Remember(ctx, ann, "10.0.0.1"))
	require.True(t, known("ann", "10.0.0.1"))
	require.False(t, known("ann", "10.0.0.2"))
	require.False(t, known("bob", "10.0.0.1"), "another person at the same address")
	require.False(t, known("no\x00body", "10.0.0.1"))
	var plain int
	require.NoError(t, d.Pool().QueryRow(ctx,
		`select count(*) from known_addresses where position('10.0.0.1'::bytea in address) > 0`).Scan(&plain))
	require.Zero(t, plain, "addresses are not stored as they are")

	for n := range 25 {
		exec(`update known_addresses set logged_in_at = logged_in_at - interval '1 minute'`)
		require.NoError(t, k.Remember(ctx, ann, fmt.Sprint("10.1.0.", n)))
	}
	require.False(t, known("ann", "10.0.0.1"), "only the newest 20 are kept")
	require.False(t, known("ann", "10.1.0.4"))
	require.True(t, known("ann", "10.1.0.5"))

	exec(`update known_addresses set logged_in_at = clock_timestamp() - interval '91 days'`)
	require.NoError(t, k.Remember(ctx, ann, "10.1.0.24"))
	require.True(t, known("ann", "10.1.0.24"), "a log-in renews the address")
	require.False(t, known("ann", "10.1.0.23"))
	_, err = pgdelivery.NewHistory(d).Forget(ctx, 24*time.Hour)
	require.NoError(t, err)
	rows := func() (n int) {
		require.NoError(t, d.Pool().QueryRow(ctx, `select count(*) from known_addresses`).Scan(&n))
		return n
	}
	require.Equal(t, 1, rows())
	exec(`delete from users where id = 901`)
	require.Zero(t, rows())
}
