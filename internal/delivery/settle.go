package delivery

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// claimMargin is how much of a claim must be left for the steps before the call, and recordMargin how much longer than
	// the call a claim lasts, so that its outcome can be stored.
	claimMargin  = time.Second
	recordMargin = time.Second
)

// send sends a rendered message. It runs on a goroutine of its own.
func (w *Worker) send(it *item) {
	if w.stopped() {
		w.release(it)
		return
	}
	o := w.outletFor(it)
	if o != it.outlet {
		it.outlet = o
		slot, limited, ok := it.mode.turns.Own(w.calls, limitOf(o))
		if limited {
			it.turn.Slot, it.turn.Limited = slot, true
		}
		if !ok {
			w.turn(it, Verdict{State: messages.Pending, RetryIn: 250*time.Millisecond + time.Duration(spread()*float64(250*time.Millisecond))})
			return
		}
	}
	deadline := it.taken.Add(w.cfg.ClaimFor - claimMargin)
	if it.turn.Limited {
		deadline = instant.Earlier(deadline, it.turn.Slot.Until)
	}
	if it.turn.Limited && !w.idle(it, it.turn.Slot.At.Add(-it.mode.turns.Pace.CallAhead())) {
		w.release(it)
		return
	}
	done, ok := w.admit(it)
	if !ok {
		return
	}
	if !w.permit(it, deadline) {
		done(messages.NotBegun())
		w.notInTime(it)
		return
	}
	var c caller
	if o.Running.Try(it.c.Destination) {
		c = w.prepare(it, instant.Earlier(time.Now().Add(o.Timeout), it.claimEnd.Add(-claimMargin)))
	}
	w.inFlight.add(it.c.ID)
	asked := time.Now()
	m := w.mark.Do(w.start(it))
	if !m.Lost {
		it.mode.turns.Pace.Marked(time.Since(asked))
	}
	if m.Attempt == 0 {
		c.release()
		o.Marking.Release("")
		done(messages.NotBegun())
		if m.Lost {
			w.retract(it)
			return
		}
		w.inFlight.remove(it.c.ID)
		w.finish(it)
		return
	}
	result := w.call(it, c, m)
	o.Marking.Release("")
	done(result)
	it.mode.kick()
	w.afterCall(it, m.Attempt, result)
}

// permit waits until the message may be marked. More messages than may be called at once are marked as long as calls end
// quickly, so that a connection is used while other messages wait for the mark.
func (w *Worker) permit(it *item, deadline time.Time) bool {
	o := it.outlet
	n := o.Most + it.mode.turns.Pace.Marking(time.Now())
	o.Marking.Resize(n, n)
	if o.Marking.Try("") {
		return true
	}
	began := time.Now()
	defer func() { it.waited += time.Since(began) }()
	return o.Marking.Acquire("", deadline, w.stopping)
}

func (w *Worker) stopped() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// idle waits until an instant; false when the Worker stops first.
func (w *Worker) idle(it *item, until time.Time) bool {
	d := time.Until(until)
	if d <= 0 {
		return true
	}
	began := time.Now()
	defer func() { it.waited += time.Since(began) }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.stopping:
		return false
	}
}

// notInTime puts a message back whose slot or claim ended before its call could begin.
func (w *Worker) notInTime(it *item) {
	if it.turn.Limited {
		w.metrics.lateSlots.WithLabelValues("call").Inc()
		it.mode.turns.Pace.Prepared(time.Since(it.taken) - it.waited)
	}
	w.release(it)
}

// outletFor chooses the account by how long the message has been tried in its mode: the preferred one first, then its
// spares. One that is closed now is passed over.
func (w *Worker) outletFor(it *item) *account.Outlet {
	all := it.mode.outlets
	now := time.Now()
	first := w.cfg.Budgets[it.c.Class].AccountAt(it.inMode(), len(all))
	if first == 0 {
		return it.outlet
	}
	for _, o := range all[first:] {
		if why, _ := o.Closed(now); why == "" {
			return o
		}
	}
	return it.outlet
}

func (w *Worker) start(it *item) Start {
	c, o := it.c, it.outlet
	replaced := ""
	if it.content.Replaced {
		replaced = replacedSMS
	}
	return Start{
		Replaced: replaced,
		ID:       c.ID, IncidentID: c.IncidentID, Vendor: o.Vendor.Name(), Account: o.Vendor.Account(),
		Destination: c.Destination, Key: idempotencyKey(c), CallFor: w.callFor(it),
		Subject: it.content.Subject, Body: it.content.Body, EmailHTML: it.content.EmailHTML, Problem: it.content.Problem,
	}
}

