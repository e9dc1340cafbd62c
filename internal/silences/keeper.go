package silences

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
)

const (
	// every is the time between two passes of a Keeper.
	every = time.Second
	// settling is how long after its begin a silence is applied again: a transaction that began before may open an
	// incident.
	settling = 10 * time.Second
	// atOnce is how many incidents one statement hides or releases.
	atOnce = 500
	// mostSought is how many incidents one application of a silence searches: those about to page, then the newest that
	// escalate. To match one costs 50 us. The others are hidden by the next passes, or before they page (Hide).
	mostSought = 500
)

// Wake is called with the buckets of incidents that changed. It must not block.
type Wake = func(context.Context, buckets.Set)

// Leases are the buckets of this process.
type Leases interface{ Leases() []buckets.Lease }

// Keeper hides and releases incidents while the processors run. All methods are safe for concurrent use.
type Keeper struct {
	store   Store
	current *Current
	leases  Leases
	wake    Wake
	log     *zap.Logger
}

// NewKeeper returns a Keeper for the buckets of a process. wake may be nil.
func NewKeeper(store Store, c *Current, l Leases, wake Wake, log *zap.Logger) *Keeper {
	return &Keeper{store: store, current: c, leases: l, wake: wake, log: log.Named("silences")}
}

// Run works until ctx ends. It returns nil.
func (k *Keeper) Run(ctx context.Context) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := k.pass(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("silences could not be applied, trying again", zap.Error(err))
		}
	}
}

// pass applies the silences that began, and releases the incidents of those that ended. A silence is applied to all
// incidents by the process that owns the bucket of the silence.
func (k *Keeper) pass(ctx context.Context) error {
	var held []int
	var owned buckets.Set
	for _, l := range k.leases.Leases() {
		held = append(held, l.Bucket)
		owned.Add(l.Bucket)
	}
	if len(held) == 0 {
		return nil
	}
	now := k.current.clock.Now()
	force, err := k.current.read(ctx, now)
	if err != nil {
		return err
	}
	applied := map[ID]time.Time{}
	for i := range force.silences {
		c := &force.silences[i]
		if !c.holds(now) || c.Applied.Equal(c.Span.From) || !owned.Has(int(c.ID%buckets.Count)) {
			continue
		}
		if err := k.apply(ctx, force, c); err != nil {
			return err
		}
		if now.Sub(c.Span.From) > settling && now.Sub(c.CreatedAt) > settling {
			applied[c.ID] = c.Span.From
		}
	}
	if len(applied) > 0 {
		if err := k.store.Applied(ctx, force.version, applied); err != nil {
			return err
		}
		k.current.Clear()
	}
	return k.release(ctx, force, held)
}

// Begin applies one silence at once, if it is in force.
func (k *Keeper) Begin(ctx context.Context, id ID) error {
	k.current.Clear()
	now := k.current.clock.Now()
	force, err := k.current.fresh(ctx, now)
	if err != nil {
		return err
	}
	for i := range force.silences {
		if c := &force.silences[i]; c.ID == id && c.holds(now) {
			return k.apply(ctx, force, c)
		}
	}
	return nil
}

// apply hides the escalating incidents that a silence matches.
func (k *Keeper) apply(ctx context.Context, force *inForce, c *current) error {
	ids, err := k.store.Escalating(ctx, c.ApplicationID, c.PlanIDs, mostSought)
	if err != nil {
		return err
	}
	for len(ids) > 0 {
		some := ids[:min(atOnce, len(ids))]
		ids = ids[len(some):]
		if _, err := k.hide(ctx, force, some); err != nil {
			return err
		}
	}
	return nil
}

// Hide stops the escalation of the incidents that a silence matches, and returns them. While no silence is in force, it
// costs nothing.
func (k *Keeper) Hide(ctx context.Context, ids []incidents.ID) ([]incidents.ID, error) {
	now := k.current.clock.Now()
	force, err := k.current.read(ctx, now)
	if err != nil || !force.any(now) || len(ids) == 0 {
		return nil, err
	}
	return k.hide(ctx, force, ids)
}

func (k *Keeper) hide(ctx context.Context, force *inForce, ids []incidents.ID) ([]incidents.ID, error) {
	now := k.current.clock.Now()
	subjects, err := k.store.Subjects(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read incidents for silences: %w", err)
	}
	hides := map[incidents.ID]Hide{}
	for i := range subjects {
		hide, ok, err := force.find(ctx, &subjects[i], now)
		if err != nil {
			return nil, err
		}
		if ok {
			hides[subjects[i].ID] = hide
		}
	}
	if len(hides) == 0 {
		return nil, nil
	}
	hidden, err := k.store.Hide(ctx, hides)
	k.changed(ctx, hidden)
	return hidden, err
}

// release ends the silence of incidents, unless another one matches.
func (k *Keeper) release(ctx context.Context, force *inForce, bs []int) error {
	for {
		ended, err := k.store.Ended(ctx, bs, atOnce)
		if err != nil || len(ended) == 0 {
			return err
		}
		now := k.current.clock.Now()
		hides := map[incidents.ID]Hide{}
		var released []Released
		var ids []incidents.ID
		for i := range ended {
			hide, ok, err := force.find(ctx, &ended[i].Subject, now)
			if err != nil {
				return err
			}
			if ok {
				hides[ended[i].ID] = hide
				continue
			}
			released, ids = append(released, ended[i]), append(ids, ended[i].ID)
		}
		if len(hides) > 0 {
			if _, err := k.store.Hide(ctx, hides); err != nil {
				return err
			}
		}
		if len(released) > 0 {
			if err := k.store.Release(ctx, released); err != nil {
				return err
			}
		}
		k.changed(ctx, ids)
		if len(ended) < atOnce {
			return nil
		}
	}
}

func (k *Keeper) changed(ctx context.Context, ids []incidents.ID) {
	var bs buckets.Set
	for _, id := range ids {
		bs.Add(int(int64(id) % buckets.Count))
	}
	if !bs.Empty() && k.wake != nil {
		k.wake(ctx, bs)
	}
}
