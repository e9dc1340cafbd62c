package scheduling

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/kit/fault"
	kitrecurrence "github.com/iris-oncall/iris/internal/kit/recurrence"
)

// recurrence is an RFC 5545 rule on a clock without a zone.
type recurrence struct{ option rrule.ROption }

// errRule refuses text that is not an RFC 5545 rule.
var errRule = errors.New("not an RFC 5545 rule")

// readRule parses a rule whose first occurrence is start. Times without a zone (UNTIL) are on start's clock; until
// converts those in UTC. It refuses rules that the library accepts but panics on.
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

// atMostDaily reports whether the rule recurs at most daily, at the time of day of its start.
func (r recurrence) atMostDaily() bool {
	return r.option.Freq <= rrule.DAILY && len(r.option.Byhour)+len(r.option.Byminute)+len(r.option.Bysecond) == 0
}

// until calls yield with each time that is not after last, in order, until yield returns false. A rule that the library
// cannot compute is an error, also if the library panics: a rule that a user enters must not end the process.
func (r recurrence) until(last time.Time, yield func(time.Time) bool) error {
	if err := r.each(last, yield); err != nil {
		return fmt.Errorf("%w: %w", errRule, err)
	}
	return nil
}

func (r recurrence) each(last time.Time, yield func(time.Time) bool) (err error) {
	defer fault.Recover(&err)
	option := r.option
	if !kitrecurrence.Possible(option) {
		return nil // the library would search centuries for an occurrence
	}
	if option.Until.IsZero() || option.Until.After(last) {
		option.Until = last
	}
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return err
	}
	next := rule.Iterator()
	for at, ok := next(); ok && yield(at); at, ok = next() {
	}
	return nil
}