// idempotencyKey names what must happen only once: an attempt, with those that repeat it because it is in doubt. It
// contains when the message was made, so that installations which share a vendor's account have different keys.
func idempotencyKey(c Claimed) string {
	first := c.KeyAttempt
	if first == 0 {
		first = c.Attempt + 1
	}
	return "iris-" + strconv.FormatInt(int64(c.ID), 10) + "-" + strconv.FormatInt(c.CreatedAt.UnixMicro(), 36) + "-" + strconv.Itoa(first)
}

func (it *item) outbound(attempt int) messages.Outbound {
	c, t := it.c, it.content
	w := it.mode.w
	out := messages.Outbound{
		MessageID: c.ID, Attempt: attempt, Mode: c.Mode, Destination: c.Destination,
		Subject: t.Subject, Body: t.Body, EmailHTML: t.EmailHTML, Slack: t.Slack, Application: t.Application, Plan: t.Plan,
		Priority: c.Priority, Target: c.Target, Sender: t.Sender, ShownTo: t.ShownTo, IdempotencyKey: idempotencyKey(c),
	}
	if w.deps.Reveal != nil {
		out.Body, out.EmailHTML = w.deps.Reveal(out.Body, c.Destination), w.deps.Reveal(out.EmailHTML, c.Destination)
	}
	out.AckURL = w.ackURL(c)
	if c.Purpose == messages.TrackingMsg && c.Mode == users.Email {
		out.ReplyTo = c.Destination // a tracker talks to itself, not to us (docs/reference/escalation.md 10)
	}
	if c.IncidentID == 0 {
		out.Batch = c.Batch
	}
	if c.IncidentID != 0 {
		out.ThreadKey = fmt.Sprintf("incident-%d-%s", c.IncidentID, c.Recipient)
		out.IncidentURL = w.deps.Links.IncidentURL(c.IncidentID)
		if c.UserID != 0 {
			out.IncidentID = c.IncidentID
		}
	}
	return out
}

// retract cancels an attempt that may or may not have been stored, and whose call was certainly not begun. By the time the
// database answers again, another process may have made an attempt with that number; that attempt is not changed.
func (w *Worker) retract(it *item) {
	it.retracted = true
	w.store(it, Outcome{
		Turn: Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: Verdict{
			State: messages.Pending, Unstarted: true,
		}},
		Attempt: it.c.Attempt + 1, ProcessID: w.deps.Leases.ProcessID(),
		Result: messages.Result{Outcome: messages.OutcomeCancelled, Detail: "the call was not begun: the database did not answer"},
	})
}

// afterCall decides what follows a call, and has it recorded.
func (w *Worker) afterCall(it *item, attempt int, r messages.Result) {
	if r.Outcome == messages.OutcomeThrottled && it.outlet.Shared() {
		w.pause(it.outlet, r)
	}
	v := w.verdict(it, r)
	switch r.Outcome {
	case messages.OutcomeUnknown:
		w.metrics.inDoubt.Inc()
	case messages.OutcomeCancelled:
		w.metrics.notBegun.WithLabelValues(string(it.c.Mode)).Inc()
	}
	w.store(it, Outcome{
		Turn: Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: v}, Attempt: attempt, Result: r,
	})
}

// pause pauses an account for all processes, because its vendor asked for it.
func (w *Worker) pause(o *account.Outlet, r messages.Result) {
	d := r.RetryAfter
	if d <= 0 {
		d = time.Second
	}
	now := time.Now()
	if left, _ := w.pauses.Left(now, o.Key); left >= d-100*time.Millisecond {
		return
	}
	w.pauses.Add(now, Pause{Key: o.Key, For: d, Reason: "the vendor asked for a pause"})
	w.background.Go(func() {
		ctx, cancel := context.WithTimeout(w.calls, 3*time.Second)
		defer cancel()
		if err := w.deps.Limits.SetPause(ctx, o.Key, d, "the vendor asked for a pause"); err != nil {
			w.failed("pause", err, zap.String("vendor", o.Vendor.Name()))
		}
	})
}
