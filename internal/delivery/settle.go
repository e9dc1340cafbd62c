package delivery

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
)

// ending stores the next state of a message at the end of its path. It does not wait for the database: a callback
// finishes the item when the state is stored.
type ending struct {
	record     *stage.Record
	move       *stage.Move
	finder     *finder
	leases     Leases
	limits     Limits
	pauses     *account.Pauses
	inFlight   *inFlight
	report     *reporter
	items      *sync.WaitGroup // taken and not finished
	background *sync.WaitGroup
}

// began counts a taken message.
func (e *ending) began(it *item) {
	it.mode.inFlight.Add(1)
	e.items.Add(1)
	e.report.metrics.inFlight.WithLabelValues(string(it.mode.mode)).Inc()
}

// finish counts a message whose path has ended.
func (e *ending) finish(it *item) {
	it.mode.inFlight.Add(-1)
	e.report.metrics.inFlight.WithLabelValues(string(it.mode.mode)).Dec()
	it.mode.kick()
	e.items.Done()
}

// leave ends the path of a message without a call.
func (e *ending) leave(it *item, l *departure) {
	if l.release {
		e.release(it)
		return
	}
	e.turn(it, l.verdict)
}

// releaseAgain is when a bucket is searched again after a message was put back.
const releaseAgain = 20 * time.Millisecond

// release gives a message back.
func (e *ending) release(it *item) {
	e.move.Release(it.c.ID, func() {
		e.finder.revisit(it.c.Bucket, time.Now().Add(releaseAgain))
		e.finish(it)
	})
}

// turn moves a message on without a call.
func (e *ending) turn(it *item, v stage.Verdict) {
	to := string(v.State)
	if v.State == messages.Pending && v.Mode != "" {
		to = "mode"
	}
	e.report.metrics.turned.WithLabelValues(string(it.c.Mode), to).Inc()
	e.move.Turn(stage.Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: v}, func() {
		e.retryAt(it, v)
		e.finish(it)
	})
}

// unmarked ends the path of a message that was not marked: its incident is no longer open, or its claim is over. The
// message is given back at once, because its incident may be open again. One whose data the database refuses waits for
// the end of its claim, so that its next takes are not in vain all the time.
func (e *ending) unmarked(it *item, m stage.Marked) {
	if m.Lost {
		e.retract(it)
		return
	}
	e.inFlight.remove(it.c.ID)
	if m.Refused {
		e.finish(it)
		return
	}
	e.release(it)
}

// retract cancels an attempt whose mark got no answer, and whose call was not begun. By the time the database answers
// again, another process may have made an attempt with the same number; that attempt is not changed.
func (e *ending) retract(it *item) {
	it.retracted = true
	e.store(it, stage.Outcome{
		Turn: stage.Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: stage.Verdict{
			State: messages.Pending, Unstarted: true,
		}},
		Attempt: it.c.Attempt + 1, ProcessID: e.leases.ProcessID(),
		Result: messages.Result{Outcome: messages.OutcomeCancelled,
			Detail: "the call was not begun: the database did not answer"},
	})
}

// called ends the path of a message after its call.
func (e *ending) called(ctx context.Context, it *item, attempt int, r messages.Result, v stage.Verdict) {
	switch r.Outcome {
	case messages.OutcomeThrottled:
		if it.outlet.Shared() {
			e.pause(ctx, it.outlet, r)
		}
	case messages.OutcomeUnknown:
		e.report.metrics.inDoubt.Inc()
	case messages.OutcomeCancelled:
		e.report.metrics.notBegun.WithLabelValues(string(it.c.Mode)).Inc()
	}
	e.store(it, stage.Outcome{
		Turn: stage.Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: v}, Attempt: attempt, Result: r,
	})
}

// store records the outcome of an attempt.
func (e *ending) store(it *item, o stage.Outcome) {
	e.record.Add(o, func(r stage.Recorded) {
		e.inFlight.remove(it.c.ID)
		if r.Lost { // the attempt becomes one in doubt
			e.finish(it)
			return
		}
		e.retryAt(it, r.Outcome.Verdict)
		if r.Late {
			e.report.metrics.lateDone.Inc()
		}
		if r.Late && it.retracted {
			e.release(it)
			return
		}
		e.finish(it)
	})
}

// retryAt schedules a search of the message's bucket for when the message may be taken again.
func (e *ending) retryAt(it *item, v stage.Verdict) {
	if v.State == messages.Pending {
		e.finder.revisit(it.c.Bucket, time.Now().Add(v.RetryIn))
	}
}

// pause pauses an account for all processes, because its vendor asked for it.
func (e *ending) pause(ctx context.Context, o *account.Outlet, r messages.Result) {
	d := r.RetryAfter
	if d <= 0 {
		d = time.Second
	}
	now := time.Now()
	if left, _ := e.pauses.Left(now, o.Key); left >= d-100*time.Millisecond {
		return
	}
	e.pauses.Add(now, account.Pause{Key: o.Key, For: d, Reason: "the vendor asked for a pause"})
	e.background.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if err := e.limits.SetPause(ctx, o.Key, d, "the vendor asked for a pause"); err != nil {
			e.report.Failed("pause", err, zap.String("vendor", o.Vendor.Name()))
		}
	})
}
