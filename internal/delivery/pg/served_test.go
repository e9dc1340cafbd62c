package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/users"
)

func TestProcessorsPublishTheModesTheyHaveAVendorFor(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c, served := pgbuckets.NewCluster(d), pg.NewServed(d)
	_, known, err := served.Served(t.Context())
	require.NoError(t, err)
	require.False(t, known, "no processor runs")
	a, b := buckets.Member{ProcessID: "a", Host: "h"}, buckets.Member{ProcessID: "b", Host: "h"}
	a.Modes, b.Modes = []string{"email", "drop"}, []string{"email", "sms"}
	require.NoError(t, c.Beat(t.Context(), a))
	require.NoError(t, c.Beat(t.Context(), b))
	modes, known, err := served.Served(t.Context())
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, []users.Mode{users.Drop, users.Email, users.SMS}, modes)
	_, err = d.Pool().Exec(t.Context(), "update members set heartbeat_at = heartbeat_at - interval '1 minute' where process_id = 'b'")
	require.NoError(t, err)
	modes, _, err = served.Served(t.Context())
	require.NoError(t, err)
	require.Equal(t, []users.Mode{users.Drop, users.Email}, modes, "b does not run any more")
	_, err = d.Pool().Exec(t.Context(), "update members set modes = null, heartbeat_at = clock_timestamp() where process_id = 'b'")
	require.NoError(t, err)
	_, known, err = served.Served(t.Context())
	require.NoError(t, err)
	require.False(t, known, "one of an earlier release does not say")
}
