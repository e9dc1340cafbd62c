package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// beside is what the work beside the engine is given: which buckets this process holds, whom to wake, and where to tell.
type beside struct {
	holder delivery.Leases
	wake   func(buckets.Set)
	log    *zap.Logger
	reg    prometheus.Registerer
}

// matchEvery is how often receipts are looked at that came before their attempts were recorded.
const matchEvery = 2 * time.Second

// repeat does a pass every so often until ctx ends. Of passes that fail in a row the first is told. One that panics has failed: it must
// not end the process, and then the next one that takes its work over.
func repeat(ctx context.Context, every time.Duration, pass func(context.Context) error, tell func(error)) error {
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
			tell(err)
		}
		failing = err != nil
	}
}

// safely turns a panic into an error that says where it was.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// matchReceipts applies early receipts until ctx ends. Of all processes the one that holds bucket 0 does it.
func matchReceipts(receipts *incidents.Receipts, b beside) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := b.holder.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		n, err := receipts.Match(ctx)
		if n > 0 {
			b.wake(buckets.All()) // what was not delivered is on its way again
		}
		return err
	}
	return func(ctx context.Context) error {
		return repeat(ctx, matchEvery, pass, func(err error) { b.log.Warn("early receipts cannot be matched, trying again", zap.Error(err)) })
	}
}

// namesEvery is how often canonical names are computed that the release before, or an import, left out.
const namesEvery = time.Minute

// fillNames computes missing canonical names every minute until ctx ends (migrating computes them, too). The process that holds bucket 0 does it.
func fillNames(people *pgpeople.Users, b beside) func(context.Context) error {
	var told []string
	pass := func(ctx context.Context) error {
		if leases := b.holder.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		_, conflicts, err := people.FillCanonicalNames(ctx)
		if err == nil && !slices.Equal(conflicts, told) {
			postgres.LogNameConflicts(b.log, conflicts)
			told = conflicts
		}
		return err
	}
	tell := func(err error) { b.log.Warn("canonical names of users cannot be stored, trying again", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, namesEvery, pass, tell) }
}

// sealEvery is how often keys of calendar feeds are sealed that the release before stored in clear.
const sealEvery = time.Minute

// sealFeedKeys seals keys of calendar feeds at the start and every minute until ctx ends.
func sealFeedKeys(notices *notifications.Notices, log *zap.Logger) func(context.Context) error {
	pass := func(ctx context.Context) error {
		n, err := notices.SealKeys(ctx)
		if n > 0 {
			log.Info("keys of calendar feeds sealed that were stored in clear", zap.Int64("keys", n))
		}
		return err
	}
	tell := func(err error) { log.Warn("keys of calendar feeds cannot be sealed, trying again", zap.Error(err)) }
	return func(ctx context.Context) error {
		if err := safely(func() error { return pass(ctx) }); err != nil && ctx.Err() == nil {
			tell(err)
		}
		return repeat(ctx, sealEvery, pass, tell)
	}
}
