// Package api serves /v1, the project's own JSON API. It decodes a request, decides by auth whether the caller may, calls
// the operations of the domain that the other edges call, and encodes the answer. Errors are those of RFC 9457. The routes
// are in packages by resource; this one mounts them.
package api

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/api/calendar"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/calendars"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// CalendarParts are the parts of the calendar's routes, for those who put the API together.
type CalendarParts = calendar.Deps

// Deps are the parts that the API works on.
type Deps struct {
	Calendar calendar.Deps
	// CalendarAuthenticator finds out who calls the calendar's routes, which take the credentials of Oncall's API.
	CalendarAuthenticator *calendars.Authenticator
	Errors                *wire.Errors
}

// API serves the routes. It is safe for concurrent use.
type API struct{ Deps }

// New checks that every part is there.
func New(d Deps) (*API, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("api: a part is missing: " + name)
	}
	return &API{d}, nil
}

// Routes mounts the API on a router, which should use wire.TrimSlash.
func (a *API) Routes(r chi.Router) {
	routing.Mount{Errors: a.Errors, Identify: a.CalendarAuthenticator.Identified, Admit: a.Calendar.Admit, Translate: plain, Options: true}.
		Routes(r, calendar.Routes(a.Calendar))
}

// Handler returns a router that serves nothing but this API, for tests.
func (a *API) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, a.Errors.BoundQuery)
	a.Errors.Refuse(r)
	a.Routes(r)
	return r
}

// plain removes the title from what the calendar APIs refuse alike: clients of Oncall expect it, it says nothing.
func plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Message == "IntegrityError" {
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
	}
	return err
}
