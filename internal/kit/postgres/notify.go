package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

const (
	wakeChannel = "iris_wake"
	pingPrefix  = "ping "
	// wakeInterval is the least time between two notifications of a process; wake-ups in between are combined.
	wakeInterval = 5 * time.Millisecond
	// notifyTimeout bounds one notification: a hint that takes longer is useless.
	notifyTimeout = 2 * time.Second
	maxReconnect  = 2 * time.Second
	listenerWarn  = time.Minute // how often a lasting failure is logged again
)

var errNoPing = errors.New("a notification to ourselves did not arrive")

// Notifier notifies the processors of buckets with new work. Wake-ups are hints: they are sent after the commit of the work, in
// separate statements, and a lost one costs a second at most. It is safe for concurrent use.
type Notifier struct {
	db      *DB
	mu      sync.Mutex
	pending buckets.Wakeup
	signal  chan struct{}
}

// NewNotifier returns a notifier over d. Nothing is sent before Run.
func NewNotifier(d *DB) *Notifier { return &Notifier{db: d, signal: make(chan struct{}, 1)} }

// Wake asks for a wake-up of the buckets, after the commit if ctx is that of a Unit. It never blocks. The same holds for WakeEscalation and
// WakeDelivery.
func (n *Notifier) Wake(ctx context.Context, set buckets.Set) {
	AfterCommit(ctx, func() { n.add(buckets.Wakeup{Escalation: set, Delivery: set}) })
}

// WakeEscalation asks for a wake-up of the buckets, which have no new messages yet.
func (n *Notifier) WakeEscalation(ctx context.Context, set buckets.Set) {
	AfterCommit(ctx, func() { n.add(buckets.Wakeup{Escalation: set}) })
}

// WakeDelivery asks for a wake-up of the buckets, which have new messages but no incident that is due.
func (n *Notifier) WakeDelivery(ctx context.Context, set buckets.Set) {
	AfterCommit(ctx, func() { n.add(buckets.Wakeup{Delivery: set}) })
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
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if err := notify(ctx, n.db.pool, w.String()); err != nil {
		n.db.metrics.wakeups.WithLabelValues("lost").Inc()
		n.add(w)
		return false
	}
	n.db.metrics.wakeups.WithLabelValues("sent").Inc()
	return true
}

// notify sends a payload without waiting for the disk: a hint need not survive a crash.
func notify(ctx context.Context, conn interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, payload string,
) error {
	var ignored string
	return conn.QueryRow(ctx, `-- name: Notify :one
select set_config('synchronous_commit', 'off', true) || pg_notify('`+wakeChannel+`', $1)::text`, payload).Scan(&ignored)
}

// Listener receives the wake-ups of all processes on its own connection. It sends itself a notification every few seconds, and
// connects again when that does not arrive. It is made for one Run.
type Listener struct {
	db        *DB
	wake      func(buckets.Set)
	apart     *consumers
	members   func() // nil = changes of members are not listened for
	log       *zap.Logger
	every     time.Duration // between pings
	connected atomic.Bool
	lost      bool // the loss of the connection was logged; used by Run's goroutine
}

// NewListener returns a listener that calls wake with the buckets that have work: those of each wake-up, and all of them
// after every connect, since hints may have been missed. wake is called on Run's goroutine and must not block.
func NewListener(d *DB, wake func(buckets.Set)) *Listener {
	return &Listener{db: d, wake: wake, log: d.log.Named("listener"), every: 10 * time.Second}
}

// OnMembers makes the listener call changed whenever members or leases changed, and after every connect, on Run's
// goroutine; it must not block. It returns the listener. Call it before Run.
func (l *Listener) OnMembers(changed func()) *Listener {
	l.members = changed
	return l
}

// consumers are called for wake-ups in place of the listener's wake.
type consumers struct{ escalation, delivery func(buckets.Set) }

// Apart makes the listener call escalation and delivery for wake-ups, each with the buckets that have work for it. It returns the
// listener. Call it before Run.
func (l *Listener) Apart(escalation, delivery func(buckets.Set)) *Listener {
	l.apart = &consumers{escalation, delivery}
	return l
}

