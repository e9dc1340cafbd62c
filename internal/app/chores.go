package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/postgres"
)

// matchEvery is how often receipts are looked at that came before their attempts were recorded.
const matchEvery = 2 * time.Second

// matchReceipts applies early receipts until ctx ends. Of all processes the one that holds bucket 0 does it.
func matchReceipts(receipts *postgres.Receipts, holder delivery.Leases, wake func(buckets.Set), log *zap.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(matchEvery)
		defer tick.Stop()
		failing := false
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			if leases := holder.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
				continue
			}
			n, err := receipts.Match(ctx)
			if n > 0 {
				wake(buckets.All()) // what was not delivered is on its way again
			}
			if err != nil && !failing && ctx.Err() == nil {
				log.Warn("early receipts cannot be matched, trying again", zap.Error(err))
			}
			failing = err != nil
		}
	}
}
