package pg

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Commit implements escalation.Ledger. It locks leases, then incidents, each in ascending order. Incidents that changed
// since they were read are left out: they are still due and are read again.
func (r *Runner) Commit(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.Change) ([]incidents.ID, error) {
	var written []incidents.ID
	policy, err := r.quotas.Current(ctx)
	if err != nil {
		return nil, err
	}
	var tally floods.Tally
	err = r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		tally = floods.Tally{}
		if err := pgbuckets.Fence(ctx, q, processID, leases); err != nil {
			return err
		}
		valid, err := lockUnchanged(ctx, q, changes)
		if err != nil || len(valid) == 0 {
			written = nil
			return err
		}
		news, entries := toWrite(valid)
		written = make([]incidents.ID, len(valid))
		for i, c := range valid {
			written[i] = c.ID
		}
		// Floods and quotas are counted last: transactions that page the same person wait for each other there.
		if err := q.AdvanceIncidents(ctx, advanceParams(valid)); err != nil {
			return fmt.Errorf("advance incidents: %w", err)
		}
		if err := pg.AddEntries(ctx, q, entries); err != nil {
			return err
		}
		news, held, err := pg.Hold(ctx, q, r.floods, news, tally)
		if err != nil {
			return err
		}
		news, quiet, err := policy.HoldQuiet(ctx, q, r.floods, news, tally)
		if err != nil {
			return err
		}
		if sooner := floods.DueSooner(valid, news); len(sooner) > 0 {
			if err := q.AdvanceIncidents(ctx, advanceParams(sooner)); err != nil {
				return fmt.Errorf("advance incidents: %w", err)
			}
		}
		limited, err := policy.Apply(ctx, q, news, tally)
		if err != nil {
			return err
		}
		if err := pg.MakeMessages(ctx, q, news); err != nil {
			return err
		}
		return pg.AddEntries(ctx, q, slices.Concat(held, quiet, limited))
	})
	if err != nil {
		return nil, err
	}
	pg.CountTally(r.db, tally)
	return written, nil
}

// toWrite returns the messages and the lines of changes.
func toWrite(changes []escalation.Change) (news []floods.Message, entries []floods.Entry) {
	for _, c := range changes {
		for _, m := range c.Messages {
			news = append(news, floods.Message{Bucket: c.Lease.Bucket, New: m, At: c.At, Application: c.Application,
				Aggregation: c.Aggregation})
		}
		for _, e := range c.Entries {
			entries = append(entries, floods.Entry{Incident: c.ID, Entry: e})
		}
	}
	return news, entries
}

// lockUnchanged locks the incidents of the changes and returns the changes whose incident and messages are as they were
// read. Recording an outcome locks the incident too, so no message settles unnoticed from here on.
func lockUnchanged(ctx context.Context, q *db.Queries, changes []escalation.Change) ([]escalation.Change, error) {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = int64(c.ID)
	}
	rows, err := q.LockIncidents(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("lock incidents: %w", err)
	}
	versions := make(map[int64]int, len(rows))
	for _, row := range rows {
		if row.Active {
			versions[int64(row.ID)] = row.Version
		}
	}
	facts, err := readFacts(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	valid := make([]escalation.Change, 0, len(changes))
	for _, c := range changes {
		version, locked := versions[int64(c.ID)]
		if !locked || version != c.Version {
			continue
		}
		var ignored escalation.Progress
		if !escalation.Observe(&ignored, facts[int64(c.ID)]).Equal(c.Seen) {
			continue
		}
		valid = append(valid, c)
	}
	return valid, nil
}

func advanceParams(changes []escalation.Change) db.AdvanceIncidentsParams {
	var p db.AdvanceIncidentsParams
	for _, c := range changes {
		progress, err := escalation.EncodeProgress(c.Progress)
		if err != nil {
			progress = json.RawMessage("{}") // cannot happen: it holds numbers and times only
		}
		p.Ids = append(p.Ids, int64(c.ID))
		p.CurrentSteps = append(p.CurrentSteps, min(c.Progress.Step, math.MaxInt16))
		p.StepAts = append(p.StepAts, postgres.OrEpoch(c.Progress.StepAt))
		p.Progress = append(p.Progress, string(progress))
		p.Actives = append(p.Actives, c.Active)
		p.DueAts = append(p.DueAts, postgres.OrEpoch(c.DueAt))
		p.Visibles = append(p.Visibles, c.Visible)
	}
	return p
}

// Delay implements escalation.Ledger.
func (r *Runner) Delay(ctx context.Context, processID string, d escalation.Due, by time.Duration, entry incidents.Entry, now time.Time) error {
	return r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := pgbuckets.Fence(ctx, q, processID, []buckets.Lease{d.Lease}); err != nil {
			return err
		}
		n, err := q.DelayIncident(ctx, db.DelayIncidentParams{Now: postgres.NullTime(now), Seconds: by.Seconds(),
			ID: d.ID, Version: d.Version})
		if err != nil {
			return fmt.Errorf("delay incident: %w", err)
		}
		if n == 0 || entry.Text == "" {
			return nil
		}
		if entry.At.IsZero() {
			if entry.At, err = clockOf(ctx, q, now); err != nil {
				return err
			}
		}
		return pg.AddEntries(ctx, q, []floods.Entry{{Incident: d.ID, Entry: entry}})
	})
}

func clockOf(ctx context.Context, q *db.Queries, now time.Time) (time.Time, error) {
	if !now.IsZero() {
		return now, nil
	}
	return q.ServerClock(ctx)
}

// Cancel implements escalation.Ledger.
func (r *Runner) Cancel(ctx context.Context, processID string, leases []buckets.Lease, ids []incidents.ID, now time.Time) error {
	wanted := make([]int64, len(ids))
	for i, id := range ids {
		wanted[i] = int64(id)
	}
	return r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := pgbuckets.Fence(ctx, q, processID, leases); err != nil {
			return err
		}
		rows, err := q.LockIncidents(ctx, wanted)
		if err != nil {
			return fmt.Errorf("lock incidents: %w", err)
		}
		silent := []int64{}
		for _, row := range rows {
			if !row.Active {
				silent = append(silent, int64(row.ID))
			}
		}
		if len(silent) == 0 {
			return nil
		}
		cancelled, err := q.CancelMessages(ctx, silent)
		if err != nil {
			return fmt.Errorf("cancel messages: %w", err)
		}
		if err := q.SettleCancelled(ctx, db.SettleCancelledParams{Now: postgres.NullTime(now), Ids: silent}); err != nil {
			return fmt.Errorf("settle cancelled incidents: %w", err)
		}
		at, err := clockOf(ctx, q, now)
		if err != nil {
			return err
		}
		counts := map[int64]int{}
		for _, id := range cancelled {
			counts[id]++
		}
		var entries []floods.Entry
		for _, id := range silent {
			if n := counts[id]; n > 0 {
				entries = append(entries, floods.Entry{Incident: incidents.ID(id),
					Entry: escalation.CancelledEntry(n, at)})
			}
		}
		return pg.AddEntries(ctx, q, entries)
	})
}
