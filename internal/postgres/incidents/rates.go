package incidents

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Recent returns how many incidents of the application on the plan version escalate, and how many were opened within lookback.
// Neither is counted further than most.
func (i *Incidents) Recent(ctx context.Context, applicationID, planID int64, lookback time.Duration, most int) (active, recent int64, err error) {
	err = i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		active, err = q.ActiveIncidentsOf(ctx, db.ActiveIncidentsOfParams{ApplicationID: applicationID, PlanID: planID, Most: int32(most)})
		if err != nil {
			return err
		}
		recent, err = q.RecentIncidentsOf(ctx, db.RecentIncidentsOfParams{ApplicationID: applicationID, PlanID: planID,
			LookbackUs: lookback.Microseconds(), Most: int32(most)})
		return err
	})
	return active, recent, err
}

// SetState sets the step of an incident and whether it escalates. An incident that begins to escalate loses its owner, as after an
// undone acknowledgement. A resolved incident cannot escalate (Conflict), and a step that the plan does not have is Invalid. The
// processors cancel pending messages of incidents that no longer escalate.
func (i *Incidents) SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		e := db.AddEntriesParams{Kind: string(incidents.EntryOperator), Actor: c.Actor}
		for _, b := range before {
			now, err := q.IncidentStep(ctx, int64(b.id))
			switch {
			case err != nil:
				return err
			case step < 0 || step > int(now.Steps):
				return fault.Invalidf("current_step", "current_step must be between 0 and %d", now.Steps)
			case active && b.resolved:
				return fault.New(fault.Conflict, "the incident is resolved")
			case b.active == active && int(now.CurrentStep) == step:
				continue
			}
			if err := q.SetIncidentState(ctx, db.SetIncidentStateParams{ID: int64(b.id), Step: int16(step), Active: active}); err != nil {
				return err
			}
			text := fmt.Sprintf("put on step %d, escalating%s", step, byWay(c, ""))
			if !active {
				text = fmt.Sprintf("put on step %d, no longer escalating%s", step, byWay(c, ""))
			}
			e.IncidentIds, e.Texts = append(e.IncidentIds, int64(b.id)), append(e.Texts, text)
		}
		if len(e.IncidentIds) == 0 {
			return nil
		}
		return q.AddEntries(ctx, e)
	})
}
