package escalation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// maxFallbackBatches bounds how long failed messages keep a look from ending: due incidents come first.
const maxFallbackBatches = 20

// fallbacks finds messages of the leased buckets that failed for good in every mode, of incidents and out of band
// alike, and pages somebody else instead (promise P8).
func (r *Runner) fallbacks(ctx context.Context, leases []buckets.Lease) error {
	for range maxFallbackBatches {
		failed, err := r.deps.Store.Failed(ctx, leases, Ask{
			Limit: r.cfg.Batch, PerBucket: r.cfg.PerBucket, Excluded: r.stuck.waiting(time.Now()), Now: r.now(),
		})
		if err != nil {
			return fmt.Errorf("read failed messages: %w", err)
		}
		if len(failed) == 0 {
			return nil
		}
		// One bucket alone gives no more than PerBucket at a time.
		if done, err := r.replace(ctx, failed); err != nil || !done || len(failed) < min(r.cfg.Batch, r.cfg.PerBucket) {
			return err
		}
	}
	return nil
}

// replace writes the fallbacks of a batch; a batch that fails because of what is in it is halved until the culprit
// stands alone. done is false when a lease was lost: then the leases must be looked at anew.
func (r *Runner) replace(ctx context.Context, failed []Failed) (done bool, err error) {
	err = r.safely(func() error { return r.replaceBatch(ctx, failed) })
	var lost *buckets.LostError
	switch {
	case err == nil:
		r.passed()
		return true, nil
	case errors.As(err, &lost):
		r.metrics.errors.WithLabelValues("lease").Inc()
		r.deps.Holder.Lost(lost.Buckets)
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case fault.Is(err, fault.Unavailable) && r.outages < 3:
		return false, err
	case len(failed) == 1:
		r.leaveStuck(failed[0], err)
		return true, nil
	}
	half := len(failed) / 2
	if done, err := r.replace(ctx, failed[:half]); err != nil || !done {
		return done, err
	}
	return r.replace(ctx, failed[half:])
}

// leaveStuck lets a failed message wait whose fallback cannot be made now.
func (r *Runner) leaveStuck(f Failed, cause error) {
	n, pause := r.stuck.failed(int64(f.ID), time.Now())
	r.metrics.errors.WithLabelValues("message").Inc()
	r.log.Error("no fallback could be made for a failed message, trying again later", zap.Int64("message_id", int64(f.ID)),
		zap.Int64("incident_id", int64(f.Made.IncidentID)), zap.Int("failures", n), zap.Duration("pause", pause), zap.Error(cause))
}

func (r *Runner) replaceBatch(ctx context.Context, failed []Failed) error {
	planIDs, appIDs := []PlanID{}, make([]int64, len(failed))
	for i, f := range failed {
		appIDs[i] = f.Made.ApplicationID
		if f.Made.PlanID != 0 {
			planIDs = append(planIDs, PlanID(f.Made.PlanID))
		}
	}
	plans, err := r.plans.Get(ctx, planIDs...)
	if err != nil {
		return fmt.Errorf("read plans: %w", err)
	}
	apps, err := r.apps.Get(ctx, appIDs...)
	if err != nil {
		return fmt.Errorf("read applications: %w", err)
	}
	now := r.now()
	at := now
	if at.IsZero() {
		at = time.Now() // for on-call look-ups only; what is written carries the database's time
	}
	changes := make([]FallbackChange, 0, len(failed))
	for _, f := range failed {
		c, err := r.replaceSafely(ctx, f, plans[PlanID(f.Made.PlanID)], apps[f.Made.ApplicationID], at)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.leaveStuck(f, err)
			continue
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		return nil
	}
	leases := LeasesOf(changes, func(c FallbackChange) buckets.Lease { return c.Failed.Lease })
	if err := r.deps.Store.CommitFallbacks(ctx, r.deps.Holder.ProcessID(), leases, changes, now); err != nil {
		return err
	}
	var made buckets.Set
	for _, c := range changes {
		r.stuck.succeeded(int64(c.Failed.ID))
		if c.Nobody && !c.Failed.OutOfBand() { // a vendor's long outage would tell of every mail
			r.unreached(c.Failed, plans[PlanID(c.Failed.Made.PlanID)])
		}
		for _, m := range c.Messages {
			r.metrics.made.WithLabelValues(string(m.Purpose)).Inc()
			made.Add(c.Failed.Lease.Bucket)
		}
	}
	if !made.Empty() {
		r.deps.Waker(made)
	}
	return nil
}

// unreached logs that neither the recipient of a page nor a fallback could be reached. While the page is still being sent, that is
// no page that reaches nobody.
func (r *Runner) unreached(f Failed, plan Plan) {
	about := []zap.Field{
		zap.Int64("message_id", int64(f.ID)), zap.Int64("incident_id", int64(f.Made.IncidentID)), zap.String("plan", plan.Name),
		zap.String("target", f.Made.Target), zap.Int("step", f.Made.Step),
	}
	if f.Trying {
		r.log.Warn("a page could not be sent in any mode yet and has no fallback: it is tried again", about...)
		return
	}
	r.nobody(1, about...)
}

func (r *Runner) replaceSafely(ctx context.Context, f Failed, plan Plan, app Application, at time.Time) (c FallbackChange, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("panic while choosing a fallback", zap.Int64("message_id", int64(f.ID)), zap.Any("panic", p),
				zap.ByteString("stack", debug.Stack()))
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return r.replaceOne(ctx, f, plan, app, at)
}

