package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// advanceBatch decides the incidents of a batch and writes the decisions in one transaction. An incident that cannot be
// decided is postponed and delays no other.
func (r *Runner) advanceBatch(ctx context.Context, batch []escalation.Due) error {
	batch, err := r.audible(ctx, batch)
	if err != nil {
		return err
	}
	facts, err := r.prepare(ctx, batch)
	if err != nil {
		return err
	}
	changes := make([]escalation.Change, 0, len(batch))
	for _, d := range batch {
		c, err := r.decideSafely(ctx, d, facts)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := r.postpone(ctx, d, err); err != nil {
				return err
			}
			continue
		}
		changes = append(changes, c)
	}
	for len(changes) > 0 {
		part := changes[:fitting(changes)]
		changes = changes[len(part):]
		leases := leasesOf(part, func(c escalation.Change) buckets.Lease { return c.Lease })
		written, err := r.deps.Store.Commit(ctx, r.deps.Holder.ProcessID(), leases, part)
		if err != nil {
			return err // the batch is tried again; changes committed before are then refused by their versions
		}
		r.committed(batch, part, written)
		if err := r.recordLeftOut(ctx, batch, part, written); err != nil {
			return err
		}
	}
	return nil
}

// maxLeftOut is how often in a row the change of an incident may be left out of its commit before that is a failure of
// the incident.
const maxLeftOut = 5

// recordLeftOut counts the changes that storage did not write because the incident or its messages had changed. Such an
// incident is still due and is read again at once. After maxLeftOut times in a row it is postponed: logged, counted,
// and written on its timeline.
func (r *Runner) recordLeftOut(ctx context.Context, batch []escalation.Due, changes []escalation.Change, written []incidents.ID) error {
	if len(written) == len(changes) {
		return nil
	}
	now := time.Now()
	r.leftOut.waiting(now) // forgets old counts, also those of incidents that were acknowledged or moved to another process
	for _, c := range changes {
		if slices.Contains(written, c.ID) {
			continue
		}
		r.metrics.leftOut.Inc()
		if n, _ := r.leftOut.failed(int64(c.ID), now); n < maxLeftOut {
			continue
		}
		r.leftOut.succeeded(int64(c.ID))
		at := slices.IndexFunc(batch, func(d escalation.Due) bool { return d.ID == c.ID })
		cause := fmt.Errorf("the incident or its messages changed %d times in a row while its next step was decided",
			maxLeftOut)
		if err := r.postpone(ctx, batch[at], cause); err != nil {
			return err
		}
	}
	return nil
}

// audible stops the incidents that a silence matches, and returns the others.
func (r *Runner) audible(ctx context.Context, batch []escalation.Due) ([]escalation.Due, error) {
	if r.deps.Silences == nil {
		return batch, nil
	}
	ids := make([]incidents.ID, len(batch))
	for i, d := range batch {
		ids[i] = d.ID
	}
	hidden, err := r.deps.Silences.Hide(ctx, ids)
	if err != nil || len(hidden) == 0 {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch),
		func(d escalation.Due) bool { return slices.Contains(hidden, d.ID) }), nil
}

// maxMade is how many messages one transaction makes at most, unless a single incident makes more. Plans may page large
// teams, and other transactions should not wait long for locks.
const maxMade = 2000

// fitting returns how many of the changes go into one transaction.
func fitting(changes []escalation.Change) int {
	made := len(changes[0].Messages)
	for i, c := range changes[1:] {
		if made += len(c.Messages); made > maxMade {
			return i + 1
		}
	}
	return len(changes)
}

// committed counts the written changes and wakes delivery.
func (r *Runner) committed(batch []escalation.Due, changes []escalation.Change, written []incidents.ID) {
	r.metrics.batch.Observe(float64(len(written)))
	ok := make(map[incidents.ID]bool, len(written))
	for _, id := range written {
		ok[id] = true
		r.failedIncidents.succeeded(int64(id))
		r.leftOut.succeeded(int64(id))
	}
	begun := make(map[incidents.ID]time.Duration, len(batch))
	for _, d := range batch {
		if d.Progress.Step == 0 {
			begun[d.ID] = d.ReadAt.Sub(d.CreatedAt)
		}
	}
	var made []NewMessage
	for _, c := range changes {
		if !ok[c.ID] {
			continue
		}
		if age, first := begun[c.ID]; first && c.Progress.Step > 0 {
			r.metrics.firstStep.Observe(age.Seconds())
		}
		for _, e := range c.Entries {
			r.metrics.decisions.WithLabelValues(string(e.Kind)).Inc()
		}
		if !c.Active {
			r.metrics.exhausted.Inc()
			r.log.Warn("plan is exhausted: nobody acknowledged the incident", zap.Int64("incident_id", int64(c.ID)),
				zap.String("application", c.Application), zap.String("plan", c.Plan), zap.Int("step", c.Progress.Step))
		}
		if c.Nobody > 0 {
			r.nobody(c.Nobody, zap.Int64("incident_id", int64(c.ID)), zap.String("application", c.Application),
				zap.String("plan", c.Plan), zap.Int("step", c.Progress.Step))
		}
		if len(c.Entries) == 0 {
			r.metrics.decisions.WithLabelValues("wait").Inc()
		}
		for _, m := range c.Messages {
			r.metrics.made.WithLabelValues(string(m.Purpose.Kind())).Inc()
			if m.After == 0 { // the worker finds the others when their time comes
				made = append(made, NewMessage{Bucket: c.Lease.Bucket, Application: c.Application, New: m})
			}
		}
	}
	if len(made) > 0 {
		r.deps.NoteNew(made)
	}
}

// nobody logs, as an error, that no recipient of a page could be reached.
func (r *Runner) nobody(notifications int, about ...zap.Field) {
	r.metrics.nobody.Add(float64(notifications))
	r.log.Error("page reaches nobody", about...)
}

// prepare reads what the batch needs in a few statements: plans, applications, then everybody who may be paged.
func (r *Runner) prepare(ctx context.Context, batch []escalation.Due) (escalation.Facts, error) {
	var f escalation.Facts
	planIDs, appIDs := make([]escalation.PlanID, len(batch)), make([]int64, len(batch))
	for i, d := range batch {
		planIDs[i], appIDs[i] = d.PlanID, d.ApplicationID
	}
	var err error
	if f.Plans, err = r.plans.Get(ctx, planIDs...); err != nil {
		return f, fmt.Errorf("read plans: %w", err)
	}
	if f.Applications, err = r.apps.Get(ctx, appIDs...); err != nil {
		return f, fmt.Errorf("read applications: %w", err)
	}
	r.decider.Prefetch(ctx, batch, f)
	return f, nil
}

// decideSafely decides one incident. A panic becomes an error of that incident.
func (r *Runner) decideSafely(ctx context.Context, d escalation.Due, f escalation.Facts) (c escalation.Change, err error) {
	defer fault.Recover(&err)
	decided, err := r.decider.Decide(ctx, d, f)
	return decided.Change, err
}
