package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDirectoryReadsPeopleAndTeams(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	dir := pgescalation.NewDirectory(e.DB)
	e.Exec(`update users set active = false where name = 'bo'`)
	target := e.ID(`select target_id from teams where name = 'db'`)
	teams, err := dir.Teams(t.Context(), []int64{target, 999_999})
	require.NoError(t, err)
	require.Len(t, teams, 1)
	team := teams[target]
	require.Equal(t, "db", team.Name)
	require.True(t, team.Active)
	require.Equal(t, users.ID(e.People["boss"]), team.ManagerID)
	require.Zero(t, team.DirectorID)
	require.Equal(t, []users.ID{users.ID(e.People["ana"]), users.ID(e.People["bo"]), users.ID(e.People["cy"])},
		team.Members)

	byID, err := dir.UsersByID(t.Context(), append(team.Members, 999_999))
	require.NoError(t, err)
	require.Len(t, byID, 3)
	bo := byID[users.ID(e.People["bo"])]
	require.Equal(t, "bo", bo.Name)
	require.False(t, bo.Active)
	byTarget, err := dir.UsersByTarget(t.Context(), []int64{bo.TargetID, target})
	require.NoError(t, err)
	require.Equal(t, map[int64]users.User{bo.TargetID: bo}, byTarget)

	none, err := dir.Teams(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)

	// A deleted team has a random name; people know its old name.
	e.Exec(`insert into deleted_teams (team_id, old_name, new_name) select id, name, 'b7e9' from teams where name = 'db'`)
	e.Exec(`update teams set active = false, name = 'b7e9' where name = 'db'`)
	teams, err = dir.Teams(t.Context(), []int64{target})
	require.NoError(t, err)
	require.Equal(t, "db", teams[target].Name)
	require.False(t, teams[target].Active)
}

func TestDirectoryReadsContacts(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	dir := pgescalation.NewDirectory(e.DB)
	ana := users.ID(e.People["ana"])
	e.Exec(`insert into user_modes values ($1, 'high', 'slack')`, ana)
	e.Exec(`insert into user_application_modes values ($1, $2, 'low', 'sms')`, ana, e.App)
	e.Exec(`insert into application_default_modes values ($1, 'urgent', 'sms')`, e.App)
	e.Exec(`update applications set fallback_role = 'team', fallback_target_id = (select target_id from teams where name = 'db') where id = $1`, e.App)
	ours, none := users.ResponderKey{User: ana, Application: e.App}, users.ResponderKey{User: ana}
	got, err := dir.Responders(t.Context(), []users.ResponderKey{ours, none, {User: 999_999, Application: e.App}})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, map[users.Mode]string{
		users.Email: "ana@email", users.SMS: "ana@sms", users.Call: "ana@call", users.Slack: "ana@slack",
	}, got[ours].Contacts)
	require.Equal(t, map[users.Priority]users.Mode{users.High: users.Slack}, got[ours].Modes)
	require.Equal(t, map[users.Priority]users.Mode{users.Low: users.SMS}, got[ours].AppModes)
	require.Empty(t, got[none].AppModes)
	require.Equal(t, "ana", got[none].Name)

	apps, err := dir.Applications(t.Context(), []int64{e.App, 999_999})
	require.NoError(t, err)
	require.Len(t, apps, 1)
	app := apps[e.App]
	require.Equal(t, "shop", app.Name)
	require.Equal(t, users.DefaultModes, app.Modes.Priorities, "a new installation has those that are built in")
	targets := pg.NewTargets(e.DB)
	require.NoError(t, targets.SetPriorityMode(t.Context(), users.Low, users.Push))
	require.Equal(t, fault.NotFound, fault.KindOf(targets.SetPriorityMode(t.Context(), "loud", users.SMS)))
	apps, err = dir.Applications(t.Context(), []int64{e.App})
	require.NoError(t, err)
	require.Equal(t, users.Push, apps[e.App].Modes.Priorities[users.Low])
	require.True(t, app.Modes.Supported[users.Email])
	require.False(t, app.Modes.Supported[users.Drop])
	require.Equal(t, map[users.Priority]users.Mode{users.Urgent: users.SMS}, app.Modes.Defaults)
	require.Equal(t, "team db", app.Fallback.String())
}

func TestDirectoryReadsPlans(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	one := 1
	id := e.Plan("full",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute, Repeat: 2,
			Optional: true},
		pgtest.Intent{Step: 1, Priority: "low", Wait: time.Second, Dynamic: &one},
		pgtest.Intent{Step: 3, Role: "manager", Target: "db", Priority: "urgent"})
	e.Exec(`update plans set tracking_type = 'email', tracking_key = 'log@example.com', tracking_template = '{"shop": {}}',
		fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss') where id = $1`, id)
	empty := e.Plan("empty")
	plans, err := pgescalation.NewDirectory(e.DB).Plans(t.Context(),
		[]escalation.PlanID{escalation.PlanID(id), escalation.PlanID(empty), 999_999})
	require.NoError(t, err)
	require.Len(t, plans, 2)
	require.Empty(t, plans[escalation.PlanID(empty)].Steps)
	p := plans[escalation.PlanID(id)]
	require.Equal(t, "full", p.Name)
	require.Equal(t, "owner", p.Creator)
	require.Equal(t, "boss", p.Fallback.String())
	require.Equal(t, users.Email, p.Tracking.Mode)
	require.True(t, p.Tracking.Covers("shop"))
	require.Len(t, p.Steps, 3, "a step without notifications keeps its place")
	require.Empty(t, p.Steps[1].Notifications)
	first := p.Steps[0].Notifications[0]
	require.Equal(t, "ana", first.Target.String())
	require.Equal(t, time.Minute, first.Wait)
	require.Equal(t, 2, first.Repeat)
	require.True(t, first.Optional)
	require.Nil(t, p.Steps[0].Notifications[1].Target)
	require.Equal(t, 1, *p.Steps[0].Notifications[1].DynamicIndex)
	require.Equal(t, "manager of db", p.Steps[2].Notifications[0].Target.String())
}
