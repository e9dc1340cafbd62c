package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Served knows which modes the live processors have vendors for. It is a delivery.Served. It is safe for concurrent
// use.
type Served struct{ db *postgres.DB }

// NewServed returns the adapter.
func NewServed(d *postgres.DB) *Served { return &Served{d} }

// unservedAfter is how long no live processor must have served a mode before its messages get another one.
const unservedAfter = 30 * time.Second

// Unserved returns those of the modes that no live processor has served for 30 seconds. See delivery.Served.
func (s *Served) Unserved(ctx context.Context, modes []users.Mode) ([]users.Mode, error) {
	p := postgresdb.UnservedModesParams{Modes: make([]string, len(modes)), Seconds: unservedAfter.Seconds(),
		FreshSeconds: buckets.DefaultLimits().Fresh.Seconds()}
	for i, m := range modes {
		p.Modes[i] = string(m)
	}
	var out []users.Mode
	err := s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.UnservedModes(ctx, p)
		out = make([]users.Mode, len(rows))
		for i, m := range rows {
			out[i] = users.Mode(m)
		}
		return err
	})
	return out, err
}

// Served returns the modes that live processors have a vendor for. known is false when there is no live processor, or
// one did not publish its modes.
func (s *Served) Served(ctx context.Context) (modes []users.Mode, known bool, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		row, err := q.ServedModes(ctx)
		modes = modes[:0]
		for _, m := range row.Modes {
			modes = append(modes, users.Mode(m))
		}
		known = row.Processors > 0 && row.Told == row.Processors
		return err
	})
	return modes, known, err
}
