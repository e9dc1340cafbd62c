package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// mostHeld is how many held pages are sent in one transaction; a larger flood gets several digests.
const mostHeld = 2000

// Releases implements escalation.Digests.
func (r *Runner) Releases(ctx context.Context, leases []buckets.Lease, now time.Time) ([]runner.Release, error) {
	var out []runner.Release
	err := r.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		rows, err := q.DueAggregations(ctx, db.DueAggregationsParams{Now: postgres.NullTime(now),
			Buckets: pgbuckets.BucketNumbers(leases)})
		if err != nil {
			return err
		}
		lease := pgbuckets.ByBucket(leases)
		out = make([]runner.Release, len(rows))
		for i, row := range rows {
			out[i] = runner.Release{
				Key: escalation.AggregationKey{PlanID: escalation.PlanID(row.PlanID), ApplicationID: row.ApplicationID,
					Priority: row.Priority, UserID: row.UserID},
				Lease: lease[row.Bucket], At: row.ReadAt,
			}
		}
		return nil
	})
	return out, err
}

// Release implements escalation.Digests. It locks the lease, the aggregation, then the held pages.
func (r *Runner) Release(ctx context.Context, processID string, d runner.Digest, now time.Time) (buckets.Set, error) {
	var made buckets.Set
	policy, err := r.quotas.Current(ctx)
	if err != nil {
		return made, err
	}
	var tally floods.Tally
	err = r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		made, tally = buckets.Set{}, floods.Tally{}
		if err := pgbuckets.Fence(ctx, q, processID, []buckets.Lease{d.Lease}); err != nil {
			return err
		}
		k := d.Key
		_, err := q.LockDueAggregation(ctx, db.LockDueAggregationParams{
			PlanID: int64(k.PlanID), ApplicationID: k.ApplicationID, Priority: k.Priority, UserID: k.UserID, Now: postgres.NullTime(now),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // another process was faster
		}
		if err != nil {
			return fmt.Errorf("lock aggregation: %w", err)
		}
		held, next, err := lockHeld(ctx, q, d, now)
		if err != nil {
			return fmt.Errorf("lock held pages: %w", err)
		}
		if err := q.SetRelease(ctx, db.SetReleaseParams{PlanID: int64(k.PlanID), ApplicationID: k.ApplicationID, Priority: k.Priority,
			UserID: k.UserID, ReleaseAt: next}); err != nil {
			return fmt.Errorf("set the next release: %w", err)
		}
		batch := floods.Release(d, held)
		switch {
		case batch.IsDigest():
			made.Add(d.Lease.Bucket)
		case len(batch.Pages) == 1:
			made.Add(pgincidents.BucketOf(int64(batch.Message.IncidentID)))
		}
		entries, err := send(ctx, q, d, policy, batch, tally)
		if err != nil {
			return err
		}
		return pg.AddEntries(ctx, q, entries)
	})
	if err == nil {
		pg.CountTally(r.db, tally)
	}
	return made, err
}

// lockHeld locks and reads the held pages that are sent now, and returns when the next ones are; nil = none are held.
func lockHeld(ctx context.Context, q *db.Queries, d runner.Digest, now time.Time) (held []floods.Page, next *time.Time, err error) {
	k, user := d.Key, d.Key.UserID
	if k.IsQuiet() {
		rows, err := q.LockQuiet(ctx, db.LockQuietParams{UserID: &user, Now: postgres.NullTime(now), Most: mostHeld})
		if err != nil {
			return nil, nil, err
		}
		held = postgres.Convert(rows, func(r db.LockQuietRow) floods.Page { return heldPage(db.LockHeldRow(r)) })
		at, err := q.NextQuiet(ctx, db.NextQuietParams{UserID: &user, Ids: pageNumbers(held)})
		if at = postgres.OrZero(at); !at.IsZero() {
			next = &at
		}
		return held, next, err
	}
	plan := int64(k.PlanID)
	rows, err := q.LockHeld(ctx, db.LockHeldParams{PlanID: &plan, ApplicationID: k.ApplicationID,
		Priority: &k.Priority, UserID: &user, Most: mostHeld})
	if len(rows) == mostHeld {
		next = &d.At
	}
	return postgres.Convert(rows, heldPage), next, err
}

