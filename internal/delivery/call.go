package delivery

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// maxReadAge is the longest time between sending a read of the incident and the begin of the call. The mark reads
	// it too.
	maxReadAge = 300 * time.Millisecond
	// freshRead is the greatest age of a read when the call is to begin. An older read is repeated.
	freshRead = maxReadAge / 2
	// connectWithin is how long a marked message waits for a connection.
	connectWithin = time.Second
	// readsPerCall bounds how often an incident is read again because the answer came too late.
	readsPerCall = 5
	// readPause is the pause after a read that failed.
	readPause = 50 * time.Millisecond
)

// caller makes the vendor calls of marked messages.
type caller struct {
	cfg      *Config
	links    Links
	reveal   func(text, destination string) string // nil = stored texts have no secrets
	reread   *stage.Reread
	metrics  *metrics
	log      *zap.Logger
	stopping <-chan struct{}
}

// prepare gets a connection before the message is marked, if one is free.
func (w *caller) prepare(ctx context.Context, it *item) account.Connection {
	it.out = w.outbound(it)
	if !it.outlet.Running.Try(it.c.Destination) {
		return account.Connection{}
	}
	return w.open(ctx, it, clock.Earlier(time.Now().Add(it.outlet.Timeout), it.claimEnd.Add(-claimMargin)))
}

// open opens the connection of a message that holds a place of the outlet's running calls.
func (w *caller) open(ctx context.Context, it *item, deadline time.Time) account.Connection {
	if w.cfg.DryRun == DryRunStore {
		return it.outlet.Unprepared(it.c.Destination)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	began := time.Now()
	c := it.outlet.Open(ctx, it.out)
	it.mode.turns.Pace.Connected(time.Since(began))
	w.panicked(it.outlet, c.Panic)
	return c
}

// panicked logs a panic of a vendor's adapter, if there was one.
func (w *caller) panicked(o *account.Outlet, err error) {
	if err != nil {
		w.log.Error("vendor panicked", zap.String("vendor", o.Vendor.Name()), zap.Error(err))
	}
}

// connect gets a place and a connection for a message that was marked while all connections were in use. It waits even
// if this process is stopping, because the attempt has begun. why is the reason if no connection was free.
func (w *caller) connect(ctx context.Context, it *item, marked time.Time) (c account.Connection, why string) {
	o, to := it.outlet, it.c.Destination
	began := time.Now()
	deadline := began.Add(connectWithin)
	if it.turn.Limited {
		deadline = clock.Earlier(deadline, it.turn.Slot.Until)
	}
	ok := o.Running.Acquire(to, deadline, nil)
	it.waited += time.Since(began)
	switch {
	case ok && o.Health.FailedSince(marked, to):
		o.Running.Release(to)
		return c, "another call to this recipient failed meanwhile"
	case ok:
		return w.open(ctx, it, deadline), ""
	}
	return c, "no connection became free in time"
}

// callFor is how long the claim of a message that is being marked must last: until the outcome of its call can be
// stored.
func (w *caller) callFor(it *item) time.Duration {
	d := it.outlet.Timeout + maxReadAge + recordMargin + connectWithin + it.mode.turns.Pace.CallAhead()
	if it.turn.Limited {
		d += max(0, time.Until(it.turn.Slot.At))
	}
	return d
}

// call makes the vendor call of a marked message, unless its incident was closed meanwhile or it is too late for it.
func (w *caller) call(ctx context.Context, it *item, c account.Connection, m stage.Marked) messages.Result {
	why := ""
	if !c.Held() {
		c, why = w.connect(ctx, it, m.At)
	}
	defer c.End()
	if c.Failed != nil {
		w.metrics.done(it.outlet, *c.Failed, 0)
		return *c.Failed
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
		c.Close()
		return messages.Result{Outcome: messages.OutcomeCancelled, Detail: "the call was not begun: " + why}
	}
	w.metrics.called(it.c, now.Sub(it.taken))
	if w.cfg.DryRun == DryRunStore {
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "dry run: not sent"}
	}
	ctx, cancel := context.WithTimeout(ctx, w.callTime(it))
	defer cancel()
	out := it.out
	out.Attempt, out.BeginBefore = m.Attempt, before
	ended := it.outlet.Health.Started(it.c.Destination)
	r, err := c.Send(ctx, out)
	ended()
	r.Detail = withoutContact(r.Detail, it.c.Destination)
	w.panicked(it.outlet, err)
	w.metrics.done(it.outlet, r, time.Since(now))
	it.mode.turns.Pace.Called(time.Now())
	return r
}

// withoutContact returns a vendor's words without the contact: they appear in logs and on timelines, whose readers may
// not see it.
func withoutContact(detail, contact string) string {
	if len(contact) < 4 {
		return detail
	}
	return strings.ReplaceAll(detail, contact, "[contact]")
}

