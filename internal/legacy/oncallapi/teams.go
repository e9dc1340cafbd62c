package oncallapi

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Teams stores teams. What does not exist is a NotFound fault, what exists already a Conflict.
type Teams interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	Create(ctx context.Context, s oncall.TeamSettings, admin users.ID, by oncall.By) (int64, error)
	Update(ctx context.Context, id int64, p oncall.TeamPatch, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, by oncall.By) error
}

// Members stores who belongs to teams.
type Members interface {
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
	Memberships(ctx context.Context) ([][2]string, error)
	AddMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	RemoveMember(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
}

// Admins stores who administers teams.
type Admins interface {
	AddAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
	RemoveAdmin(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error
}

// Subscriptions stores which roles of other teams a team's calendar also shows.
type Subscriptions interface {
	Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error)
	Subscribe(ctx context.Context, team, other, role int64) error
	Unsubscribe(ctx context.Context, team, other, role int64) error
}

// Rosters stores rosters.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
	Create(ctx context.Context, team oncall.Profile, name string, by oncall.By) (int64, error)
	Change(ctx context.Context, team oncall.Profile, old oncall.Roster, name string, order []users.ID, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, roster oncall.Roster, by oncall.By) error
}

// RosterMembers stores who is in rosters.
type RosterMembers interface {
	AddMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, inRotation bool, by oncall.By) error
	SetInRotation(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, in bool, by oncall.By) error
	RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error
}

// RoleChanges stores on-call roles.
type RoleChanges interface {
	CreateRole(ctx context.Context, name string, by oncall.By) error
	DeleteRole(ctx context.Context, name string, by oncall.By) error
}

// Services stores services.
type Services interface {
	Services(ctx context.Context) ([]oncall.Service, error)
	Service(ctx context.Context, name string) (oncall.Service, error)
	SaveService(ctx context.Context, id int64, name string, by oncall.By) error
	DeleteService(ctx context.Context, s oncall.Service, by oncall.By) error
}

// TeamServices stores which team a service belongs to.
type TeamServices interface {
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
	TeamServices(ctx context.Context, team int64) ([]string, error)
	AllTeamServices(ctx context.Context) ([][2]string, error)
	Claim(ctx context.Context, team, service int64) error
	Unclaim(ctx context.Context, team, service int64) error
}

// ScheduleChanges stores schedules and fills calendars from them.
type ScheduleChanges interface {
	requests.ScheduleChanges
	Populate(ctx context.Context, id oncall.ScheduleID, start time.Time, by oncall.By) (scheduling.Result, error)
	Preview(ctx context.Context, id oncall.ScheduleID, start time.Time, window oncall.Span) (scheduling.Result, scheduling.Calendars, error)
}

// Audit reads the calendar's audit log.
type Audit interface {
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
}

// Plans finds the escalation plans that teams name.
type Plans interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// TeamsDeps are the parts that the routes work on. All are required.
type TeamsDeps struct {
	requests.Requests
	Teams           Teams
	Members         Members
	Admins          Admins
	Subscriptions   Subscriptions
	Rosters         Rosters
	RosterMembers   RosterMembers
	RoleChanges     RoleChanges
	Services        Services
	TeamServices    TeamServices
	ScheduleChanges ScheduleChanges
	Audit           Audit
	Plans           Plans
	// CheckPlans refuses a team that names an escalation plan which does not exist.
	CheckPlans bool
	// TimeZones are the time zones that a team may choose.
	TimeZones []string
	// Modes are the modes in which people may be notified of shifts.
	Modes []users.Mode
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// Each type serves the routes of one resource.
type (
	teams    struct{ TeamsDeps }
	members  struct{ TeamsDeps }
	roles    struct{ TeamsDeps }
	services struct{ TeamsDeps }
	names    struct{ TeamsDeps }
	rosters  struct{ TeamsDeps }
	weekly   struct{ TeamsDeps }
)

// Routes returns the routes of this package.
func Routes(d TeamsDeps) []routing.Route {
	return slices.Concat(teams{d}.routes(), members{d}.routes(), roles{d}.routes(), services{d}.routes(), names{d}.routes(),
		rosters{d}.routes(), weekly{d}.routes())
}
