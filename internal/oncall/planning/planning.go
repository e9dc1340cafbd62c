package planning

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Finder finds what requests name. What does not exist is a NotFound fault. Package requests implements it.
type Finder interface {
	// ActiveTeam does not find deleted teams.
	ActiveTeam(ctx context.Context, name string) (oncall.Profile, error)
	// Role and RosterNamed ignore case.
	Role(ctx context.Context, name string) (oncall.RoleInfo, error)
	RosterNamed(ctx context.Context, t oncall.Profile, name string) (oncall.Roster, error)
	ZoneOf(t oncall.Profile) *time.Location
}

// Teams finds teams.
type Teams interface {
	ByID(ctx context.Context, id int64) (oncall.Profile, error)
}

// People finds people, and has the clock of the database.
type People interface {
	ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error)
	ByName(ctx context.Context, name string) (oncall.Person, error)
	Clock(ctx context.Context) (time.Time, error)
}

// Members lists the people of a team.
type Members interface {
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
}

// Schedules reads schedules.
type Schedules interface {
	ByTeam(ctx context.Context, teams ...int64) ([]scheduling.StoredSchedule, error)
	ByID(ctx context.Context, id oncall.ScheduleID) (scheduling.StoredSchedule, error)
}

// ScheduleChanges stores schedules. A schedule that does not exist is a NotFound fault.
type ScheduleChanges interface {
	Create(ctx context.Context, d scheduling.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error)
	Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error
	Delete(ctx context.Context, old scheduling.StoredSchedule, by oncall.By) error
	// Populate makes the shifts of a schedule again.
	Populate(ctx context.Context, id oncall.ScheduleID, start time.Time, by oncall.By) (scheduling.Result, error)
}

// Holidays stores the holidays of teams.
type Holidays interface {
	// Holidays returns a NotFound fault if the team has no holiday calendar.
	Holidays(ctx context.Context, team int64) (scheduling.HolidayCalendar, error)
	SetHolidays(ctx context.Context, team oncall.Profile, c scheduling.HolidayCalendar, by oncall.By) error
	DropHolidays(ctx context.Context, team oncall.Profile, by oncall.By) error
}

// Deps are the parts that the operations work on. All are required.
type Deps struct {
	Finder        Finder
	Teams         Teams
	People        People
	Members       Members
	Memberships   auth.Memberships
	Schedules     Schedules
	Changes       ScheduleChanges
	Calendars     oncall.CalendarStore
	Coverage      Coverage
	Shifts        Shifts
	Holidays      Holidays
	Absences      Absences
	Imports       Imports
	Subscriptions Subscriptions
	Subscribed    SubscriptionLists
	// PrivateCalendars allows subscriptions of calendars at http addresses.
	PrivateCalendars bool `optional:"true"`
}

// Planning are the operations. They are safe for concurrent use.
type Planning struct {
	Rotations          operation.Op[users.OneTeam, operation.Page[Rotation]]
	CreateRotation     operation.Op[NewRotation, Rotation]
	Rotation           operation.Op[OneRotation, Rotation]
	Replace            operation.Op[RotationEdit, Rotation]
	DeleteRotation     operation.Op[OneRotation, operation.None]
	Gaps               operation.Op[PeriodOfRoles, operation.Page[Gap]]
	Coverage           operation.Op[users.OneTeam, operation.Page[Cover]]
	SetCoverage        operation.Op[CoverEdit, Cover]
	Shares             operation.Op[PeriodOfRoles, operation.Page[Share]]
	Absences           operation.Op[Period, operation.Page[Absence]]
	AddAbsence         operation.Op[NewAbsence, MadeAbsence]
	RemoveAbsence      operation.Op[OneAbsence, operation.None]
	Conflicts          operation.Op[Period, operation.Page[Conflict]]
	HolidayCountries   operation.Op[operation.None, operation.Page[HolidayCountry]]
	Holidays           operation.Op[users.OneTeam, HolidayCalendar]
	SetHolidays        operation.Op[HolidayUpload, operation.None]
	DropHolidays       operation.Op[users.OneTeam, operation.None]
	TeamCalendars      operation.Op[users.OneTeam, operation.Page[Subscription]]
	SubscribeTeam      operation.Op[CalendarOfTeam, Subscription]
	PersonCalendars    operation.Op[users.OnePerson, operation.Page[Subscription]]
	SubscribePerson    operation.Op[CalendarOfPerson, Subscription]
	ChangeSubscription operation.Op[SubscriptionEdit, Subscription]
	Unsubscribe        operation.Op[OneSubscription, operation.None]
	Refresh            operation.Op[OneSubscription, operation.None]

	deps Deps
}

