package scheduling

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// recurrence is how something recurs, as RFC 5545 writes it, on a clock without a zone.
type recurrence struct{ option rrule.ROption }

// errRule refuses what is no rule of RFC 5545.
var errRule = errors.New("no rule of RFC 5545")

// readRule reads a rule whose first time is start. Times without a zone of their own (UNTIL) are start's; those of UTC are converted
// by until. It refuses rules that the library accepts but panics on.
func readRule(text string, start time.Time, until func(time.Time) time.Time) (recurrence, error) {
	option, err := rrule.StrToROption(strings.TrimPrefix(text, "RRULE:"))
	if err != nil {
		return recurrence{}, fmt.Errorf("%w: %w", errRule, err)
	}
	most := 53 // weeks of a year
	if option.Freq == rrule.MONTHLY || len(option.Bymonth) > 0 {
		most = 5 // weeks of a month
	}
	for _, d := range option.Byweekday {
		if d.N() < -most || d.N() > most {
			return recurrence{}, fmt.Errorf("%w: no month or year has so many weeks", errRule)
		}
	}
	if len(option.Byeaster) > 0 {
		return recurrence{}, fmt.Errorf("%w: BYEASTER", errRule)
	}
	option.Dtstart = start
	if !option.Until.IsZero() && strings.Contains(text, "Z") {
		option.Until = until(option.Until)
	}
	if _, err := rrule.NewRRule(*option); err != nil {
		return recurrence{}, fmt.Errorf("%w: %w", errRule, err)
	}
	return recurrence{option: *option}, nil
}

// atMostDaily reports whether it recurs daily at most, at the time of day of its start.
func (r recurrence) atMostDaily() bool {
	return r.option.Freq <= rrule.DAILY && len(r.option.Byhour)+len(r.option.Byminute)+len(r.option.Bysecond) == 0
}

// until calls yield with each time that is not after last, in order, until it returns false. A rule that the library cannot work out
// after all is an error: no rule that somebody writes may end a process.
func (r recurrence) until(last time.Time, yield func(time.Time) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errRule, p)
		}
	}()
	option := r.option
	if option.Until.IsZero() || option.Until.After(last) {
		option.Until = last // or one that never happens again is searched for until the library gives up, centuries later
	}
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return fmt.Errorf("%w: %w", errRule, err)
	}
	next := rule.Iterator()
	for at, ok := next(); ok && yield(at); at, ok = next() {
	}
	return nil
}
