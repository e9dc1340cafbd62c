package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// pauses are the accounts and modes that must not be used for a while. It is safe for concurrent use.
type pauses struct {
	mu  sync.Mutex
	all map[string]paused
}

type paused struct {
	until time.Time
	why   string
	heard time.Time // from a vendor, by this process; zero = from the database
}

// hearsay is how long a pause that this process heard of itself is kept although the database does not tell of it (yet).
const hearsay = 3 * time.Second

// set replaces everything by what the database says.
func (p *pauses) set(now time.Time, told []Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]paused{}
	for k, x := range p.all {
		if now.Sub(x.heard) < hearsay {
			all[k] = x
		}
	}
	for _, x := range told {
		if until := now.Add(x.For); until.After(all[x.Key].until) {
			all[x.Key] = paused{until: until, why: x.Reason}
		}
	}
	p.all = all
}

// add notes a pause before the database tells of it.
func (p *pauses) add(now time.Time, x Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]paused{}
	}
	if until := now.Add(x.For); until.After(p.all[x.Key].until) {
		p.all[x.Key] = paused{until, x.Reason, now}
	}
}

// left is how long a key is still paused, and why; 0 = not.
func (p *pauses) left(now time.Time, key string) (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[key]
	return max(0, x.until.Sub(now)), x.why
}

// outlet is a vendor's account as used for one mode.
type outlet struct {
	vendor  messages.Vendor
	key     string // AccountKey
	mode    users.Mode
	timeout time.Duration
	most    int   // calls at once
	running limit // of calls, by destination
	marking limit // of messages from their mark to the end of their call
	health  health
	pauses  *pauses
}

func newOutlet(v messages.Vendor, m users.Mode, cfg Config, p *pauses) *outlet {
	o := &outlet{vendor: v, key: accountKey(v), mode: m, pauses: p}
	o.timeout = cfg.callTimeout(m, o.key)
	n := cfg.concurrency(v)
	o.most = n
	o.health.after, o.health.gap, o.health.each, o.health.most = cfg.BreakAfter, cfg.BreakFor, max(1, n/4), max(1, n*3/4)
	if v.Name() == "drop" {
		o.health.each, o.health.most = n, n
	}
	o.running.resize(n, o.health.most)
	o.health.alone = v.Name() == "webhook"
	_, o.health.knocker = v.(messages.Prober)
	return o
}

// account is the outlet as package rate knows it.
func (o *outlet) account() rate.Account { return rate.Account{Key: o.key, Modes: o.vendor.Modes()} }

// closed says why and for how long the outlet cannot be used now; "" = it can.
func (o *outlet) closed(now time.Time) (why string, left time.Duration) {
	if d, reason := o.pauses.left(now, o.key); d > 0 {
		if reason == "" {
			reason = "it is paused"
		}
		return reason, d
	}
	if ok, _ := o.health.due(now); !ok {
		return "its latest calls failed", 0
	}
	return "", 0
}

// busyWait is how long a message waits for other calls to the same destination.
const busyWait = 250 * time.Millisecond

// admit asks whether a call to the item's destination may begin. If not, it moves the message on. Otherwise done must be called
// with what came of the call.
func (w *Worker) admit(it *item) (done func(messages.Result), ok bool) {
	h, to := &it.outlet.health, it.c.Destination
	var a admission
	begin := func() {
		now := time.Now()
		done, a = h.begin(now, to, it.line.turns.Pace.Marking(now))
	}
	begin()
	if a == busy || a == failingBusy {
		began := time.Now()
		until := began.Add(busyWait)
		if it.turn.Limited {
			until = instant.Earlier(until, it.turn.Slot.Until)
		}
		for (a == busy || a == failingBusy) && h.wait(to, time.Until(until), w.stopping) {
			begin()
		}
		it.waited += time.Since(began)
	}
	b := w.cfg.Budgets[it.c.Class]
	switch a {
	case admitted:
		return done, true
	case busy:
		w.turn(it, Verdict{State: messages.Pending, RetryIn: busyWait + time.Duration(spread()*float64(busyWait))})
	case failingBusy:
		// Not much longer than the recipient has failed: it may be back as soon as the call ends.
		wait := min(b.gap(100, spread()), max(b.gap(1, spread()), h.failingFor(time.Now(), to)/4))
		w.refused(it, "the last call to this recipient failed and another one has not ended", wait)
	default:
		// Until the account is well, only probes are taken. This message must be there when it is.
		w.refused(it, "its latest calls failed", b.gap(1, spread()))
	}
	return nil, false
}

// knockWithin bounds a probe without a message.
const knockWithin = 5 * time.Second

// knock finds out, without a message, whether sick accounts of the line can be reached again.
func (l *line) knock(now time.Time) {
	for _, o := range l.outlets {
		p, ok := o.vendor.(messages.Prober)
		if !ok || !o.health.knock(now) {
			continue
		}
		l.w.background.Go(func() {
			ctx, cancel := context.WithTimeout(l.w.calls, min(knockWithin, o.timeout))
			defer cancel()
			o.health.knocked(p.Probe(ctx))
			l.kick()
		})
	}
}

// nextProbe is when a sick account may be probed next.
func (l *line) nextProbe(now time.Time) time.Time {
	next := now.Add(l.w.cfg.Poll)
	for _, o := range l.outlets {
		if _, at := o.health.due(now); at.After(now) {
			next = instant.Earlier(next, at)
		}
	}
	return next
}
