// This file serves /v1, the project's own JSON API. A handler decodes the request, asks package auth whether the caller
// may, calls the same operations of the domain as the other edges, and encodes the answer. Errors follow RFC 9457. Each
// package below this one serves the routes of one resource; this one mounts them.

package apiserver

import (
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// V1Deps are the parts that the API works on.
type V1Deps struct {
	// Calendar admits the callers of the calendar's routes.
	Calendar requests.Requests
	// Typed has the routes of operations.
	Typed *mount.API
	// Planned has the routes of operations on calendars.
	Planned *mount.API
	// Authenticator must refuse requests without credentials: the compatibility switches do not apply here.
	Authenticator *wire.Authenticator
	// CalendarAuthenticator authenticates the callers of the calendar's routes, which accept the credentials of
	// Oncall's API.
	CalendarAuthenticator *requests.Authenticator
	// Once runs requests with an Idempotency-Key once.
	Once   func(http.Handler) http.Handler
	Errors *wire.Errors
	// Observe measures the requests.
	Observe func(http.Handler) http.Handler
}

// V1 serves the routes. It is safe for concurrent use.
type V1 struct{ V1Deps }

// NewV1 returns an error if a required part is missing.
func NewV1(d V1Deps) (*V1, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("api: a part is missing: " + name)
	}
	return &V1{d}, nil
}

// Routes mounts the API on a router, which should use wire.TrimSlash.
func (a *V1) Routes(r chi.Router) {
	ofCalendar := routing.Mount{Errors: a.Errors, Identify: a.CalendarAuthenticator.Identified,
		Admit: a.Calendar.Admit, Translate: pagesoncall.Plain,
		Observe: a.Observe}
	ofCalendar.Routes(r, a.Planned.Routes())
	others := routing.Mount{Errors: a.Errors, Identify: a.Authenticator.Middleware, Admit: routing.Strict, Once: a.Once,
		Observe: a.Observe}
	others.Routes(r, a.Typed.Routes())
	routing.Options(r, slices.Concat(a.Planned.Routes(), a.Typed.Routes()))
}

// Handler returns a router with this API only, for tests and for the iris command on a database.
func (a *V1) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, a.Errors.BoundQuery)
	a.Errors.Refuse(r)
	a.Routes(r)
	return r
}