// replaceOne decides what becomes of one failed message.
//
//   - Of an incident that somebody has acknowledged or resolved, nothing. Reopening it makes the round again if nobody heard.
//   - A tracking message has no fallback.
//   - Else the chain of fallbacks is gone through, leaving out whom the same round could not reach either. It ends with
//     the first who is paged, now or already: should that page fail too, its own failure goes on from there.
func (r *Runner) replaceOne(ctx context.Context, f Failed, plan Plan, app Application, at time.Time) (FallbackChange, error) {
	c := FallbackChange{Failed: f}
	w := &draft{plan: plan, app: app, due: Due{ReadAt: at}}
	switch {
	case !f.OutOfBand() && !f.Open:
		return c, nil
	case f.Made.Purpose == messages.TrackingMsg:
		c.tell(incidents.EntryDelivery, nil, "the plan's tracking address could not be reached")
		return c, nil
	}
	where := "" // out of band there is no step
	if !f.OutOfBand() {
		where = fmt.Sprintf("step %d: ", f.Made.Step)
	}
	who := f.Made.Target
	var tried []string
	for _, candidate := range fallbackChain(plan, app) {
		people, why, err := r.candidate(ctx, w, candidate)
		if err != nil {
			if r.stuck.failures(int64(f.ID)) < maxLookups {
				return c, err
			}
			why = clean(err.Error())
		}
		round := Round{Step: f.Made.Step, Position: f.Made.Position, Repeat: f.Made.Repeat}
		pages := usableInstead(people, round, f, app.Modes)
		if len(pages) == 0 {
			tried = append(tried, fmt.Sprintf("%s: %s", candidate.words, whyNot(people, f, why)))
			continue
		}
		known := pages
		pages = slices.DeleteFunc(slices.Clone(pages), func(p page) bool { return f.knows(p.responder.ID, PastOnItsWay, PastLeft) })
		if len(pages) == 0 {
			c.tell(incidents.EntryFallback, nil, "%s%s could not be reached in any mode; %s is paged already (%s)%s",
				where, who, names(known), candidate.words, afterAll(tried))
			return c, nil
		}
		for _, p := range pages {
			c.Messages = append(c.Messages, instead(f, p))
			c.Changes = append(c.Changes, messages.Change{
				Type: "target-change", Old: who, New: p.responder.Name,
				Description: "Every mode failed; telling " + candidate.words,
			})
		}
		c.tell(incidents.EntryFallback, pageDetails(pages), "%s%s could not be reached in any mode; paging %s instead (%s)%s",
			where, who, byMode(pages), candidate.words, afterAll(tried))
		return c, nil
	}
	if len(tried) == 0 {
		tried = []string{"none is configured"}
	}
	why := strings.Join(tried, "; ")
	c.Nobody = true
	trying := ""
	if f.Trying {
		trying = "; it is tried again"
	}
	c.tell(incidents.EntryFallback, nil, "%s%s could not be reached in any mode and there is no further fallback (%s)%s", where, who, why, trying)
	c.Changes = append(c.Changes, messages.Change{
		Type: "target-change", Old: who, Description: "Every mode failed and there is no further fallback: " + why,
	})
	return c, nil
}

// whyNot says why none of the people behind a fallback can be told instead.
func whyNot(people []users.Responder, f Failed, otherwise string) string {
	same := func(p users.Responder) bool { return messages.ToUser(p.ID) == f.Made.Recipient }
	tried := func(p users.Responder) bool { return same(p) || f.knows(p.ID, PastFailed) }
	switch {
	case len(people) == 0:
		return otherwise
	case !slices.ContainsFunc(people, func(p users.Responder) bool { return !same(p) }):
		return "the same person"
	case !slices.ContainsFunc(people, func(p users.Responder) bool { return !tried(p) }):
		return "could not be reached either"
	}
	return otherwise
}

// tell writes a line on the timeline of the message's incident, or of all that a digest stands for, if there is one.
func (c *FallbackChange) tell(kind incidents.EntryKind, detail []byte, format string, args ...any) {
	if !c.Failed.OutOfBand() || c.Failed.Made.Batch != "" {
		c.Entries = append(c.Entries, incidents.Entry{Kind: kind, Text: clean(fmt.Sprintf(format, args...)), Detail: detail})
	}
}

// usableInstead returns pages for those who can be reached, but not for whom the failed message was for, nor for those
// whom the round could not reach either. Without a priority the failed message's mode is kept where it can be used.
func usableInstead(people []users.Responder, round Round, f Failed, app users.AppModes) []page {
	var out []page
	failed := f.Made
	for _, person := range people {
		if messages.ToUser(person.ID) == failed.Recipient || f.knows(person.ID, PastFailed) {
			continue
		}
		priority := failed.Priority
		if priority == "" && users.CanUse(person, app, failed.Mode) {
			choice := users.Choice{Mode: failed.Mode, Wanted: failed.Mode, Rule: "the mode asked for"}
			out = append(out, page{round: round, responder: person, choice: choice})
			continue
		}
		if priority == "" {
			priority = users.Low
		}
		if choice, ok := users.Choose(person, priority, app); ok {
			out = append(out, page{round: round, responder: person, choice: choice, priority: priority})
		}
	}
	return out
}

// instead is the fallback message: the failed one's decision and words, for somebody else.
func instead(f Failed, p page) messages.New {
	m := f.Made
	m.Recipient = messages.ToUser(p.responder.ID)
	m.Purpose = messages.Fallback
	m.Target = p.responder.Name
	m.Mode = p.choice.Mode
	m.Literal = ""
	m.FallbackOf = f.ID
	m.Changes = []messages.Change{{
		Type: "target-change", Old: f.Made.Target, New: p.responder.Name,
		Description: "Every mode failed for " + f.Made.Target,
	}}
	if p.choice.Changed() {
		m.Changes = append(m.Changes, modeChange(p.choice))
	}
	return m
}
