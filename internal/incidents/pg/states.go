package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// StatusOf returns the status of a stored incident.
func StatusOf(i db.Incident) incidents.Status {
	return incidents.Status{Active: i.Active, Owned: i.OwnerID != nil || postgres.Deref(i.SourceAcknowledged),
		Snoozed:  i.SnoozedUntil != nil,
		Silenced: i.SilencedUntil != nil, Merged: i.MergedInto != nil, Resolved: i.Resolved, Closed: i.ClosedAt != nil}
}

// Transit writes what an event does to locked incidents. with has the values that the event brings: an owner, an end, a
// parent; its other fields are ignored. The result is in the order of rows. If one of the incidents refuses the event,
// nothing is written. The timers of incidents whose state changes end, and so do notices that the state forbids.
func Transit(ctx context.Context, q *db.Queries, e incidents.Event, with db.SetStatesParams, rows ...db.Incident) ([]incidents.Transition, error) {
	made := make([]incidents.Transition, len(rows))
	ids := map[incidents.Transition][]int64{}
	var left []int64
	for k, row := range rows {
		t, err := StatusOf(row).After(e)
		if err != nil {
			return nil, err
		}
		made[k], ids[t] = t, append(ids[t], int64(row.ID))
		if t.Before.State() != t.After.State() && !t.Before.Resolved {
			left = append(left, int64(row.ID))
		}
	}
	for t, some := range ids {
		p, after := with, t.After
		p.Ids, p.Due, p.Starts = some, t.Due(), 0
		p.Active, p.Owned, p.Snoozed, p.Silenced = after.Active, after.Owned, after.Snoozed, after.Silenced
		p.Merged, p.Closed, p.Resolved = after.Merged, after.Closed, after.Resolved
		p.Opens = (t.Before.Resolved || t.Before.Closed) && !after.Resolved && !after.Closed
		if t.Starts() || e == incidents.Restart {
			p.Starts = 1
		}
		switch after.State() {
		case incidents.StateExhausted, incidents.StateAcknowledged, incidents.StateResolved:
			p.WasExhausted = e != incidents.AcknowledgeAtSource
		}
		if err := q.SetStates(ctx, p); err != nil {
			return nil, err
		}
		if err := Changed(ctx, q, some, t); err != nil {
			return nil, err
		}
	}
	if len(left) == 0 {
		return made, nil
	}
	_, err := q.DropTimers(ctx, left)
	return made, err
}

// StartAgain is Transit for an event that makes the plan begin again.
func StartAgain(ctx context.Context, q *db.Queries, e incidents.Event, with db.SetStatesParams, row db.Incident) (incidents.Transition, error) {
	made, err := Transit(ctx, q, e, with, row)
	if err != nil {
		return incidents.Transition{}, err
	}
	return made[0], q.RestartPlan(ctx, row.ID)
}

// rowsOf returns the rows of incidents.
func rowsOf(of []changing) []db.Incident {
	return postgres.Convert(of, func(b changing) db.Incident { return b.row })
}

// idsOf returns the numbers of incidents.
func idsOf(of []changing) []int64 {
	return postgres.Convert(of, func(b changing) int64 { return int64(b.row.ID) })
}
