package pgtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// Skewed returns a database like New whose statements read a clock that is ahead of the clock of this process. Defaults
// of columns do not.
func Skewed(t testing.TB, ahead time.Duration) *postgres.DB {
	t.Helper()
	url := URL(t)
	d := Open(t, url, postgres.Config{MaxConns: 1})
	_, err := d.Pool().Exec(t.Context(), fmt.Sprintf(`create schema skewed;
		create function skewed.clock_timestamp() returns timestamptz language sql volatile as $$ select pg_catalog.clock_timestamp() + interval '%[1]d seconds' $$;
		create function skewed.statement_timestamp() returns timestamptz language sql stable as $$ select pg_catalog.statement_timestamp() + interval '%[1]d seconds' $$;
		create function skewed.now() returns timestamptz language sql stable as $$ select pg_catalog.now() + interval '%[1]d seconds' $$;
		do $$ begin execute format('alter database %%I set search_path = skewed, pg_catalog, public', current_database()); end $$`, int(ahead.Seconds())))
	require.NoError(t, err)
	return Open(t, url, postgres.Config{})
}
