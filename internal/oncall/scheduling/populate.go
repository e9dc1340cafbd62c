package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Populate makes the shifts of a schedule from start until its threshold, and replaces those that it made before
// (docs/reference/oncall-v0.md 5.5). It keeps shifts that were changed by hand, and makes the new ones around them. A
// preview is Populate and Changes.Apply, without storing. A start in the past is a fault with the wire's text.
func Populate(now time.Time, s Schedule, start time.Time, known Calendars) (Result, error) {
	if s.Algorithm == ByRotation {
		return s.populateTurns(now, start, known), nil
	}
	if s.Algorithm == RoundRobin {
		s.Progress.LastUser = 0
	}
	result := Result{Schedule: s.ID, Progress: s.Progress}
	if len(s.Pattern) == 0 {
		return result, nil
	}
	sunday, err := s.firstSunday(now, start)
	if err != nil {
		return Result{}, err
	}
	made := s.periodsFrom(sunday, now)
	var periods []period
	for _, p := range made {
		if p = p.from(start); len(p.slots) > 0 {
			periods = append(periods, p)
		}
	}
	if len(periods) == 0 {
		return result, nil
	}
	b := newWorkingCalendar(known)
	s.replace(b, periods[0].slots[0].Start, &result)
	for _, p := range periods {
		s.fill(b, p, &result)
	}
	result.Progress.LastUser = s.Progress.LastUser
	result.Progress.Last = made[len(made)-1].sunday.In(s.Zone)
	result.Progress.Unfilled = s.remember(now, sunday, &result)
	result.settle()
	return result, nil
}

// settle removes from the result shifts that it would delete and make again unchanged. They keep their ids, so that
// feeds and links stay valid, and nobody gets a notice.
func (p *Result) settle() {
	gone := groups(p.Delete)
	again := groups(p.Add)
	for key := range again {
		if _, ok := gone[key]; !ok {
			delete(again, key)
		}
	}
	if len(again) == 0 {
		return
	}
	stays := func(all map[string][]oncall.Shift) func(oncall.Shift) bool {
		kept := map[exactKey]users.ID{}
		for key := range again {
			for _, s := range all[key] {
				kept[exactly(s)] = s.User
			}
		}
		return func(s oncall.Shift) bool { return kept[exactly(s)] == s.User }
	}
	p.Delete = slices.DeleteFunc(p.Delete, stays(gone))
	stay := stays(again)
	p.Add = slices.DeleteFunc(p.Add, stay)
	p.Notices = slices.DeleteFunc(p.Notices, func(n oncall.Notice) bool {
		return n.Kind == oncall.ShiftCreated &&
			stay(n.Shifts[0])
	})
}

// groups gathers linked shifts, by person, role and times.
func groups(shifts []oncall.Shift) map[string][]oncall.Shift {
	links := map[string][]oncall.Shift{}
	for i, s := range oncall.SortedShifts(shifts) {
		link := s.Link
		if link == "" {
			link = strconv.Itoa(i)
		}
		links[link] = append(links[link], s)
	}
	out := map[string][]oncall.Shift{}
	for _, list := range links {
		var key strings.Builder
		for _, s := range list {
			fmt.Fprintf(&key, "%d %s %d %d %s\n", s.User, s.Role, s.Start.Unix(), s.End.Unix(), s.Note)
		}
		out[key.String()] = list
	}
	return out
}

// CheckStart returns the fault of Populate for a start in the past.
func (s Schedule) CheckStart(now, start time.Time) error {
	if s.Algorithm == ByRotation || len(s.Pattern) == 0 {
		return nil
	}
	_, err := s.firstSunday(now, start)
	return err
}

// firstSunday returns the first period's beginning (docs/reference/oncall-v0.md 5.5).
func (s *Schedule) firstSunday(now, start time.Time) (oncall.Local, error) {
	sunday := oncall.LocalIn(start, time.UTC).Sunday()
	first := slices.MinFunc(s.Pattern, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) }).Start
	handOff := func() time.Time { return (sunday + oncall.Local(first/time.Second)).In(s.Zone) }
	if start.After(handOff()) {
		sunday += s.step()
	}
	if handOff().Before(now) {
		return 0, fault.Titled("Invalid populate/preview request", "cannot populate/preview starting in the past")
	}
	return sunday, nil
}

// replace plans to delete the schedule's shifts from a time on, without those that were changed by hand.
func (s *Schedule) replace(b *workingCalendar, from time.Time, result *Result) {
	for _, old := range b.of(func(x oncall.Shift) bool {
		return x.End.After(from) && (x.Schedule == s.ID || x.Covers == s.ID) && s.ID != 0
	}) {
		switch {
		case old.BlocksSchedule(s.ID):
			result.Kept = append(result.Kept, old)
		case !old.Start.Before(from):
			result.Delete = append(result.Delete, old)
		}
	}
	b.remove(result.Delete)
}

