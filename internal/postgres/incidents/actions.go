package incidents

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Escalate starts the next step of incidents now. An acknowledged incident loses its owner. If one is resolved or on the last
// step of its plan, Escalate returns a Conflict and changes nothing.
func (i *Incidents) Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		e := db.AddEntriesParams{Kind: string(incidents.EntryOperator), Actor: c.Actor}
		for _, b := range before {
			now, err := q.IncidentStep(ctx, int64(b.id))
			if err != nil {
				return err
			}
			next, err := incidents.NextStep(b.resolved, int(now.CurrentStep), int(now.Steps))
			if err != nil {
				return err
			}
			if err := q.SetIncidentState(ctx, db.SetIncidentStateParams{ID: int64(b.id), Step: int16(next), Active: true}); err != nil {
				return err
			}
			e.IncidentIds = append(e.IncidentIds, int64(b.id))
			e.Texts = append(e.Texts, fmt.Sprintf("escalated to step %d now%s", next, byWay(c, "")))
		}
		return write(ctx, q, e, before)
	})
}

// Restart starts the plan of incidents again at step 1. An acknowledged incident loses its owner. If one is resolved, Restart
// returns a Conflict and changes nothing.
func (i *Incidents) Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		e := db.AddEntriesParams{Kind: string(incidents.EntryReopened), Actor: c.Actor}
		for _, b := range before {
			if err := incidents.MayRestart(b.resolved); err != nil {
				return err
			}
			if err := q.RestartIncident(ctx, db.RestartIncidentParams{ID: int64(b.id)}); err != nil {
				return err
			}
			e.IncidentIds, e.Texts = append(e.IncidentIds, int64(b.id)), append(e.Texts, "the plan begins again"+byWay(c, ""))
		}
		return write(ctx, q, e, before)
	})
}

// write adds the entries of a change that starts escalation, and ends timers that would start it later.
func write(ctx context.Context, q *db.Queries, e db.AddEntriesParams, before []changing) error {
	if len(e.IncidentIds) == 0 {
		return nil
	}
	if _, err := dropTimers(ctx, q, before); err != nil {
		return err
	}
	return q.AddEntries(ctx, e)
}

// Alerts returns at most so many alerts of an incident, by fingerprint, beginning after one. There are none for an incident that
// does not exist or has no alerts.
func (i *Incidents) Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error) {
	rows, err := postgres.Query(ctx, i.db, (*db.Queries).AlertsOf, db.AlertsOfParams{
		IncidentID: int64(id), After: after, Most: int32(most),
	})
	return postgres.Convert(rows, func(r db.AlertsOfRow) incidents.Alert {
		return incidents.Alert{Fingerprint: r.Fingerprint, Firing: r.Status == alertFiring, Labels: r.Labels, Annotations: r.Annotations,
			StartsAt: postgres.Deref(r.StartsAt), EndsAt: postgres.Deref(r.EndsAt)}
	}), err
}
