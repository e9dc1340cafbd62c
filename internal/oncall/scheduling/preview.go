package scheduling

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// Bounds of a preview, which anybody may ask for who may read.
const (
	// MaxPreview is how long the stretch is that one preview shows.
	MaxPreview = 400 * 24 * time.Hour
	// maxForeseen is how many shifts a preview makes to show some of them.
	maxForeseen = 5000
)

// draftID is the number of a schedule that is not stored yet. No stored one has it.
const draftID oncall.ScheduleID = -1

// Preview returns what comes of saving a schedule. A draft without a number is new: processors fill it from now on, also the time
// until its first hand-off (docs/reference/oncall-v0.md 5.2). One with a number is populated from start on, in the place of what it made before, and
// processors fill what that leaves open. It is the work of Populate and Fill, and nothing is stored. Cut the schedule with Until
// first.
func Preview(now time.Time, s Schedule, start time.Time, known Calendars) (Result, error) {
	if s.ID == 0 {
		s.ID = draftID
		plan := Fill(now, []Schedule{s}, known)[0]
		plan.Schedule = 0
		for i := range plan.Add {
			plan.Add[i].Schedule = 0
		}
		for i := range plan.Unfilled {
			plan.Unfilled[i].Schedule = 0
		}
		return plan, nil
	}
	plan, err := Populate(now, s, start, known)
	if err != nil {
		return Result{}, err
	}
	s.Progress = plan.Progress
	known.Shifts = numbered(plan.Apply(known.Shifts))
	filled := Fill(now, []Schedule{s}, known)[0]
	plan.Add = append(plan.Add, filled.Add...)
	oncall.SortShifts(plan.Add)
	plan.Notices = append(plan.Notices, filled.Notices...)
	if s.Threshold > 0 {
		plan.Unfilled = filled.Unfilled // it has tried again what populate could not fill
	}
	plan.Progress = filled.Progress
	return plan, nil
}

// numbered gives the shifts that are not stored numbers of their own, because draftCalendar identifies shifts by number.
func numbered(shifts []oncall.Shift) []oncall.Shift {
	shifts = slices.Clone(shifts)
	for i := range shifts {
		if shifts[i].ID == 0 {
			shifts[i].ID = oncall.ShiftID(-1 - i)
		}
	}
	return shifts
}

// Until returns the schedule cut to what a preview of [from, until) must make, as if it reached that far by now. A stored one
// may be kept to what it reaches: ahead is false then. A stretch that is too long, or too many shifts, is an Invalid fault for the
// field "end".
func (s Schedule) Until(now, from, until time.Time, ahead bool) (Schedule, error) {
	const aDay = 24 * time.Hour
	if until.Sub(from) > MaxPreview {
		return s, fault.Invalidf("end", "a preview shows at most %d days at once", MaxPreview/aDay)
	}
	if s.Threshold <= 0 {
		return s, nil
	}
	// Two days more: thresholds are compared on clocks of other zones.
	days := max(1, int(min(until.Sub(now), 10*MaxPreview)/aDay)+2)
	if !ahead {
		days = min(days, s.Threshold)
	}
	s.Threshold = days
	if s.shiftsWithin(time.Duration(days)*aDay) > maxForeseen {
		return s, fault.Invalidf("end", "this schedule makes more than %d shifts until then; let the preview end earlier", maxForeseen)
	}
	return s, nil
}

// shiftsWithin returns about how many shifts the schedule makes in a time from now on, rather too many than too few.
func (s Schedule) shiftsWithin(d time.Duration) int {
	if s.Algorithm != ByRotation || s.Rotation == nil {
		return len(s.Pattern) * (int(d/(time.Duration(s.step())*time.Second)) + 2)
	}
	n := 0
	for _, l := range s.Rotation.Layers {
		n += int(d/l.turnLength()) + 2
		if len(l.Restrict) > 0 {
			n += (int(d/(24*time.Hour)) + 2) * len(l.Restrict)
		}
	}
	return n
}

// turnLength is about how long a turn lasts, rather too short than too long.
func (l Layer) turnLength() time.Duration {
	const aDay = 24 * time.Hour
	every := time.Duration(max(1, l.Every))
	switch l.Unit {
	case Hours:
		return every * time.Hour
	case Weeks:
		return every * 7 * aDay
	case Months:
		return every * 28 * aDay
	case Days, BusinessDays:
	}
	return every * aDay / time.Duration(max(1, len(l.HandOffs)))
}
