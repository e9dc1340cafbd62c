package account

import (
	"slices"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// severalDestinations is how many destinations must fail until their failures count as failures of the account.
	severalDestinations = 3
	// probeAgain is how long a destination that failed is left out of the probes of an unhealthy account.
	probeAgain = 5 * time.Second
	// mostSkipped bounds how many messages to failed destinations are put back before one of them becomes the probe.
	mostSkipped = 4
	// mostDestinations bounds how many failing destinations are remembered.
	mostDestinations = 10_000
	// stalledAfter is the time without the end of a call after which a destination is stalled. Then it gets fewer calls
	// at once.
	stalledAfter = time.Second
)

// Health is the state of an account in one mode: which destinations fail, and whether the account itself fails. A
// failure before the recipient was named to the vendor counts for the account, any other for its destination. The
// account becomes unhealthy after several failures of the first kind in a row, or when several destinations fail and
// none succeeds. An unhealthy account gets one call at a time, as a probe. It is safe for concurrent use.
type Health struct {
	unhealthyAfter int           // failures in a row that make the account unhealthy
	probeEvery     time.Duration // between probes of an unhealthy account
	most           int           // calls at once to one destination whose calls end
	mostStalled    int           // calls at once to a stalled destination
	// independent: the destinations belong to different parties, so their failures do not make the account unhealthy.
	independent bool

	mu           sync.Mutex
	destinations map[string]*destination // those with calls or failures
	failures     int                     // since the last success
	early        int                     // of those, failures before the recipient was named
	failing      map[string]bool         // destinations that failed since the last success
	unhealthy    bool
	unreached    bool      // unhealthy, and the last failure came before the recipient was named
	prober       bool      // the vendor can be probed without a message
	skipped      int       // messages since the last probe that could not be the probe because their destination failed
	probeAt      time.Time // when the next probe may begin
	reserved     bool      // a taken message may be the probe
	probes       int       // probes without a message that are under way
}

type destination struct {
	calls    int             // that run
	running  int             // of those, calls that the vendor has
	progress time.Time       // when such a call last ended, or when the first of the present ones began
	ended    time.Time       // when a call last ended, or was cancelled before it began
	failures int             // in a row
	since    time.Time       // when the first of these failures happened
	last     time.Time       // when it last failed
	waiting  []chan struct{} // of messages that wait for a call to end, in the order in which they came; closed to wake one
}

// wake wakes waiting messages after a call has ended: two, so that more calls can run when the bound has grown, or all
// when no call is left that could wake them. The caller holds the lock.
func (d *destination) wake() {
	n := min(2, len(d.waiting))
	if d.calls == 0 {
		n = len(d.waiting)
	}
	for _, w := range d.waiting[:n] {
		close(w)
	}
	d.waiting = slices.Delete(d.waiting, 0, n)
}

// Admission is the answer of Begin.
type Admission int

// Answers of Begin.
const (
	Admitted    Admission = iota
	Busy                  // the destination has as many calls as it may have
	FailingBusy           // the destination fails, and a call to it runs
	Unhealthy             // the account is unhealthy, and no probe is due
)

// Due reports whether the account may be used now: it is healthy, or a probe is due. at is when the next probe is due.
func (h *Health) Due(now time.Time) (ok bool, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.unhealthy || !(h.unreached && h.prober) && !now.Before(h.probeAt), h.probeAt
}

// Reserve reserves a due probe for the next message that begins. ok is false if no probe is due. all is true if the
// account is healthy and needs no probe.
func (h *Health) Reserve(now time.Time) (ok, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.unhealthy {
		return true, true
	}
	if now.Before(h.probeAt) {
		return false, false
	}
	h.probeAt, h.reserved = now.Add(h.probeEvery), true
	return true, false
}

// CancelReserve cancels a reservation that no message used: the next message may be the probe.
func (h *Health) CancelReserve() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unhealthy && h.reserved {
		h.probeAt, h.reserved = time.Time{}, false
	}
}

// Begin admits a call to a destination if the call may be prepared now. If a is Admitted, the caller must call done
// with the result. While calls to the destination end, up to more calls are admitted in addition to those that may run
// at once.
func (h *Health) Begin(now time.Time, to string, more int) (done func(messages.Result), a Admission) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.destinations[to]
	if h.unhealthy {
		if !h.reserved && now.Before(h.probeAt) {
			return nil, Unhealthy
		}
		if d != nil && now.Sub(d.last) < probeAgain && h.skipped < mostSkipped {
			h.skipped++
			h.probeAt = now // another message may have another recipient
			return nil, Unhealthy
		}
	}
	if d == nil {
		d = &destination{}
		if h.destinations == nil || len(h.destinations) > mostDestinations {
			h.destinations = map[string]*destination{}
		}
		h.destinations[to] = d
	}
	if d.failures > 0 && d.calls > 0 {
		return nil, FailingBusy
	}
	limit := h.most + more
	if d.running > 0 && now.Sub(d.progress) > stalledAfter {
		limit = h.mostStalled
	}
	if d.calls >= limit {
		return nil, Busy
	}
	d.calls++
	if h.unhealthy {
		h.probeAt, h.reserved, h.skipped = now.Add(h.probeEvery), false, 0
	}
	return func(r messages.Result) { h.done(to, d, r) }, Admitted
}

