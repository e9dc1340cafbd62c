package delivery

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// maxLookAge is how long after a read of its incident was sent a call may begin. The statement that marks a message is one.
	maxLookAge = 300 * time.Millisecond
	// freshLook is how old a read may be when the call is to begin; an older one is repeated.
	freshLook = maxLookAge / 2
	// connectWithin is how long a marked message waits for a connection.
	connectWithin = time.Second
	// looksPerCall bounds how often an incident is read again because the answer came too late.
	looksPerCall = 5
	// lookPause is the pause after a read that failed.
	lookPause = 50 * time.Millisecond
)

// caller makes one vendor call: with a connection that is ready, or without preparation. The zero value may not call yet.
type caller struct {
	outlet   *account.Outlet // nil = it holds no place among the calls that run
	to       string
	prepared messages.Prepared // nil = the vendor needs no preparation
	failed   *messages.Result  // why nothing could be prepared; nil = nothing failed
}

// release gives the connection and the place back without a call.
func (c caller) release() {
	if c.prepared != nil {
		c.prepared.Release()
	}
	c.end()
}

// end gives the place back.
func (c caller) end() {
	if c.outlet != nil {
		c.outlet.Running.Release(c.to)
	}
}

// prepare gets what the call needs before its first byte that can page, if the vendor has such a thing. The caller holds a
// place of the outlet's running calls.
func (w *Worker) prepare(it *item, deadline time.Time) (c caller) {
	c = caller{outlet: it.outlet, to: it.c.Destination}
	p, needed := it.outlet.Vendor.(messages.Preparer)
	if !needed || w.cfg.DryRun == DryRunStore {
		return c
	}
	defer func() {
		if v := recover(); v != nil {
			w.log.Error("vendor panicked", zap.String("vendor", it.outlet.Vendor.Name()), zap.Any("panic", v))
			c.failed = &messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "internal error of the vendor's adapter"}
		}
	}()
	ctx, cancel := context.WithDeadline(w.calls, deadline)
	defer cancel()
	began := time.Now()
	prepared, r, ok := p.Prepare(ctx, it.outbound(it.c.Attempt+1))
	it.mode.turns.Pace.Connected(time.Since(began))
	if !ok {
		c.failed = &r
		return c
	}
	c.prepared = prepared
	return c
}

// connect gets a place and a connection for a message that was marked while all were in use. A process that stops waits as well: its
// attempt has begun, and the calls before it end soon.
func (w *Worker) connect(it *item, marked time.Time) (c caller, why string) {
	o, to := it.outlet, it.c.Destination
	began := time.Now()
	deadline := began.Add(connectWithin)
	if it.turn.Limited {
		deadline = instant.Earlier(deadline, it.turn.Slot.Until)
	}
	ok := o.Running.Acquire(to, deadline, nil)
	it.waited += time.Since(began)
	switch {
	case ok && o.Health.FailedSince(marked, to):
		o.Running.Release(to)
		return c, "another call to this recipient failed meanwhile"
	case ok:
		return w.prepare(it, deadline), ""
	}
	return c, "no connection became free in time"
}

// callFor is how long the claim of a message that is being marked must last: until the outcome of its call can be stored.
func (w *Worker) callFor(it *item) time.Duration {
	d := it.outlet.Timeout + maxLookAge + recordMargin + connectWithin + it.mode.turns.Pace.CallAhead()
	if it.turn.Limited {
		d += max(0, time.Until(it.turn.Slot.At))
	}
	return d
}

// call makes the vendor call of a marked message, unless its incident was closed meanwhile or it is too late for it.
func (w *Worker) call(it *item, c caller, m stage.Marked) messages.Result {
	why := ""
	if c.outlet == nil {
		c, why = w.connect(it, m.At)
	}
	defer c.end()
	if c.failed != nil {
		w.metrics.done(it.outlet, *c.failed, 0)
		return *c.failed
	}
	var before time.Time
	if why == "" {
		before, why = w.ready(it, m.At)
	}
	now := time.Now()
	if it.turn.Limited {
		it.mode.turns.Pace.Prepared(now.Sub(it.taken) - it.waited)
	}
	if why != "" {
		if c.prepared != nil {
			c.prepared.Release()
		}
		return messages.Result{Outcome: messages.OutcomeCancelled, Detail: "the call was not begun: " + why}
	}
	w.metrics.called(it.c, now.Sub(it.taken))
	if w.cfg.DryRun == DryRunStore {
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "dry run: not sent"}
	}
	ctx, cancel := context.WithTimeout(w.calls, it.callTime())
	defer cancel()
	out := it.outbound(m.Attempt)
	out.BeginBefore = before
	ended := it.outlet.Health.Started(it.c.Destination)
	r := w.callVendor(ctx, it.outlet, c, out)
	ended()
	w.metrics.done(it.outlet, r, time.Since(now))
	it.mode.turns.Pace.Called(time.Now())
	return r
}

// ready waits for the slot of a marked message. The mark read its incident at the instant read, or a little later. If that will
// be too long ago when the call begins, it reads the incident again: an acknowledgement may have been answered while the mark
// was being committed (promise P4). It returns the instant before which the call must begin, or why it must not.
func (w *Worker) ready(it *item, read time.Time) (before time.Time, why string) {
	for range looksPerCall {
		if it.turn.Limited && !w.idle(it, it.turn.Slot.At.Add(-it.mode.turns.Pace.ReadAhead(maxLookAge))) {
			return before, "this process is stopping"
		}
		if it.turn.Limited && time.Now().After(it.turn.Slot.Until) {
			w.metrics.lateSlots.WithLabelValues("call").Inc()
			return before, "its slot of the rate limit is over"
		}
		begin := time.Now()
		if it.turn.Limited {
			begin = instant.Later(begin, it.turn.Slot.At)
		}
		if begin.Sub(read) > freshLook {
			asked := time.Now()
			l := w.reread.Do(it.c.ID)
			it.mode.turns.Pace.Reread(time.Since(asked))
			switch {
			case l.Err != nil:
				if !w.idle(it, time.Now().Add(lookPause)) {
					return before, "this process is stopping"
				}
				continue
			case !l.Open:
				return before, "nobody needs to be told any more"
			}
			read = l.At
		}
		before = read.Add(maxLookAge)
		if it.turn.Limited {
			before = instant.Earlier(before, it.turn.Slot.Until)
			if !w.idle(it, it.turn.Slot.At) {
				return before, "this process is stopping"
			}
		}
		if !time.Now().After(before) {
			return before, ""
		}
	}
	return before, "the incident could not be read again in time"
}

// callVendor calls the vendor and turns a panic into an answer. Whether the request left is not known then.
func (w *Worker) callVendor(ctx context.Context, o *account.Outlet, c caller, out messages.Outbound) (r messages.Result) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("vendor panicked", zap.String("vendor", o.Vendor.Name()), zap.Any("panic", p))
			r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: "internal error of the vendor's adapter"}
		}
	}()
	if c.prepared != nil {
		r = c.prepared.Send(ctx, out)
	} else {
		r = o.Vendor.Send(ctx, out)
	}
	if r.Outcome == "" {
		r = messages.Result{Outcome: messages.OutcomeUnknown, Detail: "the vendor's adapter gave no outcome"}
	}
	return r
}
