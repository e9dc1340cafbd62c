package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/program/operator"
)

func TestDemoCalendarsFillWithoutGaps(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	db := pgtest.New(t)
	o := operator.New(db, keys)
	s := operator.NewSenders(db, keys)
	require.NoError(t, Seed(t.Context(), o, s))
	require.NoError(t, Seed(t.Context(), o, s), "seeding again changes nothing")
	there, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, there, len(sources.Types()))

	_, err = db.Pool().Exec(t.Context(), `update bucket_leases set owner = 'me', epoch = 1`)
	require.NoError(t, err)
	rows, err := db.Pool().Query(t.Context(), `select id from teams order by id`)
	require.NoError(t, err)
	var teams []int64
	for rows.Next() {
		var id int64
		require.NoError(t, rows.Scan(&id))
		teams = append(teams, id)
	}
	require.Len(t, teams, 2)
	for _, id := range teams {
		plans, err := pg.NewSchedules(db).Fill(t.Context(), "me",
			buckets.Lease{Bucket: int(id % buckets.Count), Epoch: 1}, id)
		require.NoError(t, err)
		require.Len(t, plans, 2)
		for _, p := range plans {
			require.Empty(t, p.Unfilled)
			require.Greater(t, len(p.Add), 3)
		}
	}
	var now int
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select count(*) from shifts s join oncall_roles r on r.id = s.role_id
		where r.name = 'primary' and s.starts_at <= now() and s.ends_at > now()`).Scan(&now))
	require.Equal(t, 2, now, "somebody is primary of each team")
}
