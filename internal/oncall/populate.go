package oncall

import "time"

// Populate makes the shifts of a schedule from start until its threshold, in the place of those it made before (contract
// 5.5). Shifts that somebody changed by hand stay, and the new ones go around them. A preview is Populate and
// Changes.Apply without storing anything. The fault is the contract's: a start in the past.
func Populate(now time.Time, s Schedule, start time.Time, known Calendars) (Plan, error) {
	panic("being written")
}

// Fill makes what is missing of a team's schedules until their thresholds (contract 5.2): new periods, and those that nobody
// could take so far. It replaces nothing. One plan for each schedule, in the order given.
func Fill(now time.Time, schedules []Schedule, known Calendars) []Plan {
	panic("being written")
}

// Check returns an Invalid fault if a schedule cannot be made into shifts; field names are those of the wire.
func (s Schedule) Check() error { panic("being written") }

// MergeSlots sorts a pattern and merges slots that follow each other without a gap (contract 4.4).
func MergeSlots(pattern []Slot) []Slot { panic("being written") }

// SimplePattern reports whether a pattern is one of Oncall's basic mode: one slot of 7 or 14 days, or 7 or 14 of 12 hours.
// Before merging.
func SimplePattern(pattern []Slot) bool { panic("being written") }
