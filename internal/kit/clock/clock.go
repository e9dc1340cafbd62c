package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Tolerated is the difference between the clocks of a process and the database above which people are told.
const Tolerated = 2 * time.Second

// slow is the round trip from which a measurement is not used: half of it is the error.
const slow = time.Second

// Database estimates the clock of the database. The zero value and nil have the clock of this process. It is safe for
// concurrent use.
type Database struct {
	ahead    atomic.Int64 // of the clock of this process, in nanoseconds
	measured atomic.Bool
}

// Now returns the time of the database. Its error is half the round trip of the last measurement.
func (d *Database) Now() time.Time {
	if d == nil {
		return time.Now()
	}
	return time.Now().Add(time.Duration(d.ahead.Load()))
}

// Skew returns how far the clock of this process is ahead of the clock of the database; false before the first
// measurement.
func (d *Database) Skew() (time.Duration, bool) {
	return -time.Duration(d.ahead.Load()), d.measured.Load()
}

// Describe returns a skew as people read it, such as "2.4s ahead" and "0s behind".
func Describe(skew time.Duration) string {
	side := " ahead"
	if skew < 0 {
		side = " behind"
	}
	return skew.Abs().Round(100*time.Millisecond).String() + side
}

// Measure compares the clock of this process with that of the database. read asks the database for its time. The answer
// counts for the middle of the call, so a slow call measures badly: then the earlier measurement stays.
func (d *Database) Measure(ctx context.Context, read func(context.Context) (time.Time, error)) error {
	begun := time.Now()
	at, err := read(ctx)
	if err != nil {
		return err
	}
	trip := time.Since(begun)
	if trip < slow || !d.measured.Load() {
		// The wall clock, because the other one ignores that somebody sets it. It is the clock of Now.
		d.ahead.Store(int64(at.Sub(time.Now().Round(0).Add(-trip / 2))))
		d.measured.Store(true)
	}
	return nil
}
