package pages

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	a := routes{d}
	return []routing.Route{
		routing.Get("/v1/applications", routing.Someone, a.list),
		routing.Post("/v1/applications", routing.Write, a.create),
		routing.Get("/v1/applications/{app}", routing.Someone, a.get),
		routing.Get("/v1/applications/{app}/quota", routing.Someone, a.quota),
		routing.Put("/v1/applications/{app}", routing.Write, a.replace),
		routing.Delete("/v1/applications/{app}", routing.Write, a.remove),
	}
}

// apiApplication is an application on the wire, without its keys.
type apiApplication struct {
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

// wholeApplication is an application as its own route shows it.
type wholeApplication struct {
	apiApplication
	SampleContext json.RawMessage `json:"sample_context"`
	HasSecondKey  bool            `json:"has_second_key"`
	MayEdit       bool            `json:"may_edit"` // the caller
}

func showWhole(r *http.Request, a applications.Application) any {
	out := wholeApplication{apiApplication: showApplication(a), HasSecondKey: a.SecondKey, MayEdit: refusal(r, a) == nil}
	if a.SampleContext != nil && json.Valid([]byte(*a.SampleContext)) {
		out.SampleContext = json.RawMessage(*a.SampleContext)
	}
	return out
}

func showApplication(a applications.Application) apiApplication {
	out := apiApplication{ID: a.ID, Name: a.Name, TitleVariable: listing.OrNull(a.TitleVariable), Variables: routing.OrEmpty(a.Variables),
		RequiredVariables: routing.OrEmpty(a.RequiredVariables), Modes: make([]string, len(a.Modes)), DefaultModes: map[string]string{},
		Owners: routing.OrEmpty(a.Owners), Team: listing.OrNull(a.Team.Name), SenderEmail: listing.OrNull(a.SenderAddresses[users.Email]), CreatedAt: listing.Time(a.CreatedAt)}
	for i, m := range a.Modes {
		out.Modes[i] = string(m)
	}
	for priority, mode := range a.DefaultModes {
		out.DefaultModes[string(priority)] = string(mode)
	}
	return out
}

func (a routes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "team", "search", "mine")
	if err != nil {
		return err
	}
	var wanted filters.Query
	if team, given := q.Text("team"); given {
		if !wire.Storable(team) {
			return fault.Invalidf("team", "team must be UTF-8 text without NUL characters")
		}
		wanted.Conditions = append(wanted.Conditions, listing.Equal("team", team))
	}
	if part, given := q.Text("search"); given {
		if !wire.Storable(part) {
			return fault.Invalidf("search", "search must be UTF-8 text without NUL characters")
		}
		wanted.Conditions = append(wanted.Conditions, filters.Condition{Field: "name", Op: filters.Contains, Values: []any{part}})
	}
	mine, err := q.Flag("mine", false)
	if err != nil {
		return err
	}
	all, err := a.Applications.List(r.Context(), wanted)
	if err != nil {
		return err
	}
	if mine {
		actor := wire.Actor(r.Context())
		all = slices.DeleteFunc(all, func(a applications.Application) bool {
			return !slices.Contains(a.OwnerIDs, actor.UserID) && !actor.InTeam(a.Team)
		})
	}
	listing.Sort(all, func(a applications.Application) string { return a.Name })
	return listing.AnswerNamed(w, q, all, func(a applications.Application) any { return showApplication(a) }, func(a applications.Application) string { return a.Name })
}

func (a routes) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	routing.ShowTag(w, found.Tag())
	return routing.Answer(w, http.StatusOK, showWhole(r, found))
}

// apiQuota answers with the quota of an application and its use.
func (a routes) quota(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	q, err := a.Quota(r.Context(), found.ID)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "the application %s has no quota of its own", found.Name))
	}
	return routing.Answer(w, http.StatusOK, apiQuota{q.HardThreshold, q.HardDuration.Seconds(), q.HardUse, q.SoftThreshold, q.SoftDuration.Seconds(), q.SoftUse,
		listing.OrNull(q.Plan), listing.OrNull(q.Target), q.WaitAfterwards.Seconds()})
}

// apiQuota is the quota of an application on the wire.
type apiQuota struct {
	Hard        int     `json:"hard_threshold"`
	HardSeconds float64 `json:"hard_seconds"`
	HardUse     int     `json:"hard_use"` // messages in the last hard_seconds
	Soft        int     `json:"soft_threshold"`
	SoftSeconds float64 `json:"soft_seconds"`
	SoftUse     int     `json:"soft_use"`
	Plan        *string `json:"plan"`   // of the incident that a breach opens; null = it was deleted
	Target      *string `json:"target"` // who is notified when the soft threshold is exceeded
	WaitSeconds float64 `json:"wait_seconds"`
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
