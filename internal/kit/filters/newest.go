package filters

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String returns the place as a cursor.
func (p Place) String() string {
	return strconv.FormatInt(p.At.UnixMicro(), 10) + "." + strconv.FormatInt(p.ID, 10)
}

// ParsePlace reads a cursor of Place.String.
func ParsePlace(cursor string) (Place, error) {
	at, id, _ := strings.Cut(cursor, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.ParseInt(id, 10, 64)
	if err != nil || err2 != nil {
		return Place{}, fmt.Errorf("%q is not a place in a list", cursor)
	}
	return Place{At: time.UnixMicro(micros), ID: n}, nil
}

// Reader reads the rows that match a query.
type Reader[T any] func(ctx context.Context, q Query) ([]T, error)

// Page reads the newest rows that match q, at most q.Limit. next is the place after which the next page begins; nil =
// there are no more rows.
func (read Reader[T]) Page(ctx context.Context, q Query, place func(T) Place) (rows []T, next *Place, err error) {
	size := q.Limit
	q.Limit++ // one more row shows that there is a next page
	rows, err = read(ctx, q)
	if len(rows) > size {
		rows = rows[:size]
		last := place(rows[size-1])
		next = &last
	}
	return rows, next, err
}

const (
	// firstPeriod is the length of the first period that Search reads. Each further one is periodGrowth times as long;
	// one that would be longer than lastPeriod has no beginning.
	firstPeriod  = time.Hour
	periodGrowth = 4
	lastPeriod   = 4 * 365 * 24 * time.Hour
	// searchFor is how long Search goes on with further periods.
	searchFor = time.Second
	// quickly is how long Find waits for one statement.
	quickly = 300 * time.Millisecond
	// Margin is how long before the end of its context storage ends a read by itself.
	Margin = 50 * time.Millisecond
)

// Find tries Page first, which is fast for conditions with an index. If that takes too long, it calls Search.
func (read Reader[T]) Find(ctx context.Context, q Query, place func(T) Place) (rows []T, next *Place, err error) {
	limited, cancel := context.WithTimeout(ctx, quickly)
	defer cancel()
	begun := time.Now()
	if rows, next, err = read.Page(limited, q, place); err == nil || ctx.Err() != nil || time.Since(begun) < quickly-2*Margin {
		return rows, next, err
	}
	return read.Search(ctx, q, place)
}

// Search is Page for lists with very many rows. The field "created" must be the time of a row's Place. If few rows meet
// the conditions, storage would read all rows. So Search reads one period after another, back in time, and stops after
// about a second. The page may then be short or empty although there is a next page.
func (read Reader[T]) Search(ctx context.Context, q Query, place func(T) Place) (rows []T, next *Place, err error) {
	return read.SearchFor(ctx, searchFor, q, place)
}

// SearchFor is Search with a shorter time: it begins a period only if it expects to finish within usual. It always
// reads one period.
func (read Reader[T]) SearchFor(ctx context.Context, usual time.Duration, q Query, place func(T) Place) (rows []T, next *Place, err error) {
	if len(q.Conditions) == 0 {
		return read.Page(ctx, q, place)
	}
	begun, from, size := time.Now(), time.Now(), q.Limit
	if q.After != nil {
		from = q.After.At
	}
	end := begun.Add(searchFor)
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	within := ctx // the first period is read whatever it takes, so that every page comes closer to the end
	for period := firstPeriod; ; period *= periodGrowth {
		since, periodBegun := from.Add(-period).Truncate(time.Second), time.Now()
		part := q
		part.Limit = size - len(rows)
		if period <= lastPeriod {
			part.Conditions = append(slices.Clone(q.Conditions),
				Condition{Field: "created", Op: Ge, Values: []any{since}})
		}
		found, more, err := read.Page(within, part, place)
		if err != nil {
			if within == limited && ctx.Err() == nil && time.Until(end) <= Margin {
				return rows, q.After, nil
			}
			return nil, nil, err
		}
		rows = append(rows, found...)
		if more != nil || period > lastPeriod {
			return rows, more, nil
		}
		from, q.After, within = since, &Place{At: since}, limited
		late := usual < searchFor && time.Since(begun)+periodGrowth*time.Since(periodBegun) > usual
		if len(rows) == size || time.Until(end) <= Margin || late {
			return rows, q.After, nil
		}
	}
}
