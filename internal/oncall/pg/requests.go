package pg

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Requests stores the unavailability of people, swap requests, and the holidays of teams. It is safe for concurrent
// use.
type Requests struct{ db *postgres.DB }

// NewRequests returns the adapter over d.
func NewRequests(d *postgres.DB) *Requests { return &Requests{db: d} }

// Absences lists the unavailability of people.
func (w *Requests) Absences(ctx context.Context, people []users.ID) ([]scheduling.StoredAbsence, error) {
	return postgres.Get(ctx, w.db, func(ctx context.Context, q *postgresdb.Queries) ([]scheduling.StoredAbsence, error) {
		return absencesOf(ctx, q, postgres.Numbers(people))
	})
}

// Absence returns one unavailability; a NotFound fault when there is none.
func (w *Requests) Absence(ctx context.Context, id int64) (scheduling.StoredAbsence, error) {
	r, err := postgres.Query(ctx, w.db, (*postgresdb.Queries).Absence, id)
	return absenceOf(r), err
}

// AddAbsence stores an unavailability of a person and returns its number. The caller has checked its recurrence rule.
func (w *Requests) AddAbsence(ctx context.Context, a scheduling.StoredAbsence) (int64, error) {
	start := a.Start.In(a.Zone)
	var id int64
	entry := audit.Entry{Actor: a.SetBy, Action: audit.UnavailabilityAdded}
	err := auditlog.Change(ctx, w.db, auditlog.User(a.User), entry, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		id, err = q.AddAbsence(ctx, postgresdb.AddAbsenceParams{UserID: a.User, StartsAt: start, EndsAt: a.End(),
			TimeZone: a.Zone.String(),
			Rule:     postgres.Storable(a.Rule), Note: postgres.Storable(a.Reason), TeamID: a.TeamID, SetBy: postgres.Storable(a.SetBy)})
		return err
	})
	return id, err
}

// DropAbsence deletes an unavailability; a NotFound fault when there is none.
func (w *Requests) DropAbsence(ctx context.Context, id int64) error {
	a, err := w.Absence(ctx, id)
	if err != nil {
		return err
	}
	entry := audit.Entry{Action: audit.UnavailabilityRemoved}
	return auditlog.Change(ctx, w.db, auditlog.User(a.User), entry, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.DeleteAbsence(ctx, id))
	})
}

// Holidays returns a team's holiday calendar; a NotFound fault when it has none.
func (w *Requests) Holidays(ctx context.Context, team int64) (scheduling.HolidayCalendar, error) {
	return postgres.Get(ctx, w.db, func(ctx context.Context, q *postgresdb.Queries) (out scheduling.HolidayCalendar, err error) {
		c, err := q.HolidayCalendar(ctx, team)
		if err != nil {
			return out, err
		}
		out = scheduling.HolidayCalendar{Source: c.Source, UploadedBy: c.UploadedBy, UploadedAt: c.UploadedAt, LeftOut: c.LeftOut}
		rows, err := q.Holidays(ctx, team)
		for _, h := range rows {
			out.Days = append(out.Days, scheduling.Holiday{Day: oncall.DateOf(h.Day.Time), Name: h.Name})
		}
		return out, err
	})
}

// SetHolidays stores a team's holiday calendar and replaces its previous one.
func (w *Requests) SetHolidays(ctx context.Context, team oncall.Profile, c scheduling.HolidayCalendar, by oncall.By) error {
	days, names := make([]pgtype.Date, len(c.Days)), make([]string, len(c.Days))
	for i, d := range c.Days {
		days[i], names[i] = pgtype.Date{Time: d.Day.Local().Time(), Valid: true}, postgres.Storable(d.Name)
	}
	return w.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		err := q.SetHolidayCalendar(ctx, postgresdb.SetHolidayCalendarParams{TeamID: team.ID,
			Source: postgres.Storable(c.Source), UploadedBy: postgres.Storable(by.Owner),
			LeftOut: postgres.NonNil(postgres.Convert(c.LeftOut, postgres.Storable))})
		if err != nil {
			return err
		}
		if err := q.ClearHolidays(ctx, team.ID); err != nil {
			return err
		}
		if err := q.SetHolidays(ctx, postgresdb.SetHolidaysParams{TeamID: team.ID, Days: days, Names: names}); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "holidays_edited", map[string]any{"days": len(days)})
	})
}

