package pg

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// back is how long before the planned time shifts are read, so that every overlap is found. The last shift of each
// person before that is read as well.
const back = 35 * 24 * time.Hour

// Populate makes the shifts of a schedule from start on and deletes those that the schedule made for that time before.
// The audit log has the number of new shifts and lists the deleted and the kept ones. A fault of the domain, such as a
// start in the past, is returned unchanged.
func (s *Schedules) Populate(ctx context.Context, id oncall.ScheduleID, start time.Time, by oncall.By) (scheduling.Result, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (plan scheduling.Result, err error) {
		stored, err := scheduleOf(ctx, q, id)
		if err != nil {
			return plan, err
		}
		if _, err := q.LockTeam(ctx, stored.TeamID); err != nil {
			return plan, err
		}
		if plan, err = s.planFor(ctx, q, id, start); err != nil {
			return plan, err
		}
		if plan, err = storePlan(ctx, q, plan); err != nil {
			return plan, err
		}
		if err := q.TeamDue(ctx, stored.TeamID); err != nil { // its unfilled slots are filled next
			return plan, err
		}
		deleted, err := namedFacts(ctx, q, plan.Delete)
		if err != nil {
			return plan, err
		}
		kept, err := namedFacts(ctx, q, plan.Kept)
		if err != nil {
			return plan, err
		}
		return plan, auditSchedule(ctx, q, by, int64(id), stored.TeamID, "schedule_populated", map[string]any{
			"start": start.Unix(), "created": len(plan.Add), "deleted": deleted, "kept": kept, "unfilled": unfilledFacts(plan.Unfilled),
		})
	})
}

// Preview returns the changes that Populate would make within the window, and the calendars that it read. It writes
// nothing. A window that is too long is a fault of the domain for the field "end".
func (s *Schedules) Preview(ctx context.Context, id oncall.ScheduleID, start time.Time, window oncall.Span) (scheduling.Result, scheduling.Calendars, error) {
	var plan scheduling.Result
	var known scheduling.Calendars
	err := s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		stored, now, err := toPlan(ctx, q, id, start)
		if err != nil {
			return err
		}
		shown := window.Start
		if shown.Before(start) { // many clients send the beginning of time; no shift is made before start
			shown = start
		}
		cut, err := stored.Until(now, shown, window.End, false)
		if err != nil {
			return err
		}
		if known, err = s.calendarsFor(ctx, q, now, notBefore(now, earliest(start, window.Start)), cut); err != nil {
			return err
		}
		plan, err = scheduling.Populate(now, cut, start, known)
		return err
	})
	return plan, known, err
}

// Rehearse returns the changes that a draft of a schedule would make within the window: the shifts that Populate from
// start would make, and those that processors would then fill. If the draft has the number of a stored schedule, it
// replaces that one. It writes nothing.
func (s *Schedules) Rehearse(ctx context.Context, draft scheduling.Schedule, roster int64, start time.Time, window oncall.Span) (scheduling.Result, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (plan scheduling.Result, err error) {
		people, err := q.RosterPeople(ctx, []int64{roster})
		if err != nil {
			return plan, err
		}
		draft.Roster = nil
		for _, p := range people {
			draft.Roster = append(draft.Roster, scheduling.Member{User: p.UserID, InRotation: p.InRotation,
				Active: p.Active})
		}
		now, err := q.ServerClock(ctx)
		if err != nil {
			return plan, err
		}
		if draft, err = draft.Until(now, window.Start, window.End, true); err != nil {
			return plan, err
		}
		if err = draft.CheckStart(now, start); err != nil {
			return plan, err
		}
		known, err := s.calendarsFor(ctx, q, now, notBefore(now, start), draft)
		if err != nil {
			return plan, err
		}
		return scheduling.Preview(now, draft, start, known)
	})
}

// toPlan reads a schedule and the time of the database. It returns a fault for a start that Populate refuses.
func toPlan(ctx context.Context, q *db.Queries, id oncall.ScheduleID, start time.Time) (scheduling.Schedule, time.Time, error) {
	stored, err := scheduleOf(ctx, q, id)
	if err != nil {
		return scheduling.Schedule{}, time.Time{}, err
	}
	now, err := q.ServerClock(ctx)
	if err == nil {
		err = stored.CheckStart(now, start)
	}
	return stored.Schedule, now, err
}

func (s *Schedules) planFor(ctx context.Context, q *db.Queries, id oncall.ScheduleID, start time.Time) (scheduling.Result, error) {
	stored, now, err := toPlan(ctx, q, id, start)
	if err != nil {
		return scheduling.Result{}, err
	}
	known, err := s.calendarsFor(ctx, q, now, notBefore(now, start), stored)
	if err != nil {
		return scheduling.Result{}, err
	}
	return scheduling.Populate(now, stored, start, known)
}