func heldPage(r db.LockHeldRow) floods.Page {
	return floods.Page{ID: r.ID, IncidentID: incidents.ID(r.IncidentID), Mode: r.Mode, Target: r.Target,
		Class: r.Class, Open: r.Open, ApplicationID: r.ApplicationID, Priority: users.Priority(r.Priority)}
}

// send cancels and sends the held pages of a batch, and returns lines for the timelines.
func send(ctx context.Context, q *db.Queries, d runner.Digest, policy pg.Policy, b floods.Batch, tally floods.Tally) ([]floods.Entry, error) {
	if err := q.CancelHeld(ctx, pageNumbers(b.Cancelled)); err != nil {
		return nil, fmt.Errorf("cancel held pages: %w", err)
	}
	if len(b.Pages) == 0 {
		return nil, nil
	}
	news := []floods.Message{b.Message}
	limited, err := policy.Apply(ctx, q, news, tally)
	if err != nil {
		return nil, err
	}
	if b.IsDigest() {
		err = storeDigest(ctx, q, d, b, news)
	} else {
		err = storeReleased(ctx, q, b.Pages[0].ID, news[0])
	}
	return append(b.Entries(news[0], tally), limited...), err
}

// storeReleased sends a held page as it is.
func storeReleased(ctx context.Context, q *db.Queries, id messages.ID, m floods.Message) error {
	if err := q.ReleaseHeld(ctx, db.ReleaseHeldParams{ID: id, Mode: m.Mode}); err != nil {
		return fmt.Errorf("release a held page: %w", err)
	}
	return noteChanges(ctx, q, []int64{int64(id)}, m.Changes)
}

// storeDigest makes one message for several held pages.
func storeDigest(ctx context.Context, q *db.Queries, d runner.Digest, b floods.Batch, digest []floods.Message) error {
	ids, about := pageNumbers(b.Pages), make([]int64, len(b.Pages))
	for i, p := range b.Pages {
		about[i] = int64(p.IncidentID)
	}
	if err := q.MakeBatch(ctx, db.MakeBatchParams{
		Batch: d.Batch, PlanID: int64(d.Key.PlanID), ApplicationID: b.Message.ApplicationID, UserID: d.Key.UserID,
		Pages: len(b.Pages), IncidentIds: about,
	}); err != nil {
		return fmt.Errorf("make a batch: %w", err)
	}
	if err := q.PutIntoBatch(ctx, db.PutIntoBatchParams{
		Batch: d.Batch, Ids: ids, Destination: postgres.CleanText(d.Destination), Body: messages.DigestBody(d.Batch),
		Subject: postgres.CleanText(d.Subject(len(b.Pages))),
	}); err != nil {
		return fmt.Errorf("put pages into a batch: %w", err)
	}
	if err := pg.MakeMessages(ctx, q, digest); err != nil {
		return err
	}
	return noteChanges(ctx, q, ids, []messages.Change{{Type: "sent-change", New: string(messages.Aggregated),
		Description: "Part of the digest with batch id " + d.Batch}})
}

func pageNumbers(pages []floods.Page) []int64 {
	out := make([]int64, len(pages))
	for i, p := range pages {
		out[i] = int64(p.ID)
	}
	return out
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
	err = r.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		silent, err := q.SilentDigests(ctx, pgbuckets.BucketNumbers(leases))
		if err != nil || len(silent) == 0 {
			return err
		}
		p := db.CancelDigestsParams{ProcessID: processID}
		p.LeaseBuckets, p.Epochs = pgbuckets.LeaseArrays(leases, pgbuckets.SetOfBuckets(silent))
		rows, err := q.CancelDigests(ctx, p)
		n = int(rows)
		return err
	})
	return n, err
}
