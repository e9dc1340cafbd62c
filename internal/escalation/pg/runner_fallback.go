package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// Failed implements runner.Store.
func (r *Runner) Failed(ctx context.Context, leases []buckets.Lease, ask runner.Ask) ([]escalation.Failed, error) {
	var out []escalation.Failed
	err := r.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		rows, err := q.MessagesNeedingFallback(ctx, db.MessagesNeedingFallbackParams{
			Buckets: pgbuckets.BucketNumbers(leases), Excluded: postgres.NonNil(ask.Excluded), PerBucket: ask.PerBucket, Total: ask.Limit,
		})
		if err != nil {
			return err
		}
		lease := pgbuckets.ByBucket(leases)
		out = make([]escalation.Failed, len(rows))
		for i, row := range rows {
			out[i] = escalation.Failed{
				ID: row.ID, Lease: lease[row.Bucket], Open: row.IncidentOpen, Trying: row.Trying,
				Made: messages.New{
					IncidentID: postgres.Deref(row.IncidentID), RequestID: postgres.Deref(row.RequestID),
					ApplicationID: row.ApplicationID, PlanID: postgres.Deref(row.PlanID), Reopen: row.ReopenCount,
					Step: row.Step, Position: row.Position, Repeat: row.Repeat,
					Recipient: row.Recipient, Purpose: row.Purpose, Target: row.Target,
					Priority: postgres.Deref(row.Priority), Class: row.Class, Mode: row.Mode,
					Template: postgres.Deref(row.Template), ExpiresAt: postgres.Deref(row.ExpiresAt),
					Wait: time.Duration(row.WaitSeconds) * time.Second, Batch: digestOf(row), BatchSize: postgres.Deref(row.BatchSize),
				},
			}
			for k, to := range row.OtherRecipients {
				out[i].Others = append(out[i].Others, escalation.OtherMessage{Recipient: messages.Recipient(to),
					Fate: fate(row.OtherStates[k])})
			}
		}
		return nil
	})
	return out, err
}

// digestOf returns the batch if the failed message is a digest. A page inside a digest has its own fallback and returns
// "".
func digestOf(row db.MessagesNeedingFallbackRow) string {
	if row.IncidentID != nil {
		return ""
	}
	return postgres.Deref(row.Batch)
}

// CommitFallbacks implements escalation.Ledger. It locks leases, incidents, then messages, each in ascending order.
// Rows that another transaction locked or changed are left for the next pass.
func (r *Runner) CommitFallbacks(ctx context.Context, processID string, leases []buckets.Lease, changes []escalation.FallbackChange, now time.Time) error {
	return r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := pgbuckets.Fence(ctx, q, processID, leases); err != nil {
			return err
		}
		valid, err := lockFailed(ctx, q, changes)
		if err != nil || len(valid) == 0 {
			return err
		}
		at, err := clockOf(ctx, q, now)
		if err != nil {
			return err
		}
		var news []floods.Message
		var entries []floods.Entry
		var audit db.AddMessageChangesParams
		failed, woken := []int64{}, []int64{}
		for _, c := range valid {
			failed = append(failed, int64(c.Failed.ID))
			if !c.Failed.OutOfBand() {
				woken = append(woken, int64(c.Failed.Made.IncidentID))
			}
			for _, m := range c.Messages {
				news = append(news, floods.Message{Bucket: c.Failed.Lease.Bucket, New: m})
			}
			bearing, err := incidentsOf(ctx, q, c.Failed.Made)
			if err != nil {
				return err
			}
			for _, e := range c.Entries {
				e.At = at
				for _, id := range bearing {
					entries = append(entries, floods.Entry{Incident: id, Entry: e})
				}
			}
			for _, m := range c.Changes {
				audit.MessageIds = append(audit.MessageIds, int64(c.Failed.ID))
				audit.ChangeTypes = append(audit.ChangeTypes, m.Type)
				audit.Olds = append(audit.Olds, m.Old)
				audit.News = append(audit.News, m.New)
				audit.Descriptions = append(audit.Descriptions, m.Description)
			}
		}
		if err := q.ClearNeedsFallback(ctx, failed); err != nil {
			return fmt.Errorf("clear failed messages: %w", err)
		}
		if err := pg.MakeMessages(ctx, q, news); err != nil {
			return err
		}
		if len(audit.MessageIds) > 0 {
			if err := q.AddMessageChanges(ctx, audit); err != nil {
				return fmt.Errorf("write audit lines: %w", err)
			}
		}
		if err := q.WakeIncidents(ctx, db.WakeIncidentsParams{Now: postgres.NullTime(now), Ids: woken}); err != nil {
			return fmt.Errorf("wake incidents: %w", err)
		}
		return pg.AddEntries(ctx, q, entries)
	})
}

// incidentsOf returns the incidents that a message is about: its own, those of a digest, or none.
func incidentsOf(ctx context.Context, q *db.Queries, m messages.New) ([]incidents.ID, error) {
	switch {
	case m.IncidentID != 0:
		return []incidents.ID{m.IncidentID}, nil
	case m.Batch == "":
		return nil, nil
	}
	ids, err := q.BatchIncidents(ctx, m.Batch)
	if err != nil {
		return nil, fmt.Errorf("read the incidents of a digest: %w", err)
	}
	return ids, nil
}

// lockFailed locks incidents and messages and returns the changes that still apply.
func lockFailed(ctx context.Context, q *db.Queries, changes []escalation.FallbackChange) ([]escalation.FallbackChange, error) {
	var incidentIDs, messageIDs []int64
	for _, c := range changes {
		if !c.Failed.OutOfBand() {
			incidentIDs = append(incidentIDs, int64(c.Failed.Made.IncidentID))
		}
		messageIDs = append(messageIDs, int64(c.Failed.ID))
	}
	locked := map[int64]db.LockIncidentsRow{}
	if len(incidentIDs) > 0 {
		rows, err := q.LockIncidents(ctx, incidentIDs)
		if err != nil {
			return nil, fmt.Errorf("lock incidents: %w", err)
		}
		for _, row := range rows {
			locked[int64(row.ID)] = row
		}
	}
	failing, err := q.LockMessagesNeedingFallback(ctx, messageIDs)
	if err != nil {
		return nil, fmt.Errorf("lock messages: %w", err)
	}
	ours := make(map[int64]bool, len(failing))
	for _, id := range failing {
		ours[int64(id)] = true
	}
	valid := make([]escalation.FallbackChange, 0, len(changes))
	for _, c := range changes {
		if !ours[int64(c.Failed.ID)] {
			continue
		}
		if !c.Failed.OutOfBand() {
			now, ok := locked[int64(c.Failed.Made.IncidentID)]
			open := now.Open || c.Failed.Made.Purpose == messages.Direct && !now.Stopped
			if !ok || open != c.Failed.Open {
				continue
			}
		}
		valid = append(valid, c)
	}
	return valid, nil
}
