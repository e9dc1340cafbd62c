package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/postgres/catalog"
)

// countEvery is the interval between counts of incidents and messages for the statistics.
const countEvery = time.Minute

// CountStatistics returns a job that counts the hours that have ended or changed, and then computes the figures of the hour, so that
// requests only read them. After an upgrade or an import it counts all hours, and uses the database half of the time meanwhile. Only the
// owner of bucket 0 does it.
func CountStatistics(statistics *catalog.Statistics, e Engine) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		if err := statistics.Count(ctx, 1); err != nil {
			return err
		}
		_, err := statistics.Current(ctx)
		return err
	}
	report := func(err error) { e.Log.Warn("statistics cannot be counted, retrying", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, countEvery, pass, report) }
}
