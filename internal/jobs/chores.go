// Package jobs is the periodic work of a server: filling calendars, reminding people of shifts, following a directory,
// and upkeep of what is stored. The programs build the jobs and run each in a goroutine of its own. Jobs of a bucket run
// only on its owner. They know nothing of HTTP or of how messages are sent.
package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
)

// Leases are the buckets that this process holds.
type Leases interface {
	ProcessID() string
	Leases() []buckets.Lease
}

// Engine is what the work beside the engine is given: which buckets this process holds, whom to wake, and where to tell.
type Engine struct {
	Leases     Leases
	Wake       func(buckets.Set)
	Log        *zap.Logger
	Registerer prometheus.Registerer
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

// safely turns a panic of do into an error.
func safely(do func() error) (err error) {
	defer fault.Recover(&err)
	return do()
}

// MatchReceipts applies early receipts until ctx ends. Of all processes the one that holds bucket 0 does it.
func MatchReceipts(receipts *incidents.Receipts, e Engine) func(context.Context) error {
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		n, err := receipts.Match(ctx)
		if n > 0 {
			e.Wake(buckets.All()) // what was not delivered is on its way again
		}
		return err
	}
	return func(ctx context.Context) error {
		return repeat(ctx, matchEvery, pass, func(err error) { e.Log.Warn("early receipts cannot be matched, trying again", zap.Error(err)) })
	}
}

// namesEvery is how often canonical names are computed that the release before, or an import, left out.
const namesEvery = time.Minute

// FillNames computes missing canonical names every minute until ctx ends (migrating computes them, too). The process that holds bucket 0 does it.
func FillNames(people *pgpeople.Users, e Engine) func(context.Context) error {
	var told []string
	pass := func(ctx context.Context) error {
		if leases := e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
			return nil
		}
		_, conflicts, err := people.FillCanonicalNames(ctx)
		if err == nil && !slices.Equal(conflicts, told) {
			postgres.LogNameConflicts(e.Log, conflicts)
			told = conflicts
		}
		return err
	}
	tell := func(err error) { e.Log.Warn("canonical names of users cannot be stored, trying again", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, namesEvery, pass, tell) }
}

// sealEvery is how often keys of calendar feeds are sealed that the release before stored in clear.
const sealEvery = time.Minute

// SealFeedKeys seals keys of calendar feeds at the start and every minute until ctx ends.
func SealFeedKeys(notices *notifications.Notices, log *zap.Logger) func(context.Context) error {
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

// expireEvery is how often sessions that are over are removed.
const expireEvery = 10 * time.Minute

// ExpireSessions removes sessions that are over until ctx ends.
func ExpireSessions(sessions *access.Sessions, log *zap.Logger) func(context.Context) error {
	pass := func(ctx context.Context) error {
		_, err := sessions.DeleteExpired(ctx)
		return err
	}
	return func(ctx context.Context) error {
		return repeat(ctx, expireEvery, pass, func(err error) { log.Warn("expired sessions cannot be removed", zap.Error(err)) })
	}
}