// ready waits for the slot of a marked message. The mark read the incident at the instant read, or a little later. If
// that read will be too old when the call begins, ready reads the incident again: it may have been acknowledged while
// the mark was being committed (promise P4). It returns the instant before which the call must begin, or the reason why
// it must not begin.
func (w *caller) ready(it *item, read time.Time) (before time.Time, why string) {
	for range readsPerCall {
		if it.turn.Limited && !it.idle(it.turn.Slot.At.Add(-it.mode.turns.Pace.ReadAhead(maxReadAge)), w.stopping) {
			return before, "this process is stopping"
		}
		if it.turn.Limited && time.Now().After(it.turn.Slot.Until) {
			w.metrics.lateSlots.WithLabelValues("call").Inc()
			return before, "its slot of the rate limit is over"
		}
		begin := time.Now()
		if it.turn.Limited {
			begin = clock.Later(begin, it.turn.Slot.At)
		}
		if begin.Sub(read) > freshRead {
			asked := time.Now()
			l := w.reread.Do(it.c.ID)
			it.mode.turns.Pace.Reread(time.Since(asked))
			switch {
			case l.Err != nil:
				if !it.idle(time.Now().Add(readPause), w.stopping) {
					return before, "this process is stopping"
				}
				continue
			case !l.Open:
				it.stopped = true
				return before, "its incident is no longer open"
			}
			read = l.At
		}
		before = read.Add(maxReadAge)
		if it.turn.Limited {
			before = clock.Earlier(before, it.turn.Slot.Until)
			if !it.idle(it.turn.Slot.At, w.stopping) {
				return before, "this process is stopping"
			}
		}
		if !time.Now().After(before) {
			return before, ""
		}
	}
	return before, "the incident could not be read again in time"
}

// leastCall is the shortest timeout of a call, even if less of the mode's budget is left. A shorter timeout would leave
// more attempts in doubt.
const leastCall = 5 * time.Second

// callTime is how long a call may take: at most the rest of the mode's budget, but at least leastCall. A hanging server
// must not delay the message's next mode.
func (w *caller) callTime(it *item) time.Duration {
	left := w.cfg.Budgets[it.c.Class].PerMode - it.waitedInMode()
	return min(it.outlet.Timeout, max(leastCall, left))
}

// start is the part of the message that the mark stores.
func (w *caller) start(it *item) stage.Start {
	c, o := it.c, it.outlet
	replaced := ""
	if it.content.Replaced {
		replaced = replacedSMS
	}
	return stage.Start{
		Replaced: replaced,
		ID:       c.ID, IncidentID: c.IncidentID, Vendor: o.Vendor.Name(), Account: o.Vendor.Account(),
		Destination: c.Destination, Key: idempotencyKey(c), CallFor: w.callFor(it),
		Subject: it.content.Subject, Body: it.content.Body, EmailHTML: it.content.EmailHTML, Problem: it.content.Problem,
	}
}

// idempotencyKey is the same for an attempt and for the attempts that repeat it because it is in doubt. It contains the
// time at which the message was made, so that installations that share a vendor's account have different keys.
func idempotencyKey(c Claimed) string {
	first := c.KeyAttempt
	if first == 0 {
		first = c.Attempt + 1
	}
	return "iris-" + strconv.FormatInt(int64(c.ID), 10) + "-" + strconv.FormatInt(c.CreatedAt.UnixMicro(), 36) + "-" +
		strconv.Itoa(first)
}

// outbound is the message for the vendor.
func (w *caller) outbound(it *item) messages.Outbound {
	c, t := it.c, it.content
	out := messages.Outbound{
		MessageID: c.ID, Attempt: c.Attempt + 1, Mode: c.Mode, Destination: c.Destination,
		Subject: t.Subject, Body: t.Body, EmailHTML: t.EmailHTML, Slack: t.Slack, Application: t.Application, Plan: t.Plan,
		Priority: c.Priority, Target: c.Target, Sender: t.Sender, ShownTo: t.ShownTo, IdempotencyKey: idempotencyKey(c),
	}
	if w.reveal != nil {
		out.Body, out.EmailHTML = w.reveal(out.Body, c.Destination), w.reveal(out.EmailHTML, c.Destination)
	}
	out.AckURL = ackURL(w.links, c)
	if c.Purpose == messages.TrackingMsg && c.Mode == users.Email {
		out.ReplyTo = c.Destination // replies go to the tracking address, not to Iris (docs/reference/escalation.md 10)
	}
	if c.IncidentID == 0 {
		out.Batch = c.Batch
	}
	if c.IncidentID != 0 {
		out.ThreadKey = fmt.Sprintf("incident-%d-%s", c.IncidentID, c.Recipient)
		out.IncidentURL = w.links.IncidentURL(c.IncidentID)
		if c.UserID != 0 && !c.Purpose.Notice() {
			out.IncidentID = c.IncidentID
		}
	}
	return out
}
