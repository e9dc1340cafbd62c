package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	pgincidents "github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Fire implements escalation.Timers.
func (r *Runner) Fire(ctx context.Context, processID string, leases []buckets.Lease, now time.Time) (woken buckets.Set, err error) {
	var due []db.DueTimersRow
	err = r.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		due, err = q.DueTimers(ctx, db.DueTimersParams{Buckets: postgres.BucketNumbers(leases), Now: postgres.NullTime(now)})
		return err
	})
	if err != nil || len(due) == 0 {
		return woken, err
	}
	lease := postgres.ByBucket(leases)
	var ids []int64
	var under []buckets.Lease
	for _, t := range due {
		ids = append(ids, t.IncidentID)
		if l := lease[int(t.Bucket)]; !slices.Contains(under, l) {
			under = append(under, l)
		}
	}
	err = r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		woken = buckets.Set{}
		if err := postgres.Fence(ctx, q, processID, under); err != nil {
			return err
		}
		locked, err := q.LockIncidents(ctx, ids)
		if err != nil {
			return fmt.Errorf("lock incidents: %w", err)
		}
		mine := make([]int64, len(locked)) // incidents that another transaction is changing are read again
		for k, l := range locked {
			mine[k] = l.ID
		}
		timers, err := q.TimersToRing(ctx, db.TimersToRingParams{Ids: mine, Now: postgres.NullTime(now)})
		if err != nil {
			return fmt.Errorf("read timers: %w", err)
		}
		over := make([]int64, len(timers))
		for k, t := range timers {
			over[k] = t.IncidentID
		}
		if _, err := q.DropTimers(ctx, over); err != nil {
			return fmt.Errorf("drop timers: %w", err)
		}
		for _, t := range timers {
			started, err := ring(ctx, q, t, now)
			if err != nil {
				return fmt.Errorf("restart incident %d: %w", t.IncidentID, err)
			}
			if started {
				woken.Add(postgres.BucketOf(t.IncidentID))
			}
		}
		return nil
	})
	return woken, err
}

// ring restarts the escalation of an incident whose timer expired, if its state still allows it. After a late firing it restarts nothing
// if another incident of the group is open.
func ring(ctx context.Context, q *db.Queries, t db.TimersToRingRow, now time.Time) (started bool, err error) {
	id, event, line := incidents.ID(t.IncidentID), incidents.News, "escalation starts again: there is a new alert"
	if t.Reason == postgres.TimerLate {
		event, line = incidents.LateDelivery, "no resolve followed the late firing delivery: escalation starts again"
	}
	next, err := pgincidents.StatusOf(t.Incident).After(event)
	switch {
	case err != nil || !next.Starts():
		return false, nil // somebody resolved or acknowledged it, or it escalates already
	case t.Reason == postgres.TimerLate && t.Other != 0:
		return false, postgres.AddEntry(ctx, q, id, incidents.EntryHeld, "",
			fmt.Sprintf("the late firing delivery is not escalated here: incident %d of the same group is open", t.Other))
	}
	if _, err := pgincidents.StartAgain(ctx, q, event, db.SetStatesParams{Now: postgres.NullTime(now)}, t.Incident); err != nil {
		return false, err
	}
	if len(t.Fingerprints) > 0 {
		if err := q.FireAlerts(ctx, db.FireAlertsParams{IncidentID: t.IncidentID, Fingerprints: t.Fingerprints}); err != nil {
			return false, err
		}
	}
	return true, postgres.AddEntry(ctx, q, id, incidents.EntryReopened, "", line)
}
