// Package oncallapi serves the on-call calendar over HTTP: Oncall's API v0 below /api/v0, byte for byte as its clients rely
// on it where that does no harm, and below /v1 what Oncall never had (rotations, swap requests, gaps, fairness, previews of
// edits) with errors of RFC 9457. It decodes a request, decides by auth whether the caller may, calls one method of an
// adapter or a pure function of the domain, and encodes the answer. The wire's "event" is the domain's shift. Routes are
// declared in one table (routes.go).
package oncallapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Teams stores teams, their people and subscriptions. What does not exist is a NotFound fault, what exists already a Conflict.
type Teams interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	ByID(ctx context.Context, id int64) (oncall.Profile, error)
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
	Memberships(ctx context.Context) ([][2]string, error)
	Standings(ctx context.Context, id users.ID) ([]oncall.Standing, error)
	Create(ctx context.Context, s oncall.TeamSettings, admin users.ID, by oncall.By) (int64, error)
	Update(ctx context.Context, id int64, change func(*oncall.TeamSettings) error, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, by oncall.By) error
	AddMember(ctx context.Context, team int64, user users.ID) error
	RemoveMember(ctx context.Context, team int64, user users.ID) error
	AddAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	RemoveAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error)
	Subscribe(ctx context.Context, team, other, role int64) error
	Unsubscribe(ctx context.Context, team, other, role int64) error
}

// Rosters stores rosters and who is in them.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
	Create(ctx context.Context, team oncall.Profile, name string, by oncall.By) (int64, error)
	Change(ctx context.Context, team oncall.Profile, old oncall.Roster, name string, order []users.ID, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, roster oncall.Roster, by oncall.By) error
	AddMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, inRotation bool, by oncall.By) error
	SetInRotation(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, in bool, by oncall.By) error
	RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error
}

// People stores users as the on-call API shows them.
type People interface {
	All(ctx context.Context) ([]oncall.Person, error)
	ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error)
	ByName(ctx context.Context, name string) (oncall.Person, error)
	Create(ctx context.Context, name string, by oncall.By) error
	Update(ctx context.Context, u oncall.Person, c oncall.PersonChange) error
	Remove(ctx context.Context, u oncall.Person, entirely bool, by oncall.By) (gone bool, err error)
	Teams(ctx context.Context, id users.ID) ([]oncall.TeamName, error)
	Pinned(ctx context.Context, id users.ID) ([]string, error)
	Pin(ctx context.Context, id users.ID, team int64) error
	Unpin(ctx context.Context, id users.ID, team int64) error
	Search(ctx context.Context, keyword string, team int64) (oncall.SearchResult, error)
	Clock(ctx context.Context) (time.Time, error)
}

// Names stores roles and services.
type Names interface {
	Roles(ctx context.Context) ([]oncall.RoleInfo, error)
	CreateRole(ctx context.Context, name string, by oncall.By) error
	DeleteRole(ctx context.Context, name string, by oncall.By) error
	Services(ctx context.Context) ([]oncall.Service, error)
	Service(ctx context.Context, name string) (oncall.Service, error)
	SaveService(ctx context.Context, id int64, name string, by oncall.By) error
	DeleteService(ctx context.Context, s oncall.Service, by oncall.By) error
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
	TeamServices(ctx context.Context, team int64) ([]string, error)
	AllTeamServices(ctx context.Context) ([][2]string, error)
	Claim(ctx context.Context, team, service int64) error
	Unclaim(ctx context.Context, team, service int64) error
}

// Notices stores what people want to hear, feed keys, and the audit log.
type Notices interface {
	Types(ctx context.Context) ([]oncall.NoticeType, error)
	ByUser(ctx context.Context, user users.ID) ([]oncall.NoticeSetting, error)
	ByID(ctx context.Context, id int64) (oncall.NoticeSetting, error)
	Create(ctx context.Context, s oncall.NoticeSetting) (int64, error)
	Update(ctx context.Context, id int64, change func(s *oncall.NoticeSetting) error) error
	Delete(ctx context.Context, id int64) error
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
	Keys(ctx context.Context, requester users.ID) ([]oncall.IcalKey, error)
	Key(ctx context.Context, key string) (oncall.IcalKey, error)
	KeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) (oncall.IcalKey, error)
	NewKey(ctx context.Context, requester users.ID, of oncall.IcalSubject) (string, error)
	DropKey(ctx context.Context, key string) error
	DropKeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) error
	DropKeys(ctx context.Context, requester users.ID) (int64, error)
}

// Shifts reads and edits calendars.
type Shifts interface {
	Find(ctx context.Context, by oncall.ShiftQuery) ([]oncall.ShiftRow, error)
	Feed(ctx context.Context, by oncall.FeedQuery) ([]oncall.FeedShift, error)
	TakeOver(ctx context.Context, c edits.ExternalCalendar, by oncall.By, rehearse bool) (edits.CalendarImport, error)
	Edit(ctx context.Context, choice edits.Selection, by oncall.By, rehearse bool, decide edits.Decide) (oncall.Changes, error)
}

