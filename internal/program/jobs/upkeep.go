package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Leases returns the buckets that this process owns. *buckets.Holder implements it.
type Leases interface {
	ProcessID() string
	Leases() []buckets.Lease
}

// Engine has what jobs need from the processor: the owned buckets, a function that wakes the delivery of buckets, the
// log and the metrics.
type Engine struct {
	Leases     Leases
	Clock      *clock.Database // nil = the clock of this process
	Wake       func(buckets.Set)
	Log        *zap.Logger
	Registerer prometheus.Registerer
}

// matchEvery is the interval between attempts to match receipts that arrived before their attempt was recorded.
const matchEvery = 2 * time.Second

// repeat calls pass at the interval every until ctx ends. It reports only the first of consecutive errors. A panic of
// pass counts as an error: otherwise it would end this process, and then each process that takes over its buckets.
func repeat(ctx context.Context, every time.Duration, pass func(context.Context) error, report func(error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := safely(func() error { return pass(ctx) })
		if err != nil && !failing && ctx.Err() == nil {
			report(err)
		}
		failing = err != nil
	}
}

// Every returns a job that calls pass at the interval every. Of consecutive errors it logs the first one, with the
// text.
func Every(every time.Duration, pass func(context.Context) error, text string, log *zap.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		return repeat(ctx, every, pass, func(err error) { log.Warn(text, zap.Error(err)) })
	}
}

// atOnce returns a job as Every does, that calls pass at the start too.
func atOnce(every time.Duration, pass func(context.Context) error, text string, log *zap.Logger) func(context.Context) error {
	report := func(err error) { log.Warn(text, zap.Error(err)) }
	return func(ctx context.Context) error {
		if err := safely(func() error { return pass(ctx) }); err != nil && ctx.Err() == nil {
			report(err)
		}
		return repeat(ctx, every, pass, report)
	}
}

// safely returns a panic of do as an error.
func safely(do func() error) (err error) {
	defer fault.Recover(&err)
	return do()
}

// MatchReceipts returns a job that applies receipts that arrived before their attempt was recorded. Only the owner of
// bucket 0 does it.
func MatchReceipts(receipts *pg.Receipts, e Engine) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		n, err := receipts.Match(ctx)
		if n > 0 {
			e.Wake(buckets.All()) // messages that were not delivered are pending again
		}
		return err
	}
	return func(ctx context.Context) error {
		return repeat(ctx, matchEvery, pass,
			func(err error) { e.Log.Warn("early receipts cannot be matched, retrying", zap.Error(err)) })
	}
}

// namesEvery is the interval between attempts to compute missing canonical names. The previous release and imports do
// not store them.
const namesEvery = time.Minute

// FillNames returns a job that computes missing canonical names of users. Migrations compute them, too. Only the owner
// of bucket 0 does it.
func FillNames(people *pgusers.Users, e Engine) func(context.Context) error {
	var logged []string
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		_, conflicts, err := people.FillCanonicalNames(ctx)
		if err == nil && !slices.Equal(conflicts, logged) {
			pgusers.LogNameConflicts(e.Log, conflicts)
			logged = conflicts
		}
		return err
	}
	report := func(err error) { e.Log.Warn("canonical names of users cannot be stored, retrying", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, namesEvery, pass, report) }
}

// sealEvery is the interval between attempts to encrypt keys of calendar feeds. The previous release stores them in
// clear text.
const sealEvery = time.Minute

// SealFeedKeys returns a job that encrypts keys of calendar feeds, at the start and every minute.
func SealFeedKeys(notices *pgnotifications.Notices, log *zap.Logger) func(context.Context) error {
	pass := func(ctx context.Context) error {
		n, err := notices.SealKeys(ctx)
		if n > 0 {
			log.Info("clear-text keys of calendar feeds encrypted", zap.Int64("keys", n))
		}
		return err
	}
	return atOnce(sealEvery, pass, "keys of calendar feeds cannot be encrypted, retrying", log)
}

// expireEvery is the interval between deletions of expired rows.
const expireEvery = 10 * time.Minute

// Expire returns a job that deletes rows that expired: sessions of the pages, or stored answers. what names them in the
// log.
func Expire(what string, remove func(context.Context) (int64, error), log *zap.Logger) func(context.Context) error {
	pass := func(ctx context.Context) error {
		_, err := remove(ctx)
		return err
	}
	return func(ctx context.Context) error {
		return repeat(ctx, expireEvery, pass, func(err error) {
			log.Warn("expired rows cannot be deleted, retrying", zap.String("what", what), zap.Error(err))
		})
	}
}
