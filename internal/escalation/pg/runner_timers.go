package pg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Fire implements escalation.Timers.
func (r *Runner) Fire(ctx context.Context, processID string, leases []buckets.Lease, now time.Time) (woken buckets.Set, err error) {
	var due []db.DueTimersRow
	err = r.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		due, err = q.DueTimers(ctx, db.DueTimersParams{Buckets: pgbuckets.BucketNumbers(leases),
			Now: postgres.NullTime(now)})
		return err
	})
	if err != nil || len(due) == 0 {
		return woken, err
	}
	lease := pgbuckets.ByBucket(leases)
	var ids []int64
	var under []buckets.Lease
	for _, t := range due {
		ids = append(ids, int64(t.IncidentID))
		if l := lease[t.Bucket]; !slices.Contains(under, l) {
			under = append(under, l)
		}
	}
	err = r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		woken = buckets.Set{}
		if err := pgbuckets.Fence(ctx, q, processID, under); err != nil {
			return err
		}
		locked, err := q.LockIncidents(ctx, ids)
		if err != nil {
			return fmt.Errorf("lock incidents: %w", err)
		}
		mine := make([]int64, len(locked)) // incidents that another transaction is changing are read again
		for k, l := range locked {
			mine[k] = int64(l.ID)
		}
		timers, err := q.TimersToRing(ctx, db.TimersToRingParams{Ids: mine, Now: postgres.NullTime(now)})
		if err != nil {
			return fmt.Errorf("read timers: %w", err)
		}
		over := make([]int64, len(timers))
		for k, t := range timers {
			over[k] = int64(t.IncidentID)
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
				woken.Add(pgincidents.BucketOf(int64(t.IncidentID)))
			}
		}
		return nil
	})
	return woken, err
}

// rings are the events and timeline entries of expired timers.
var rings = map[string]struct {
	event incidents.Event
	line  string
}{
	pgincidents.TimerLate:   {incidents.LateDelivery, "no resolve followed the late firing delivery"},
	pgincidents.TimerNews:   {incidents.News, "there is a new alert"},
	pgincidents.TimerSnooze: {incidents.SnoozeEnded, "the snooze is over"},
	pgincidents.TimerAcknowledgement: {incidents.AcknowledgementTimedOut,
		"it was acknowledged, but not resolved in time"},
}

// ring makes the plan of an incident whose timer expired begin again, if its state still allows it. A timer that
// expires too soon after another restart is set again. After a late firing it restarts nothing if another incident of
// the group is open.
func ring(ctx context.Context, q *db.Queries, t db.TimersToRingRow, now time.Time) (started bool, err error) {
	id, r := t.IncidentID, rings[t.Reason]
	next, err := pgincidents.StatusOf(t.Incident).After(r.event)
	switch {
	case err != nil || !next.Changes():
		return false, nil // another event came first
	case t.Reason == pgincidents.TimerLate && t.Other != 0:
		return false, pgincidents.AddEntry(ctx, q, id, incidents.EntryHeld, "",
			fmt.Sprintf("the late firing delivery is not escalated here: incident %d of the same group is open",
				t.Other))
	}
	named := len(t.Fingerprints) > 0
	if t.Fingerprints, err = staying(ctx, q, t); err != nil {
		return false, err
	}
	if named && len(t.Fingerprints) == 0 {
		return false, pgincidents.AddEntry(ctx, q, id, incidents.EntryHeld, "",
			"the late firing delivery is not escalated here: its event has another incident")
	}
	if t.Reason == pgincidents.TimerSnooze || t.Reason == pgincidents.TimerAcknowledgement {
		if later, err := delayRing(ctx, q, t, now); err != nil || later {
			return false, err
		}
	}
	if _, err := pgincidents.StartAgain(ctx, q, r.event, db.SetStatesParams{Now: postgres.NullTime(now)}, t.Incident); err != nil {
		return false, err
	}
	if len(t.Fingerprints) > 0 {
		if err := q.FireAlerts(ctx, db.FireAlertsParams{IncidentID: t.IncidentID, Fingerprints: t.Fingerprints}); err != nil {
			return false, err
		}
	}
	line := "escalation starts again: " + r.line
	if !next.Starts() {
		line = "escalation does not start again, because the incident is silenced: " + r.line
	}
	return next.Starts(), pgincidents.AddEntry(ctx, q, id, next.Kind, "", line)
}

// staying returns the fingerprints of a timer without those of events that are alerts of another open incident now.
func staying(ctx context.Context, q *db.Queries, t db.TimersToRingRow) ([]string, error) {
	if t.Reason != pgincidents.TimerLate || t.Incident.IntegrationID == nil || len(t.Fingerprints) == 0 {
		return t.Fingerprints, nil
	}
	moved, err := q.MovedEvents(ctx, db.MovedEventsParams{IntegrationID: *t.Incident.IntegrationID,
		Fingerprints: t.Fingerprints, IncidentID: t.IncidentID})
	return slices.DeleteFunc(t.Fingerprints, func(f string) bool { return slices.Contains(moved, f) }), err
}

// delayRing sets a timer again if the limits of restarts do not allow one yet.
func delayRing(ctx context.Context, q *db.Queries, t db.TimersToRingRow, now time.Time) (later bool, err error) {
	before, err := q.Restarts(ctx, t.IncidentID)
	if err != nil {
		return false, err
	}
	if now, err = clockOf(ctx, q, now); err != nil {
		return false, err
	}
	wait := incidents.NextRestart(before, now).Sub(now)
	if wait <= 0 {
		return false, nil
	}
	_, err = q.SetTimer(ctx, db.SetTimerParams{IncidentID: t.IncidentID, Seconds: wait.Seconds(), Reason: t.Reason,
		Fingerprints: t.Fingerprints})
	return true, err
}
