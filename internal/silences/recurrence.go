package silences

import (
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Span is one occurrence. To is not included.
type Span struct{ From, To time.Time }

// At returns the occurrence that contains an instant. Of several it returns the one that begins last, which also ends
// last.
func (c Content) At(now time.Time) (Span, bool) {
	start := c.From
	if c.Recurrence != "" {
		r, err := c.rule(now, now)
		if err != nil {
			return Span{}, false
		}
		start = r.Before(now, true)
	}
	s := Span{start, c.end(start)}
	return s, !start.IsZero() && !now.Before(s.From) && now.Before(s.To)
}

// Next returns the first occurrence that begins after an instant.
func (c Content) Next(now time.Time) (Span, bool) {
	start := c.From
	if c.Recurrence != "" {
		r, err := c.rule(now, later(now, c.From).Add(ahead))
		if err != nil {
			return Span{}, false
		}
		start = r.After(now, false)
	}
	return Span{start, c.end(start)}, start.After(now)
}

// end returns the end of the occurrence that begins at an instant: as many civil days later as To is after From, at the
// time of day of To. If daylight saving leaves nothing of the occurrence, it lasts as long as the first one.
func (c Content) end(start time.Time) time.Time {
	if c.Recurrence == "" || start.IsZero() {
		return c.To
	}
	from, to, at := c.local(c.From), c.local(c.To), c.local(start)
	days := int(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
	end := time.Date(at.Year(), at.Month(), at.Day()+days, to.Hour(), to.Minute(), to.Second(), 0, at.Location())
	if !end.After(start) {
		return start.Add(c.To.Sub(c.From))
	}
	return end
}

// midnight returns the civil day of an instant, as an instant of UTC.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// local returns an instant in the zone of the silence.
func (c Content) local(t time.Time) time.Time {
	zone, err := time.LoadLocation(string(c.Zone))
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone)
}

const (
	// ahead is how far occurrences are searched. A 29th of February on a certain weekday comes after at most 40 years.
	ahead = 41 * 366 * 24 * time.Hour
	// behind is how far before now an old recurrence is read from: an occurrence lasts at most 31 days.
	behind = 60 * 24 * time.Hour
)

func sooner(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// rule returns the recurrence. It has all occurrences from 31 days before now to an instant, and its work does not
// depend on how old it is.
func (c Content) rule(now, to time.Time) (*rrule.RRule, error) {
	option, err := option(string(c.Recurrence))
	if err != nil {
		return nil, err
	}
	option.Dtstart = forward(*option, c.local(c.From).Truncate(time.Second), now.Add(-behind))
	if option.Until.IsZero() || option.Until.After(to) {
		option.Until = to
	}
	r, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, fault.Invalidf("recurrence", "recurrence is no RRULE: %v", err)
	}
	return r, nil
}

// forward returns the last beginning of the recurrence's days or weeks before an instant, which leaves the later
// occurrences as they are. Months and years are few, and a counted recurrence is bounded by its count, so they keep
// their beginning.
func forward(o rrule.ROption, from, before time.Time) time.Time {
	days := max(1, o.Interval)
	switch {
	case o.Count > 0:
		return from
	case o.Freq == rrule.WEEKLY:
		days *= 7
	case o.Freq != rrule.DAILY:
		return from
	}
	for n := int(before.Sub(from).Hours()) / 24 / days; n > 0; n-- {
		// A day on which the time of day does not exist is left out.
		if at := from.AddDate(0, 0, n*days); at.Hour() == from.Hour() && at.Minute() == from.Minute() {
			return at
		}
	}
	return from
}

// option reads a recurrence.
func option(s string) (*rrule.ROption, error) {
	if strings.ContainsAny(s, "\r\n") || strings.Contains(strings.ToUpper(s), "DTSTART") {
		return nil, fault.Invalidf("recurrence",
			"recurrence must be one RRULE without DTSTART: from says when it begins")
	}
	option, err := rrule.StrToROption(strings.TrimPrefix(strings.ToUpper(s), "RRULE:"))
	if err != nil {
		return nil, fault.Invalidf("recurrence", "recurrence is no RRULE: %v", err)
	}
	if option.Freq > rrule.DAILY || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 {
		return nil, fault.Invalidf("recurrence",
			"recurrence must be DAILY, WEEKLY, MONTHLY or YEARLY, without hours, minutes and seconds: from has the time of day")
	}
	return option, nil
}
