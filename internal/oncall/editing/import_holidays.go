package editing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// Limits: the days of one holiday, the days of one calendar, and the years for which recurring holidays are stored.
const (
	maxHoliday  = 60
	maxHolidays = 5000
	yearsAhead  = 20
)

// ReadHolidays returns the days on which the events of an iCalendar text begin or which they cover. An event of more
// than 60 days is a fault. Recurring events count for 20 years from their start, but from two years ago at the
// earliest. A fault names the event or line, and what to do.
func ReadHolidays(raw []byte) ([]scheduling.Holiday, error) {
	calendar, err := ical.Parse(raw)
	if err != nil {
		return nil, err
	}
	seen := map[oncall.Date]bool{}
	var out []scheduling.Holiday
	for i, e := range calendar.Events() {
		days, err := holidayOf(e)
		if err != nil {
			return nil, fault.Invalidf("body", "event %d of the calendar, %s: %s", i+1, called(e), fault.Public(err))
		}
		name := summaryOf(e)
		for _, day := range days {
			if !seen[day] {
				seen[day] = true
				out = append(out, scheduling.Holiday{Day: day, Name: name})
			}
		}
		if len(out) > maxHolidays {
			return nil, fault.Invalidf("body",
				"a holiday calendar has at most %d days; event %d, %s, exceeds that: leave some out, or end recurring events with UNTIL",
				maxHolidays, i+1, called(e))
		}
	}
	if len(out) == 0 {
		return nil, fault.Invalidf("body", "this calendar has no events: give one VEVENT with DTSTART for each holiday")
	}
	slices.SortFunc(out, func(x, y scheduling.Holiday) int { return int(x.Day - y.Day) })
	return out, nil
}

// summaryOf returns the title of an event.
func summaryOf(e *ics.VEvent) string {
	if p := e.GetProperty(ics.ComponentPropertySummary); p != nil {
		return ics.FromText(p.Value)
	}
	return ""
}

// called returns the name of an event for faults, so that people find the event in the file.
func called(e *ics.VEvent) string {
	if name := summaryOf(e); name != "" {
		return fmt.Sprintf("%.60q", name)
	}
	return fmt.Sprintf("UID %.60q", e.Id())
}

// holidayOf returns the days of an event.
func holidayOf(e *ics.VEvent) ([]oncall.Date, error) {
	if p := e.GetProperty(ics.ComponentPropertyStatus); p != nil && p.Value == string(ics.ObjectStatusCancelled) {
		return nil, nil
	}
	first, end, err := holidayDays(e)
	if err != nil {
		return nil, err
	}
	length := end - first
	if length > maxHoliday {
		return nil, fault.Invalidf("body",
			"it covers %d days, at most %d are allowed: give a longer holiday as several events", length, maxHoliday)
	}
	starts := []oncall.Date{first}
	if p := e.GetProperty(ics.ComponentPropertyRrule); p != nil {
		from := first.Local().Time()
		if y := time.Now().UTC().AddDate(-2, 0, 0); y.After(from) {
			from = y
		}
		again := scheduling.Recurring{Zone: time.UTC, Start: first.Local(),
			Length: time.Duration(length) * 24 * time.Hour, Rule: p.Value}
		found, err := again.Between(from, from.AddDate(yearsAhead, 0, 0))
		if err != nil {
			return nil, fault.Invalidf("body", "RRULE: %s; correct it, or give each day as an event of its own",
				fault.Public(err))
		}
		starts = starts[:0]
		for _, a := range found {
			starts = append(starts, oncall.DateOf(a.Start))
		}
	}
	more, err := listedDays(e, ics.ComponentPropertyRdate)
	if err != nil {
		return nil, err
	}
	less, err := listedDays(e, ics.ComponentPropertyExdate)
	if err != nil {
		return nil, err
	}
	var out []oncall.Date
	for _, start := range append(starts, more...) {
		for d := start; d < start+length && !slices.Contains(less, start); d++ {
			out = append(out, d)
		}
	}
	return out, nil
}

// listedDays returns the days of RDATE or EXDATE. It ignores the time of day.
func listedDays(e *ics.VEvent, name ics.ComponentProperty) ([]oncall.Date, error) {
	var out []oncall.Date
	for _, p := range e.GetProperties(name) {
		for _, one := range strings.Split(p.Value, ",") {
			each := *p
			each.Value = strings.TrimSpace(one)
			day, ok := dayOf(&each)
			if !ok {
				return nil, fault.Invalidf("body", "%s: %.60q is no date like 20261225", name, one)
			}
			if out = append(out, day); len(out) > 1000 {
				return nil, fault.Invalidf("body", "%s names more than 1000 days; leave some out", name)
			}
		}
	}
	return out, nil
}

// holidayDays returns the first day of an event and the day after its last one, in the event's own time zone.
func holidayDays(e *ics.VEvent) (first, end oncall.Date, err error) {
	p := e.GetProperty(ics.ComponentPropertyDtStart)
	if p == nil {
		return 0, 0, fault.Invalidf("body", "it has no DTSTART; give one, such as DTSTART;VALUE=DATE:20261225")
	}
	start, ok := dayOf(p)
	if !ok {
		return 0, 0, fault.Invalidf("body", "DTSTART: %.60q is no date; give one, such as DTSTART;VALUE=DATE:20261225",
			p.Value)
	}
	p = e.GetProperty(ics.ComponentPropertyDtEnd)
	if p == nil {
		return start, start + 1, nil
	}
	last, ok := dayOf(p)
	if !ok {
		return 0, 0, fault.Invalidf("body",
			"DTEND: %.60q is no date; leave it out for one day, or give the day after the last one", p.Value)
	}
	if last <= start {
		return start, start + 1, nil
	}
	if _, clock, timed := strings.Cut(p.Value, "T"); timed && !strings.HasPrefix(clock, "000000") {
		last++ // an event that ends during a day covers that day, too
	}
	return start, last, nil
}

func dayOf(p *ics.IANAProperty) (oncall.Date, bool) {
	if p == nil || len(p.Value) < len("20060102") {
		return 0, false
	}
	t, err := time.Parse("20060102", p.Value[:8])
	if err != nil {
		return 0, false
	}
	return oncall.DateOf(t), true
}
