package oncallapi

import (
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are the parts that the API works on. New fills the Requests of the parts by resource.
type Deps struct {
	Requests      requests.Requests
	Authenticator *requests.Authenticator
	Teams         TeamsDeps
	People        PeopleDeps
	Events        EventsDeps
	Escalate      EscalateDeps
	Errors        *wire.Errors
}

// API serves the routes. It is safe for concurrent use.
type API struct{ Deps }

// New returns an error if a required part is missing.
func New(d Deps) (*API, error) {
	reading := Requests{d.Requests}
	d.Teams.Requests, d.People.Requests, d.Events.Requests, d.Escalate.Requests = reading, reading, reading, reading
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("oncallapi: a part is missing: " + name)
	}
	return &API{d}, nil
}

// Routes mounts the API on a router, which should use wire.TrimSlash.
func (a *API) Routes(r chi.Router) {
	routing.Mount{Errors: a.Errors, Identify: a.Authenticator.Identified, Admit: a.Requests.Admit, Translate: legacy,
		Options: true}.Routes(r, a.table())
}

func (a *API) table() []routing.Route {
	return slices.Concat(Routes(a.Teams), PeopleRoutes(a.People), EventsRoutes(a.Events), EscalateRoutes(a.Escalate))
}

// Handler returns a router with this API only, for tests and for a separate server.
func (a *API) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, a.Errors.BoundQuery)
	a.Errors.Refuse(r)
	a.Routes(r)
	return r
}

// legacy converts faults of storage and domain for Oncall's clients. A conflict becomes a 422. A single sentence
// becomes a title with a description.
func legacy(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.Kind == fault.Conflict:
		text := f.Message
		if f.Detail != "" {
			text = f.Detail
		}
		return &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: text, Err: f.Err}
	case f.Kind == fault.Invalid && f.Detail == "" && f.Field != "":
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: "Invalid " + f.Field, Detail: f.Message, Err: f.Err}
	}
	return err
}
