package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// The schedule is populated as if an invalid unavailability rule did not exist, and the log names the rule (promise
// P7).
func TestAnInvalidUnavailabilityRuleIsIgnoredAndLogged(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zap.ErrorLevel)
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{Log: zap.New(core)})
	_, err := d.Pool().Exec(t.Context(),
		`insert into users (name) values ('ann'), ('bob'); insert into teams (name) values ('ops');
		insert into rosters (team_id, name) select id, 'r' from teams;
		insert into roster_members (roster_id, user_id, priority) select r.id, u.id, u.id from rosters r, users u;
		insert into unavailabilities (user_id, starts_at, ends_at, rule) select id, now(), now() + interval '1 hour', 'FREQ=NEVER' from users where name = 'ann';
		insert into unavailabilities (user_id, starts_at, ends_at) select id, now() - interval '2 days', now() + interval '300 days' from users where name = 'bob'`)
	require.NoError(t, err)
	s := scheduling.ScheduleDraft{}
	s.Threshold, s.Algorithm = 10, scheduling.ByRotation
	var ann, bob users.ID
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		`select r.team_id, r.id, o.id, (select min(id) from users), (select max(id) from users)
		from rosters r, oncall_roles o where o.name = 'primary'`).Scan(&s.TeamID, &s.RosterID, &s.RoleID, &ann, &bob))
	s.Rotation = &scheduling.Rotation{Layers: []scheduling.Layer{{
		Start: oncall.LocalDate(2026, 10, 19,
			9*3600), Every: 1, Unit: scheduling.Days, Members: []scheduling.LayerMember{{User: ann}, {User: bob}},
	}}}
	schedules := pg.NewSchedules(d)
	id, err := schedules.Create(t.Context(), s, oncall.By{Owner: "ann"})
	require.NoError(t, err)
	plan, err := schedules.Populate(t.Context(), id, time.Now(), oncall.By{Owner: "ann"})
	require.NoError(t, err)
	require.NotEmpty(t, plan.Add)
	for _, shift := range plan.Add {
		require.NotEqual(t, bob, shift.User, "whose rule can be worked out is left out")
	}
	_, err = d.Pool().Exec(t.Context(), `insert into teams (name) values ('trap');
		update unavailabilities set team_id = (select id from teams where name = 'trap') where ends_at > now() + interval '200 days'`)
	require.NoError(t, err)
	plan, err = schedules.Populate(t.Context(), id, time.Now(), oncall.By{Owner: "ann"})
	require.NoError(t, err)
	chosen := map[users.ID]bool{}
	for _, shift := range plan.Add {
		chosen[shift.User] = true
	}
	require.True(t, chosen[bob], "an unavailability in another team does not count")
	require.NotZero(t, logged.FilterMessage("an unavailability cannot be worked out, shifts are planned without it").Len())
}

// Deleting a schedule waits for the lock of its team, which Populate holds.
func TestDeletingAScheduleLocksItsTeam(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(),
		`insert into teams (name) values ('ops'); insert into rosters (team_id, name) select id, 'r' from teams`)
	require.NoError(t, err)
	s := scheduling.ScheduleDraft{}
	s.Threshold, s.Algorithm = 10, scheduling.ByRotation
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		`select r.team_id, r.id, o.id from rosters r, oncall_roles o where o.name = 'primary'`).
		Scan(&s.TeamID, &s.RosterID, &s.RoleID))
	s.Rotation = &scheduling.Rotation{Layers: []scheduling.Layer{{Start: oncall.LocalDate(2026, 10, 19, 9*3600),
		Every: 1, Unit: scheduling.Days}}}
	schedules, by := pg.NewSchedules(d), oncall.By{Owner: "ann"}
	id, err := schedules.Create(t.Context(), s, by)
	require.NoError(t, err)
	old := scheduling.StoredSchedule{}
	old.ID, old.TeamID = id, s.TeamID

	tx, err := d.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }() // the pool closes only when its connections are free
	_, err = tx.Exec(t.Context(), `select from teams where id = $1 for no key update`, s.TeamID)
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.Error(t, schedules.Delete(short, old, by))
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, schedules.Delete(t.Context(), old, by))
	require.True(t, fault.Is(schedules.Delete(t.Context(), old, by), fault.NotFound))
}