// DropHolidays deletes a team's holiday calendar; a NotFound fault when it has none.
func (w *Requests) DropHolidays(ctx context.Context, team oncall.Profile, by oncall.By) error {
	return w.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := postgres.RequireRow(q.DropHolidayCalendar(ctx, team.ID)); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "holidays_deleted", map[string]any{})
	})
}

// Swaps lists at most limit swap requests of a team, newest first: those with a number below before, or all if before
// is 0. It first ends those that have expired.
func (w *Requests) Swaps(ctx context.Context, team, before int64, limit int) ([]editing.NamedSwap, error) {
	if err := w.expire(ctx, team); err != nil {
		return nil, err
	}
	return postgres.Get(ctx, w.db, func(ctx context.Context, q *postgresdb.Queries) ([]editing.NamedSwap, error) {
		return swapsOf(ctx, q, postgresdb.SwapRequestsParams{TeamID: &team, Before: postgres.NullID(before),
			MaxRows: limit})
	})
}

// Swap returns one request; a NotFound fault when there is none.
func (w *Requests) Swap(ctx context.Context, id int64) (editing.NamedSwap, error) {
	return postgres.Get(ctx, w.db, func(ctx context.Context, q *postgresdb.Queries) (editing.NamedSwap, error) {
		return swapOf(ctx, q, id)
	})
}

func swapOf(ctx context.Context, q *postgresdb.Queries, id int64) (editing.NamedSwap, error) {
	return postgres.First(swapsOf(ctx, q, postgresdb.SwapRequestsParams{ID: &id, MaxRows: 1}))
}

func swapsOf(ctx context.Context, q *postgresdb.Queries, by postgresdb.SwapRequestsParams) ([]editing.NamedSwap, error) {
	rows, err := q.SwapRequests(ctx, by)
	return postgres.Convert(rows, func(r postgresdb.SwapRequestsRow) editing.NamedSwap {
		return editing.NamedSwap{
			SwapRequest: editing.SwapRequest{
				ID: r.ID, TeamID: r.TeamID, From: r.FromID, To: postgres.Deref(r.ToID),
				Give: postgres.IDs[oncall.ShiftID](r.Give), Take: postgres.IDs[oncall.ShiftID](r.Take), Note: r.Note,
				State: editing.RequestState(r.State), Created: r.CreatedAt.UTC(), Decided: postgres.Deref(r.DecidedAt).UTC(),
				DecidedBy: postgres.Deref(r.DecidedBy),
			},
			FromName: r.FromName, ToName: r.ToName, DecidedByName: r.DecidedByName,
		}
	}), err
}

// expire ends the open requests of a team that have expired, if there are any. It locks the team only then.
func (w *Requests) expire(ctx context.Context, team int64) error {
	over, err := postgres.Query(ctx, w.db, (*postgresdb.Queries).TeamsWithOverSwaps,
		postgresdb.TeamsWithOverSwapsParams{TeamID: &team, MaxRows: 1})
	if err != nil || len(over) == 0 {
		return err
	}
	return w.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error { return ExpireSwaps(ctx, q, team) })
}

// ExpireSwaps ends the open swap requests of a team that have expired because a shift began or changed, and queues
// notices for the people who asked. It runs in the caller's transaction.
func ExpireSwaps(ctx context.Context, q *postgresdb.Queries, team int64) error {
	if _, err := q.LockTeam(ctx, team); err != nil {
		return err
	}
	open, err := q.OpenSwapRequests(ctx, team)
	if err != nil || len(open) == 0 {
		return err
	}
	now, err := q.ServerClock(ctx)
	if err != nil {
		return err
	}
	for _, o := range open {
		r, err := swapOf(ctx, q, o.ID)
		if err != nil {
			return err
		}
		give, take, err := sides(ctx, q, r.SwapRequest)
		if err != nil {
			return err
		}
		if ended, over := r.Expire(now, give, take); over {
			if err := endSwap(ctx, q, ended, give, take); err != nil {
				return err
			}
		}
	}
	return nil
}

func sides(ctx context.Context, q *postgresdb.Queries, r editing.SwapRequest) (give, take []oncall.Shift, err error) {
	if give, err = shiftsByID(ctx, q, r.Give); err != nil {
		return nil, nil, err
	}
	take, err = shiftsByID(ctx, q, r.Take)
	return give, take, err
}

