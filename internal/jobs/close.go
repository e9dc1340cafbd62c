package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
)

// closeEvery is the interval between searches for incidents without news.
const closeEvery = 10 * time.Minute

// CloseQuiet returns a job that closes open incidents without news for so long; 0 = it closes none. Only the owner of bucket 0 does it.
func CloseQuiet(store *incidents.Incidents, after time.Duration, e Engine) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); after <= 0 || len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		for more := true; more; {
			closed, again, err := store.CloseQuiet(ctx, after)
			if err != nil {
				return err
			}
			var wake buckets.Set
			for _, id := range closed {
				wake.Add(int(int64(id) % buckets.Count))
			}
			if len(closed) > 0 {
				e.Wake(wake) // pages that were not sent are cancelled
				e.Log.Info("incidents without news closed", zap.Int("incidents", len(closed)))
			}
			more = again
		}
		return nil
	}
	report := func(err error) { e.Log.Warn("incidents without news cannot be closed, retrying", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, closeEvery, pass, report) }
}
