package app

import (
	"context"
	"regexp"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/messages"
)

// outageEvery is how often an account that goes on failing is told of again.
const outageEvery = time.Minute

// watched is a vendor of which the log tells when it fails, when it answers again, and what it refuses. The timeline has
// every attempt; the log is where operators look when nobody is paged. Safe for concurrent use, as the vendor is.
type watched struct {
	messages.Vendor
	log *zap.Logger

	mu     sync.Mutex
	told   time.Time // of failures, last
	slowed time.Time // told of being asked to slow down, last
	failed int       // calls since the last line about failures
	down   bool      // the last line said that it fails
}

func watchVendor(v messages.Vendor, log *zap.Logger) *watched {
	return &watched{Vendor: v, log: log.Named("vendors").With(zap.String("vendor", v.Name()), zap.String("account", v.Account()))}
}

// Send implements messages.Vendor.
func (w *watched) Send(ctx context.Context, m messages.Outbound) messages.Result {
	r := w.Vendor.Send(ctx, m)
	w.observe(m, r)
	return r
}

// Connections implements messages.Pooled. 0 = not known.
func (w *watched) Connections() int {
	if p, ok := w.Vendor.(messages.Pooled); ok {
		return p.Connections()
	}
	return 0
}

// Prepare implements messages.Preparer. A vendor that prepares nothing is always ready.
func (w *watched) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	v, ok := w.Vendor.(messages.Preparer)
	if !ok {
		return unprepared{w}, messages.Result{}, true
	}
	p, r, ok := v.Prepare(ctx, m)
	if !ok {
		w.observe(m, r)
		return nil, r, false
	}
	return watchedCall{p, w}, r, true
}

// Probe implements messages.Prober. A vendor that cannot be probed counts as reached, so that a message finds out.
func (w *watched) Probe(ctx context.Context) bool {
	p, ok := w.Vendor.(messages.Prober)
	return !ok || p.Probe(ctx)
}

// unprepared is a call of a vendor that prepares nothing.
type unprepared struct{ *watched }

// Release has nothing to give back.
func (unprepared) Release() {}

// watchedCall is a prepared call of which the log tells.
type watchedCall struct {
	messages.Prepared
	w *watched
}

// Send implements messages.Prepared.
func (c watchedCall) Send(ctx context.Context, m messages.Outbound) messages.Result {
	r := c.Prepared.Send(ctx, m)
	c.w.observe(m, r)
	return r
}

// observe logs what is worth it of a call's result.
func (w *watched) observe(m messages.Outbound, r messages.Result) {
	reason := zap.String("reason", hideNumbers(r.Detail))
	switch r.Outcome {
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		if n := w.fails(time.Now()); n > 0 {
			w.log.Warn("vendor fails, its messages are tried again or go another way", reason, zap.String("outcome", string(r.Outcome)),
				zap.Int("failures", n), zap.String("mode", string(m.Mode)))
		}
	case messages.OutcomeRejected:
		w.log.Warn("vendor refuses a message", reason, zap.Int64("message_id", int64(m.MessageID)),
			zap.Int64("incident_id", int64(m.IncidentID)), zap.String("mode", string(m.Mode)), zap.String("application", m.Application))
	case messages.OutcomeThrottled:
		if w.slows(time.Now()) {
			w.log.Warn("vendor asks for fewer messages", reason, zap.Duration("retry_after", r.RetryAfter))
		}
	case messages.OutcomeSent:
		if w.works() {
			w.log.Info("vendor answers again")
		}
	}
}

// fails returns how many calls have failed since the last line, or 0 when it is too early for another one.
func (w *watched) fails(now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	if !w.told.IsZero() && now.Sub(w.told) < outageEvery {
		return 0
	}
	n := w.failed
	w.failed, w.told, w.down = 0, now, true
	return n
}

func (w *watched) slows(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.slowed.IsZero() && now.Sub(w.slowed) < outageEvery {
		return false
	}
	w.slowed = now
	return true
}

// works reports whether the log should hear that the vendor answers again.
func (w *watched) works() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.down
	w.down = false
	return was
}

// phone matches what may be somebody's number in a vendor's words.
var phone = regexp.MustCompile(`\+?[0-9][0-9().\- ]{5,}[0-9]`)

// hideNumbers takes phone numbers out of a vendor's words; addresses of hosts stay, and dates, which certificates end on.
func hideNumbers(text string) string {
	return phone.ReplaceAllStringFunc(text, func(number string) string {
		if address.MatchString(number) || date.MatchString(number) {
			return number
		}
		return "(number)"
	})
}

var (
	address = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3}){3}$`)
	date    = regexp.MustCompile(`^20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9])?$`)
)
