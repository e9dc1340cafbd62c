package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/postgres/quotas"
	"github.com/iris-oncall/iris/internal/users"
)

// mostHeld is how many held pages leave in one transaction; those of a larger flood make several digests.
const mostHeld = 2000

// Releases implements escalation.Digests.
func (r *Runner) Releases(ctx context.Context, leases []buckets.Lease, now time.Time) ([]runner.Release, error) {
	var out []runner.Release
	err := r.db.Do(ctx, func(q *db.Queries) error {
		rows, err := q.DueAggregations(ctx, db.DueAggregationsParams{Now: postgres.NullTime(now), Buckets: postgres.BucketNumbers(leases)})
		if err != nil {
			return err
		}
		lease := postgres.ByBucket(leases)
		out = make([]runner.Release, len(rows))
		for i, row := range rows {
			out[i] = runner.Release{
				Key: escalation.AggregationKey{PlanID: escalation.PlanID(row.PlanID), ApplicationID: row.ApplicationID,
					Priority: users.Priority(row.Priority), UserID: users.ID(row.UserID)},
				Lease: lease[int(row.Bucket)], At: row.ReadAt,
			}
		}
		return nil
	})
	return out, err
}

// Release implements escalation.Digests. Lease, flood, then its held pages are locked.
func (r *Runner) Release(ctx context.Context, processID string, d runner.Digest, now time.Time) (buckets.Set, error) {
	var made buckets.Set
	limits, err := r.allowances.Current(ctx)
	if err != nil {
		return made, err
	}
	var tally quotas.Tally
	err = r.db.InTx(ctx, func(_ pgx.Tx, q *db.Queries) error {
		made, tally = buckets.Set{}, quotas.Tally{}
		if err := postgres.Fence(ctx, q, processID, []buckets.Lease{d.Lease}); err != nil {
			return err
		}
		k := d.Key
		_, err := q.LockDueAggregation(ctx, db.LockDueAggregationParams{
			PlanID: int64(k.PlanID), ApplicationID: k.ApplicationID, Priority: string(k.Priority), UserID: int64(k.UserID), Now: postgres.NullTime(now),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // somebody else was quicker
		}
		if err != nil {
			return fmt.Errorf("lock aggregation: %w", err)
		}
		user := int64(k.UserID)
		plan, priority := int64(k.PlanID), string(k.Priority)
		held, err := q.LockHeld(ctx, db.LockHeldParams{PlanID: &plan, ApplicationID: k.ApplicationID, Priority: &priority, UserID: &user, Most: mostHeld})
		if err != nil {
			return fmt.Errorf("lock held pages: %w", err)
		}
		next := db.SetReleaseParams{PlanID: plan, ApplicationID: k.ApplicationID, Priority: priority, UserID: user}
		if len(held) == mostHeld {
			next.ReleaseAt = &d.At
		}
		if err := q.SetRelease(ctx, next); err != nil {
			return fmt.Errorf("set the next release: %w", err)
		}
		entries, err := release(ctx, q, d, limits, held, &made, &tally)
		if err != nil {
			return err
		}
		return quotas.AddEntries(ctx, q, entries)
	})
	if err == nil {
		quotas.CountTally(r.db, tally)
	}
	return made, err
}

// release lets held pages leave whose incidents still wait for somebody.
func release(ctx context.Context, q *db.Queries, d runner.Digest, limits quotas.Allowed, held []db.LockHeldRow, made *buckets.Set, tally *quotas.Tally) ([]quotas.Entry, error) {
	var open []db.LockHeldRow
	closed := []int64{}
	for _, h := range held {
		if h.Open {
			open = append(open, h)
		} else {
			closed = append(closed, h.ID)
		}
	}
	if err := q.CancelHeld(ctx, closed); err != nil {
		return nil, fmt.Errorf("cancel held pages: %w", err)
	}
	switch len(open) {
	case 0:
		return nil, nil
	case 1:
		made.Add(int(open[0].IncidentID % buckets.Count))
		return releaseOne(ctx, q, d, limits, open[0], tally)
	}
	made.Add(d.Lease.Bucket)
	return releaseDigest(ctx, q, d, limits, open, tally)
}

// releaseOne lets a page leave as it is, by the rules and quotas of the moment.
func releaseOne(ctx context.Context, q *db.Queries, d runner.Digest, limits quotas.Allowed, h db.LockHeldRow, tally *quotas.Tally) ([]quotas.Entry, error) {
	page := []quotas.Message{{New: messages.New{
		IncidentID: incidents.ID(h.IncidentID), ApplicationID: d.Key.ApplicationID, Recipient: messages.ToUser(d.Key.UserID),
		Target: h.Target, Class: messages.Class(h.Class), Mode: users.Mode(h.Mode),
	}, At: d.At, Application: d.Application}}
	limited, err := limits.Apply(ctx, q, page, tally)
	if err != nil {
		return nil, err
	}
	if err := q.ReleaseHeld(ctx, db.ReleaseHeldParams{ID: h.ID, Mode: string(page[0].Mode)}); err != nil {
		return nil, fmt.Errorf("release a held page: %w", err)
	}
	tally.Released++
	released := quotas.Entry{Incident: incidents.ID(h.IncidentID), Entry: escalation.ReleasedEntry(h.Target, page[0].Mode, d.At)}
	return append([]quotas.Entry{released}, limited...), noteChanges(ctx, q, []int64{h.ID}, page[0].Changes)
}

// releaseDigest makes one message that stands for several pages.
func releaseDigest(ctx context.Context, q *db.Queries, d runner.Digest, limits quotas.Allowed, open []db.LockHeldRow, tally *quotas.Tally) ([]quotas.Entry, error) {
	last := open[len(open)-1]
	mode := d.Mode
	if mode == "" {
		mode = users.Mode(last.Mode)
	}
	ids, about := make([]int64, len(open)), make([]int64, len(open))
	for i, h := range open {
		ids[i], about[i] = h.ID, h.IncidentID
	}
	digest := []quotas.Message{{Bucket: d.Lease.Bucket, At: d.At, Application: d.Application, New: messages.New{
		ApplicationID: d.Key.ApplicationID, PlanID: int64(d.Key.PlanID), Recipient: messages.ToUser(d.Key.UserID),
		Purpose: messages.Digest, Target: last.Target, Priority: d.Key.Priority, Class: messages.ClassOf(d.Key.Priority),
		Mode: mode, Batch: d.Batch, BatchSize: len(open),
	}}}
	limited, err := limits.Apply(ctx, q, digest, tally)
	if err != nil {
		return nil, err
	}
	if err := q.MakeBatch(ctx, db.MakeBatchParams{
		Batch: d.Batch, PlanID: int64(d.Key.PlanID), ApplicationID: d.Key.ApplicationID, UserID: int64(d.Key.UserID),
		Pages: int32(len(open)), IncidentIds: about,
	}); err != nil {
		return nil, fmt.Errorf("make a batch: %w", err)
	}
	if err := q.PutIntoBatch(ctx, db.PutIntoBatchParams{
		Batch: d.Batch, Ids: ids, Destination: postgres.CleanText(d.Destination), Body: messages.DigestBody(d.Batch),
		Subject: postgres.CleanText(messages.DigestSubject(d.Application, len(open), d.Plan)),
	}); err != nil {
		return nil, fmt.Errorf("put pages into a batch: %w", err)
	}
	if err := quotas.MakeMessages(ctx, q, digest); err != nil {
		return nil, err
	}
	tally.Digests++
	entries := limited
	seen := map[int64]bool{}
	for _, h := range open {
		if seen[h.IncidentID] {
			continue
		}
		seen[h.IncidentID] = true
		entries = append(entries, quotas.Entry{Incident: incidents.ID(h.IncidentID), Entry: escalation.DigestEntry(h.Target, len(open), digest[0].Mode, d.Batch, d.At)})
		for _, c := range digest[0].Changes { // a digest has no timeline of its own
			entries = append(entries, quotas.LimitedEntry(incidents.ID(h.IncidentID), d.At, "the digest %s to %s goes by %s instead of %s: %s",
				d.Batch, h.Target, c.New, c.Old, c.Description))
		}
	}
	return entries, noteChanges(ctx, q, ids, []messages.Change{{Type: "sent-change", New: string(messages.Aggregated),
		Description: "Part of the digest with batch id " + d.Batch}})
}

// noteChanges adds the same lines to the audit logs of messages.
func noteChanges(ctx context.Context, q *db.Queries, ids []int64, changes []messages.Change) error {
	var p db.AddMessageChangesParams
	for _, id := range ids {
		for _, c := range changes {
			p.MessageIds = append(p.MessageIds, id)
			p.ChangeTypes = append(p.ChangeTypes, c.Type)
			p.Olds = append(p.Olds, c.Old)
			p.News = append(p.News, c.New)
			p.Descriptions = append(p.Descriptions, c.Description)
		}
	}
	if len(p.MessageIds) == 0 {
		return nil
	}
	if err := q.AddMessageChanges(ctx, p); err != nil {
		return fmt.Errorf("write audit lines: %w", err)
	}
	return nil
}

// CancelDigests implements escalation.Digests.
func (r *Runner) CancelDigests(ctx context.Context, processID string, leases []buckets.Lease) (n int, err error) {
	err = r.db.Do(ctx, func(q *db.Queries) error {
		silent, err := q.SilentDigests(ctx, postgres.BucketNumbers(leases))
		if err != nil || len(silent) == 0 {
			return err
		}
		p := db.CancelDigestsParams{ProcessID: processID}
		p.LeaseBuckets, p.Epochs = postgres.LeaseArrays(leases, postgres.SetOfBuckets(silent))
		rows, err := q.CancelDigests(ctx, p)
		n = int(rows)
		return err
	})
	return n, err
}
