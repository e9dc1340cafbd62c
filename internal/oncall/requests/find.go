package requests

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// ErrPersonNeeded refuses an application that names no person, on routes that need the consent of a person.
var ErrPersonNeeded = auth.ErrPersonNeeded

// Integrity returns the fault that Oncall's clients get as 422.
func Integrity(text string) error {
	return &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: text}
}

// By names the caller for the audit log.
func By(r *http.Request, raw json.RawMessage) oncall.By {
	actor := wire.Actor(r.Context())
	return oncall.By{Owner: cmp.Or(actor.Username, actor.Service, actor.Application), Body: raw}
}

// UserID returns a user's id; 0 if there is no such user.
func (a Requests) UserID(ctx context.Context, name string) (users.ID, error) {
	u, err := a.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return u.ID, err
}

// RoleName returns the stored spelling of a role's name. ok is false if there is no such role.
func (a Requests) RoleName(ctx context.Context, name string) (proper string, ok bool, err error) {
	role, err := a.Role(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return name, false, nil
	}
	return role.Name, err == nil, err
}

// PersonOf returns the person for whom a request acts: the caller, or the person whom an application names.
func (a Requests) PersonOf(ctx context.Context, b jsonbody.Object) (oncall.Person, error) {
	name := wire.Actor(ctx).Username
	if name == "" {
		var err error
		if name, err = b.Text("user"); err != nil {
			return oncall.Person{}, err
		}
		if name == "" {
			return oncall.Person{}, auth.ErrPersonNeeded
		}
	}
	p, err := a.People.ByName(ctx, name)
	return p, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
}

// Role finds an on-call role, ignoring case.
func (a Requests) Role(ctx context.Context, name string) (oncall.RoleInfo, error) {
	roles, err := a.Roles.Roles(ctx)
	if err != nil {
		return oncall.RoleInfo{}, err
	}
	for _, r := range roles {
		if strings.EqualFold(r.Name, name) {
			return r, nil
		}
	}
	return oncall.RoleInfo{}, fault.Newf(fault.NotFound, "there is no role %q", name)
}

// Person finds the user of the path. It refuses callers who may not change the user's settings.
func (a Requests) Person(r *http.Request) (oncall.Person, error) {
	return a.PersonNamed(r.Context(), routing.Param(r, "user"))
}

// PersonNamed finds a user by name. It refuses callers who may not change the user's settings.
func (a Requests) PersonNamed(ctx context.Context, name string) (oncall.Person, error) {
	u, err := a.People.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if err != nil {
		u.User = users.User{Name: name} // only administrators learn that the user does not exist
	}
	var theirs []int64
	if err == nil {
		teams, err := a.People.Teams(ctx, u.ID)
		if err != nil {
			return u, err
		}
		for _, t := range teams {
			if !u.Admin { // an administrator of a team may not change an administrator of Iris
				theirs = append(theirs, t.ID)
			}
		}
	}
	if refused := wire.Actor(ctx).MayEditPerson(u.User, theirs, a.Openings); refused != nil {
		return u, refused
	}
	return u, err
}

// RosterNamed finds a roster of a team by name, ignoring case. It returns a NotFound fault if there is none.
func (a Requests) RosterNamed(ctx context.Context, t oncall.Profile, name string) (oncall.Roster, error) {
	rosters, err := a.Rosters.ByTeam(ctx, t.ID)
	if err != nil {
		return oncall.Roster{}, err
	}
	for _, ro := range rosters {
		if strings.EqualFold(ro.Name, name) {
			return ro, nil
		}
	}
	return oncall.Roster{}, fault.New(fault.NotFound, "not found")
}

// Schedule finds the schedule of the path, and its team.
func (a Requests) Schedule(r *http.Request) (scheduling.StoredSchedule, oncall.Profile, error) {
	id, err := ShiftID(r, "id")
	if err != nil {
		return scheduling.StoredSchedule{}, oncall.Profile{}, err
	}
	s, err := a.Schedules.ByID(r.Context(), oncall.ScheduleID(id))
	if err != nil {
		return s, oncall.Profile{}, err
	}
	t, err := a.Teams.ByID(r.Context(), s.TeamID)
	return s, t, err
}

// OwnSchedule finds the schedule of the path, and its team. It refuses callers who may not administer the team.
func (a Requests) OwnSchedule(r *http.Request) (scheduling.StoredSchedule, oncall.Profile, error) {
	s, t, err := a.Schedule(r)
	if err == nil {
		err = wire.Actor(r.Context()).MayAdministerTeam(t.ID, t.Name)
	}
	return s, t, err
}

// ScheduleEdit returns an edit of a schedule by the caller, with the If-Match tags of the request.
func ScheduleEdit(r *http.Request, change scheduling.Change) scheduling.Edit {
	return scheduling.Edit{Editor: wire.Actor(r.Context()), IfMatch: routing.IfMatch(r), Change: change}
}

// ShiftID returns the positive number in the path parameter name. Any other text is a NotFound fault.
func ShiftID(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(routing.Param(r, name), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.New(fault.NotFound, "not found")
	}
	return n, nil
}

// Team finds the active team that the path names.
func (a Requests) Team(r *http.Request) (oncall.Profile, error) {
	return a.ActiveTeam(r.Context(), routing.Param(r, "team"))
}

// WithBody finds the object of the path and then reads the body, whose faults have the title.
func WithBody[T any](w http.ResponseWriter, r *http.Request, title string, find func(*http.Request) (T, error)) (T, jsonbody.Object, error) {
	found, err := find(r)
	if err != nil {
		return found, jsonbody.Object{}, err
	}
	b, err := jsonbody.Read(w, r, title)
	return found, b, err
}

// ActiveTeam finds a team by name. It returns a NotFound fault for a deleted team.
func (a Requests) ActiveTeam(ctx context.Context, name string) (oncall.Profile, error) {
	t, err := a.Teams.ByName(ctx, name)
	if err == nil && !t.Active {
		err = fault.New(fault.NotFound, "not found")
	}
	return t, err
}

// Administered finds the team of the path. It refuses callers who may not administer the team.
func (a Requests) Administered(r *http.Request) (oncall.Profile, error) {
	t, err := a.Team(r)
	if err != nil {
		return t, err
	}
	return t, wire.Actor(r.Context()).MayAdministerTeam(t.ID, t.Name)
}

// ZoneName checks the name of a time zone and returns it; any spelling of UTC becomes "UTC". Its errors are not always
// faults: callers replace them.
func ZoneName(name string) (string, error) {
	if strings.EqualFold(name, "utc") {
		return "UTC", nil
	}
	if name == "" || name == "Local" {
		return name, fault.Invalidf("time_zone", "unknown time zone %q", name)
	}
	_, err := time.LoadLocation(name)
	return name, err
}

// ZoneOf returns the time zone of a team; UTC if its zone is unknown.
func (a Requests) ZoneOf(t oncall.Profile) *time.Location {
	zone, err := time.LoadLocation(t.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}
