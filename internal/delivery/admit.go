package delivery

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
)

// limitOf is an outlet as package rate knows it.
func limitOf(o *account.Outlet) rate.Account {
	return rate.Account{Key: o.Key, Modes: o.Vendor.Modes()}
}

// busyWait is how long a message waits for other calls to the same destination.
const busyWait = 250 * time.Millisecond

// admit asks whether a call to the item's destination may begin. If not, it moves the message on. Otherwise done must be called
// with what came of the call.
func (w *Worker) admit(it *item) (done func(messages.Result), ok bool) {
	h, to := &it.outlet.Health, it.c.Destination
	var a account.Admission
	begin := func() {
		now := time.Now()
		done, a = h.Begin(now, to, it.mode.turns.Pace.Marking(now))
	}
	begin()
	if a == account.Busy || a == account.FailingBusy {
		began := time.Now()
		until := began.Add(busyWait)
		if it.turn.Limited {
			until = instant.Earlier(until, it.turn.Slot.Until)
		}
		for (a == account.Busy || a == account.FailingBusy) && h.Wait(to, time.Until(until), w.stopping) {
			begin()
		}
		it.waited += time.Since(began)
	}
	b := w.cfg.Budgets[it.c.Class]
	switch a {
	case account.Admitted:
		return done, true
	case account.Busy:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: busyWait + time.Duration(spread()*float64(busyWait))})
	case account.FailingBusy:
		// Not much longer than the recipient has failed: it may be back as soon as the call ends.
		wait := min(b.Gap(100, spread()), max(b.Gap(1, spread()), h.FailingFor(time.Now(), to)/4))
		w.refused(it, "the last call to this recipient failed and another one has not ended", wait)
	default:
		// Until the account is well, only probes are taken. This message must be there when it is.
		w.refused(it, "its latest calls failed", b.Gap(1, spread()))
	}
	return nil, false
}

// probeWithin bounds a probe without a message.
const probeWithin = 5 * time.Second

// probe finds out, without a message, whether sick accounts of the mode can be reached again.
func (l *modeWorker) probe(now time.Time) {
	for _, o := range l.outlets {
		p, ok := o.Vendor.(messages.Prober)
		if !ok || !o.Health.ProbeDue(now) {
			continue
		}
		l.w.background.Go(func() {
			ctx, cancel := context.WithTimeout(l.w.calls, min(probeWithin, o.Timeout))
			defer cancel()
			o.Health.Probed(p.Probe(ctx))
			l.kick()
		})
	}
}

// nextProbe is when a sick account may be probed next.
func (l *modeWorker) nextProbe(now time.Time) time.Time {
	next := now.Add(l.w.cfg.Poll)
	for _, o := range l.outlets {
		if _, at := o.Health.Due(now); at.After(now) {
			next = instant.Earlier(next, at)
		}
	}
	return next
}
