package scheduling

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Bounds of a schedule, so that no schedule makes the scheduler slow for the others.
const (
	maxThreshold = 3650
	maxAhead     = 731 // days, with a rotation: its turns may be as short as an hour
	maxLayers    = 20
	maxMembers   = 500
	maxEvery     = 1000
	maxWindows   = 100
	maxMade      = 20_000 // shifts up to the threshold: the longest list that is shown
)

// Check returns an Invalid fault if the schedule cannot be made into shifts. Fields of rotations are named like
// layers[0].every. A weekly pattern has the rules of the wire (docs/reference/oncall-v0.md 4) and those of
// checkPattern.
func (s Schedule) Check() error {
	if s.Threshold > maxThreshold {
		return fault.Invalidf("auto_populate_threshold", "populate at most %d days ahead", maxThreshold)
	}
	switch s.Algorithm {
	case Default, RoundRobin, NoSkipMatching, MultiTeam:
		if s.Rotation != nil {
			return fault.Invalidf("scheduler", "the scheduler %s works with events, not with a rotation", s.Algorithm)
		}
		if err := checkPattern(s.Pattern); err != nil {
			return err
		}
	case ByRotation:
		if s.Rotation == nil || len(s.Rotation.Layers) == 0 {
			return fault.Invalidf("layers", "a rotation needs at least one layer")
		}
		if s.Threshold > maxAhead {
			return fault.Invalidf("auto_populate_threshold", "populate a rotation at most %d days ahead", maxAhead)
		}
		if err := s.Rotation.Check(); err != nil {
			return err
		}
	default:
		return fault.Invalidf("scheduler", "the scheduler %.50q is not known", s.Algorithm)
	}
	if s.shiftsWithin(time.Duration(max(0, s.Threshold))*24*time.Hour) > maxMade {
		return fault.Invalidf("auto_populate_threshold",
			"this schedule makes more than %d shifts in %d days; populate fewer days ahead", maxMade, s.Threshold)
	}
	return nil
}

// checkPattern returns the wire's faults for slots without length (docs/reference/oncall-v0.md 4), and bounds patterns.
func checkPattern(pattern []Slot) error {
	const title = "invalid schedule"
	for _, s := range pattern {
		switch {
		case s.Duration < time.Second:
			return fault.Titled(title, "schedule event duration must be positive")
		case s.Start < 0 || s.Start > 53*week*time.Second || s.Duration > 53*week*time.Second:
			return fault.Titled(title, "schedule event must begin and end within a year")
		}
	}
	if len(pattern) > maxEvery {
		return fault.Titled(title, "a schedule has too many events")
	}
	return nil
}

// Check returns an Invalid fault that names the wrong layer and field.
func (r *Rotation) Check() error {
	if len(r.Layers) > maxLayers {
		return fault.Invalidf("layers", "a rotation has at most %d layers", maxLayers)
	}
	for i := range r.Layers {
		if err := r.Layers[i].check(fmt.Sprintf("layers[%d].", i)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Layer) check(at string) error {
	bad := func(field, format string, args ...any) error { return fault.Invalidf(at+field, format, args...) }
	switch {
	case !slices.Contains([]Unit{Hours, Days, Weeks, Months, BusinessDays}, l.Unit):
		return bad("unit", "the unit must be hours, days, weeks, months or business-days")
	case l.Every < 1 || l.Every > maxEvery:
		return bad("every", "a turn lasts from 1 to %d %s", maxEvery, l.Unit)
	case l.End != nil && *l.End <= l.Start:
		return bad("end", "the end must be after the start")
	case l.Start.Time().Year() < 1990 || l.Start.Time().Year() > 2200:
		return bad("start", "the start must be a date of our time")
	case len(l.Members) == 0 || len(l.Members) > maxMembers:
		return bad("members", "a layer has from 1 to %d members", maxMembers)
	case len(l.Restrict) > maxWindows:
		return bad("restrict", "a layer has at most %d windows", maxWindows)
	case !slices.Contains([]HolidayRule{"", KeepHolidays, SkipHolidays, OnlyHolidays}, l.Holidays):
		return bad("holidays", "holidays must be keep, skip or only")
	case l.Unit == BusinessDays && isWeekend(l.Start.Weekday()):
		return bad("start", "a rotation of business days starts on one")
	}
	for i, m := range l.Members {
		if m.User == 0 || (m.Joins != nil && m.Leaves != nil && *m.Leaves < *m.Joins) {
			return bad(fmt.Sprintf("members[%d]", i), "a member is a user who leaves, if ever, after joining")
		}
	}
	for i, w := range l.Restrict {
		if !timeOfDay(w.From) || w.From == 24*time.Hour || !timeOfDay(w.To) {
			return bad(fmt.Sprintf("restrict[%d]", i), "a window is from one time of day to another, in whole seconds")
		}
	}
	return l.checkHandOffs(bad)
}

func (l *Layer) checkHandOffs(bad func(field, format string, args ...any) error) error {
	if len(l.HandOffs) == 0 {
		return nil
	}
	if l.Unit != Days && l.Unit != BusinessDays {
		return bad("hand_offs", "several hand-offs a day need the unit days or business-days")
	}
	if l.Every != 1 && len(l.HandOffs) > 1 {
		return bad("every", "with several hand-offs a day, every must be 1")
	}
	for i, h := range l.HandOffs {
		if !timeOfDay(h) || h == 24*time.Hour || (i > 0 && h <= l.HandOffs[i-1]) {
			return bad("hand_offs", "hand-offs are different times of day, the earliest first")
		}
	}
	if !slices.Contains(l.HandOffs, time.Duration(l.Start-l.Start.Midnight())*time.Second) {
		return bad("start", "the start must be at one of the hand-offs")
	}
	return nil
}

func timeOfDay(d time.Duration) bool { return d >= 0 && d <= 24*time.Hour && d%time.Second == 0 }

func isWeekend(d time.Weekday) bool { return d == time.Saturday || d == time.Sunday }
