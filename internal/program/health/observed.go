// This file logs how vendors do, and reports failing ones in the readiness check. It wraps a vendor and does not change
// its results. Package accounts wraps each vendor.

package health

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/iris-oncall/iris/internal/messages"
)

// outageEvery is how often an account that keeps failing is logged again.
const outageEvery = time.Minute

// Vendor logs when a vendor fails, when it works again, and refused messages. The timeline has every attempt; operators
// read the log. Safe for concurrent use.
type Vendor struct {
	messages.Vendor
	log *zap.Logger

	failures, slowdowns rate.Sometimes // limit their log lines

	mu     sync.Mutex
	failed int  // calls since the last log line about failures
	down   bool // the last log line said that it fails

	row      int       // failures in a row
	unnamed  bool      // one of them came before the recipient was named
	since    time.Time // time of the first
	latest   time.Time // time of the last
	whatFail string    // the reason, for readiness
}

// Observe returns v with logging to log.
func Observe(v messages.Vendor, log *zap.Logger) *Vendor {
	return &Vendor{
		Vendor: v, log: log.Named("vendors").With(zap.String("vendor", v.Name()), zap.String("account", v.Account())),
		failures: rate.Sometimes{Interval: outageEvery}, slowdowns: rate.Sometimes{Interval: outageEvery},
	}
}

// Send implements messages.Vendor.
func (w *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	r := w.Vendor.Send(ctx, m)
	w.observe(m, r)
	return r
}

// Connections implements messages.Pooled. 0 = the vendor sets no limit.
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

// Probe implements messages.Prober. A vendor that cannot be probed counts as reachable, so that the next message
// tests it.
func (w *Vendor) Probe(ctx context.Context) bool {
	p, ok := w.Vendor.(messages.Prober)
	return !ok || p.Probe(ctx)
}

const (
	// After failingAfter failures in a row an account counts as failing; at once if a failure was certainly not the
	// recipient's.
	failingAfter = 10
	// failingFor is how long an account counts as failing after its last failure.
	failingFor = 10 * time.Minute
)

// note records the result of a call, for readiness.
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

// failing returns why nothing can be sent over the account; "" = it works, as far as known. The URLs of a webhook
// account belong to different parties, so their failures do not count.
func (w *Vendor) failing(now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Name() == "webhook" || w.row == 0 || now.Sub(w.latest) > failingFor || !w.unnamed && w.row < failingAfter {
		return ""
	}
	return fmt.Sprintf("%s/%s fails since %s (%d calls, last: %s)", w.Name(), w.Account(),
		w.since.UTC().Format(time.RFC3339), w.row, w.whatFail)
}

// VendorCheck reports failing accounts. The process stays ready: messages are retried and sent another way.
func VendorCheck(all []messages.Vendor) Check {
	return Check{Name: "vendors", Ask: func(context.Context) error {
		var failing []string
		for _, v := range all {
			if w, ok := v.(*Vendor); ok {
				if text := w.failing(time.Now()); text != "" {
					failing = append(failing, text)
				}
			}
		}
		if len(failing) > 0 {
			return Concern(strings.Join(failing, "; "))
		}
		return nil
	}}
}

// unprepared is a call of a vendor that prepares nothing.
type unprepared struct{ *Vendor }

// Release has nothing to give back.
func (unprepared) Release() {}

// call is a prepared call whose result is logged.
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

// observe logs the result of a call if operators need it.
func (w *Vendor) observe(m messages.Outbound, r messages.Result) {
	w.note(r, time.Now())
	reason := zap.String("reason", hideNumbers(r.Detail))
	switch r.Outcome {
	case messages.OutcomeUnavailable, messages.OutcomeUnknown:
		if n := w.fails(); n > 0 {
			w.log.Warn("vendor fails, its messages are retried or sent another way", reason,
				zap.String("outcome", string(r.Outcome)),
				zap.Int("failures", n), zap.String("mode", string(m.Mode)), zap.Int64("incident_id",
					int64(m.IncidentID)),
				zap.String("plan", m.Plan), zap.String("target", hideNumbers(m.Target)))
		}
	case messages.OutcomeRejected:
		w.log.Warn("vendor refuses a message", reason, zap.Int64("message_id", int64(m.MessageID)),
			zap.Int64("incident_id", int64(m.IncidentID)), zap.String("mode",
				string(m.Mode)), zap.String("application", m.Application),
			zap.String("plan", m.Plan), zap.String("target", hideNumbers(m.Target)))
	case messages.OutcomeThrottled:
		w.slowdowns.Do(func() {
			w.log.Warn("vendor asks for fewer messages", reason, zap.Duration("retry_after", r.RetryAfter))
		})
	case messages.OutcomeSent:
		if w.works() {
			w.log.Info("vendor works again")
		}
	}
}

// fails returns how many calls have failed since the last line, or 0 if it is too early for another line.
func (w *Vendor) fails() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	w.failures.Do(func() { n, w.failed, w.down = w.failed, 0, true })
	return n
}

// works reports whether the log needs a line that the vendor works again.
func (w *Vendor) works() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.down
	w.down = false
	return was
}

// phone matches possible phone numbers in a vendor's answer.
var phone = regexp.MustCompile(`\+?[0-9][0-9().\- ]{5,}[0-9]`)

// hideNumbers removes phone numbers from a vendor's answer. It keeps addresses of hosts, reply codes of mail servers
// (451 4.7.1), and dates, which errors about certificates hold.
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

// Accounts is the metric of failing accounts. It implements prometheus.Collector.
type Accounts []messages.Vendor

var failingAccount = prometheus.NewDesc("iris_delivery_account_failing",
	"1 while an account of a vendor fails: its messages are retried or sent another way.", []string{"vendor",
		"account"}, nil)

// Describe implements prometheus.Collector.
func (Accounts) Describe(out chan<- *prometheus.Desc) { out <- failingAccount }

// Collect implements prometheus.Collector. Addresses of webhooks belong to many parties, so webhook accounts are left
// out.
func (a Accounts) Collect(out chan<- prometheus.Metric) {
	for _, v := range a {
		if w, ok := v.(*Vendor); ok && w.Name() != "webhook" {
			value := 0.0
			if w.failing(time.Now()) != "" {
				value = 1
			}
			out <- prometheus.MustNewConstMetric(failingAccount, prometheus.GaugeValue, value, w.Name(), w.Account())
		}
	}
}
