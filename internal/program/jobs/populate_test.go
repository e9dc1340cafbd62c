package jobs

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// owner holds all buckets in one epoch.
type owner struct{ epoch int64 }

func (o owner) ProcessID() string { return "me" }

func (o owner) Leases() []buckets.Lease {
	var out []buckets.Lease
	for b := range buckets.Count {
		out = append(out, buckets.Lease{Bucket: b, Epoch: o.epoch})
	}
	return out
}

func testPopulator(t *testing.T, db *postgres.DB, o owner) *Populator {
	t.Helper()
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	return NewPopulator(PopulateStores{
		Schedules: pgoncall.NewSchedules(db), Calendars: pgoncall.NewCalendars(db), Coverage: pgoncall.NewCoverage(db), Teams: pgusers.NewOncallTeams(db, nil),
		People: pgusers.NewOncallPeople(db), Applications: pg.NewApplications(db,
			keys), Warnings: pgnotifications.NewWarnings(pgnotifications.New(db)),
	}, time.Hour, 48*time.Hour, Engine{Leases: o, Wake: func(buckets.Set) {}, Log: zap.NewNop(), Registerer: prometheus.NewRegistry()})
}

const populateSeed = `
update bucket_leases set owner = 'me', epoch = 7;
insert into users (name) values ('ann'), ('bob');
insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users;
insert into teams (name, email) values ('full', ''), ('nobody', 'nobody@example.com');
insert into team_members (team_id, user_id, position, admin) select t.id, u.id, u.id, u.name = 'ann' from teams t, users u;
insert into rosters (team_id, name) select id, 'r' from teams;
insert into roster_members (roster_id, user_id, priority) select r.id, u.id, u.id from rosters r, users u, teams t where t.id = r.team_id and t.name = 'full';
insert into schedules (team_id, roster_id, role_id, algorithm, pattern)
	select r.team_id, r.id, o.id, 'default', '[{"start":0,"duration":604800}]' from rosters r, oncall_roles o where o.name = 'primary';
`

func TestPopulatorFillsCalendarsAndWarns(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(), populateSeed)
	require.NoError(t, err)
	count := func(sql string) (n int) {
		require.NoError(t, db.Pool().QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.Error(t, testPopulator(t, db, owner{epoch: 6}).pass(t.Context()), "a lease that was lost fences the work")
	require.Zero(t, count(`select count(*) from shifts`))

	p := testPopulator(t, db, owner{epoch: 7})
	require.NoError(t, p.pass(t.Context()))
	made := count(`select count(*) from shifts s join teams t on t.id = s.team_id where t.name = 'full'`)
	require.GreaterOrEqual(t, made, 3)
	require.Zero(t, count(`select count(*) from shifts s join teams t on t.id = s.team_id where t.name = 'nobody'`))
	require.Zero(t, count(`select count(*) from coverage_warnings w join teams t on t.id = w.team_id where t.name = 'full'`))
	require.Positive(t, count(`select count(*) from coverage_warnings where kind = 'unfilled'`))
	require.Positive(t, count(`select count(*) from coverage_warnings where kind = 'gap'`))
	require.Equal(t, 1, count(`select count(*) from notification_requests`))
	require.Equal(t, 2, count(`select count(*) from messages`), "ann and the team's own address")

	var team int64
	require.NoError(t, db.Pool().QueryRow(t.Context(), `select id from teams where name = 'nobody'`).Scan(&team))
	gaps, err := p.gaps(t.Context(), oncall.Profile{ID: team})
	require.NoError(t, err)
	require.NotEmpty(t, gaps)
	require.WithinDuration(t, time.Now(), gaps[0].Start, time.Hour, "what is over of a gap is not told")
	require.Greater(t, gaps[0].Start.Sub(gaps[0].Since), 24*time.Hour)

	// No team is due any more: another pass makes no shifts and sends no messages.
	require.NoError(t, p.pass(t.Context()))
	_, err = db.Pool().Exec(t.Context(), `update team_populations set populated_at = populated_at - interval '2 hours'`)
	require.NoError(t, err)
	require.NoError(t, p.pass(t.Context()))
	require.Equal(t, made, count(`select count(*) from shifts`))
	require.Equal(t, 1, count(`select count(*) from notification_requests`))
}

// A team that cannot be filled is marked as failed and does not delay other teams.
func TestPopulatorContinuesAfterATeamThatFails(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(populateSeed)
	exec(`update schedules set pattern = '{"not": "a list"}' where team_id = (select min(id) from teams)`)
	exec(`insert into roster_members (roster_id, user_id, priority) select r.id, u.id, u.id from rosters r, users u on conflict do nothing`)
	require.NoError(t, testPopulator(t, db, owner{epoch: 7}).pass(t.Context()))
	var problems, made int
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select count(*) from team_populations where problem <> ''`).Scan(&problems))
	require.NoError(t, db.Pool().QueryRow(t.Context(), `select count(distinct team_id) from shifts`).Scan(&made))
	require.Equal(t, 1, problems)
	require.Equal(t, 1, made)
}

// A process that crashes or loses its database while it warns a team does not record the warning. So the next process
// sends it.
func TestAWarningThatCannotBeStoredIsSentLater(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	count := func(sql string) (n int) {
		require.NoError(t, db.Pool().QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	exec(populateSeed)
	exec(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$;
		create trigger refuse before insert on notification_requests for each statement execute function refuse()`)
	p := testPopulator(t, db, owner{epoch: 7})
	require.NoError(t, p.pass(t.Context()), "a team that cannot be notified delays no other")
	require.Equal(t, 1, count(`select count(*) from team_populations where problem <> ''`))
	require.Zero(t, count(`select count(*) from coverage_warnings`))

	exec(`drop trigger refuse on notification_requests; update team_populations set populated_at = populated_at - interval '2 hours'`)
	require.NoError(t, p.pass(t.Context()))
	require.Positive(t, count(`select count(*) from coverage_warnings`))
	require.Equal(t, 1, count(`select count(*) from notification_requests`))
}

