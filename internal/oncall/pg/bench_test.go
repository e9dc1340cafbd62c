package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// BenchmarkFillThousandSchedules fills 1,000 schedules of 1,000 teams three weeks ahead and stores the shifts. Each
// team has 12 people. Half of the schedules are Oncall's weekly pattern, half are daily rotations.
func BenchmarkFillThousandSchedules(b *testing.B) {
	d := pgtest.New(b)
	_, err := d.Pool().Exec(b.Context(), `update bucket_leases set owner = 'me', epoch = 7;
		insert into users (name) select 'u' || n from generate_series(1, 200) n;
		insert into teams (name, time_zone) select 't' || n, 'Europe/Zurich' from generate_series(1, 1000) n;
		insert into rosters (team_id, name) select id, 'r' from teams;
		insert into roster_members (roster_id, user_id, priority)
			select r.id, (select min(id) from users) + (r.id * 7 + n) % 200, n from rosters r, generate_series(0, 11) n`)
	require.NoError(b, err)
	schedules := pg.NewSchedules(d)
	rows, err := d.Pool().Query(b.Context(),
		`select r.team_id, r.id, o.id from rosters r, oncall_roles o where o.name = 'primary' order by r.id`)
	require.NoError(b, err)
	var drafts []scheduling.ScheduleDraft
	for rows.Next() {
		var s scheduling.ScheduleDraft
		require.NoError(b, rows.Scan(&s.TeamID, &s.RosterID, &s.RoleID))
		s.Threshold = 21
		if len(drafts)%2 == 0 {
			s.Algorithm, s.Pattern = scheduling.Default, []scheduling.Slot{{Start: 33 * time.Hour,
				Duration: 7 * 24 * time.Hour}}
		}
		drafts = append(drafts, s)
	}
	require.NoError(b, rows.Err())
	for i, s := range drafts {
		if s.Pattern == nil {
			layer := scheduling.Layer{Start: oncall.LocalDate(2026, 10, 19, 9*3600), Every: 1, Unit: scheduling.Days}
			for n := range 12 {
				var id int64
				require.NoError(b, d.Pool().QueryRow(b.Context(),
					"select user_id from roster_members where roster_id = $1 and priority = $2", s.RosterID, n).Scan(&id))
				layer.Members = append(layer.Members, scheduling.LayerMember{User: users.ID(id)})
			}
			s.Algorithm, s.Rotation = scheduling.ByRotation, &scheduling.Rotation{Layers: []scheduling.Layer{layer}}
		}
		_, err := schedules.Create(b.Context(), s, oncall.By{Owner: "bench"})
		require.NoError(b, err, i)
	}
	for b.Loop() {
		b.StopTimer()
		_, err := d.Pool().Exec(b.Context(),
			"delete from shifts; delete from notices; update schedules set last_epoch_at = null, last_user_id = null; analyze")
		require.NoError(b, err)
		b.StartTimer()
		for _, s := range drafts {
			_, err := schedules.Fill(b.Context(), "me", buckets.Lease{Bucket: int(s.TeamID % buckets.Count), Epoch: 7},
				s.TeamID)
			require.NoError(b, err)
		}
	}
	var shifts int
	require.NoError(b, d.Pool().QueryRow(b.Context(), "select count(*) from shifts").Scan(&shifts))
	b.ReportMetric(float64(shifts), "shifts")
}

// BenchmarkPopulateAYear makes a year of daily shifts of one team and stores them.
func BenchmarkPopulateAYear(b *testing.B) {
	d := pgtest.New(b)
	_, err := d.Pool().Exec(b.Context(),
		`insert into users (name) values ('ann'), ('bob'); insert into teams (name) values ('ops');
		insert into rosters (team_id, name) select id, 'r' from teams;
		insert into roster_members (roster_id, user_id, priority) select r.id, u.id, u.id from rosters r, users u`)
	require.NoError(b, err)
	var s scheduling.ScheduleDraft
	var ann, bob users.ID
	require.NoError(b, d.Pool().QueryRow(b.Context(),
		`select r.team_id, r.id, o.id, (select min(id) from users), (select max(id) from users)
		from rosters r, oncall_roles o where o.name = 'primary'`).Scan(&s.TeamID, &s.RosterID, &s.RoleID, &ann, &bob))
	s.Threshold, s.Algorithm = 365, scheduling.ByRotation
	s.Rotation = &scheduling.Rotation{Layers: []scheduling.Layer{{
		Start: oncall.LocalDate(2026, 10, 19,
			9*3600), Every: 1, Unit: scheduling.Days, Members: []scheduling.LayerMember{{User: ann}, {User: bob}},
	}}}
	schedules := pg.NewSchedules(d)
	id, err := schedules.Create(b.Context(), s, oncall.By{Owner: "bench"})
	require.NoError(b, err)
	for b.Loop() {
		b.StopTimer()
		_, err := d.Pool().Exec(b.Context(),
			"delete from shifts; delete from notices; update schedules set last_epoch_at = null")
		require.NoError(b, err)
		b.StartTimer()
		plan, err := schedules.Populate(b.Context(), id, time.Now(), oncall.By{Owner: "bench"})
		require.NoError(b, err)
		require.Greater(b, len(plan.Add), 300)
	}
}
