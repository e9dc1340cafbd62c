package oncallapi

import (
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/teambition/rrule-go"

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
	option, err := rrule.StrToROption(strings.TrimPrefix(p.Value, "RRULE:"))
	if err != nil || option.Freq != rrule.YEARLY {
		return []oncall.Date{d}
	}
	start := first.Local().Time()
	option.Dtstart = start
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return []oncall.Date{d}
	}
	from := start
	if y := time.Now().UTC().AddDate(-2, 0, 0); y.After(from) {
		from = y
	}
	out := []oncall.Date{}
	for _, t := range rule.Between(from, from.AddDate(yearsAhead, 0, 0), true) {
		out = append(out, oncall.DateOf(t)+(d-first))
	}
	return out
}