// Shifts of a person who was deactivated later page nobody: the team is warned of them as of every gap.
func TestShiftsOfDeactivatedPeopleAreGaps(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	gaps := func() (n int) {
		require.NoError(t, db.Pool().QueryRow(t.Context(),
			`select count(*) from coverage_warnings w join teams t on t.id = w.team_id
			where t.name = 'full' and kind = 'gap'`).Scan(&n))
		return n
	}
	exec(populateSeed)
	p := testPopulator(t, db, owner{epoch: 7})
	require.NoError(t, p.pass(t.Context()))
	require.Zero(t, gaps())
	exec(`update users set active = false; update team_populations set populated_at = populated_at - interval '2 hours'`)
	require.NoError(t, p.pass(t.Context()))
	require.Positive(t, gaps())
}

// A rotation for office hours needs no cover at night, so the team is not warned of nights, unless a cover rule of the
// team asks for them.
func TestHoursOutsideARotationAreNoGaps(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	warnings := func() (n int) {
		require.NoError(t, db.Pool().QueryRow(t.Context(),
			`select count(*) from coverage_warnings w join teams t on t.id = w.team_id
			where t.name = 'full'`).Scan(&n))
		return n
	}
	exec(populateSeed)
	exec(`delete from schedules;
		insert into schedules (team_id, roster_id, role_id, algorithm, threshold_days, pattern, rotation)
		select r.team_id, r.id, o.id, 'rotation', 21, '[]', jsonb_build_object('version', 1, 'layers', jsonb_build_array(jsonb_build_object(
			'start', 1767225600, 'every', 1, 'unit', 'weeks', 'members', (select jsonb_agg(jsonb_build_object('user_id', id)) from users),
			'restrict', '[{"from": 32400, "to": 61200}]'::jsonb)))
		from rosters r join teams t on t.id = r.team_id, oncall_roles o where o.name = 'primary' and t.name = 'full'`)
	p := testPopulator(t, db, owner{epoch: 7})
	require.NoError(t, p.pass(t.Context()))
	require.Zero(t, warnings())
	exec(`insert into coverage_wishes (team_id, role_id, cover) select t.id, o.id, 'always' from teams t, oncall_roles o where t.name = 'full' and o.name = 'primary';
		update team_populations set populated_at = populated_at - interval '2 hours'`)
	require.NoError(t, p.pass(t.Context()))
	require.Positive(t, warnings())
}