// New returns the operations on the parts.
func New(d Deps) *Planning {
	p := &Planning{deps: d}
	p.Rotations, p.CreateRotation = ListRotations.By(p.rotations), CreateRotation.By(p.createRotation)
	p.Rotation, p.Replace, p.DeleteRotation = GetRotation.By(p.rotation), ReplaceRotation.By(p.replaceRotation), DeleteRotation.By(p.deleteRotation)
	p.Gaps, p.Coverage, p.SetCoverage, p.Shares = ListGaps.By(p.gaps), ListCoverage.By(p.coverage), SetCoverage.By(p.setCoverage), ListShares.By(p.shares)
	p.Absences, p.AddAbsence, p.RemoveAbsence, p.Conflicts = ListAbsences.By(p.absences), AddAbsence.By(p.addAbsence), RemoveAbsence.By(p.removeAbsence), ListConflicts.By(p.conflicts)
	p.HolidayCountries = ListHolidayCountries.By(p.holidayCountries)
	p.Holidays, p.SetHolidays, p.DropHolidays = GetHolidays.By(p.holidays), SetHolidays.By(p.setHolidays), DropHolidays.By(p.dropHolidays)
	p.TeamCalendars, p.SubscribeTeam = TeamCalendars.By(p.teamCalendars), SubscribeTeam.By(p.subscribeTeam)
	p.PersonCalendars, p.SubscribePerson = PersonCalendars.By(p.personCalendars), SubscribePerson.By(p.subscribePerson)
	p.ChangeSubscription, p.Unsubscribe, p.Refresh = ChangeSubscription.By(p.changeSubscription), Unsubscribe.By(p.unsubscribe), RefreshSubscription.By(p.refreshSubscription)
	return p
}

// whole returns a list that has one page.
func whole[T any](items []T) operation.Page[T] {
	return operation.Page[T]{Items: append([]T{}, items...)}
}

// Author names the caller for the logs, with the body of the request; nil = none.
func Author(by operation.Actor, body any) oncall.By {
	out := oncall.By{Owner: by.Name}
	if by.Program {
		out.Owner = strings.TrimPrefix(by.Name, "application ")
	}
	if body == nil {
		return out
	}
	if by.Request != nil {
		out.Body = by.Request
		return out
	}
	var err error
	if out.Body, err = json.Marshal(body); err != nil {
		panic(err) // what was read from JSON is JSON
	}
	return out
}

// Own finds an active team whose administrator the caller is.
func (p *Planning) Own(ctx context.Context, by operation.Actor, name string) (oncall.Profile, error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, name)
	if err != nil {
		return t, err
	}
	return t, p.mayAdminister(ctx, by, t.ID, t.Name)
}

// mayAdminister allows what the administrators of a team may do.
func (p *Planning) mayAdminister(ctx context.Context, by operation.Actor, team int64, name string) error {
	who, err := auth.PlannerOf(ctx, p.deps.Memberships, by)
	if err != nil {
		return err
	}
	return who.MayAdministerTeam(team, name)
}

// errNone says that an object does not exist.
var errNone = fault.New(fault.NotFound, "not found")