func shiftsByID(ctx context.Context, q *postgresdb.Queries, ids []oncall.ShiftID) ([]oncall.Shift, error) {
	rows, err := q.ChosenShifts(ctx, postgresdb.ChosenShiftsParams{Ids: postgres.Numbers(ids), Links: []string{}})
	return postgres.Convert(rows, shiftOf), err
}

// endSwap stores the end of an open request and queues its notices. The team must be locked.
func endSwap(ctx context.Context, q *postgresdb.Queries, r editing.SwapRequest, give, take []oncall.Shift) error {
	p := postgresdb.DecideSwapRequestParams{ID: r.ID, State: string(r.State), DecidedBy: postgres.NullID(r.DecidedBy),
		DecidedAt: postgres.NullTime(r.Decided)}
	if err := postgres.RequireRow(q.DecideSwapRequest(ctx, p)); err != nil {
		return err
	}
	return queueNotices(ctx, q, r.EndNotices(give, take))
}

// AskSwap stores a swap request and returns its number. Refusals are returned unchanged; the same open request twice is
// a Conflict.
func (w *Requests) AskSwap(ctx context.Context, n editing.NewSwapRequest, by oncall.By) (int64, error) {
	return postgres.GetInTx(ctx, w.db, func(ctx context.Context, q *postgresdb.Queries) (id int64, err error) {
		if _, err := q.LockTeam(ctx, n.TeamID); err != nil {
			return id, err
		}
		members, now, err := membersNow(ctx, q, n.TeamID)
		if err != nil {
			return id, err
		}
		giving, taking, err := sides(ctx, q, editing.SwapRequest{Give: n.Give, Take: n.Take})
		if err != nil {
			return id, err
		}
		r, err := n.Decide(now, members, giving, taking)
		if err != nil {
			return id, err
		}
		same, err := q.SameSwapRequest(ctx, postgresdb.SameSwapRequestParams{
			TeamID: r.TeamID, FromID: r.From, ToID: postgres.NullID(r.To),
			Give: postgres.Numbers(r.Give), Take: postgres.Numbers(r.Take),
		})
		if err != nil {
			return id, err
		}
		if same != 0 {
			return id, fault.Newf(fault.Conflict,
				"swap request %d asks the same and waits for an answer: withdraw it to ask again", same)
		}
		id, err = q.CreateSwapRequest(ctx, postgresdb.CreateSwapRequestParams{
			TeamID: r.TeamID, FromID: r.From, ToID: postgres.NullID(r.To),
			Give: postgres.Numbers(r.Give), Take: postgres.Numbers(r.Take),
			Note: postgres.Storable(r.Note), State: string(r.State), CreatedAt: r.Created,
		})
		if err != nil {
			return id, err
		}
		if err := queueNotices(ctx, q, []oncall.Notice{r.AskNotice(members, giving, taking)}); err != nil {
			return id, err
		}
		return id, auditlog.WriteOncall(ctx, q, by.Owner, members.Name, "swap_requested",
			map[string]any{"swap_request_id": id, "request_body": by.Body})
	})
}

// membersNow returns the members of the team and the time of the database.
func membersNow(ctx context.Context, q *postgresdb.Queries, team int64) (editing.Membership, time.Time, error) {
	members, err := membersOf(ctx, q, team)
	if err != nil {
		return members, time.Time{}, err
	}
	now, err := q.ServerClock(ctx)
	return members, now, err
}

// DecideSwap applies an answer to a request: it stores the request's new state and the changes of the shifts. A request
// that has expired is stored as expired, and the refusal is returned.
func (w *Requests) DecideSwap(ctx context.Context, id int64, answer editing.SwapAnswer, by oncall.By) (editing.NamedSwap, error) {
	var out editing.NamedSwap
	var refused error
	err := w.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		refused = nil
		r, err := swapOf(ctx, q, id)
		if err != nil {
			return err
		}
		if _, err := q.LockTeam(ctx, r.TeamID); err != nil {
			return err
		}
		if r, err = swapOf(ctx, q, id); err != nil { // read again under the lock
			return err
		}
		members, now, err := membersNow(ctx, q, r.TeamID)
		if err != nil {
			return err
		}
		give, take, err := sides(ctx, q, r.SwapRequest)
		if err != nil {
			return err
		}
		after, changes, err := answer.Decide(now, members, r.SwapRequest, give, take)
		if err != nil && after.State == r.State {
			return err
		}
		refused = err
		if err := endSwap(ctx, q, after, give, take); err != nil {
			return err
		}
		if _, err := store(ctx, q, changes); err != nil {
			return fmt.Errorf("swap: %w", err)
		}
		if err := auditlog.WriteOncall(ctx, q, by.Owner, members.Name, "swap_"+string(after.State), map[string]any{"swap_request_id": id}); err != nil {
			return err
		}
		out, err = swapOf(ctx, q, id)
		return err
	})
	if err == nil {
		err = refused
	}
	return out, err
}

