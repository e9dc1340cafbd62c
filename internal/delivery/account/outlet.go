package account

import (
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Outlet is a vendor's account as used for one mode. Its fields do not change after New; their methods are safe for
// concurrent use.
type Outlet struct {
	Vendor  messages.Vendor
	Key     string // of its limit and pauses: rate.AccountKey
	Mode    users.Mode
	Timeout time.Duration // of a call
	Most    int           // calls at once
	Running Limit         // of calls, by destination
	Marking Limit         // of messages from their mark to the end of their call
	Health  Health
	pauses  *Pauses
}

// Config tunes an Outlet. All fields are required.
type Config struct {
	Key     string
	Timeout time.Duration
	Calls   int // at once
	// UnhealthyAfter is how many failures in a row make the account unhealthy, and ProbeEvery the time between its
	// probes.
	UnhealthyAfter int
	ProbeEvery     time.Duration
}

// New returns the Outlet of a vendor for a mode.
func New(v messages.Vendor, m users.Mode, cfg Config, p *Pauses) *Outlet {
	n := cfg.Calls
	o := &Outlet{Vendor: v, Key: cfg.Key, Mode: m, Timeout: cfg.Timeout, Most: n, pauses: p}
	o.Health.unhealthyAfter, o.Health.probeEvery = cfg.UnhealthyAfter, cfg.ProbeEvery
	o.Health.mostStalled, o.Health.most = max(1, n/4), max(1, n*3/4)
	if v.Name() == "drop" {
		o.Health.mostStalled, o.Health.most = n, n
	}
	o.Running.Resize(n, o.Health.most)
	o.Health.independent = v.Name() == "webhook"
	_, o.Health.prober = v.(messages.Prober)
	return o
}

// Shared reports whether the account can be paused as a whole. Webhook receivers cannot: their URLs belong to different
// parties.
func (o *Outlet) Shared() bool { return !o.Health.independent }

// Closed says why and for how long (0 = unknown) the outlet cannot be used now; "" = it can be used.
func (o *Outlet) Closed(now time.Time) (why string, left time.Duration) {
	if d, reason := o.pauses.Left(now, o.Key); d > 0 {
		if reason == "" {
			reason = "it is paused"
		}
		return reason, d
	}
	if ok, _ := o.Health.Due(now); !ok {
		return "its latest calls failed", 0
	}
	return "", 0
}
