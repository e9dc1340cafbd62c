package scheduling

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// Bounds of a preview, which everybody with read access may request.
const (
	// maxPreview is the longest range of one preview.
	maxPreview = 400 * 24 * time.Hour
	// maxForeseen is how many shifts a preview makes at most.
	maxForeseen = 5000
)

// draftID is the id of a schedule that is not stored yet. No stored schedule has it.
const draftID oncall.ScheduleID = -1

// Preview returns the result of saving a schedule. A draft without an id is new: it is filled from now on, also before
// its first hand-off (docs/reference/oncall-v0.md 5.2). A draft with an id is populated from start on, replaces its
// former shifts, and is then filled. Preview is Populate and Fill without storing. Cut the schedule with Until first.
func Preview(now time.Time, s Schedule, start time.Time, known Calendars) (Result, error) {
	if s.ID == 0 {
		s.ID = draftID
		result := Fill(now, []Schedule{s}, known)[0]
		result.Schedule = 0
		for i := range result.Add {
			result.Add[i].Schedule = 0
		}
		for i := range result.Unfilled {
			result.Unfilled[i].Schedule = 0
		}
		return result, nil
	}
	result, err := Populate(now, s, start, known)
	if err != nil {
		return Result{}, err
	}
	s.Progress = result.Progress
	known.Shifts = numbered(result.Apply(known.Shifts))
	filled := Fill(now, []Schedule{s}, known)[0]
	result.Add = append(result.Add, filled.Add...)
	oncall.SortShifts(result.Add)
	result.Notices = append(result.Notices, filled.Notices...)
	if s.Threshold > 0 {
		result.Unfilled = filled.Unfilled // it tried the unfilled periods of populate again
	}
	result.Progress = filled.Progress
	return result, nil
}

// numbered gives shifts that are not stored ids of their own, because workingCalendar identifies shifts by id.
func numbered(shifts []oncall.Shift) []oncall.Shift {
	shifts = slices.Clone(shifts)
	for i := range shifts {
		if shifts[i].ID == 0 {
			shifts[i].ID = oncall.ShiftID(-1 - i)
		}
	}
	return shifts
}

// Until returns the schedule cut to what a preview of [from, until) must make, as if its threshold were there. With
// ahead false, a stored schedule is not extended beyond its own threshold. A range that is too long, or too many
// shifts, is an Invalid fault of the field "end".
func (s Schedule) Until(now, from, until time.Time, ahead bool) (Schedule, error) {
	const aDay = 24 * time.Hour
	if until.Sub(from) > maxPreview {
		return s, fault.Invalidf("end", "a preview shows at most %d days at once", maxPreview/aDay)
	}
	if s.Threshold <= 0 {
		return s, nil
	}
	// Two more days: thresholds are compared on clocks of other zones.
	days := max(1, int(min(until.Sub(now), 10*maxPreview)/aDay)+2)
	if !ahead {
		days = min(days, s.Threshold)
	}
	s.Threshold = days
	if s.shiftsWithin(time.Duration(days)*aDay) > maxForeseen {
		return s, fault.Invalidf("end", "this schedule makes more than %d shifts until then; let the preview end earlier", maxForeseen)
	}
	return s, nil
}

// shiftsWithin estimates how many shifts the schedule makes in a time from now on. It never returns too few.
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

// turnLength estimates the length of a turn. It never returns too much.
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
