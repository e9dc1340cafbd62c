package oncallapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Requests reads the requests of the API and finds the objects that they name.
type Requests struct{ requests.Requests }

// Integrity returns the fault that Oncall's clients get as 422.
func Integrity(text string) error { return calendaring.Integrity(text) }

// By names the caller for the audit log.
func By(r *http.Request, raw json.RawMessage) oncall.By {
	actor := wire.Actor(r.Context())
	return oncall.By{Owner: cmp.Or(actor.Username, actor.Service, actor.Application), Body: raw}
}

// Caller returns the caller of the request as operations see it.
func (a Requests) Caller(r *http.Request) operation.Actor {
	return wire.Actor(r.Context()).CalendarCaller(a.Openings)
}

// CallerOf is Caller for a change whose body the audit log of on-call keeps.
func (a Requests) CallerOf(r *http.Request, b jsonbody.Object) operation.Actor {
	by := a.Caller(r)
	by.Request = b.Raw
	return by
}

// Planner returns the caller of a change, whose teams the Authenticator has read.
func (a Requests) Planner(ctx context.Context) auth.Planner {
	return auth.Planner{Actor: wire.Actor(ctx).CalendarCaller(a.Openings)}
}

// Person finds the user of the path. It refuses callers who may not change the user's settings.
func (a Requests) Person(r *http.Request) (oncall.Person, error) {
	return a.PersonNamed(r.Context(), routing.Param(r, "user"), r.Method == http.MethodGet)
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
		err = a.Planner(r.Context()).MayAdministerTeam(t.ID, t.Name)
	}
	return s, t, err
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

// Administered finds the team of the path. It refuses callers who may not administer the team.
func (a Requests) Administered(r *http.Request) (oncall.Profile, error) {
	t, err := a.Team(r)
	if err != nil {
		return t, err
	}
	return t, a.Planner(r.Context()).MayAdministerTeam(t.ID, t.Name)
}
