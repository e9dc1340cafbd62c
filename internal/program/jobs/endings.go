package jobs

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// The intervals between searches for incidents that end without an event of their source. Without news for days is not
// urgent.
const (
	resolveEvery = time.Minute
	closeEvery   = 10 * time.Minute
)

// ender closes incidents without news, and resolves incidents without deliveries.
type ender struct {
	store    *pg.Endings
	after    time.Duration // as configured; 0 = never
	e        Engine
	closedAt time.Time
}

// EndIncidents returns a job that closes open incidents without news for closeAfter (0 = it closes none), and resolves
// those of integrations without deliveries for the time that the integration names. Integrations may have another time
// for closing. Only the owner of bucket 0 does it.
func EndIncidents(d *postgres.DB, closeAfter time.Duration, e Engine) func(context.Context) error {
	n := &ender{store: pg.NewEndings(d), after: closeAfter, e: e}
	report := func(err error) { e.Log.Warn("incidents without news cannot be closed, retrying", zap.Error(err)) }
	return func(ctx context.Context) error { return repeat(ctx, resolveEvery, n.pass, report) }
}

func (n *ender) pass(ctx context.Context) error {
	if leases := n.e.Leases.Leases(); len(leases) == 0 || leases[0].Bucket != 0 {
		return nil
	}
	ends, err := n.store.Ends(ctx)
	if err != nil {
		return err
	}
	for _, i := range ends {
		if i.ResolveAfter > 0 {
			err := n.all("incidents without deliveries resolved", func() (pg.Ended, bool, error) {
				return n.store.ResolveUndelivered(ctx, i.ResolveAfter, i.Integration)
			})
			if err != nil {
				return err
			}
		}
	}
	if time.Since(n.closedAt) < closeEvery {
		return nil
	}
	if err := n.close(ctx, ends); err != nil {
		return err
	}
	n.closedAt = time.Now()
	return nil
}

// close closes the incidents of integrations with a time of their own, and then all others.
func (n *ender) close(ctx context.Context, ends []pg.End) error {
	times := map[int64]time.Duration{0: n.after}
	var own []int64
	for _, i := range ends {
		if i.CloseAfter != nil {
			times[i.Integration], own = *i.CloseAfter, append(own, i.Integration)
		}
	}
	for integration, after := range times {
		if after <= 0 {
			continue
		}
		err := n.all("incidents without news closed", func() (pg.Ended, bool, error) {
			return n.store.CloseQuiet(ctx, after, integration, own)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// all calls end until there are no more incidents. The processors of the incidents cancel pages that were not sent.
func (n *ender) all(done string, end func() (pg.Ended, bool, error)) error {
	for more := true; more; {
		ended, again, err := end()
		if err != nil {
			return err
		}
		if len(ended) > 0 {
			n.e.Wake(ended.Buckets())
			n.e.Log.Info(done, zap.Int("incidents", len(ended)))
		}
		more = again
	}
	return nil
}
