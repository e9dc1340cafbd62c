package load

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// RecentIncidents counts the incidents of an application, or of one opener of the application iris, on a plan version:
// those that escalate, and those opened within lookback. It need not count beyond most.
type RecentIncidents interface {
	Recent(ctx context.Context, applicationID int64, opener string, planID int64, lookback time.Duration,
		most int) (active, recent int64, err error)
}

// Rates limits how many incidents an application opens on a plan. A nil *Rates has no limit. Simultaneous requests
// share one count, so a few more may pass: Rates protects against floods and is not exact. It is safe for concurrent
// use.
type Rates struct {
	maxActive, maxRecent int64
	lookback             time.Duration
	exempt               []string
	counts               *cache.Cache[planOf, rate]
	recent               RecentIncidents
}

type planOf struct {
	application, plan int64
	opener            string
}

type rate struct{ active, recent int64 }

// NewRates returns limits over the counts of c: maxActive incidents that escalate, and maxRecent incidents opened
// within lookback. Applications whose names are in exempt have no limit.
func NewRates(c RecentIncidents, maxActive, maxRecent int, lookback time.Duration, exempt []string) *Rates {
	return &Rates{maxActive: int64(maxActive), maxRecent: int64(maxRecent), lookback: lookback, exempt: exempt,
		counts: cache.New(cache.Config[planOf, rate]{}), recent: c}
}

// Check returns a Throttled fault if the application may not open an incident on the plan version now.
func (r *Rates) Check(ctx context.Context, app auth.Application, plan int64) error {
	return r.CheckOpener(ctx, app, "", plan)
}

// CheckOpener is Check for a person or service token that opens an incident of the application iris; "" = the
// application itself. Each opener has the whole limit.
func (r *Rates) CheckOpener(ctx context.Context, app auth.Application, opener string, plan int64) error {
	if r == nil || slices.ContainsFunc(r.exempt, func(name string) bool { return strings.EqualFold(name, app.Name) }) {
		return nil
	}
	n, err := r.counts.Get(ctx, planOf{app.ID, plan, opener}, func(ctx context.Context) (n rate, err error) {
		n.active, n.recent, err = r.recent.Recent(ctx, app.ID, opener, plan, r.lookback,
			int(max(r.maxActive, r.maxRecent))+1)
		return n, err
	})
	switch {
	case err != nil:
		return err
	case n.active >= r.maxActive:
		f := fault.Newf(fault.Throttled,
			"Incident creation rate limit exceeded. Surpassed maximum of %d active incidents for a given plan", r.maxActive)
		f.RetryAfter = time.Minute
		return f
	case n.recent >= r.maxRecent:
		f := fault.Newf(fault.Throttled,
			"Incident creation rate limit exceeded. Surpassed maximum of %d incidents created in the last %d seconds",
			r.maxRecent, int64(r.lookback/time.Second))
		f.RetryAfter = min(r.lookback, time.Minute)
		return f
	}
	return nil
}
