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
	mu    sync.Mutex
	until map[string]time.Time
	why   map[string]string
}

// set replaces everything by what the database says.
func (p *pauses) set(now time.Time, all []Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until, p.why = map[string]time.Time{}, map[string]string{}
	for _, x := range all {
		p.until[x.Key], p.why[x.Key] = now.Add(x.For), x.Reason
	}
}

// add notes a pause before the database tells of it.
func (p *pauses) add(now time.Time, x Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until == nil {
		p.until, p.why = map[string]time.Time{}, map[string]string{}
	}
	if t := now.Add(x.For); t.After(p.until[x.Key]) {
		p.until[x.Key], p.why[x.Key] = t, x.Reason
	}
}

// left is how long a key is still paused, and why; 0 = not.
func (p *pauses) left(now time.Time, key string) (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.until[key].Sub(now)), p.why[key]
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

var errVendorFailing = errors.New("vendor fails")

func newOutlet(v messages.Vendor, m users.Mode, cfg Config, p *pauses) *outlet {
	o := &outlet{vendor: v, key: accountKey(v), mode: m, pauses: p}
	o.rate, o.limited = cfg.rate(o.key)
	o.timeout = cfg.callTimeout(m, o.key)
	o.permits = make(chan struct{}, cfg.concurrency(v.Name()))
	if v.Name() == "webhook" {
		return o // its destinations are strangers to each other: one that fails says nothing of the others
	}
	o.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: o.key, MaxRequests: 1, Timeout: cfg.BreakFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(cfg.BreakAfter) },
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
		if out == messages.OutcomeUnavailable || out == messages.OutcomeUnknown {
			report(errVendorFailing)
			return
		}
		report(nil)
	}, true
}