// Fill makes the missing shifts of a team's schedules. It is fenced by the lease of the team's bucket. Slots that
// nobody can take are returned as unfilled.
func (s *Schedules) Fill(ctx context.Context, processID string, lease buckets.Lease, team int64) ([]scheduling.Result, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (plans []scheduling.Result, err error) {
		if err := pgbuckets.Fence(ctx, q, processID, []buckets.Lease{lease}); err != nil {
			return plans, err
		}
		if _, err := q.LockTeam(ctx, team); err != nil {
			return plans, err
		}
		stored, err := schedulesOf(ctx, q, db.SchedulesParams{TeamIds: []int64{team}})
		if err != nil {
			return plans, err
		}
		now, err := q.ServerClock(ctx)
		if err != nil {
			return plans, err
		}
		schedules, from := make([]scheduling.Schedule, len(stored)), now
		for i, st := range stored {
			schedules[i] = st.Schedule
			if last := st.Progress.Last; !last.IsZero() {
				from = earliest(from, last)
			}
		}
		known, err := s.calendarsFor(ctx, q, now, from, schedules...)
		if err != nil {
			return plans, err
		}
		plans = scheduling.Fill(now, schedules, known)
		for i := range plans {
			if plans[i], err = storePlan(ctx, q, plans[i]); err != nil {
				return plans, err
			}
			if plans[i].Empty() {
				continue
			}
			err := auditSchedule(ctx, q, oncall.By{Owner: "scheduler"}, int64(plans[i].Schedule), team,
				"schedule_filled",
				map[string]any{"created": len(plans[i].Add)})
			if err != nil {
				return plans, err
			}
		}
		return plans, q.TeamPopulated(ctx, db.TeamPopulatedParams{TeamID: team})
	})
}

// Failed stores that filling a team's calendar failed, so that other teams are filled before it is retried.
func (s *Schedules) Failed(ctx context.Context, team int64, problem string) error {
	return postgres.Exec(ctx, s.db, (*db.Queries).TeamPopulated,
		db.TeamPopulatedParams{TeamID: team, Problem: postgres.Storable(problem)})
}

// Due lists the active teams of the buckets whose schedules were not filled for the given time, longest waiting first.
func (s *Schedules) Due(ctx context.Context, bs []int, every time.Duration, limit int) ([]oncall.TeamName, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).TeamsToPopulate, db.TeamsToPopulateParams{
		Buckets: postgres.NonNil(bs), EverySeconds: every.Seconds(), MaxRows: limit,
	})
	return postgres.Convert(rows, func(r db.TeamsToPopulateRow) oncall.TeamName {
		return oncall.TeamName{ID: r.ID, Name: r.Name, Active: true}
	}), err
}

func storePlan(ctx context.Context, q *db.Queries, plan scheduling.Result) (scheduling.Result, error) {
	var err error
	if plan.Changes, err = store(ctx, q, plan.Changes); err != nil {
		return plan, err
	}
	p := db.SetScheduleProgressParams{ID: plan.Schedule, Unfilled: postgres.NonNil(plan.Progress.Unfilled),
		LastUserID: postgres.NullID(plan.Progress.LastUser)}
	if !plan.Progress.Last.IsZero() {
		p.LastEpochAt = &plan.Progress.Last
	}
	return plan, q.SetScheduleProgress(ctx, p)
}

// calendarsFor reads the data with which a team's schedules are planned from an instant on. An unavailability that
// cannot be computed is logged and left out: its person may get a shift at that time, and the calendars of all others
// are still filled (promise P7).
func (s *Schedules) calendarsFor(ctx context.Context, q *db.Queries, now, from time.Time, schedules ...scheduling.Schedule) (scheduling.Calendars, error) {
	known := scheduling.Calendars{NewLink: newLink, Holidays: map[oncall.Date]bool{}}
	if len(schedules) == 0 {
		return known, nil
	}
	team := schedules[0].TeamID
	people, threshold := map[users.ID]bool{}, 0
	for _, plan := range schedules {
		threshold = max(threshold, plan.Threshold)
		for _, id := range peopleOf(plan) {
			people[id] = true
		}
	}
	ids := postgres.Numbers(slices.Sorted(maps.Keys(people)))
	start := from.Add(-back)
	until := time.Unix(farthest, 0)
	rows, err := q.ShiftsAround(ctx, db.ShiftsAroundParams{WindowStart: start, WindowEnd: until, TeamID: team,
		UserIds: ids})
	if err != nil {
		return known, fmt.Errorf("read shifts: %w", err)
	}
	for _, r := range rows {
		known.Shifts = append(known.Shifts, shiftOf(db.ChosenShiftsRow(r)))
	}
	if err := lastOnes(ctx, q, &known, team, start, schedules); err != nil {
		return known, err
	}
	subscriptions, err := q.CalendarSubscriptions(ctx, []int64{team})
	if err != nil {
		return known, err
	}
	for _, b := range subscriptions {
		known.Subscribed = append(known.Subscribed, oncall.TeamRole{TeamID: b.SubscriptionID, Role: b.Role})
	}
	holidays, err := q.Holidays(ctx, team)
	if err != nil {
		return known, err
	}
	for _, h := range holidays {
		known.Holidays[oncall.DateOf(h.Day.Time)] = true
	}
	absent, err := absencesOf(ctx, q, ids)
	if err != nil {
		return known, err
	}
	for _, a := range absent {
		if !a.CountsIn(team) {
			continue
		}
		spans, err := a.Between(start, now.AddDate(0, 0, threshold+400))
		if err != nil {
			s.db.Log().Error("an unavailability cannot be worked out, shifts are planned without it",
				zap.Int64("unavailability", a.ID),
				zap.Int64("user_id", int64(a.User)), zap.Int64("team_id", team), zap.Error(err))
			continue
		}
		known.Absences = append(known.Absences, spans...)
	}
	return known, nil
}

