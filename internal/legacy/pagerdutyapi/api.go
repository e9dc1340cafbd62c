package pagerdutyapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Root is where the API is.
const Root = "/pagerduty"

// Addresses finds people by their contacts. An unknown contact is a NotFound fault.
type Addresses interface {
	ByContact(ctx context.Context, mode users.Mode, source string) (users.User, error)
}

// Deps are the parts that the API works on. All are required.
type Deps struct {
	Incidents    *incidents.Incidents
	People       *users.People
	Plans        *catalog.Plans
	Applications *catalog.Applications
	Teams        *teams.Teams
	Planning     *planning.Planning
	OnCall       *operation.Op[calendaring.OnCallFilter, operation.Page[scheduling.Team]]
	Addresses    Addresses
	// Caller returns the caller of a request.
	Caller func(context.Context) operation.Actor
	// Authenticate must refuse requests without credentials.
	Authenticate func(http.Handler) http.Handler
	Errors       *wire.Errors
	PublicURL    string
}

// API serves the routes. It is safe for concurrent use.
type API struct{ d Deps }

// New returns an error if a required part is missing.
func New(d Deps) (*API, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("pagerdutyapi: a part is missing: " + name)
	}
	d.PublicURL = strings.TrimSuffix(d.PublicURL, "/")
	return &API{d}, nil
}

// Routes mounts the API on a router, which should use wire.TrimSlash.
func (a *API) Routes(r chi.Router) {
	table := []routing.Route{
		routing.Get(Root+"/incidents/{id}", routing.Read, a.incident),
		{Method: http.MethodPut, Path: Root + "/incidents/{id}", Access: routing.Write, Handle: a.changeIncident},
		{Method: http.MethodPut, Path: Root + "/incidents", Access: routing.Write, Handle: a.changeIncidents},
	}
	for name, l := range map[string]list{
		"incidents": {a.incidents, "statuses[] service_ids[] user_ids[]"}, "oncalls": {a.onCalls, "schedule_ids[] user_ids[]"},
		"schedules": {a.schedules, "query"}, "services": {a.services, "query team_ids[]"}, "users": {a.users, "query team_ids[]"},
		"escalation_policies": {a.policies, "query"},
	} {
		table = append(table, routing.Get(Root+"/"+name, routing.Read, a.listed(name, l)))
	}
	routing.Mount{Errors: a.d.Errors, Identify: a.identify, Admit: routing.Strict}.Routes(r, table)
	routing.Options(r, table)
}

// identify authenticates a request. PagerDuty's clients send the token as "Token token=X"; it counts as a bearer token.
func (a *API) identify(next http.Handler) http.Handler {
	authenticated := a.d.Authenticate(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if token, ok := strings.CutPrefix(strings.TrimSpace(rest), "token="); ok && strings.EqualFold(scheme, "Token") {
			r = r.Clone(r.Context())
			r.Header.Set("Authorization", "Bearer "+strings.Trim(token, `"`))
		}
		authenticated.ServeHTTP(w, r)
	})
}

// object is an object on the wire.
type object map[string]any

// reference returns a reference to an object. Objects without a page have no html_url.
func (a *API) reference(kind, id, summary, page string) object {
	out := object{"id": id, "type": kind, "summary": summary, "self": nil, "html_url": nil}
	if page != "" {
		out["html_url"] = a.d.PublicURL + page
	}
	return out
}

func (a *API) person(kind, name, fullName string) object {
	if fullName == "" {
		fullName = name
	}
	return a.reference(kind, name, fullName, "/users/"+url.PathEscape(name))
}

func (a *API) service(kind, name string) object {
	return a.reference(kind, name, name, "/applications/"+url.PathEscape(name))
}

func (a *API) policy(kind, name string) object {
	return a.reference(kind, name, name, "/plans/"+url.PathEscape(name))
}
