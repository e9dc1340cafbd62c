package pg

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// reroute stores the plan of another rule for an incident whose severity rose and that nobody has acknowledged: the
// incident goes on with the first step of that plan. If an incident of that plan, application and key escalates, it is
// merged into that one instead. A snoozed or silenced incident begins the plan when the snooze or silence ends. It
// returns done = false if the incident keeps its plan, and starts if escalation starts now.
func reroute(ctx context.Context, q *db.Queries, row db.LockForDeliveryRow, d incidents.Delivery) (done, starts bool, err error) {
	to, id, status := d.Reroute, row.Incident.ID, StatusOf(row.Incident)
	if to == nil || to.Plan == row.Plan || status.Owned {
		return false, false, nil
	}
	waits := status.Silenced
	switch status.State() {
	case incidents.StateEscalating, incidents.StateExhausted:
	case incidents.StateSnoozed, incidents.StateSilenced:
		waits = true
	default:
		return false, false, nil
	}
	before, err := q.Restarts(ctx, id)
	if err != nil || len(before) >= incidents.RestartsPerDay {
		return false, false, err
	}
	why := joined(d.Text, to.Reason)
	into, err := escalatingWithKey(ctx, q, row.Incident, to.Plan)
	if err != nil {
		return false, false, err
	}
	if into != 0 && !waits {
		one := []changing{{row: row.Incident}}
		if _, err := dropTimers(ctx, q, one); err != nil {
			return false, false, err
		}
		return true, true, merge(ctx, q, incidents.Change{Via: incidents.ViaHook}, into, one, why)
	}
	if err := q.SetPlan(ctx, db.SetPlanParams{ID: id, PlanID: to.PlanID}); err != nil {
		return false, false, err
	}
	p := db.AddDynamicTargetsParams{ID: int64(id)}
	for _, t := range to.Targets {
		p.Indexes, p.Roles = append(p.Indexes, t.Index), append(p.Roles, t.Role)
		p.TargetIds = append(p.TargetIds, t.TargetID)
	}
	if err := q.AddDynamicTargets(ctx, p); err != nil {
		return false, false, err
	}
	text := fmt.Sprintf("escalation goes on with step 1 of plan %s instead of plan %s", to.Plan, row.Plan)
	if waits {
		text = fmt.Sprintf("escalation will begin with step 1 of plan %s instead of plan %s", to.Plan, row.Plan)
		err = q.RestartPlan(ctx, id)
	} else {
		row.Incident.PlanID = to.PlanID
		_, err = StartAgain(ctx, q, incidents.Restart, db.SetStatesParams{}, row.Incident)
	}
	if err != nil {
		return false, false, err
	}
	return true, !waits, AddEntry(ctx, q, id, incidents.EntryReopened, "", text+": "+why)
}

// escalatingWithKey returns the incident of a plan that escalates and has the application and key of another incident;
// 0 = none, or nothing can be merged into it.
func escalatingWithKey(ctx context.Context, q *db.Queries, of db.Incident, plan string) (incidents.ID, error) {
	if of.DedupKey == nil {
		return 0, nil
	}
	id, err := q.OpenIncidentOfPlan(ctx, db.OpenIncidentOfPlanParams{ApplicationID: of.ApplicationID, Plan: plan,
		DedupKey: *of.DedupKey})
	if err != nil || id == of.ID {
		return 0, postgres.IgnoreNoRows(err)
	}
	with, err := q.WithMerged(ctx, []int64{int64(of.ID)})
	if err != nil || with != 0 {
		return 0, err
	}
	rows, err := q.LockForChange(ctx, []int64{int64(id)})
	if err != nil || len(rows) == 0 || StatusOf(rows[0].Incident).State() != incidents.StateEscalating {
		return 0, err
	}
	return id, nil
}
