package filters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type row struct {
	at time.Time
	id int64
}

func placeOf(r row) Place { return Place{r.at, r.id} }

// reader reads rows as a list does. Each read takes as long as cost says.
func reader(rows []row, cost func(since time.Time) time.Duration) Reader[row] {
	return func(ctx context.Context, q Query) (out []row, err error) {
		var since time.Time
		for _, c := range q.Conditions {
			if c.Field == "created" {
				since = c.Values[0].(time.Time)
			}
		}
		if cost != nil {
			select {
			case <-time.After(cost(since)):
			case <-ctx.Done():
				return nil, errors.New("the query was cancelled")
			}
		}
		for _, r := range rows {
			before := q.After == nil || r.at.Before(q.After.At) || r.at.Equal(q.After.At) && r.id < q.After.ID
			if before && !r.at.Before(since) && len(out) < q.Limit {
				out = append(out, r)
			}
		}
		return out, nil
	}
}

// all reads every page and returns the rows, and how many pages there were.
func all(t *testing.T, read Reader[row], limit int) (rows []row, pages int) {
	t.Helper()
	q := Query{Limit: limit, Conditions: []Condition{{Field: "mode", Op: Eq, Values: []any{"sms"}}}}
	for {
		found, next, err := read.Search(t.Context(), q, placeOf)
		require.NoError(t, err)
		require.LessOrEqual(t, len(found), limit)
		rows, pages = append(rows, found...), pages+1
		if next == nil {
			return rows, pages
		}
		parsed, err := ParsePlace(next.String())
		require.NoError(t, err)
		q.After = &parsed
	}
}

func TestSearchFindsEveryRowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var rows []row
		for _, ago := range []time.Duration{0, time.Second, time.Hour, 24 * time.Hour, 25 * time.Hour, 25 * time.Hour, 100 * time.Hour, 9000 * time.Hour, 90000 * time.Hour} {
			rows = append(rows, row{now.Add(-ago).Truncate(time.Microsecond), int64(1000 - len(rows))})
		}
		slices.SortFunc(rows, func(a, b row) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.id, a.id)) })
		for limit := 1; limit < len(rows)+2; limit++ {
			found, _ := all(t, reader(rows, nil), limit)
			require.Equal(t, rows, found, limit)
		}
		found, pages := all(t, reader(nil, nil), 10)
		require.Empty(t, found)
		require.Equal(t, 1, pages)
	})
}

// A filter that few rows meet costs a page about a second, and the pages still reach the oldest row.
func TestSearchBoundsTheTimeOfAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		oldest := now.AddDate(-1, 0, 0).Truncate(time.Microsecond)
		perDay := func(since time.Time) time.Duration { // reading a day of rows takes 50 ms
			if since.Before(oldest) {
				since = oldest
			}
			return max(0, time.Duration(now.Sub(since).Hours()/24*50)*time.Millisecond)
		}
		var slowest time.Duration
		q := Query{Limit: 10, Conditions: []Condition{{Field: "mode", Op: Eq}}}
		for pages := 1; ; pages++ {
			require.Less(t, pages, 400)
			from := now
			if q.After != nil {
				from = q.After.At
			}
			begin := time.Now()
			found, next, err := Reader[row](func(ctx context.Context, part Query) ([]row, error) {
				upper := from
				if part.After != nil {
					upper = part.After.At
				}
				return reader([]row{{oldest, 1}},
					func(since time.Time) time.Duration { return perDay(since) - perDay(upper) })(ctx, part)
			}).Search(t.Context(), q, placeOf)
			require.NoError(t, err)
			slowest = max(slowest, time.Since(begin))
			if len(found) > 0 {
				require.Equal(t, oldest, found[0].at)
				break
			}
			require.NotNil(t, next, "the oldest row was not reached")
			q.After = next
		}
		require.LessOrEqual(t, slowest, searchFor+100*time.Millisecond)
	})
}

func TestAFailedReadIsAnError(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := Reader[row](func(context.Context, Query) ([]row, error) { return nil, broken }).Search(t.Context(),
		Query{Limit: 1, Conditions: []Condition{{Field: "mode", Op: Eq}}}, placeOf)
	require.ErrorIs(t, err, broken)
	for _, bad := range []string{"", "x", "1", "1.x", "x.1", "1.2.3"} {
		_, err := ParsePlace(bad)
		require.Error(t, err, bad)
	}
}
