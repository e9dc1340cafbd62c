package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Limits stores the rates that the cluster shares, and the pauses of vendors' accounts and modes. It implements
// delivery.Limits. It is safe for concurrent use.
type Limits struct {
	db *postgres.DB
}

// NewLimits returns the limits of a database.
func NewLimits(d *postgres.DB) *Limits { return &Limits{d} }

// Reserve takes the next free slots of a limit in one statement that commits by itself. It is not repeated when the
// answer is lost: the slots then stay unused.
func (l *Limits) Reserve(ctx context.Context, r rate.Reservation) (rate.Granted, error) {
	p := postgresdb.ReserveSlotsParams{
		Key: r.Key, SlotUs: r.Interval.Microseconds(), Burst: max(1, r.Burst),
		Offsets: make([]int64, len(r.Offsets)), Instants: append([]time.Time{},
			r.Instants...), Tolerance: r.Tolerance.Microseconds(),
		Lead: r.Lead.Microseconds(),
	}
	for i, o := range r.Offsets {
		p.Offsets[i] = o.Microseconds()
	}
	if r.OnlyIfWithin != 0 {
		within := r.OnlyIfWithin.Microseconds()
		p.OnlyWithin = &within
	}
	var g rate.Granted
	err := l.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		row, err := d.ReserveSlots(ctx, p)
		if err != nil {
			return err
		}
		g = rate.Granted{Before: row.Before, Clock: row.Clock, Next: row.NextFree, Slots: row.Slots,
			Lead: postgres.Micros(row.LongestLead)}
		g.Index = make([]int, len(row.Granted))
		for i, n := range row.Granted {
			g.Index[i] = n - 1
		}
		return nil
	})
	return g, err
}

// Pauses lists the accounts and modes that must not be used now.
func (l *Limits) Pauses(ctx context.Context) ([]account.Pause, error) {
	var out []account.Pause
	err := l.db.Do(ctx, func(ctx context.Context, d *postgresdb.Queries) error {
		rows, err := d.ListPauses(ctx)
		if err != nil {
			return err
		}
		out = make([]account.Pause, len(rows))
		for i, r := range rows {
			out[i] = account.Pause{Key: r.Account, For: postgres.Micros(r.LeftUs), Reason: r.Reason}
		}
		return nil
	})
	return out, err
}

// SetPause pauses an account ("account:twilio/main") or a mode ("mode:sms") for all processes, unless it is paused for
// longer. Vendors' Retry-After uses it.
func (l *Limits) SetPause(ctx context.Context, key string, d time.Duration, reason string) error {
	return l.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		return q.SetPause(ctx, postgresdb.SetPauseParams{Account: key, ForUs: d.Microseconds(),
			Reason: postgres.CleanText(reason)})
	})
}