// lastOnes adds the last shift of each person before start in the roles of the schedules.
func lastOnes(ctx context.Context, q *db.Queries, known *scheduling.Calendars, team int64, start time.Time, schedules []scheduling.Schedule) error {
	done := map[string]bool{}
	for _, s := range schedules {
		if done[s.Role] {
			continue
		}
		done[s.Role] = true
		last, err := q.LastShifts(ctx, db.LastShiftsParams{TeamID: team, Role: s.Role, Before: start})
		if err != nil {
			return fmt.Errorf("read last shifts: %w", err)
		}
		for _, r := range last {
			known.Shifts = append(known.Shifts, shiftOf(db.ChosenShiftsRow(r)))
		}
	}
	return nil
}

func peopleOf(s scheduling.Schedule) []users.ID {
	var out []users.ID
	for _, m := range s.Roster {
		out = append(out, m.User)
	}
	if s.Rotation != nil {
		for _, l := range s.Rotation.Layers {
			for _, m := range l.Members {
				out = append(out, m.User)
			}
		}
	}
	return out
}

func absencesOf(ctx context.Context, q *db.Queries, ids []int64) ([]scheduling.StoredAbsence, error) {
	rows, err := q.TeamAbsences(ctx, postgres.NonNil(ids))
	return postgres.Convert(rows, func(r db.TeamAbsencesRow) scheduling.StoredAbsence { return absenceOf(db.AbsenceRow(r)) }), err
}

func absenceOf(r db.AbsenceRow) scheduling.StoredAbsence {
	loc := postgres.Location(r.TimeZone)
	return scheduling.StoredAbsence{ID: r.ID, UserName: r.UserName, TeamID: r.TeamID, SetBy: r.SetBy, Subscription: r.SubscriptionID, Recurring: scheduling.Recurring{
		User: r.UserID, Zone: loc, Start: oncall.LocalIn(r.StartsAt, loc), Length: scheduling.Lasts(r.StartsAt,
			r.EndsAt, loc), Rule: r.Rule, Reason: r.Note,
	}}
}

// notBefore returns the instant from which shifts are planned: the earlier of now and start, but at most three years
// before now.
func notBefore(now, start time.Time) time.Time {
	if years := now.AddDate(-3, 0, 0); start.Before(years) {
		return years
	}
	return earliest(now, start)
}

func earliest(a, b time.Time) time.Time {
	return slices.MinFunc([]time.Time{a, b}, time.Time.Compare)
}

// namedFacts formats shifts for the audit log.
func namedFacts(ctx context.Context, q *db.Queries, shifts []oncall.Shift) ([]map[string]any, error) {
	out := make([]map[string]any, len(shifts))
	if len(shifts) == 0 {
		return out, nil
	}
	ids := postgres.Convert(shifts, func(s oncall.Shift) int64 { return int64(s.User) })
	people, err := q.DirectoryUsers(ctx, ids)
	names := map[int64]string{}
	for _, p := range people {
		names[int64(p.ID)] = p.Name
	}
	for i, s := range shifts {
		out[i] = map[string]any{"role": s.Role, "user": names[int64(s.User)], "start": s.Start.Unix(),
			"end": s.End.Unix()}
	}
	return out, err
}

func unfilledFacts(slots []scheduling.Unfilled) []map[string]any {
	return postgres.Convert(slots, func(u scheduling.Unfilled) map[string]any {
		return map[string]any{"start": u.Start.Unix(), "end": u.End.Unix(), "why": u.Why}
	})
}
