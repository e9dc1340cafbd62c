package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

const (
	pingChannel = "iris_ping"
	// notifyTimeout bounds one notification: a hint that takes longer is useless.
	notifyTimeout = 2 * time.Second
	maxReconnect  = 2 * time.Second
	listenerWarn  = time.Minute // how often a lasting failure is logged again
)

var errNoPing = errors.New("a notification to ourselves did not arrive")

// Notify sends a notification in a statement of its own, within two seconds. It does not wait for the disk: a hint need
// not survive a crash.
func (d *DB) Notify(ctx context.Context, channel, payload string) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	return notify(ctx, d.pool, channel, payload)
}

// Wakeups counts wake-ups between processes by direction: sent, received, lost.
func (d *DB) Wakeups() *prometheus.CounterVec { return d.metrics.wakeups }

func notify(ctx context.Context, conn interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}, channel, payload string,
) error {
	var ignored string
	return conn.QueryRow(ctx, `-- name: Notify :one
select set_config('synchronous_commit', 'off', true) || pg_notify($1, $2)::text`, channel, payload).Scan(&ignored)
}

// Listener receives notifications on its own connection. It sends itself one every few seconds, and connects again when
// that does not arrive. It is made for one Run.
type Listener struct {
	db        *DB
	channels  []string
	up        func()
	receive   func(channel, payload string)
	log       *zap.Logger
	every     time.Duration // between pings
	connected atomic.Bool
	lost      bool // the loss of the connection was logged; used by Run's goroutine
}

// NewListener returns a listener to channels. It calls up after every connect, since notifications may have been
// missed, and receive for each notification, both on Run's goroutine. They must not block.
func NewListener(d *DB, up func(), receive func(channel, payload string), channels ...string) *Listener {
	return &Listener{db: d, channels: append(channels, pingChannel), up: up, receive: receive,
		log: d.log.Named("listener"), every: 10 * time.Second}
}

// Connected reports whether notifications are received now.
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
			l.log.Warn("wake-up listener lost its connection, work is found by polling until it is back",
				zap.Error(oneLine{err}))
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
	l.up()
	for {
		if err := l.hear(ctx, conn); err != nil {
			return true, err
		}
	}
}

// subscribe subscribes to the channels, within a timeout: the server may not answer.
func (l *Listener) subscribe(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	for _, channel := range l.channels {
		if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}

// hear handles notifications until the next self-test is due, and makes it.
func (l *Listener) hear(ctx context.Context, conn *pgx.Conn) error {
	if _, err := l.until(ctx, conn, time.Now().Add(l.every), ""); err != nil {
		return err
	}
	ping := fmt.Sprintf("%016x", rand.Uint64())
	testing, cancel := context.WithTimeout(ctx, notifyTimeout)
	err := notify(testing, conn, pingChannel, ping)
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
		switch {
		case n.Channel != pingChannel:
			l.receive(n.Channel, n.Payload)
		case ping != "" && n.Payload == ping:
			return true, nil
		}
	}
}