// Wait waits until a call to the destination has ended and this message is the next of those that wait. It returns
// false if no call ends within idle, if it waits longer than most, or if stop is closed.
func (h *Health) Wait(to string, idle, most time.Duration, stop <-chan struct{}) bool {
	began := time.Now()
	h.mu.Lock()
	d := h.destinations[to]
	if d == nil || d.calls == 0 {
		h.mu.Unlock()
		return true
	}
	woken := make(chan struct{})
	d.waiting = append(d.waiting, woken)
	h.mu.Unlock()
	timer := time.NewTimer(min(idle, most))
	defer timer.Stop()
	for {
		select {
		case <-woken:
			return true
		case <-timer.C:
		case <-stop:
			most = 0
		}
		h.mu.Lock()
		i := slices.Index(d.waiting, woken)
		left := min(idle-time.Since(clock.Later(began, d.ended)), most-time.Since(began))
		if i >= 0 && left <= 0 {
			d.waiting = slices.Delete(d.waiting, i, i+1)
		}
		h.mu.Unlock()
		switch {
		case i < 0:
			return true // woken just now
		case left <= 0:
			return false
		}
		timer.Reset(left)
	}
}

// FailedSince reports whether a call to the destination has failed since an instant and none succeeded after that.
func (h *Health) FailedSince(at time.Time, to string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.destinations[to]
	return d != nil && d.failures > 0 && d.last.After(at)
}

// FailingFor is the time since the first of the failures in a row of a destination; 0 = its last call did not fail.
func (h *Health) FailingFor(now time.Time, to string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d := h.destinations[to]; d != nil && d.failures > 0 {
		return now.Sub(d.since)
	}
	return 0
}

// Started notes that the vendor gets an admitted call now. ended must be called when the call ends. Only such calls can
// make a destination stalled, because marks may be slow for other reasons.
func (h *Health) Started(to string) (ended func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.destinations[to]
	if d == nil {
		return func() {}
	}
	if d.running == 0 {
		d.progress = time.Now()
	}
	d.running++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		d.running--
		d.progress = time.Now()
	}
}

// done notes the result of a call.
func (h *Health) done(to string, d *destination, r messages.Result) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	d.calls--
	d.ended = now
	d.wake()
	switch r.Outcome {
	case messages.OutcomeCancelled:
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		h.failures++
		h.unreached = r.BeforeRecipient
		if r.BeforeRecipient {
			h.early++
		} else {
			if d.failures == 0 {
				d.since = now
			}
			d.failures++
			d.last = now
			if h.failing == nil {
				h.failing = map[string]bool{}
			}
			h.failing[to] = true
		}
		h.judge(now)
	default:
		d.failures = 0
		h.recovered()
	}
	if d.failures == 0 && d.calls == 0 && h.destinations[to] == d {
		delete(h.destinations, to)
	}
}

// judge makes the account unhealthy after enough failures. The caller holds the lock.
func (h *Health) judge(now time.Time) {
	if h.independent {
		return
	}
	several := len(h.failing) >= severalDestinations
	h.unhealthy = h.unhealthy || h.early >= h.unhealthyAfter || several && h.failures >= h.unhealthyAfter
	if h.unhealthy {
		h.probeAt, h.reserved = now.Add(h.probeEvery), false
	}
}

// recovered makes the account healthy. The caller holds the lock.
func (h *Health) recovered() {
	h.failures, h.early, h.unhealthy, h.unreached, h.reserved = 0, 0, false, false, false
	clear(h.failing)
}

// mostProbes bounds how many probes without a message are under way at once.
const mostProbes = 5

// ProbeDue reports whether a probe without a message is to be made now.
func (h *Health) ProbeDue(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.unhealthy || !h.unreached || !h.prober || now.Before(h.probeAt) || h.probes >= mostProbes {
		return false
	}
	h.probes++
	h.probeAt = now.Add(h.probeEvery)
	return true
}

// Probed notes the result of a probe without a message. If it reached the account, a message may be the next probe at
// once.
func (h *Health) Probed(reached bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes--
	if reached && h.unhealthy {
		h.unreached, h.probeAt = false, time.Time{}
	}
}
