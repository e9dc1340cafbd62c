package pg

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

const (
	wakeChannel = "iris_wake"
	// wakeInterval is the least time between two notifications of a process; wake-ups in between are combined.
	wakeInterval = 5 * time.Millisecond
)

// MembersChannel is the channel on which a hint is sent whenever members or leases changed. The payload is the id of
// the process that changed them.
const MembersChannel = "iris_members"

// Notifier notifies the processors of buckets with new work. Wake-ups are hints: they are sent after the commit of the
// work, in separate statements, and a lost one costs a second at most. It is safe for concurrent use.
type Notifier struct {
	db      *postgres.DB
	mu      sync.Mutex
	pending buckets.Wakeup
	signal  chan struct{}
}

// NewNotifier returns a notifier over d. Nothing is sent before Run.
func NewNotifier(d *postgres.DB) *Notifier { return &Notifier{db: d, signal: make(chan struct{}, 1)} }

// Wake asks for a wake-up of the buckets, after the commit if ctx is that of a postgres.Unit. It never blocks. The same
// holds for WakeEscalation and WakeDelivery.
func (n *Notifier) Wake(ctx context.Context, set buckets.Set) {
	postgres.AfterCommit(ctx, func() { n.add(buckets.Wakeup{Escalation: set, Delivery: set}) })
}

// WakeEscalation asks for a wake-up of the buckets, which have no new messages yet.
func (n *Notifier) WakeEscalation(ctx context.Context, set buckets.Set) {
	postgres.AfterCommit(ctx, func() { n.add(buckets.Wakeup{Escalation: set}) })
}

// WakeDelivery asks for a wake-up of the buckets, which have new messages but no incident that is due.
func (n *Notifier) WakeDelivery(ctx context.Context, set buckets.Set) {
	postgres.AfterCommit(ctx, func() { n.add(buckets.Wakeup{Delivery: set}) })
}

func (n *Notifier) add(w buckets.Wakeup) {
	if w == (buckets.Wakeup{}) {
		return
	}
	n.mu.Lock()
	n.pending.Union(w)
	n.mu.Unlock()
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

func (n *Notifier) take() buckets.Wakeup {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.pending
	n.pending = buckets.Wakeup{}
	return w
}

// Run sends wake-ups until ctx ends, and then the pending ones. It returns nil.
func (n *Notifier) Run(ctx context.Context) error {
	pause := wakeInterval
	for {
		select {
		case <-ctx.Done():
			n.send(context.WithoutCancel(ctx))
			return nil
		case <-n.signal:
		}
		if n.send(ctx) {
			pause = wakeInterval
		} else {
			pause = min(2*pause, time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// send sends the pending wake-ups in one statement. After a failure they stay pending.
func (n *Notifier) send(ctx context.Context) bool {
	w := n.take()
	if w == (buckets.Wakeup{}) {
		return true
	}
	if err := n.db.Notify(ctx, wakeChannel, w.String()); err != nil {
		n.db.Wakeups().WithLabelValues("lost").Inc()
		n.add(w)
		return false
	}
	n.db.Wakeups().WithLabelValues("sent").Inc()
	return true
}

// WakeupHandlers are called for wake-ups, with the buckets that have work: those of each wake-up, and all of them after every
// connect, since hints may have been missed. They must not block.
type WakeupHandlers struct {
	Escalation, Delivery func(buckets.Set)
	// Members is called whenever members or leases changed, and after every connect; nil = these hints are not listened
	// for.
	Members func()
}

// NewListener returns a listener that calls the handlers on the goroutine of its Run.
func NewListener(d *postgres.DB, handlers WakeupHandlers) *postgres.Listener {
	deliver := func(w buckets.Wakeup) {
		if !w.Escalation.Empty() {
			handlers.Escalation(w.Escalation)
		}
		if !w.Delivery.Empty() {
			handlers.Delivery(w.Delivery)
		}
	}
	channels := []string{wakeChannel}
	if handlers.Members != nil {
		channels = append(channels, MembersChannel)
	}
	return postgres.NewListener(d, func() {
		deliver(buckets.Wakeup{Escalation: buckets.All(), Delivery: buckets.All()})
		if handlers.Members != nil {
			handlers.Members()
		}
	}, func(channel, payload string) {
		if channel == MembersChannel {
			handlers.Members()
			return
		}
		if strings.HasPrefix(payload, "ping ") {
			return // a process of an earlier release tests its own listener
		}
		d.Wakeups().WithLabelValues("received").Inc()
		deliver(buckets.ParseWakeup(payload))
	}, channels...)
}
