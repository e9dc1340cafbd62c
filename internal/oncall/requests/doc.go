// Package requests has the code that the two calendar APIs share: /api/v0 (oncallapi) and the calendar part of /v1
// (oncall/pages). It authenticates callers, finds the objects of a path, decodes the edits of a body and encodes
// shifts. The rules of calendars are in package oncall and storage is behind interfaces. Failures are faults with the
// texts that Oncall's clients know.
package requests

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Teams finds teams. A team that does not exist is a NotFound fault.
type Teams interface {
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	ByID(ctx context.Context, id int64) (oncall.Profile, error)
}

// People finds people as calendars show them.
type People interface {
	ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error)
	ByName(ctx context.Context, name string) (oncall.Person, error)
	Teams(ctx context.Context, id users.ID) ([]oncall.TeamName, error)
	Clock(ctx context.Context) (time.Time, error)
	// OnCallNow returns the names of those people who have a shift now.
	OnCallNow(ctx context.Context, names []string) (map[string]bool, error)
}

// Roles lists the on-call roles.
type Roles interface {
	Roles(ctx context.Context) ([]oncall.RoleInfo, error)
}

// Rosters lists the rosters of a team.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
}

// Schedules finds schedules.
type Schedules interface {
	ByTeam(ctx context.Context, teams ...int64) ([]scheduling.StoredSchedule, error)
	ByID(ctx context.Context, id oncall.ScheduleID) (scheduling.StoredSchedule, error)
}

// ScheduleChanges stores schedules. A schedule that does not exist is a NotFound fault.
type ScheduleChanges interface {
	Create(ctx context.Context, d scheduling.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error)
	Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error
	Delete(ctx context.Context, old scheduling.StoredSchedule, by oncall.By) error
}

// Shifts reads and edits calendars.
type Shifts interface {
	Find(ctx context.Context, by oncall.ShiftQuery) ([]oncall.ShiftRow, error)
	Edit(ctx context.Context, e editing.Edit, by oncall.By) (editing.Outcome, error)
}

// Requests decodes requests about calendars. All parts are required. It is safe for concurrent use.
type Requests struct {
	Teams     Teams
	People    People
	Roles     Roles
	Rosters   Rosters
	Schedules Schedules
	Shifts    Shifts
	Openings  auth.Openings
	// Grace is the time after the start of a shift in which members of the team may still edit it.
	Grace time.Duration
}

// Admit refuses callers who may not use a route of a calendar API.
func (a Requests) Admit(rt routing.Route, r *http.Request) error {
	actor := wire.Actor(r.Context())
	switch rt.Access {
	case routing.Read:
		return actor.MayReadOncall(a.Openings)
	case routing.Self, routing.Someone:
		return actor.MayUseOncall(false)
	case routing.Write:
		return actor.MayUseOncall(rt.Method != http.MethodGet)
	case routing.Public:
	}
	return nil
}
