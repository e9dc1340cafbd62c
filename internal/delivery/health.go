package delivery

import (
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// severalDestinations must have failed before failures of destinations count as one of the account.
	severalDestinations = 3
	// probeAgain is how long a destination that failed is left out of the probes of a sick account.
	probeAgain = 5 * time.Second
	// mostSkipped bounds how many messages to such destinations are put back before one of them is the probe.
	mostSkipped = 4
	// mostDestinations bounds how many failing destinations are remembered.
	mostDestinations = 10_000
	// stalledAfter is how long no call to a destination ends until it counts as stalled and gets fewer calls at once.
	stalledAfter = time.Second
)

// health is how an account does in one mode: which destinations fail, and whether the account itself does. A failure counts for
// its destination, unless it came before the recipient was named. The account is sick when such failures come in a row, or when
// several destinations fail and none succeeds. A sick account gets one call at a time, to find out whether it works again.
// It is safe for concurrent use.
type health struct {
	after int           // failures in a row that make the account sick
	gap   time.Duration // between probes
	most  int           // calls at once to one destination whose calls end
	each  int           // calls at once to one that is stalled
	alone bool          // destinations say nothing of each other: the account is never sick

	mu           sync.Mutex
	destinations map[string]*destination // those with calls or failures
	failures     int                     // since the last success
	unnamed      int                     // of those, before the recipient was named
	failing      map[string]bool         // destinations that failed since the last success
	sick         bool
	unreached    bool      // sick, and the last failure came before the recipient was named
	knocker      bool      // whether the account can be reached is found out without a message
	skipped      int       // messages that were no probe because their destination failed, since the last probe
	probeAt      time.Time // when the next probe may begin
	ticket       bool      // a message that was taken may begin a probe
	knocks       int       // probes without a message that are under way
}

type destination struct {
	calls    int           // that run
	progress time.Time     // when a call last ended, or the first of those that run began
	failures int           // in a row
	since    time.Time     // when the first of them was
	last     time.Time     // when it last failed
	ended    chan struct{} // closed when a call ends; nil = nobody waits for that
}

// admission is what health says to a call.
type admission int

const (
	admitted    admission = iota
	busy                  // as many calls to the destination run as may
	failingBusy           // the destination fails, and a call that tries it runs
	sick                  // the account is sick, and it is not time for a probe
)

// due reports whether the account may be used now: it is well, or it is time for a probe.
func (h *health) due(now time.Time) (ok bool, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.sick || !(h.unreached && h.knocker) && !now.Before(h.probeAt), h.probeAt
}

// reserve lets the next message that begins be a probe. all means that the account is well: no probe is needed.
func (h *health) reserve(now time.Time) (ok, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.sick {
		return true, true
	}
	if now.Before(h.probeAt) {
		return false, false
	}
	h.probeAt, h.ticket = now.Add(h.gap), true
	return true, false
}

// unspent takes a reservation back for which there was no message: the next one that comes may be the probe.
func (h *health) unspent() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sick && h.ticket {
		h.probeAt, h.ticket = time.Time{}, false
	}
}

// begin asks whether a call to a destination may be prepared. done must be called if it may. While calls to the destination
// end, more of them may be prepared than run at once.
func (h *health) begin(now time.Time, to string, more int) (done func(messages.Result), a admission) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.destinations[to]
	if h.sick {
		if !h.ticket && now.Before(h.probeAt) {
			return nil, sick
		}
		if d != nil && now.Sub(d.last) < probeAgain && h.skipped < mostSkipped {
			h.skipped++
			h.probeAt = now // another message may have another recipient
			return nil, sick
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
		return nil, failingBusy
	}
	limit := h.most + more
	switch {
	case d.calls == 0:
		d.progress = now
	case now.Sub(d.progress) > stalledAfter:
		limit = h.each
	}
	if d.calls >= limit {
		return nil, busy
	}
	d.calls++
	if h.sick {
		h.probeAt, h.ticket, h.skipped = now.Add(h.gap), false, 0
	}
	return func(r messages.Result) { h.done(to, d, r) }, admitted
}

// wait waits until a call to the destination ends. It returns false if none does within the time.
func (h *health) wait(to string, most time.Duration, stop <-chan struct{}) bool {
	h.mu.Lock()
	d := h.destinations[to]
	if d == nil || d.calls == 0 {
		h.mu.Unlock()
		return true
	}
	if d.ended == nil {
		d.ended = make(chan struct{})
	}
	ended := d.ended
	h.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
	case <-stop:
	}
	return false
}

// failedSince reports whether a call to the destination has failed since an instant and none succeeded after that.
func (h *health) failedSince(at time.Time, to string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.destinations[to]
	return d != nil && d.failures > 0 && d.last.After(at)
}

// failingFor is how long every call to a destination has failed.
func (h *health) failingFor(now time.Time, to string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d := h.destinations[to]; d != nil && d.failures > 0 {
		return now.Sub(d.since)
	}
	return 0
}

// done takes what came of a call.
func (h *health) done(to string, d *destination, r messages.Result) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	d.calls--
	d.progress = now
	if d.ended != nil {
		close(d.ended)
		d.ended = nil
	}
	switch r.Outcome {
	case messages.OutcomeCancelled:
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		h.failures++
		h.unreached = r.BeforeRecipient
		if r.BeforeRecipient {
			h.unnamed++
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
		h.well()
	}
	if d.failures == 0 && d.calls == 0 && h.destinations[to] == d {
		delete(h.destinations, to)
	}
}

// judge calls the account sick when its failures say so. The caller holds the lock.
func (h *health) judge(now time.Time) {
	if h.alone {
		return
	}
	several := len(h.failing) >= severalDestinations
	h.sick = h.sick || h.unnamed >= h.after || several && h.failures >= h.after
	if h.sick {
		h.probeAt, h.ticket = now.Add(h.gap), false
	}
}

// well forgets the failures. The caller holds the lock.
func (h *health) well() {
	h.failures, h.unnamed, h.sick, h.unreached, h.ticket = 0, 0, false, false, false
	clear(h.failing)
}

// mostKnocks bounds how many probes without a message are under way at once.
const mostKnocks = 5

// knock reports whether a probe without a message is to be made now.
func (h *health) knock(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.sick || !h.unreached || !h.knocker || now.Before(h.probeAt) || h.knocks >= mostKnocks {
		return false
	}
	h.knocks++
	h.probeAt = now.Add(h.gap)
	return true
}

// knocked takes what came of a probe without a message. When the account was reached, a message may be a probe at once.
func (h *health) knocked(reached bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.knocks--
	if reached && h.sick {
		h.unreached, h.probeAt = false, time.Time{}
	}
}