var _ oncall.CalendarStore = (*Calendars)(nil)

// Calendars implements oncall.CalendarStore, from which the resolver reads. It is safe for concurrent use and has no
// cache.
type Calendars struct{ db *postgres.DB }

// NewCalendars returns the adapter over d.
func NewCalendars(d *postgres.DB) *Calendars { return &Calendars{db: d} }

// CalendarVersions implements oncall.CalendarStore.
func (c *Calendars) CalendarVersions(ctx context.Context, teams []int64) (map[int64]int64, error) {
	return postgres.Get(ctx, c.db, func(ctx context.Context, q *postgresdb.Queries) (map[int64]int64, error) {
		return versionsOf(ctx, q, teams)
	})
}

func versionsOf(ctx context.Context, q *postgresdb.Queries, teams []int64) (map[int64]int64, error) {
	rows, err := q.CalendarVersions(ctx, postgres.NonNil(teams))
	out := make(map[int64]int64, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Version
	}
	return out, err
}

// TeamCalendars implements oncall.CalendarStore. Versions are read first: a calendar may be newer than its version.
func (c *Calendars) TeamCalendars(ctx context.Context, teams []int64, from, to time.Time) (map[int64]oncall.VersionedCalendar, error) {
	return postgres.Get(ctx, c.db, func(ctx context.Context, q *postgresdb.Queries) (map[int64]oncall.VersionedCalendar, error) {
		return TeamCalendars(ctx, q, teams, from, to)
	})
}

// TeamCalendars returns the calendars of teams in [from, to), with the shifts of the teams that they subscribe to.
func TeamCalendars(ctx context.Context, q *postgresdb.Queries, teams []int64, from, to time.Time) (map[int64]oncall.VersionedCalendar, error) {
	out := make(map[int64]oncall.VersionedCalendar, len(teams))
	versions, err := versionsOf(ctx, q, teams)
	if err != nil {
		return nil, err
	}
	subscriptions, err := q.CalendarSubscriptions(ctx, postgres.NonNil(teams))
	if err != nil {
		return nil, err
	}
	of, sources := map[int64][]oncall.TeamRole{}, append([]int64{}, teams...)
	for _, b := range subscriptions {
		of[b.TeamID] = append(of[b.TeamID], oncall.TeamRole{TeamID: b.SubscriptionID, Role: b.Role})
		sources = append(sources, b.SubscriptionID)
	}
	rows, err := q.CalendarShifts(ctx, postgresdb.CalendarShiftsParams{WindowStart: from, WindowEnd: to,
		TeamIds: sources})
	if err != nil {
		return nil, err
	}
	used, err := q.CalendarRoles(ctx, sources)
	if err != nil {
		return nil, err
	}
	roles := map[int64][]string{}
	for _, r := range used {
		roles[r.TeamID] = append(roles[r.TeamID], r.Role)
	}
	byTeam := map[int64][]oncall.Shift{}
	for _, r := range rows {
		byTeam[r.TeamID] = append(byTeam[r.TeamID], shiftOf(postgresdb.ChosenShiftsRow(r)))
	}
	for id, version := range versions {
		shifts := append([]oncall.Shift{}, byTeam[id]...)
		seen, kept := map[int64]bool{id: true}, append([]string{}, roles[id]...)
		for _, b := range of[id] {
			if slices.Contains(roles[b.TeamID], b.Role) {
				kept = append(kept, b.Role)
			}
			if !seen[b.TeamID] {
				seen[b.TeamID] = true
				shifts = append(shifts, byTeam[b.TeamID]...)
			}
		}
		out[id] = oncall.VersionedCalendar{TeamCalendar: oncall.NewTeamCalendar(id, from, to, shifts,
			of[id]...).WithRoles(kept), Version: version}
	}
	return out, nil
}
