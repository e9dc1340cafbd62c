package delivery

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Deps are a Worker's collaborators. Metrics and Hints may be nil.
type Deps struct {
	Queue     Queue
	Ledger    stage.Ledger
	Rescuer   Rescuer
	Limits    Limits
	Leases    Leases
	Renderer  stage.Renderer
	Directory Directory
	Links     Links
	// Served is asked about modes for which Vendors has none; nil = no other process serves them.
	Served Served
	// Reveal restores the secrets in a stored text that were sealed for the destination; nil = stored texts have no
	// secrets.
	Reveal func(text, destination string) string
	// Vendors, preferred first. For each mode, the first vendor that carries it is used; the others are spares.
	Vendors []messages.Vendor
	Hints   Hints
	Log     *zap.Logger
	Metrics prometheus.Registerer
}

func (d Deps) validate() error {
	switch {
	case d.Queue == nil || d.Ledger == nil || d.Rescuer == nil || d.Limits == nil || d.Leases == nil:
		return errors.New("delivery: queue, ledger, rescuer, limits and leases are required")
	case d.Renderer == nil || d.Directory == nil || d.Links == nil || d.Log == nil:
		return errors.New("delivery: renderer, directory, links and log are required")
	}
	seen := map[string]bool{}
	for _, v := range d.Vendors {
		key := accountKey(v)
		if seen[key] {
			return fmt.Errorf("delivery: two vendors are called %s/%s", v.Name(), v.Account())
		}
		seen[key] = true
	}
	return nil
}

// DryRun says which steps of delivery are left out.
type DryRun string

// Values of DryRun.
const (
	DryRunOff    DryRun = ""       // none: messages are sent
	DryRunRender DryRun = "render" // messages are rendered, and dropped
	DryRunStore  DryRun = "store"  // everything but the vendor call; the message ends as dropped
)

// Config tunes a Worker. Zero values mean the defaults.
type Config struct {
	// Limits by key: ModeKey, AccountKey, ApplicationKey. A key without an entry is not limited.
	Limits map[string]rate.Limit
	// Concurrency is how many calls of one mode may run at once through one account; by the vendor's name.
	// A vendor that bounds its connections (messages.Pooled) gets as many calls as it has connections instead. Default:
	// smtp 64, drop 64, others 16.
	Concurrency map[string]int
	// CallTimeout of vendor calls by mode; default 10 s, e-mail 20 s.
	CallTimeout map[users.Mode]time.Duration
	// AccountTimeout of vendor calls by AccountKey; overrides CallTimeout.
	AccountTimeout map[string]time.Duration
	Budgets        [rate.ClassCount]account.Budget // by class; default account.DefaultBudgets
	ClaimFor       time.Duration                   // how long taken messages are ours; default 5 s
	Poll           time.Duration                   // between searches of all buckets; default 1 s
	StopWithin     time.Duration                   // for calls that run when the Worker is stopped; default 10 s
	DryRun         DryRun
	// SMSOverride is the text for people whose carrier blocks the text of templates; %s or %d stands for the incident's
	// number. "" = none: they get the template's text.
	SMSOverride string
	// RefusedNumbers are numbers that get no SMS and no call; see users.RefusedNumber.
	RefusedNumbers []string
	// CallMainlandChina permits calls to numbers that begin with +86. Otherwise an SMS is sent instead, and
	// MainlandChinaNotice precedes its text.
	CallMainlandChina   bool
	MainlandChinaNotice string
	// BreakAfter is how many failures in a row make an account unhealthy (see account.Health); default 10.
	BreakAfter int
	// BreakFor is the time between probes of such an account; default 1 s.
	BreakFor time.Duration
}

// ModeKey is the key of a mode's limit or pause.
func ModeKey(m users.Mode) string { return rate.ModeKey(m) }

// AccountKey is the key of a vendor account's limit or pause.
func AccountKey(vendor, account string) string { return rate.AccountKey(vendor, account) }

// ApplicationKey is the key of the limit of an application's messages in a mode.
func ApplicationKey(name string, m users.Mode) string { return rate.ApplicationKey(name, m) }

func accountKey(v messages.Vendor) string { return AccountKey(v.Name(), v.Account()) }

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&c.ClaimFor, 5*time.Second)
	set(&c.Poll, time.Second)
	set(&c.StopWithin, 10*time.Second)
	set(&c.BreakFor, time.Second)
	if c.BreakAfter == 0 {
		c.BreakAfter = 10
	}
	for i, b := range account.DefaultBudgets() {
		if c.Budgets[i] == (account.Budget{}) {
			c.Budgets[i] = b
		}
	}
	return c
}

func (c Config) validate() error {
	for key, r := range c.Limits {
		if r.PerSecond <= 0 || r.PerSecond > 1e5 || r.Burst < 0 {
			return fmt.Errorf("delivery: limit %s must be above 0 and at most 100000 per second", key)
		}
	}
	switch c.DryRun {
	case DryRunOff, DryRunRender, DryRunStore:
	default:
		return fmt.Errorf("delivery: unknown dry run %q", c.DryRun)
	}
	if c.ClaimFor < time.Second {
		return errors.New("delivery: claims must last a second at least")
	}
	return nil
}

// concurrency is how many calls of one mode a vendor gets at once: as many as it has connections for, so that no call
// waits inside the vendor after the message was marked.
func (c Config) concurrency(v messages.Vendor) int {
	if p, ok := v.(messages.Pooled); ok && p.Connections() > 0 {
		return p.Connections()
	}
	if n := c.Concurrency[v.Name()]; n > 0 {
		return n
	}
	if v.Name() == "smtp" || v.Name() == "drop" {
		return 64
	}
	return 16
}

// account returns the configuration of a vendor's account in a mode.
func (c Config) account(v messages.Vendor, m users.Mode) account.Config {
	key := accountKey(v)
	return account.Config{
		Key: key, Timeout: c.callTimeout(m,
			key), Calls: c.concurrency(v), UnhealthyAfter: c.BreakAfter, ProbeEvery: c.BreakFor,
	}
}

func (c Config) callTimeout(m users.Mode, account string) time.Duration {
	if d := c.AccountTimeout[account]; d > 0 {
		return d
	}
	if d := c.CallTimeout[m]; d > 0 {
		return d
	}
	if m == users.Email {
		return 20 * time.Second
	}
	return 10 * time.Second
}
