package pg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Recent returns how many incidents of the application and opener ("" = the application) on the plan version escalate,
// and how many were opened within lookback. Neither is counted further than most.
func (i *Incidents) Recent(ctx context.Context, applicationID int64, opener string, planID int64, lookback time.Duration, most int) (active, recent int64, err error) {
	err = i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		active, err = q.ActiveIncidentsOf(ctx, db.ActiveIncidentsOfParams{ApplicationID: applicationID, Opener: opener,
			PlanID: planID, Most: most})
		if err != nil {
			return err
		}
		recent, err = q.RecentIncidentsOf(ctx, db.RecentIncidentsOfParams{ApplicationID: applicationID, Opener: opener,
			PlanID:     planID,
			LookbackUs: lookback.Microseconds(), Most: most})
		return err
	})
	return active, recent, err
}

// SetState sets the step of an incident and whether it escalates. An incident that begins to escalate loses its owner,
// as after an undone acknowledgement. If its state does not allow escalation, SetState returns a Conflict; a step that
// the plan does not have is Invalid. The processors cancel pending messages of incidents that no longer escalate.
func (i *Incidents) SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		event, how := incidents.Escalate, "escalating"
		if !active {
			event, how = incidents.Stop, "no longer escalating"
		}
		var chosen []changing
		for _, b := range before {
			steps, err := q.StepsOfPlan(ctx, b.row.PlanID)
			switch {
			case err != nil:
				return err
			case step < 0 || step > steps:
				return fault.Invalidf("current_step", "current_step must be between 0 and %d", steps)
			case active && b.row.Resolved:
				return fault.New(fault.Conflict, "the incident is resolved")
			case b.row.Active == active && b.row.CurrentStep == step:
				continue
			}
			if err := q.SetStep(ctx, db.SetStepParams{ID: b.row.ID, Step: step}); err != nil {
				return err
			}
			chosen = append(chosen, b)
		}
		text := fmt.Sprintf("put on step %d, %s%s", step, how, byWay(c, ""))
		return transit(ctx, q, c, event, db.SetStatesParams{}, chosen, slices.Repeat([]string{text}, len(chosen)))
	})
}
