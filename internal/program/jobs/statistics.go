package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/system/pg"
)

// countEvery is the interval between counts of incidents and messages for the statistics.
const countEvery = time.Minute

// CountStatistics returns a job that counts the hours that have ended or changed, computes the figures of the hour, and
// packs the days, so that requests only read them. After an upgrade or an import it counts all hours, and uses the
// database half of the time meanwhile. Only the owner of bucket 0 does it.
func CountStatistics(counts *pg.Counts, e Engine) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		if err := counts.Count(ctx, 1); err != nil {
			return err
		}
		if _, err := counts.Current(ctx); err != nil {
			return err
		}
		return counts.Pack(ctx, 1)
	}
	report := func(err error) { e.Log.Warn("statistics cannot be counted, retrying", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, countEvery, pass, report) }
}

// warmEvery is the interval between two looks for totals of packed days that this process lacks. Looking takes some
// milliseconds for each period.
const warmEvery = 15 * time.Second

// WarmStatistics returns a job that keeps the totals of packed days ready in this process, from the start on and after
// a day was packed anew, so that no person waits for them. It uses at most a quarter of the time.
func WarmStatistics(counts *pg.Counts, log *zap.Logger) func(context.Context) error {
	return atOnce(warmEvery, func(ctx context.Context) error { return counts.Warm(ctx, 3) },
		"totals of statistics cannot be read ahead, retrying", log)
}
