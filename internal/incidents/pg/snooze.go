package pg

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Snooze ends the escalation of incidents until an end. Then the plan begins again. Owners stay until then. An end that
// is not in the future of the database is Invalid. If the state of an incident does not allow a snooze, Snooze returns
// a Conflict and changes nothing.
func (i *Incidents) Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		now, err := q.ServerClock(ctx)
		if err != nil {
			return err
		}
		until := end(now).Truncate(time.Microsecond)
		if err := incidents.CheckSnooze(until, now); err != nil {
			return err
		}
		if _, err := dropTimers(ctx, q, before); err != nil {
			return err
		}
		text := "snoozed until " + until.UTC().Format("2006-01-02 15:04:05 UTC") + byWay(c, "")
		err = transit(ctx, q, c, incidents.Snooze, db.SetStatesParams{SnoozedUntil: &until}, before,
			slices.Repeat([]string{text}, len(before)))
		if err != nil {
			return err
		}
		return setTimers(ctx, q, TimerSnooze, until.Sub(now), idsOf(before)...)
	})
}

// EndSnooze ends snoozes now: the plan begins again. For an incident that is not snoozed it returns a Conflict and
// changes nothing.
func (i *Incidents) EndSnooze(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.startAgain(ctx, c, incidents.SnoozeEnded, "snooze ended"+byWay(c, "")+": the plan begins again")
}

// SnoozeByKey snoozes the open incident with the integration and key of n. It returns false if none is open. c.IDs is
// ignored.
func (i *Incidents) SnoozeByKey(ctx context.Context, n incidents.New, c incidents.Change, end incidents.SnoozeEnd) (incidents.ID, bool, error) {
	open, err := postgres.Query(ctx, i.db, (*db.Queries).OpenIncidentOfPlan, db.OpenIncidentOfPlanParams{
		ApplicationID: n.ApplicationID, Plan: planKey(n, ""), DedupKey: shortKey(n.DedupKey),
	})
	if err = postgres.IgnoreNoRows(err); err != nil || open == 0 {
		return 0, false, err
	}
	c.IDs = []incidents.ID{open}
	_, err = i.Snooze(ctx, c, end)
	return c.IDs[0], true, err
}

// startAgain makes the plans of incidents begin again, because of an event.
func (i *Incidents) startAgain(ctx context.Context, c incidents.Change, e incidents.Event, text string) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		if _, err := dropTimers(ctx, q, before); err != nil {
			return err
		}
		if err := transit(ctx, q, c, e, db.SetStatesParams{}, before, slices.Repeat([]string{text}, len(before))); err != nil {
			return err
		}
		for _, id := range idsOf(before) {
			if err := q.RestartPlan(ctx, incidents.ID(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// setTimers sets a timer for each incident. An incident that has one keeps it.
func setTimers(ctx context.Context, q *db.Queries, reason string, in time.Duration, ids ...int64) error {
	for _, id := range ids {
		_, err := q.SetTimer(ctx, db.SetTimerParams{IncidentID: incidents.ID(id), Seconds: in.Seconds(),
			Reason: reason, Fingerprints: []string{}})
		if err != nil {
			return err
		}
	}
	return nil
}
