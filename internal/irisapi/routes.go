package irisapi

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/replay"
)

// access says who may use a route, before the handler looks at the details.
type access int

const (
	public  access = iota // everybody
	read                  // every known caller; everybody where anonymous reads are opened (what the predecessor serves to all)
	someone               // every known caller, whatever is opened
	write                 // every known caller but read-only people
)

// handler answers a request or returns an error, which is answered in the shape of the path.
type handler func(w http.ResponseWriter, r *http.Request) error

// route is one row of the table of routes.
type route struct {
	method string
	path   string
	access access
	handle handler
}

// Methods in the tables of routes.
const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete

// table lists every route of the API. Fixed words in a path win over parameters.
func (a *API) table() []route {
	return slices.Concat(
		a.core(),
		newApplications(a.Deps).table(),
		newPeople(a.Deps).table(),
		newVocabulary(a.Deps).table(),
		newInternal(a).table(),
		newStatistics(a.Deps).table(),
	)
}

// core are the routes around incidents, plans, templates and messages.
func (a *API) core() []route {
	return []route{
		{get, "/v0/incidents", read, a.listIncidents},
		{post, "/v0/incidents", write, a.openIncident},
		{post, "/v0/incidents/claim", write, a.claimIncidents},
		{get, "/v0/incidents/{id}", read, a.getIncident},
		{post, "/v0/incidents/{id}", write, a.claimIncident},
		{post, "/v0/incidents/{id}/resolve", write, a.resolveIncident},
		{get, "/v0/incidents/{id}/comments", read, a.listComments},
		{post, "/v0/incidents/{id}/comments", write, a.addComment},
		{get, "/v0/plans", read, a.listPlans},
		{post, "/v0/plans", write, a.createPlan},
		{get, "/v0/plans/{plan}", read, a.getPlan},
		{post, "/v0/plans/{plan}", write, a.activatePlan},
		{del, "/v0/plans/{plan}", write, a.deletePlan},
		{get, "/v0/templates", read, a.listTemplates},
		{post, "/v0/templates", write, a.createTemplate},
		{get, "/v0/templates/{template}", read, a.getTemplate},
		{post, "/v0/templates/{template}", write, a.activateTemplate},
		{post, "/v0/notifications", write, a.notify},
		{get, "/v0/messages", read, a.listMessages},
		{get, "/v0/messages/{id}", read, a.getMessage},
		{get, "/v0/messages/{id}/auditlog", read, a.messageChanges},
		{get, "/v0/allowed_metadata_tags", read, a.allowedTags},
		{get, "/v0/queues", someone, a.listQueues},
		{get, "/healthcheck", public, a.healthcheck},
	}
}

// Routes mounts the API on a router, which should use wire.TrimSlash. Paths are absolute.
func (a *API) Routes(r chi.Router) {
	for i, rt := range a.table() {
		h := a.serve(rt)
		if rt.method == http.MethodPost {
			h = a.keys.Once(h, func(d Deps, wake replay.Wake) http.Handler {
				over := a.over(d, wake)
				return over.serve(over.table()[i])
			})
		}
		if rt.method == http.MethodGet {
			h = a.turns.Middleware(h)
		}
		if rt.access != public {
			h = a.Authenticator.Middleware(h)
		}
		h = a.metrics.observe(h)
		r.Method(rt.method, rt.path, h)
		if rt.method == http.MethodGet {
			r.Method(http.MethodHead, rt.path, h)
		}
	}
	// A fixed word hides the parameter for all methods.
	onlyPost := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		a.Errors.MethodNotAllowed(w, r)
	}
	r.Get("/v0/incidents/claim", onlyPost)
	r.Head("/v0/incidents/claim", onlyPost)
}

// serve runs a handler for callers who may, and answers its errors, panics included.
func (a *API) serve(rt route) http.Handler {
	return a.Errors.Recover(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.admit(rt.access, r); err != nil {
			a.Errors.Write(w, r, err)
			return
		}
		if err := rt.handle(w, r); err != nil {
			a.Errors.Write(w, r, err)
		}
	}))
}

func (a *API) admit(need access, r *http.Request) error {
	actor := wire.Actor(r.Context())
	switch need {
	case read:
		return actor.MayRead(a.Config.Openings)
	case someone:
		return actor.MayCall(a.Config.Openings)
	case write:
		return actor.MayTry(a.Config.Openings)
	case public:
	}
	return nil
}
