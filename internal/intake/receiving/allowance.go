package receiving

import (
	"context"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Rate is how many deliveries an integration may send, in the whole cluster.
type Rate struct {
	PerSecond float64
	Burst     int // deliveries that may come at once
}

const (
	burstFraction = 10 // a tenth of a minute's deliveries may come at once
	leastBurst    = 20
	// maxKept is how long a process keeps a part of an allowance that it does not use.
	maxKept = 10 * time.Second
)

// rateOf returns the rate of an integration.
func rateOf(from intake.Integration) Rate {
	return Rate{float64(from.RatePerMinute) / 60, max(leastBurst, from.RatePerMinute/burstFraction)}
}

// allowance is the part of an integration's allowance that this process has. Deliveries that come while it takes a
// further part wait for it.
type allowance struct {
	mu      sync.Mutex
	rate    Rate
	left    int
	takenAt time.Time
	until   time.Time // no further part can be taken before
}

// Allow returns a Throttled fault if the integration sent more deliveries to the cluster than its rate permits. A
// process takes parts of a second's deliveries from the database, so most deliveries cost no statement. A database that
// does not answer is an Unavailable fault.
func (a *Activity) Allow(ctx context.Context, from intake.Integration, now time.Time) error {
	own := a.allowance(from.ID)
	own.mu.Lock()
	defer own.mu.Unlock()
	if r := rateOf(from); own.rate != r || now.Sub(own.takenAt) > maxKept {
		own.rate, own.left, own.until = r, 0, time.Time{}
	}
	if own.left > 0 {
		own.left--
		return nil
	}
	if now.Before(own.until) {
		return throttled(from, own.until.Sub(now))
	}
	granted, left, err := a.store.TakeAllowance(ctx, from.ID, own.rate, max(1, int(own.rate.PerSecond)))
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the rate of the integration cannot be checked")
	}
	own.takenAt = now
	if granted < 1 {
		wait := time.Duration((1 - left) / own.rate.PerSecond * float64(time.Second))
		own.until = now.Add(wait)
		return throttled(from, wait)
	}
	own.left = granted - 1
	return nil
}

func (a *Activity) allowance(id intake.ID) *allowance {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := a.rates[id]
	if own == nil {
		if len(a.rates) >= maxUnwritten {
			clear(a.rates)
		}
		own = &allowance{}
		a.rates[id] = own
	}
	return own
}

func throttled(from intake.Integration, wait time.Duration) error {
	f := fault.Newf(fault.Throttled, "the integration %s sent more than %d deliveries per minute", from.Name,
		from.RatePerMinute)
	f.RetryAfter = max(time.Second, wait)
	return f
}
