package pg

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Escalate starts the next step of incidents now. An acknowledged incident loses its owner. If the state of one does
// not allow it, or one is on the last step of its plan, Escalate returns a Conflict and changes nothing.
func (i *Incidents) Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		texts := make([]string, len(before))
		for k, b := range before {
			if _, err := StatusOf(b.row).After(incidents.Escalate); err != nil {
				return err
			}
			steps, err := q.StepsOfPlan(ctx, b.row.PlanID)
			if err != nil {
				return err
			}
			next, err := incidents.NextStep(b.row.CurrentStep, steps)
			if err != nil {
				return err
			}
			if err := q.SetStep(ctx, db.SetStepParams{ID: b.row.ID, Step: next}); err != nil {
				return err
			}
			texts[k] = fmt.Sprintf("escalated to step %d now%s", next, byWay(c, ""))
		}
		if _, err := dropTimers(ctx, q, before); err != nil {
			return err
		}
		return transit(ctx, q, c, incidents.Escalate, db.SetStatesParams{}, before, texts)
	})
}

// Restart starts the plan of incidents again at step 1. An acknowledged incident loses its owner. If the state of one
// does not allow it, Restart returns a Conflict and changes nothing.
func (i *Incidents) Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.startAgain(ctx, c, incidents.Restart, "the plan begins again"+byWay(c, ""))
}

// Alerts returns at most so many alerts of an incident, by fingerprint, beginning after one. There are none for an
// incident that does not exist or has no alerts.
func (i *Incidents) Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error) {
	rows, err := postgres.Query(ctx, i.db, (*db.Queries).AlertsOf, db.AlertsOfParams{
		IncidentID: id, After: after, Most: most,
	})
	return postgres.Convert(rows, func(r db.AlertsOfRow) incidents.Alert {
		return incidents.Alert{Fingerprint: r.Fingerprint, Firing: r.Status == alertFiring, Labels: r.Labels,
			Annotations: r.Annotations,
			StartsAt:    postgres.Deref(r.StartsAt), EndsAt: postgres.Deref(r.EndsAt)}
	}), err
}
