package delivery

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// claimMargin is the part of a claim that is kept for the steps before the call. recordMargin is how much longer
	// than the call a claim lasts, so that the outcome can be stored.
	claimMargin  = time.Second
	recordMargin = time.Second
	// busyWait is how long a message waits for a call to the same destination to end. While such calls end, it waits
	// for its turn up to busyMost, because taking it again later costs more.
	busyWait = 250 * time.Millisecond
	busyMost = time.Second
)

// admission decides when a rendered message may be marked: when its slot is near, its destination is neither busy nor
// failing, and few enough messages of its account are marked.
type admission struct {
	cfg      *Config
	decide   *decider
	metrics  *metrics
	stopping <-chan struct{}
}

// wait waits until the message may be marked. Then the caller must call done with the result of the call. If l is not
// nil, the message leaves the path instead.
func (a *admission) wait(ctx context.Context, it *item) (done func(messages.Result), l *departure) {
	if ended(a.stopping) {
		return nil, released()
	}
	if !a.choose(ctx, it) {
		return nil, moved(later(250*time.Millisecond, 250*time.Millisecond))
	}
	if it.turn.Limited && !it.idle(it.turn.Slot.At.Add(-it.mode.turns.Pace.CallAhead()), a.stopping) {
		return nil, released()
	}
	called, l := a.destination(ctx, it)
	if l != nil {
		return nil, l
	}
	if !a.account(it) {
		called(messages.NotBegun())
		a.late(it)
		return nil, released()
	}
	o := it.outlet
	return func(r messages.Result) {
		o.Marking.Release("")
		called(r)
	}, nil
}

// choose chooses the account by how long the message has been tried in its mode: the preferred one first, then its
// spares. It skips closed spares. It returns false if a spare is due whose rate limit has no slot soon.
func (a *admission) choose(ctx context.Context, it *item) bool {
	all := it.mode.outlets
	first := a.cfg.Budgets[it.c.Class].AccountAt(it.inMode(), len(all))
	if first == 0 {
		return true
	}
	for _, o := range all[first:] {
		if why, _ := o.Closed(time.Now()); why != "" {
			continue
		}
		if o == it.outlet {
			return true
		}
		it.outlet = o
		turn, ok := it.mode.turns.Own(ctx, limitOf(o), it.turn)
		it.turn = turn
		return ok
	}
	return true
}

// destination waits, at most busyMost, until a call to the message's destination may begin. Then the caller must call
// done with its result. If l is not nil, the message leaves the path instead.
func (a *admission) destination(ctx context.Context, it *item) (done func(messages.Result), l *departure) {
	h, to := &it.outlet.Health, it.c.Destination
	var answer account.Admission
	began := time.Now()
	for {
		now := time.Now()
		done, answer = h.Begin(now, to, it.mode.turns.Pace.Marking(now))
		left := busyMost - now.Sub(began)
		if answer == account.FailingBusy {
			left -= busyMost - busyWait
		}
		if it.turn.Limited {
			left = min(left, it.turn.Slot.Until.Sub(now))
		}
		if answer != account.Busy && answer != account.FailingBusy || !h.Wait(to, busyWait, left, a.stopping) {
			break
		}
	}
	it.waited += time.Since(began)
	b := a.cfg.Budgets[it.c.Class]
	switch answer {
	case account.Admitted:
		return done, nil
	case account.Busy:
		return nil, moved(later(busyWait, busyWait))
	case account.FailingBusy:
		// The recipient may work again as soon as the running call ends. So the pause is short at first and grows while
		// calls fail.
		wait := min(b.Gap(100, spread()), max(b.Gap(1, spread()), h.FailingFor(time.Now(), to)/4))
		return nil, moved(a.decide.refused(ctx, it,
			"the last call to this recipient failed and another one has not ended", wait))
	default:
		// While the account is unhealthy, only probes are taken. The pause is short so that this message can be taken
		// soon after.
		return nil, moved(a.decide.refused(ctx, it, "its latest calls failed", b.Gap(1, spread())))
	}
}

// account waits until the message may be marked. More messages than may be called at once are marked as long as calls
// end quickly, so that a connection is used while other messages wait for the mark. It returns false when it is too
// late to call.
func (a *admission) account(it *item) bool {
	o := it.outlet
	n := o.Most + it.mode.turns.Pace.Marking(time.Now())
	o.Marking.Resize(n, n)
	if o.Marking.Try("") {
		return true
	}
	deadline := it.taken.Add(a.cfg.ClaimFor - claimMargin)
	if it.turn.Limited {
		deadline = clock.Earlier(deadline, it.turn.Slot.Until)
	}
	began := time.Now()
	defer func() { it.waited += time.Since(began) }()
	return o.Marking.Acquire("", deadline, a.stopping)
}

// late notes that the slot or the claim of a message ended before its call could begin.
func (a *admission) late(it *item) {
	if it.turn.Limited {
		a.metrics.lateSlots.WithLabelValues("call").Inc()
		it.mode.turns.Pace.Prepared(time.Since(it.taken) - it.waited)
	}
}

// limitOf is an outlet as package rate knows it.
func limitOf(o *account.Outlet) rate.Account {
	return rate.Account{Key: o.Key, Modes: o.Vendor.Modes()}
}

// ended reports whether a channel is closed.
func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