// remember returns the periods to be tried again: earlier ones that were not made now, those that a populate from
// sunday skipped, and those that stayed unfilled. For a schedule that was never populated, all periods from now on
// count as skipped.
func (s *Schedule) remember(now time.Time, sunday oncall.Local, result *Result) []time.Time {
	at := sunday.In(s.Zone)
	var out []time.Time
	for _, t := range s.Progress.Unfilled {
		if t.Before(at) {
			out = append(out, t)
		}
	}
	step := s.step()
	if s.Progress.Last.IsZero() {
		// A new schedule also covers the time until its first hand-off (docs/reference/oncall-v0.md 5.2).
		for next := sunday - step; s.periodAt(next).end().After(now); next -= step {
			out = append(out, next.In(s.Zone))
		}
	} else {
		for next := closestSunday(s.Progress.Last, s.Zone) + step; next < sunday; next += step {
			out = append(out, next.In(s.Zone))
		}
	}
	for _, u := range result.Unfilled {
		out = append(out, u.Period)
	}
	return distinct(out)
}

func distinct(times []time.Time) []time.Time {
	slices.SortFunc(times, time.Time.Compare)
	return slices.CompactFunc(times, time.Time.Equal)
}

// Fill makes the missing shifts of a team's schedules until their thresholds (docs/reference/oncall-v0.md 5.2): new
// periods, and those that nobody could take so far. It replaces nothing. It returns one result for each schedule, in
// the order given. All schedules are of one team.
func Fill(now time.Time, schedules []Schedule, known Calendars) []Result {
	b := newWorkingCalendar(known)
	plans := make([]Result, len(schedules))
	var jobs []job
	for i := range schedules {
		s := schedules[i]
		plans[i] = Result{Schedule: s.ID, Progress: s.Progress}
		switch {
		case s.Threshold <= 0:
			plans[i].Progress.Last = now
		case s.Algorithm == ByRotation:
			jobs = append(jobs, job{at: s.turnsFrom(now), of: i, schedule: &s})
		default:
			jobs = append(jobs, s.jobs(now, i, b, &plans[i])...)
		}
	}
	slices.SortStableFunc(jobs, func(x, y job) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.schedule.RoleOrder, y.schedule.RoleOrder))
	})
	for _, j := range jobs {
		if j.schedule.Algorithm == ByRotation {
			j.schedule.extendTurns(now, b, &plans[j.of])
			continue
		}
		j.schedule.fill(b, j.period, &plans[j.of])
		plans[j.of].Progress.LastUser = j.schedule.Progress.LastUser
	}
	for i := range plans {
		if schedules[i].Algorithm != ByRotation {
			for _, u := range plans[i].Unfilled {
				plans[i].Progress.Unfilled = append(plans[i].Progress.Unfilled, u.Period)
			}
			plans[i].Progress.Unfilled = distinct(plans[i].Progress.Unfilled)
		}
	}
	return plans
}

// job is one period to fill, of schedules[of].
type job struct {
	at       time.Time
	of       int
	schedule *Schedule
	period   period
}

// jobs returns the periods of a weekly schedule to fill. It sets result.Progress.Last as it is
// after filling them, and clears result.Progress.Unfilled, which Fill sets again.
func (s *Schedule) jobs(now time.Time, of int, b *workingCalendar, result *Result) []job {
	var out []job
	if len(s.Pattern) == 0 {
		return nil
	}
	result.Progress.Unfilled = nil
	missing := s.missing(now)
	unfilled := s.Progress.Unfilled
	if s.Progress.Last.IsZero() {
		// Before the first hand-off of a new schedule somebody is on call, too (docs/reference/oncall-v0.md 5.2).
		unfilled = append(slices.Clip(unfilled), (oncall.LocalIn(now, s.Zone).Sunday() - s.step()).In(s.Zone))
	}
	for _, t := range unfilled {
		if p := s.again(now, t, b); len(p.slots) > 0 {
			out = append(out, job{p.slots[0].Start, of, s, p})
		}
	}
	for _, p := range missing {
		if len(p.slots) > 0 {
			out = append(out, job{p.slots[0].Start, of, s, p})
		}
		result.Progress.Last = p.sunday.In(s.Zone)
	}
	return out
}

// again returns the part of an unfilled period that is left to fill: without the past, and without what other shifts
// cover by now.
func (s *Schedule) again(now, at time.Time, b *workingCalendar) period {
	p := s.periodAt(closestSunday(at, s.Zone))
	now = now.Truncate(time.Second)
	held := heldSpans(b.of(func(x oncall.Shift) bool {
		same := x.HandMade() || x.Schedule == s.ID || s.Algorithm == Default
		return same && x.TeamID == s.TeamID && x.Role == s.Role && x.End.After(now)
	}))
	var slots []oncall.Span
	for _, slot := range p.slots {
		if slot.Start = clock.Later(slot.Start, now); slot.Start.Before(slot.End) {
			slots = append(slots, slot.Without(held)...)
		}
	}
	p.slots = slots
	return p
}
