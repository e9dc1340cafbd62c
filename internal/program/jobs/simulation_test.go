package jobs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/program/operator"
)

func TestSimulationReportsCalendarsThatAreNotPopulated(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(), populateSeed+`
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) select 'p', id, 0, 0, 0, 0 from users where name = 'ann';
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
			select p.id, 1, 0, 'high', 'oncall-primary', t.target_id, 'x', 60, 0, false from plans p, teams t where t.name = 'full';
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
			select p.id, 1, 1, 'high', 'oncall-secondary', t.target_id, 'x', 60, 0, false from plans p, teams t where t.name = 'full'`)
	require.NoError(t, err)
	var plan int64
	require.NoError(t, db.Pool().QueryRow(t.Context(), `select id from plans where name = 'p'`).Scan(&plan))
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	simulator, err := operator.NewSimulator(db, pg.NewApplications(db, keys), operator.SimulatorConfig{ListLimit: 100})
	require.NoError(t, err)
	notPopulated := func(at time.Time) (notes []string) {
		t.Helper()
		sim, err := simulator.Simulate(t.Context(), simulation.Question{Plan: escalation.PlanID(plan), At: at})
		require.NoError(t, err)
		for _, n := range sim.Notes {
			if strings.Contains(n, "is not populated so far") {
				notes = append(notes, n)
			}
		}
		return notes
	}
	now := time.Now().UTC().Truncate(time.Second)
	soon, late := now.Add(time.Hour), now.Add(90*24*time.Hour)
	notes := notPopulated(soon)
	require.Len(t, notes, 1, "the schedule has made no shift yet")
	require.Contains(t, notes[0], "team full has no shifts for the role primary at "+soon.Format(time.DateTime))

	require.NoError(t, testPopulator(t, db, owner{epoch: 7}).pass(t.Context()))
	notes = notPopulated(soon)
	require.Empty(t, notes, "the calendar reaches this far; the secondary role has no schedule to wait for")
	notes = notPopulated(late)
	require.Len(t, notes, 1, "the calendar does not reach this far")
	require.Contains(t, notes[0], late.Format(time.DateTime))
}
