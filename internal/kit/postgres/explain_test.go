package postgres_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	ping := func(databaseURL string) error {
		d, err := postgres.Open(t.Context(), postgres.Config{URL: databaseURL})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		return d.Ping(t.Context())
	}
	require.Equal(t, "the database cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused",
		postgres.Explain(ping("postgres://u:geheim@127.0.0.1:1/x")))
	require.Regexp(t, `^start: the database cannot be reached: the host name nowhere\.invalid cannot be resolved \(.+\)$`,
		postgres.Explain(fmt.Errorf("start: %w", ping("postgres://u:geheim@nowhere.invalid/x"))))
	u, err := url.Parse(pgtest.EmptyURL(t))
	require.NoError(t, err)
	u.Path = "/no_such_database"
	require.Equal(t, `the database cannot be used: database "no_such_database" does not exist`,
		postgres.Explain(ping(u.String())))

	poor := fault.Wrap(fault.Internal, &pgconn.PgError{Code: "42501", Message: "permission denied for schema public"},
		"internal error")
	require.Equal(t, "the database refused: permission denied for schema public (let the user of Iris own its database: "+
		"alter database NAME owner to USER)", postgres.Explain(poor))

	// A caller's mistake is returned without a cause. Other errors are not changed.
	require.Equal(t, "add: there is no user x (now)", postgres.Explain(fmt.Errorf("add: %w (now)",
		fault.Wrap(fault.NotFound, errors.New("no rows"), "there is no user x"))))
	require.Equal(t, "just this", postgres.Explain(errors.New("just this")))
	require.Empty(t, postgres.Explain(nil))
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"postgres://iris@h/d", "postgresql://u:p@h:5433/d?sslmode=require", "host=h user=u dbname=d"} {
		require.NoError(t, postgres.CheckURL(good))
	}
	for _, bad := range []string{"nonsense", "mysql://u:geheim@h/d", "postgres://u:geheim@h:99999/d", "postgres://u:ge%heim@h/d", "postgres://h/d?sslmode=bogus"} {
		err := postgres.CheckURL(bad)
		require.True(t, fault.Is(err, fault.Invalid), bad)
		require.NotContains(t, err.Error(), "geheim")
	}
	err := postgres.CheckURL("postgres://u:geheim@h/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem")
	require.EqualError(t, err, "the database URL names a file that cannot be read: /nowhere/ca.pem: no such file or directory")
}
