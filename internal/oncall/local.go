package oncall

import (
	"fmt"
	"time"
)

// Local is a wall-clock reading without a zone, in seconds since 1970-01-01 00:00 on the same clock. Arithmetic on it
// is calendar arithmetic. In converts it to an instant.
type Local int64

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
)

// LocalDate returns the reading at sec seconds after midnight of a date. Months and days out of range are carried over,
// as in time.Date.
func LocalDate(year int, month time.Month, dayOfMonth, sec int) Local {
	return Local(time.Date(year, month, dayOfMonth, 0, 0, sec, 0, time.UTC).Unix())
}

// LocalIn returns what a clock in zone shows at t, in whole seconds.
func LocalIn(t time.Time, zone *time.Location) Local {
	_, offset := t.In(zone).Zone()
	return Local(t.Unix() + int64(offset))
}

// Time returns the reading as if it were in UTC, to store or format it; LocalOf is its inverse.
func (l Local) Time() time.Time { return time.Unix(int64(l), 0).UTC() }

// LocalOf returns the reading that t shows in its own location.
func LocalOf(t time.Time) Local {
	_, offset := t.Zone()
	return Local(t.Unix() + int64(offset))
}

// Midnight returns the beginning of l's day.
func (l Local) Midnight() Local { return l - Local(mod(int64(l), day)) }

// Sunday returns the beginning of l's week, Sunday 00:00.
func (l Local) Sunday() Local {
	const thursday = 4 // 1970-01-01
	return l - Local(mod(int64(l)+thursday*day, week))
}

// Weekday returns the day of the week.
func (l Local) Weekday() time.Weekday { return time.Weekday(mod(floorDiv(int64(l), day)+4, 7)) }

// String formats like 2026-11-21 09:00:00.
func (l Local) String() string { return l.Time().Format(time.DateTime) }

// Date is a day of the calendar, as the days since 1970-01-01.
type Date int32

// Date returns l's day.
func (l Local) Date() Date { return Date(floorDiv(int64(l), day)) }

// Local returns the beginning of d.
func (d Date) Local() Local { return Local(int64(d) * day) }

// String formats like 2026-11-21.
func (d Date) String() string { return d.Local().Time().Format(time.DateOnly) }

// DateOf returns the day that t shows in its own location.
func DateOf(t time.Time) Date { return LocalOf(t).Date() }

// ParseDate reads a day like 2026-11-21.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, fmt.Errorf("%q is no date like 2026-11-21", s)
	}
	return DateOf(t), nil
}

// In returns the instant of l in zone. A reading that the clock shows twice is the first of the two. A reading that the
// clock skips is converted with the offset after the skip. Both use the larger of the two offsets, usually
// daylight-saving time (Oncall's rule).
func (l Local) In(zone *time.Location) time.Time {
	u := int64(l)
	guess := time.Unix(u, 0).In(zone)
	_, offset := guess.Zone()
	t := time.Unix(u-int64(offset), 0).In(zone)
	start, end := t.ZoneBounds()
	// Far from every change of offset there is only one candidate.
	if _, o := t.Zone(); o == offset && (start.IsZero() || t.Sub(start) > maxChange) && (end.IsZero() || end.Sub(t) > maxChange) {
		return t
	}
	return l.nearChange(zone)
}

// maxChange exceeds every change of a zone's offset: crossing the date line is 24 hours, plus or minus an old local
// time.
const maxChange = 27 * time.Hour

// nearChange tries every offset in force around l.
func (l Local) nearChange(zone *time.Location) time.Time {
	u := int64(l)
	t := time.Unix(u, 0).Add(-maxChange).In(zone)
	last := time.Unix(u, 0).Add(maxChange)
	for {
		_, offset := t.Zone()
		end := stretchEnd(t)
		at := time.Unix(u-int64(offset), 0).In(zone)
		// Offsets are tried in the order of time. The first whose stretch ends after l on its own clock is right:
		// either l is in the stretch (the first of two, if l occurs twice), or the stretch begins only after l, which
		// was skipped.
		if end.IsZero() || at.Before(end) || t.After(last) {
			return at
		}
		t = end
	}
}

// stretchEnd returns until when the offset at t certainly holds; zero = forever. Beyond the years that tzdata lists,
// the library computes the bounds, and may return t itself at the turn of a year.
func stretchEnd(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.Add(time.Hour)
	}
	return end
}

// mod is the remainder that is never negative.
func mod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

func floorDiv(a, b int64) int64 { return (a - mod(a, b)) / b }

// ExistsIn reports whether a zone has the day: some zones skipped a day when they crossed the date line.
func (d Date) ExistsIn(zone *time.Location) bool {
	noon := d.Local() + 12*hour
	return LocalIn(noon.In(zone), zone).Date() == d
}
