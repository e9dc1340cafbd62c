package oncallapi

import (
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/iris-oncall/iris/internal/oncall"
)

// yearsAhead is for how long recurring holidays are written out.
const yearsAhead = 20

// recurring returns the days that day d of an event stands for: itself, or all repetitions of the event that begins on first.
// A rule that cannot be read, or that repeats more often than yearly, stands for the day alone.
func recurring(e *ics.VEvent, first, d oncall.Date) []oncall.Date {
	p := e.GetProperty(ics.ComponentPropertyRrule)
	if p == nil {
		return []oncall.Date{d}
	}
	start := first.Local().Time()
	rule, err := oncall.ReadRule(p.Value, start, func(t time.Time) time.Time { return t })
	if err != nil || !rule.Yearly() {
		return []oncall.Date{d}
	}
	from := start
	if y := time.Now().UTC().AddDate(-2, 0, 0); y.After(from) {
		from = y
	}
	out := []oncall.Date{}
	err = rule.Until(from.AddDate(yearsAhead, 0, 0), func(t time.Time) bool {
		if !t.Before(from) {
			out = append(out, oncall.DateOf(t)+(d-first))
		}
		return len(out) <= maxHolidays
	})
	if err != nil {
		return []oncall.Date{d}
	}
	return out
}
