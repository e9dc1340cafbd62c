package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Added implements runner.Store.
func (r *Runner) Added(ctx context.Context, leases []buckets.Lease, ask runner.Ask) ([]escalation.Added, error) {
	rows, err := postgres.Query(ctx, r.db, (*db.Queries).WaitingPages, db.WaitingPagesParams{
		Now: postgres.NullTime(ask.Now), Buckets: pgbuckets.BucketNumbers(leases), Excluded: postgres.NonNil(ask.Excluded), Most: ask.Limit,
	})
	if err != nil {
		return nil, err
	}
	lease := pgbuckets.ByBucket(leases)
	out := make([]escalation.Added, len(rows))
	for k, row := range rows {
		out[k] = escalation.Added{
			ID: row.ID, Number: row.Number, IncidentID: row.IncidentID, Lease: lease[row.Bucket],
			PlanID: escalation.PlanID(row.PlanID), ApplicationID: row.ApplicationID, Actor: row.Actor, Stopped: row.Stopped,
			ReadAt: row.ReadAt, Step: row.CurrentStep, Reopen: row.ReopenCount, Open: row.Open, Over: row.Over,
			Addition: escalation.Addition{Kind: escalation.AddedKind(row.Kind), Priority: row.Priority,
				Template: row.Template},
		}
		if err := json.Unmarshal(row.Targets, &out[k].Targets); err != nil {
			return nil, fmt.Errorf("read the targets of added page %d: %w", row.ID, err)
		}
	}
	return out, nil
}

// CommitAdded implements runner.Store. It locks the lease, the incident, then the added page.
func (r *Runner) CommitAdded(ctx context.Context, processID string, c escalation.AddedChange) error {
	policy, err := r.quotas.Current(ctx)
	if err != nil {
		return err
	}
	a := c.Added
	var tally floods.Tally
	err = r.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		tally = floods.Tally{}
		if err := pgbuckets.Fence(ctx, q, processID, []buckets.Lease{a.Lease}); err != nil {
			return err
		}
		now, err := q.LockForPage(ctx, a.IncidentID)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && (now.Open != a.Open || now.Over != a.Over) {
			return nil // it changed and is read again
		}
		if err != nil {
			return fmt.Errorf("lock incident: %w", err)
		}
		if n, err := q.FinishPage(ctx, a.ID); err != nil || n == 0 {
			return err
		}
		if err := q.TouchPaged(ctx, db.TouchPagedParams{ID: a.IncidentID, Stopped: a.Stopped}); err != nil {
			return fmt.Errorf("touch incident: %w", err)
		}
		news := make([]floods.Message, len(c.Messages))
		for k, m := range c.Messages {
			news[k] = floods.Message{Bucket: a.Lease.Bucket, New: m, At: a.ReadAt, Application: c.Application}
		}
		entries := make([]floods.Entry, len(c.Entries))
		for k, e := range c.Entries {
			entries[k] = floods.Entry{Incident: a.IncidentID, Entry: e}
		}
		limited, err := policy.Apply(ctx, q, news, tally)
		if err != nil {
			return err
		}
		if err := pg.MakeMessages(ctx, q, news); err != nil {
			return err
		}
		return pg.AddEntries(ctx, q, append(entries, limited...))
	})
	if err == nil {
		pg.CountTally(r.db, tally)
	}
	return err
}
