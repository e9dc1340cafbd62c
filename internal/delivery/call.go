package delivery

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// maxLookAge is how long after the read of its incident was sent a call may begin.
	maxLookAge = 300 * time.Millisecond
	// looksPerCall bounds how often an incident is read again because the answer came too late.
	looksPerCall = 5
	// lookPause is the pause after a read that failed.
	lookPause = 50 * time.Millisecond
)

// looking is a marked message whose incident is to be read again, and where the answer goes.
type looking struct {
	id     messages.ID
	answer chan looked // buffered
}

type looked struct {
	open bool
	at   time.Time // just before the read was sent
	err  error
}

// caller makes one vendor call: with a connection that is ready, or without preparation.
type caller struct {
	prepared messages.Prepared // nil = the vendor needs no preparation
	failed   *messages.Result  // why nothing could be prepared; nil = nothing failed
}

func (c caller) release() {
	if c.prepared != nil {
		c.prepared.Release()
	}
}

// prepare gets what the call needs before its first byte that can page, if the vendor has such a thing.
func (w *Worker) prepare(it *item) (c caller) {
	p, needed := it.outlet.vendor.(messages.Preparer)
	if !needed || w.cfg.DryRun == DryRunStore {
		return caller{}
	}
	defer func() {
		if v := recover(); v != nil {
			w.log.Error("vendor panicked", zap.String("vendor", it.outlet.vendor.Name()), zap.Any("panic", v))
			c.failed = &messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "internal error of the vendor's adapter"}
		}
	}()
	ctx, cancel := context.WithDeadline(w.calls, earlier(time.Now().Add(it.outlet.timeout), it.claimEnd.Add(-claimMargin)))
	defer cancel()
	began := time.Now()
	prepared, r, ok := p.Prepare(ctx, it.outbound(it.c.Attempt+1))
	it.line.pace.connected(time.Since(began))
	if !ok {
		return caller{failed: &r}
	}
	return caller{prepared: prepared}
}

// callFor is how long the claim of a message that is being marked must last: until the outcome of its call can be stored.
func (w *Worker) callFor(it *item) time.Duration {
	d := it.outlet.timeout + maxLookAge + recordMargin + it.line.pace.callAhead()
	if it.limited {
		d += max(0, time.Until(it.slot.at))
	}
	return d
}

// call makes the vendor call of a marked message, unless its incident was closed meanwhile or it is too late for it.
func (w *Worker) call(it *item, c caller, attempt int) messages.Result {
	if c.failed != nil {
		w.metrics.done(it.outlet, *c.failed, 0)
		return *c.failed
	}
	before, why := w.ready(it)
	now := time.Now()
	if it.limited {
		it.line.pace.prepared(now.Sub(it.taken) - it.waited)
	}
	if why != "" {
		c.release()
		return messages.Result{Outcome: messages.OutcomeCancelled, Detail: "the call was not begun: " + why}
	}
	w.metrics.called(it.c, now.Sub(it.taken))
	if w.cfg.DryRun == DryRunStore {
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "dry run: not sent"}
	}
	ctx, cancel := context.WithTimeout(w.calls, it.callTime())
	defer cancel()
	out := it.outbound(attempt)
	out.BeginBefore = before
	r := w.callVendor(ctx, it.outlet, c, out)
	w.metrics.done(it.outlet, r, time.Since(now))
	it.line.pace.called(time.Now())
	return r
}

// ready waits for the slot of a marked message and reads its incident again: an acknowledgement may have been answered while
// the mark was being committed (promise P4). It returns the instant before which the call must begin, or why it must not.
func (w *Worker) ready(it *item) (before time.Time, why string) {
	why = "the incident could not be read again in time"
	for range looksPerCall {
		if it.limited && !w.idle(it, it.slot.at.Add(-it.line.pace.lookAhead())) {
			return before, "this process is stopping"
		}
		if it.limited && time.Now().After(it.slot.until) {
			w.metrics.lateSlots.WithLabelValues("call").Inc()
			return before, "its slot of the rate limit is over"
		}
		look := looking{it.c.ID, make(chan looked, 1)}
		asked := time.Now()
		w.looks.add(look)
		l := <-look.answer
		it.line.pace.looked(time.Since(asked))
		switch {
		case l.err != nil:
			if !w.idle(it, time.Now().Add(lookPause)) {
				return before, "this process is stopping"
			}
			continue
		case !l.open:
			return before, "nobody needs to be told any more"
		}
		before = l.at.Add(maxLookAge)
		if it.limited {
			before = earlier(before, it.slot.until)
			if !w.idle(it, it.slot.at) {
				return before, "this process is stopping"
			}
		}
		if !time.Now().After(before) {
			return before, ""
		}
	}
	return before, why
}

// callVendor calls the vendor and turns a panic into an answer. Whether the request left is not known then.
func (w *Worker) callVendor(ctx context.Context, o *outlet, c caller, out messages.Outbound) (r messages.Result) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("vendor panicked", zap.String("vendor", o.vendor.Name()), zap.Any("panic", p))
			r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: "internal error of the vendor's adapter"}
		}
	}()
	if c.prepared != nil {
		r = c.prepared.Send(ctx, out)
	} else {
		r = o.vendor.Send(ctx, out)
	}
	if r.Outcome == "" {
		r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: "the vendor's adapter gave no outcome"}
	}
	return r
}
