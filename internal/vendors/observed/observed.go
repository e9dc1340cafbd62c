// Package observed says in the log and in readiness how vendors do. It wraps a vendor and changes no answer of it.
package observed

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/health"
	"github.com/iris-oncall/iris/internal/messages"
)

// outageEvery is how often an account that goes on failing is told of again.
const outageEvery = time.Minute

// Vendor is a vendor of which the log tells when it fails, when it answers again, and what it refuses. The timeline has
// every attempt; the log is where operators look when nobody is paged. Safe for concurrent use, as the vendor is.
type Vendor struct {
	messages.Vendor
	log *zap.Logger

	mu     sync.Mutex
	told   time.Time // of failures, last
	slowed time.Time // told of being asked to slow down, last
	failed int       // calls since the last line about failures
	down   bool      // the last line said that it fails

	row      int       // failures in a row
	unnamed  bool      // one of them came before the recipient was named
	since    time.Time // the first of them
	latest   time.Time // the last of them
	whatFail string    // what it was, for readiness
}

// New returns v as an observed vendor that logs to log.
func New(v messages.Vendor, log *zap.Logger) *Vendor {
	return &Vendor{Vendor: v, log: log.Named("vendors").With(zap.String("vendor", v.Name()), zap.String("account", v.Account()))}
}

// Send implements messages.Vendor.
func (w *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	r := w.Vendor.Send(ctx, m)
	w.observe(m, r)
	return r
}

// Connections implements messages.Pooled. 0 = not known.
func (w *Vendor) Connections() int {
	if p, ok := w.Vendor.(messages.Pooled); ok {
		return p.Connections()
	}
	return 0
}

// Prepare implements messages.Preparer. A vendor that prepares nothing is always ready.
func (w *Vendor) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	v, ok := w.Vendor.(messages.Preparer)
	if !ok {
		return unprepared{w}, messages.Result{}, true
	}
	p, r, ok := v.Prepare(ctx, m)
	if !ok {
		w.observe(m, r)
		return nil, r, false
	}
	return call{p, w}, r, true
}

// Probe implements messages.Prober. A vendor that cannot be probed counts as reached, so that a message finds out.
func (w *Vendor) Probe(ctx context.Context) bool {
	p, ok := w.Vendor.(messages.Prober)
	return !ok || p.Probe(ctx)
}

const (
	// troubleAfter failures in a row, an account is said to fail; at once when one of them was certainly not a recipient's.
	troubleAfter = 10
	// troubleFor is how long after the last failure that is said.
	troubleFor = 10 * time.Minute
)

// note remembers how the account does, for readiness.
func (w *Vendor) note(r messages.Result, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Outcome {
	case messages.OutcomeCancelled:
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		if w.row == 0 {
			w.since = now
		}
		w.row++
		w.latest, w.whatFail = now, hideNumbers(r.Detail)
		w.unnamed = w.unnamed || r.BeforeRecipient
	default:
		w.row, w.unnamed = 0, false
	}
}

// trouble says why nothing can be sent over the account; "" = it works, as far as is known. The URLs of a webhook account belong to
// different parties: they say nothing of it.
func (w *Vendor) trouble(now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Name() == "webhook" || w.row == 0 || now.Sub(w.latest) > troubleFor || !w.unnamed && w.row < troubleAfter {
		return ""
	}
	return fmt.Sprintf("%s/%s fails since %s (%d calls, last: %s)", w.Name(), w.Account(), w.since.UTC().Format(time.RFC3339), w.row, w.whatFail)
}

// Check tells of accounts that fail. The process stays ready: messages are tried again and go another way.
func Check(all []messages.Vendor) health.Check {
	return health.Check{Name: "vendors", Ask: func(context.Context) error {
		var failing []string
		for _, v := range all {
			if w, ok := v.(*Vendor); ok {
				if text := w.trouble(time.Now()); text != "" {
					failing = append(failing, text)
				}
			}
		}
		if len(failing) > 0 {
			return health.Concern(strings.Join(failing, "; "))
		}
		return nil
	}}
}

// unprepared is a call of a vendor that prepares nothing.
type unprepared struct{ *Vendor }

// Release has nothing to give back.
func (unprepared) Release() {}

// call is a prepared call of which the log tells.
type call struct {
	messages.Prepared
	w *Vendor
}

// Send implements messages.Prepared.
func (c call) Send(ctx context.Context, m messages.Outbound) messages.Result {
	r := c.Prepared.Send(ctx, m)
	c.w.observe(m, r)
	return r
}

// observe logs what is worth it of a call's result.
func (w *Vendor) observe(m messages.Outbound, r messages.Result) {
	w.note(r, time.Now())
	reason := zap.String("reason", hideNumbers(r.Detail))
	switch r.Outcome {
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		if n := w.fails(time.Now()); n > 0 {
			w.log.Warn("vendor fails, its messages are tried again or go another way", reason, zap.String("outcome", string(r.Outcome)),
				zap.Int("failures", n), zap.String("mode", string(m.Mode)), zap.Int64("incident_id", int64(m.IncidentID)),
				zap.String("plan", m.Plan), zap.String("target", hideNumbers(m.Target)))
		}
	case messages.OutcomeRejected:
		w.log.Warn("vendor refuses a message", reason, zap.Int64("message_id", int64(m.MessageID)),
			zap.Int64("incident_id", int64(m.IncidentID)), zap.String("mode", string(m.Mode)), zap.String("application", m.Application),
			zap.String("plan", m.Plan), zap.String("target", hideNumbers(m.Target)))
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
func (w *Vendor) fails(now time.Time) int {
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

func (w *Vendor) slows(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.slowed.IsZero() && now.Sub(w.slowed) < outageEvery {
		return false
	}
	w.slowed = now
	return true
}

// works reports whether the log should hear that the vendor answers again.
func (w *Vendor) works() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.down
	w.down = false
	return was
}

// phone matches what may be somebody's number in a vendor's words.
var phone = regexp.MustCompile(`\+?[0-9][0-9().\- ]{5,}[0-9]`)

// hideNumbers takes phone numbers out of a vendor's words; addresses of hosts stay, the reply codes of mail servers (451 4.7.1),
// and dates, which certificates end on.
func hideNumbers(text string) string {
	return phone.ReplaceAllStringFunc(text, func(number string) string {
		if code := replyCode.FindString(number); code != "" {
			return code + hideNumbers(number[len(code):])
		}
		if address.MatchString(number) || date.MatchString(number) {
			return number
		}
		return "(number)"
	})
}

var (
	replyCode = regexp.MustCompile(`^[245][0-9]{2}[ -][245]\.[0-9]{1,3}\.[0-9]{1,3}\b`)
	address   = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,3}){3}$`)
	date      = regexp.MustCompile(`^20[0-9]{2}-[01][0-9]-[0-3][0-9]( [0-2][0-9])?$`)
)