// Schedules stores schedules and fills calendars from them.
type Schedules interface {
	ByTeam(ctx context.Context, teams ...int64) ([]schedules.StoredSchedule, error)
	ByID(ctx context.Context, id oncall.ScheduleID) (schedules.StoredSchedule, error)
	Create(ctx context.Context, d schedules.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error)
	Update(ctx context.Context, id oncall.ScheduleID, change func(is schedules.StoredSchedule) (schedules.ScheduleDraft, error), by oncall.By) error
	Delete(ctx context.Context, old schedules.StoredSchedule, by oncall.By) error
	Populate(ctx context.Context, id oncall.ScheduleID, start time.Time, by oncall.By) (schedules.Result, error)
	Preview(ctx context.Context, id oncall.ScheduleID, start time.Time, window oncall.Span) (schedules.Result, schedules.Calendars, error)
	Rehearse(ctx context.Context, draft schedules.Schedule, roster int64, start time.Time, window oncall.Span) (schedules.Result, error)
}

// Wishes stores unavailability, holidays and swap requests.
type Wishes interface {
	Absences(ctx context.Context, people []users.ID) ([]schedules.StoredAbsence, error)
	Absence(ctx context.Context, id int64) (schedules.StoredAbsence, error)
	AddAbsence(ctx context.Context, a schedules.StoredAbsence) (int64, error)
	DropAbsence(ctx context.Context, id int64) error
	Holidays(ctx context.Context, team int64) (schedules.HolidayCalendar, error)
	SetHolidays(ctx context.Context, team oncall.Profile, c schedules.HolidayCalendar, by oncall.By) error
	DropHolidays(ctx context.Context, team oncall.Profile, by oncall.By) error
	Swaps(ctx context.Context, team int64) ([]edits.NamedSwap, error)
	Swap(ctx context.Context, id int64) (edits.NamedSwap, error)
	AskSwap(ctx context.Context, team int64, give, take []oncall.ShiftID, by oncall.By,
		ask func(now time.Time, crew edits.Membership, give, take []oncall.Shift) (edits.SwapRequest, error)) (int64, error)
	DecideSwap(ctx context.Context, id int64, by oncall.By,
		decide func(now time.Time, crew edits.Membership, r edits.SwapRequest, give, take []oncall.Shift) (edits.SwapRequest, oncall.Changes, error)) (edits.NamedSwap, error)
}

// Coverage reads what tells the gaps of teams, and stores when they want their roles covered.
type Coverage interface {
	Coverage(ctx context.Context, team int64, calendar *oncall.TeamCalendar) (schedules.Coverage, error)
	CoverWishes(ctx context.Context, team int64) ([]schedules.CoverRule, error)
	SetCoverWish(ctx context.Context, team oncall.Profile, w schedules.CoverRule, by oncall.By) error
}

// Plans finds plans by name for the escalate button.
type Plans interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Incidents opens incidents, durably.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Lookups finds what a role and a name mean.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// EscalatePlan is a plan behind the escalate button.
type EscalatePlan struct {
	Name    string       // "" = the button does not offer it
	Targets []RoleTarget // for the plan's dynamic targets, in order; without a target it is the team
}

// Config holds what operators can choose. The zero value is the default.
type Config struct {
	Openings auth.Openings
	// DebugAuth lets everybody do everything as the user test_user. Never on a public address.
	DebugAuth bool
	// Grace is for how long after its start a shift may still be edited by the team; 0 = 24 hours.
	Grace time.Duration
	// TimeZones are those that teams may choose.
	TimeZones []string
	// Modes are those that people may be told of shifts in.
	Modes []users.Mode
	// Escalate is the application that the escalate button opens incidents as; "" = there is no button.
	Escalate       string
	Urgent, Medium EscalatePlan
	PublicURL      string
	Bonus          Bonus
}

// Deps are the parts that the API works on. All are required except Sessions.
type Deps struct {
	Applications auth.Applications
	Users        wire.People
	Sessions     *scs.SessionManager
	// UserKey is the session key that holds the name of the logged-in user.
	UserKey   string
	Teams     Teams
	Rosters   Rosters
	People    People
	Names     Names
	Notices   Notices
	Shifts    Shifts
	Schedules Schedules
	Wishes    Wishes
	Coverage  Coverage
	Contacts  Contacts
	Calendars oncall.CalendarStore
	Plans     Plans
	Incidents Incidents
	Lookups   Lookups
	// Paid fetches the list of roles that are paid for, by team; nil = the bonus route does not exist.
	Paid func(ctx context.Context) (json.RawMessage, error)
	// Wake tells the processors of changed buckets; it never blocks.
	Wake   func(buckets.Set)
	Errors *wire.Errors
	Log    *zap.Logger
	Config Config
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	Deps
}

// New checks that every part is there.
func New(d Deps) (*API, error) {
	if d.Applications == nil || d.Users == nil || d.Teams == nil || d.Rosters == nil || d.People == nil || d.Names == nil ||
		d.Notices == nil || d.Shifts == nil || d.Schedules == nil || d.Wishes == nil || d.Coverage == nil || d.Contacts == nil || d.Calendars == nil || d.Plans == nil || d.Incidents == nil ||
		d.Lookups == nil || d.Wake == nil || d.Errors == nil || d.Log == nil {
		return nil, errors.New("oncallapi: a part is missing")
	}
	if d.Config.Grace == 0 {
		d.Config.Grace = edits.DefaultGrace
	}
	d.Log = d.Log.Named("oncallapi")
	return &API{Deps: d}, nil
}

// Handler returns a router that serves nothing but this API, for tests and for a server of its own.
func (a *API) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, a.Errors.BoundQuery)
	a.Errors.Refuse(r)
	a.Routes(r)
	return r
}
