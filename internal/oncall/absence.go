package oncall

import (
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Recurring is a person's regular unavailability, such as every Tuesday evening: an RFC 5545 rule on the person's clock.
type Recurring struct {
	User   users.ID
	Zone   *time.Location
	Start  Local // the first time
	Length time.Duration
	Rule   string // e.g. FREQ=WEEKLY;BYDAY=TU; "" = once
	Reason string
}

const (
	maxAbsence = 366 * 24 * time.Hour
	// maxTimes bounds how many absences one look at a rule gives.
	maxTimes = 10_000
	maxRule  = 500 // bytes
)

// Check returns an Invalid fault if the rule cannot be used.
func (r Recurring) Check() error {
	if r.Length <= 0 || r.Length > maxAbsence {
		return fault.Invalidf("length", "an unavailability lasts longer than nothing and at most 366 days")
	}
	if year := r.Start.Time().Year(); year < 1990 || year > 2200 {
		return fault.Invalidf("start", "the start must be a date of our time")
	}
	if r.Rule == "" {
		return nil
	}
	if len(r.Rule) > maxRule {
		return fault.Invalidf("rule", "a rule has at most %d characters", maxRule)
	}
	option, err := r.option()
	if err != nil {
		return fault.Invalidf("rule", "the rule %.100q is not one of RFC 5545, such as FREQ=WEEKLY;BYDAY=TU", r.Rule)
	}
	// Once a day at most, which bounds the work of looking through a rule's times.
	if option.Freq > rrule.DAILY || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 {
		return fault.Invalidf("rule", "the rule may recur daily at most, at the time of day of its start")
	}
	// One that never happens is searched for until the year 9999 each time.
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return fault.Invalidf("rule", "the rule %.100q is not one of RFC 5545, such as FREQ=WEEKLY;BYDAY=TU", r.Rule)
	}
	if _, ok := rule.Iterator()(); !ok {
		return fault.Invalidf("rule", "the rule %.100q never happens", r.Rule)
	}
	return nil
}

// option reads the rule as one of a clock without a zone: wall-clock times stay what they are across every change of the
// clocks, and only what they mean is converted.
func (r Recurring) option() (*rrule.ROption, error) {
	option, err := rrule.StrToROption(strings.TrimPrefix(r.Rule, "RRULE:"))
	if err != nil {
		return nil, err
	}
	option.Dtstart = r.Start.Time()
	if !option.Until.IsZero() && strings.Contains(r.Rule, "Z") {
		option.Until = LocalIn(option.Until, r.Zone).Time()
	}
	return option, nil
}

// Between returns the absences that overlap [from, to), by start. It gives up, with an Invalid fault, on rules that it
// cannot read or that recur more than 10,000 times in there.
func (r Recurring) Between(from, to time.Time) ([]Absence, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	starts := []time.Time{r.Start.Time()}
	if r.Rule != "" {
		option, err := r.option()
		if err != nil {
			return nil, err
		}
		rule, err := rrule.NewRRule(*option)
		if err != nil {
			return nil, err
		}
		// A day more on both sides for the zone.
		first := LocalIn(from.Add(-r.Length), r.Zone).Time().Add(-24 * time.Hour)
		if starts, err = timesBetween(rule, first, LocalIn(to, r.Zone).Time().Add(24*time.Hour)); err != nil {
			return nil, err
		}
	}
	var out []Absence
	for _, at := range starts {
		start := LocalOf(at)
		a := Absence{User: r.User, Start: start.In(r.Zone), End: (start + Local(r.Length/time.Second)).In(r.Zone), Reason: r.Reason}
		if a.Start.Before(a.End) && a.Start.Before(to) && from.Before(a.End) {
			out = append(out, a)
		}
	}
	return out, nil
}

func timesBetween(rule *rrule.RRule, first, last time.Time) ([]time.Time, error) {
	var out []time.Time
	next := rule.Iterator()
	for at, ok := next(); ok && !at.After(last); at, ok = next() {
		if at.Before(first) {
			continue
		}
		if out = append(out, at); len(out) > maxTimes {
			return nil, fault.Invalidf("rule", "the rule recurs too often")
		}
	}
	return out, nil
}
