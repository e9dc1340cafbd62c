package silences

import (
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/fault"
)

// Span is one occurrence. To is not included.
type Span struct{ From, To time.Time }

// At returns the occurrence that contains an instant. Of several it returns the one that begins last, which also ends last.
func (c Content) At(now time.Time) (Span, bool) {
	start := c.From
	if c.Recurrence != "" {
		r, err := rule(c.Recurrence, c.local(c.From))
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
		r, err := rule(c.Recurrence, c.local(c.From))
		if err != nil {
			return Span{}, false
		}
		start = r.After(now, false)
	}
	return Span{start, c.end(start)}, start.After(now)
}

// end returns the end of the occurrence that begins at an instant: as many civil days later as To is after From, at the time of day of To.
// If daylight saving leaves nothing of the occurrence, it lasts as long as the first one.
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
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone)
}

// rule reads a recurrence that begins at a civil time.
func rule(s string, from time.Time) (*rrule.RRule, error) {
	if strings.ContainsAny(s, "\r\n") || strings.Contains(strings.ToUpper(s), "DTSTART") {
		return nil, fault.Invalidf("recurrence", "recurrence must be one RRULE without DTSTART: from says when it begins")
	}
	option, err := rrule.StrToROption(strings.TrimPrefix(strings.ToUpper(s), "RRULE:"))
	if err != nil {
		return nil, fault.Invalidf("recurrence", "recurrence is no RRULE: %v", err)
	}
	if option.Freq > rrule.DAILY || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 {
		return nil, fault.Invalidf("recurrence", "recurrence must be DAILY, WEEKLY, MONTHLY or YEARLY, without hours, minutes and seconds: from has the time of day")
	}
	option.Dtstart = from.Truncate(time.Second)
	r, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, fault.Invalidf("recurrence", "recurrence is no RRULE: %v", err)
	}
	return r, nil
}
