package pg

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// Runner implements runner.Store: it reads due incidents and the outcomes of their messages, and advances incidents in
// fenced transactions. It is safe for concurrent use.
type Runner struct {
	db     *postgres.DB
	quotas *pg.Quotas
	floods pg.KnownKeys[escalation.AggregationKey]
}

var _ runner.Store = (*Runner)(nil)

// NewRunner returns the store of the escalation runner.
func NewRunner(d *postgres.DB) *Runner {
	return &Runner{db: d, quotas: pg.NewQuotas(d, nil), floods: pg.NewKnownKeys[escalation.AggregationKey]()}
}

// WithQuota sets the quota of applications that have none of their own (nil = none), and how many calls and texts a
// person without a limit of their own gets on one day (0 = no limit). It must be called before the store is used.
func (r *Runner) WithQuota(q *pg.StandardQuota, perDay int) *Runner {
	r.quotas = pg.NewQuotas(r.db, q).WithDailyLimit(perDay)
	return r
}

// Due implements runner.Store. It reads without locks; Commit checks what changed in between.
func (r *Runner) Due(ctx context.Context, leases []buckets.Lease, ask runner.Ask) ([]escalation.Due, error) {
	var out []escalation.Due
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DueIncidents(ctx, postgresdb.DueIncidentsParams{
			Now: postgres.NullTime(ask.Now), Buckets: pgbuckets.BucketNumbers(leases), Excluded: postgres.NonNil(ask.Excluded),
			PerBucket: ask.PerBucket, Total: ask.Limit,
		})
		if err != nil {
			return fmt.Errorf("read due incidents: %w", err)
		}
		lease := pgbuckets.ByBucket(leases)
		out = make([]escalation.Due, len(rows))
		for i, row := range rows {
			out[i] = dueOf(row, lease[row.Bucket])
		}
		return observe(ctx, q, out)
	})
	return out, err
}

// Ahead returns incidents as Due would, whether or not they are due. Incidents that do not exist are left out.
func (r *Runner) Ahead(ctx context.Context, ids []incidents.ID) ([]escalation.Due, error) {
	var due []escalation.Due
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.IncidentsAhead(ctx, postgres.Numbers(ids))
		if err != nil {
			return err
		}
		due = postgres.Convert(rows, func(row postgresdb.IncidentsAheadRow) escalation.Due {
			return dueOf(postgresdb.DueIncidentsRow(row), buckets.Lease{})
		})
		return observe(ctx, q, due)
	})
	return due, err
}

func dueOf(row postgresdb.DueIncidentsRow, lease buckets.Lease) escalation.Due {
	d := escalation.Due{
		ID: incidents.ID(row.ID), Lease: lease, PlanID: escalation.PlanID(row.PlanID), ApplicationID: row.ApplicationID,
		CreatedAt: row.CreatedAt, DueAt: row.DueAt, ReadAt: row.ReadAt, Active: row.Active, Version: row.Version,
		PlanPaused: row.PlanPaused, ApplicationPaused: row.ApplicationPaused,
	}
	d.Progress, d.ProgressErr = escalation.DecodeProgress(row.Progress)
	d.Progress.Step = row.CurrentStep
	if row.StepAt != nil {
		d.Progress.StepAt = *row.StepAt
	}
	d.Progress.Reopened = row.ReopenCount
	return d
}

// observe reads the outcomes of the messages and the dynamic targets of the active incidents. It reads the messages of
// every one, as lockUnchanged does: an incident whose plan has not begun has messages too, if somebody was added to it.
func observe(ctx context.Context, q *postgresdb.Queries, due []escalation.Due) error {
	var reopened, all []int64
	for _, d := range due {
		if !d.Active {
			continue
		}
		all = append(all, int64(d.ID))
		if d.Progress.Reopened > d.Progress.Reopen {
			reopened = append(reopened, int64(d.ID))
		}
	}
	facts, err := readFacts(ctx, q, all)
	if err != nil {
		return err
	}
	past, err := readPast(ctx, q, reopened)
	if err != nil {
		return err
	}
	dynamic, err := readDynamic(ctx, q, all)
	if err != nil {
		return err
	}
	for i := range due {
		d := &due[i]
		d.Seen = escalation.Observe(&d.Progress, facts[int64(d.ID)])
		d.Progress.Past = past[int64(d.ID)]
		d.Dynamic = dynamic[int64(d.ID)]
	}
	return nil
}

