package incidents

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/humanize"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// closeBatch is how many incidents one transaction closes.
const closeBatch = 500

// CloseQuiet closes open incidents that had no news for so long, and returns their number. A delivery, a comment, a page and every change
// of the state are news. It returns after a batch; a result below the size of a batch means that there are no more.
func (i *Incidents) CloseQuiet(ctx context.Context, after time.Duration) (closed []incidents.ID, more bool, err error) {
	err = i.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		closed = nil
		now, err := q.ServerClock(ctx)
		if err != nil {
			return err
		}
		rows, err := q.LockWithoutNews(ctx, db.LockWithoutNewsParams{Since: now.Add(-after), Most: closeBatch})
		if err != nil {
			return err
		}
		quiet := postgres.Convert(rows, func(r db.LockWithoutNewsRow) changing { return changing{row: r.Incident} })
		for _, b := range quiet {
			closed = append(closed, b.id())
		}
		text := "there was no news for " + humanize.Duration(after) + ": the incident is closed"
		return transit(ctx, q, incidents.Change{}, incidents.Close, db.SetStatesParams{}, quiet, slices.Repeat([]string{text}, len(quiet)))
	})
	return closed, len(closed) == closeBatch, err
}
