package delivery

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

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
	rate    rate // of the account, which other modes may share
	limited bool
	permits chan struct{} // one per call that may run
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	pauses  *pauses
}

var (
	errVendorFailing = errors.New("vendor fails")
	errNotCalled     = errors.New("the call was not begun")
)

func newOutlet(v messages.Vendor, m users.Mode, cfg Config, p *pauses) *outlet {
	o := &outlet{vendor: v, key: accountKey(v), mode: m, pauses: p}
	o.rate, o.limited = cfg.rate(o.key)
	o.timeout = cfg.callTimeout(m, o.key)
	o.permits = make(chan struct{}, cfg.concurrency(v))
	if v.Name() == "webhook" {
		return o // its destinations are strangers to each other: one that fails says nothing of the others
	}
	o.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: o.key, MaxRequests: 1, Timeout: cfg.BreakFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(cfg.BreakAfter) },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNotCalled) },
	})
	return o
}

// closed says why and for how long the outlet cannot be used now; "" = it can.
func (o *outlet) closed(now time.Time) (why string, left time.Duration) {
	if d, reason := o.pauses.left(now, o.key); d > 0 {
		if reason == "" {
			reason = "it is paused"
		}
		return reason, d
	}
	if o.breaker != nil && o.breaker.State() == gobreaker.StateOpen {
		return "its latest calls failed", 0
	}
	return "", 0
}

// probing reports whether a single call is to find out if the vendor is back.
func (o *outlet) probing() bool {
	return o.breaker != nil && o.breaker.State() == gobreaker.StateHalfOpen
}

// begin asks whether a call may be made; done takes what came of it.
func (o *outlet) begin() (done func(messages.Outcome), ok bool) {
	if o.breaker == nil {
		return func(messages.Outcome) {}, true
	}
	report, err := o.breaker.Allow()
	if err != nil {
		return nil, false
	}
	return func(out messages.Outcome) {
		switch out {
		case messages.OutcomeUnavailable, messages.OutcomeUnknown:
			report(errVendorFailing)
		case messages.OutcomeCancelled:
			report(errNotCalled)
		default:
			report(nil)
		}
	}, true
}