func readFacts(ctx context.Context, q *postgresdb.Queries, ids []int64) (map[int64][]escalation.RoundFact, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := q.RoundFacts(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read rounds: %w", err)
	}
	out := make(map[int64][]escalation.RoundFact, len(ids))
	for _, row := range rows {
		out[row.IncidentID] = append(out[row.IncidentID], escalation.RoundFact{
			Step: row.Step, Position: row.Position, Repeat: row.Repeat, Unsettled: row.Unsettled,
			SettledAt: postgres.OrZero(row.SettledAt), Lost: row.Lost,
		})
	}
	return out, nil
}

func readPast(ctx context.Context, q *postgresdb.Queries, ids []int64) (map[int64][]escalation.Past, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := q.PastMessages(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read past messages: %w", err)
	}
	out := make(map[int64][]escalation.Past, len(ids))
	for _, row := range rows {
		out[row.IncidentID] = append(out[row.IncidentID], escalation.Past{
			Step: row.Step, Position: row.Position, Repeat: row.Repeat,
			Recipient: row.Recipient, Purpose: row.Purpose, Fate: fate(row.State),
		})
	}
	return out, nil
}

func fate(state string) escalation.Fate {
	switch messages.State(state) {
	case messages.Pending, messages.Taken, messages.Sending:
		return escalation.PastOnItsWay
	case messages.Cancelled:
		return escalation.PastCancelled
	case messages.Failed:
		return escalation.PastFailed
	}
	return escalation.PastLeft
}

func readDynamic(ctx context.Context, q *postgresdb.Queries, ids []int64) (map[int64]map[int]escalation.Target, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := q.DynamicTargets(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read dynamic targets: %w", err)
	}
	out := map[int64]map[int]escalation.Target{}
	for _, row := range rows {
		if out[int64(row.IncidentID)] == nil {
			out[int64(row.IncidentID)] = map[int]escalation.Target{}
		}
		out[int64(row.IncidentID)][row.DynamicIndex] = escalation.Target{Role: row.Role, Name: row.Name,
			TargetID: row.TargetID}
	}
	return out, nil
}

// resumeBatch is how many incidents of one plan and application one statement makes due; the next statement makes more
// due.
const resumeBatch = 5000

// Resume makes paused incidents due again. See runner.Store.
func (r *Runner) Resume(ctx context.Context, now time.Time) (int, error) {
	var woken int64
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		woken, err = q.WakeResumed(ctx, postgresdb.WakeResumedParams{Now: postgres.NullTime(now), Most: resumeBatch})
		return err
	})
	return int(woken), err
}

// NextDue implements runner.Store.
func (r *Runner) NextDue(ctx context.Context, leases []buckets.Lease, now time.Time) (time.Duration, error) {
	var seconds float64
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		seconds, err = q.NextDueIncident(ctx, postgresdb.NextDueIncidentParams{Now: postgres.NullTime(now),
			Buckets: pgbuckets.BucketNumbers(leases)})
		return err
	})
	return time.Duration(math.Min(seconds, 3600) * float64(time.Second)), err
}

// BucketDue is the oldest due incident of a bucket.
type BucketDue struct {
	Bucket     int
	IncidentID incidents.ID
	DueAt      time.Time
	Age        time.Duration // how long it has been due, on the database's clock
}

// OldestDue returns the oldest due incident of every bucket that has one. Every process watches all buckets.
func (r *Runner) OldestDue(ctx context.Context) ([]BucketDue, error) {
	var out []BucketDue
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.OldestDueByBucket(ctx)
		if err != nil {
			return err
		}
		out = make([]BucketDue, len(rows))
		for i, row := range rows {
			out[i] = BucketDue{
				Bucket: row.Bucket, IncidentID: row.ID, DueAt: row.DueAt,
				Age: time.Duration(row.AgeSeconds * float64(time.Second)),
			}
		}
		return nil
	})
	return out, err
}
