package applications

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	a := routes{d}
	return []routing.Route{
		routing.Get("/v1/applications", routing.Someone, a.list),
		routing.Post("/v1/applications", routing.Write, a.create),
		routing.Get("/v1/applications/{app}", routing.Someone, a.get),
		routing.Put("/v1/applications/{app}", routing.Write, a.replace),
		routing.Delete("/v1/applications/{app}", routing.Write, a.remove),
	}
}

// application is an application on the wire, without its keys.
type application struct {
	ID                int64             `json:"id"`
	Name              string            `json:"name"`
	TitleVariable     *string           `json:"title_variable"`
	Variables         []string          `json:"variables"`
	RequiredVariables []string          `json:"required_variables"`
	Modes             []string          `json:"modes"`
	DefaultModes      map[string]string `json:"default_modes"`
	Owners            []string          `json:"owners"`
	Team              *string           `json:"team"` // that owns the application and its integrations
	SenderEmail       *string           `json:"sender_email"`
	CreatedAt         *string           `json:"created_at"`
}

func showApplication(a applications.Application) any {
	out := application{ID: a.ID, Name: a.Name, TitleVariable: page.OrNull(a.TitleVariable), Variables: routing.OrEmpty(a.Variables),
		RequiredVariables: routing.OrEmpty(a.RequiredVariables), Modes: make([]string, len(a.Modes)), DefaultModes: map[string]string{},
		Owners: routing.OrEmpty(a.Owners), Team: page.OrNull(a.Team.Name), SenderEmail: page.OrNull(a.SenderAddresses[users.Email]), CreatedAt: page.Time(a.CreatedAt)}
	for i, m := range a.Modes {
		out.Modes[i] = string(m)
	}
	for priority, mode := range a.DefaultModes {
		out.DefaultModes[string(priority)] = string(mode)
	}
	return out
}

func (a routes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := page.Read(r, "team")
	if err != nil {
		return err
	}
	var wanted filters.Query
	if team, given := q.Text("team"); given {
		if !wire.Storable(team) {
			return fault.Invalidf("team", "team must be UTF-8 text without NUL characters")
		}
		wanted.Conditions = append(wanted.Conditions, page.Equal("team", team))
	}
	all, err := a.Applications.List(r.Context(), wanted)
	if err != nil {
		return err
	}
	page.Sort(all, func(a applications.Application) string { return a.Name })
	return page.AnswerNamed(w, q, all, showApplication, func(a applications.Application) string { return a.Name })
}

func (a routes) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	routing.ShowTag(w, found.Tag())
	return routing.Answer(w, http.StatusOK, showApplication(found))
}

// find reads the application of the path. It returns a NotFound fault if there is none.
func (a routes) find(r *http.Request) (applications.Application, error) {
	name := wire.Param(r, "app")
	if !wire.Storable(name) {
		return applications.Application{}, fault.New(fault.NotFound, "there is no such application")
	}
	found, err := a.Applications.Describe(r.Context(), name)
	return found, fault.When(err, fault.NotFound, fault.New(fault.NotFound, "there is no such application"))
}