func (l *Listener) deliver(w buckets.Wakeup) {
	if l.apart == nil {
		w.Escalation.Union(w.Delivery)
		l.wake(w.Escalation)
		return
	}
	if !w.Escalation.Empty() {
		l.apart.escalation(w.Escalation)
	}
	if !w.Delivery.Empty() {
		l.apart.delivery(w.Delivery)
	}
}

// Connected reports whether wake-ups are received now.
func (l *Listener) Connected() bool { return l.connected.Load() }

// Run listens until ctx ends, connecting again whenever it must. It returns nil.
func (l *Listener) Run(ctx context.Context) error {
	pause := 50 * time.Millisecond
	var warned time.Time
	for ctx.Err() == nil {
		worked, err := l.listen(ctx)
		l.connected.Store(false)
		l.db.metrics.listening.Set(0)
		if ctx.Err() != nil {
			break
		}
		if worked {
			pause = 50 * time.Millisecond
		}
		l.db.metrics.reconnects.Inc()
		if worked || time.Since(warned) > listenerWarn {
			warned = time.Now()
			l.lost = true
			l.log.Warn("wake-up listener lost its connection, work is found by polling until it is back", zap.Error(oneLine{err}))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration((0.5 + rand.Float64()) * float64(pause))):
		}
		pause = min(2*pause, maxReconnect)
	}
	return nil
}

// listen handles one connection until it fails. worked reports whether it was connected and subscribed.
func (l *Listener) listen(ctx context.Context) (worked bool, err error) {
	cc, err := pgx.ParseConfig(l.db.url)
	if err != nil {
		return false, malformedURL(err)
	}
	configureSession(cc, l.db.url, "iris listener", nil)
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return false, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if err := l.subscribe(ctx, conn); err != nil {
		return false, err
	}
	if l.lost {
		l.lost = false
		l.log.Info("wake-up listener is connected again")
	}
	l.connected.Store(true)
	l.db.metrics.listening.Set(1)
	l.wake(buckets.All())
	if l.members != nil {
		l.members()
	}
	for {
		if err := l.receive(ctx, conn); err != nil {
			return true, err
		}
	}
}

// subscribe subscribes to the channels, within a timeout: the server may not answer.
func (l *Listener) subscribe(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, "listen "+wakeChannel); err != nil || l.members == nil {
		return err
	}
	_, err := conn.Exec(ctx, "listen "+MembersChannel)
	return err
}

// receive handles notifications until the next self-test is due, and makes it.
func (l *Listener) receive(ctx context.Context, conn *pgx.Conn) error {
	if _, err := l.until(ctx, conn, time.Now().Add(l.every), ""); err != nil {
		return err
	}
	ping := fmt.Sprintf("%s%016x", pingPrefix, rand.Uint64())
	testing, cancel := context.WithTimeout(ctx, notifyTimeout)
	err := notify(testing, conn, ping)
	cancel()
	if err != nil {
		return err
	}
	found, err := l.until(ctx, conn, time.Now().Add(notifyTimeout), ping)
	if err == nil && !found {
		err = errNoPing
	}
	return err
}

// until handles notifications until the deadline, or until the ping arrives.
func (l *Listener) until(ctx context.Context, conn *pgx.Conn, deadline time.Time, ping string) (found bool, err error) {
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(waiting)
		if err != nil {
			if ctx.Err() == nil && waiting.Err() != nil && !conn.IsClosed() {
				return false, nil
			}
			return false, err
		}
		if n.Channel == MembersChannel {
			l.members()
			continue
		}
		if ping != "" && n.Payload == ping {
			return true, nil
		}
		if strings.HasPrefix(n.Payload, pingPrefix) {
			continue
		}
		l.db.metrics.wakeups.WithLabelValues("received").Inc()
		l.deliver(buckets.ParseWakeup(n.Payload))
	}
}

// MembersChannel is the channel on which a hint is sent whenever members or leases changed. The payload is the id of the
// process that changed them.
const MembersChannel = "iris_members"
