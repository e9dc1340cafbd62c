package routing

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Access is the group of callers that may use a route. The handler may refuse some of them.
type Access int

// The kinds of access. The Admit of a Mount enforces them.
const (
	Public  Access = iota // everybody, without authentication
	Read                  // every authenticated caller; everybody if anonymous reads are on
	Someone               // every authenticated caller, even if anonymous reads are on
	Self                  // every authenticated caller, including read-only people; the handler checks that the route is about the caller
	Write                 // every authenticated caller except read-only people; the handler may refuse others
)

// Handler answers a request, or returns an error. The Mount answers errors in the form that the path's clients expect.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one row of a table of routes. Paths are absolute. Fixed segments take precedence over parameters.
type Route struct {
	Method string
	Path   string
	Access Access
	Handle Handler
	// Recent: see ForRecent.
	Recent bool
}

// ForRecent returns the route, whose handler accepts an application that was read before the request
// (auth.Application.Recent). The handler must store such a request only if the application still has this version. If
// it refuses the request, the request is authenticated and handled again with an application that is read for it.
func (rt Route) ForRecent() Route {
	rt.Recent = true
	return rt
}

// Get returns a route that answers GET and HEAD.
func Get(path string, access Access, h Handler) Route {
	return Route{Method: http.MethodGet, Path: path, Access: access, Handle: h}
}

// Post returns a route that answers POST.
func Post(path string, access Access, h Handler) Route {
	return Route{Method: http.MethodPost, Path: path, Access: access, Handle: h}
}

// Put returns a route that answers PUT.
func Put(path string, access Access, h Handler) Route {
	return Route{Method: http.MethodPut, Path: path, Access: access, Handle: h}
}

// Delete returns a route that answers DELETE.
func Delete(path string, access Access, h Handler) Route {
	return Route{Method: http.MethodDelete, Path: path, Access: access, Handle: h}
}

// Mount has the common parts of the routes of an API.
type Mount struct {
	Errors *wire.Errors
	// Identify authenticates a request and stores its actor in the context. Public routes do not use it.
	Identify func(http.Handler) http.Handler
	// Recent is Identify for routes with ForRecent: the application may have been read before the request. nil =
	// Identify.
	Recent func(http.Handler) http.Handler `optional:"true"`
	// Admit refuses callers who may not use a route.
	Admit func(rt Route, r *http.Request) error
	// Translate converts an error for the clients of the API; nil = errors are not converted.
	Translate func(err error) error `optional:"true"`
	// Once wraps the routes that answer POST, within Identify; nil = no wrapper.
	Once func(http.Handler) http.Handler `optional:"true"`
	// Observe wraps all routes, outermost; nil = no wrapper.
	Observe func(http.Handler) http.Handler `optional:"true"`
	// Options answers OPTIONS with the methods of each path.
	Options bool
}

// Routes mounts a table of routes on a router, which should use wire.TrimSlash.
func (m Mount) Routes(r chi.Router, table []Route) {
	turns := wire.NewTurns(m.Errors)
	for _, rt := range table {
		h := m.serve(rt)
		if rt.Method == http.MethodPost && m.Once != nil {
			h = m.Once(h)
		}
		if rt.Method == http.MethodGet {
			h = turns.Middleware(h)
		}
		switch {
		case rt.Access == Public:
		case rt.Recent && m.Recent != nil:
			h = m.Recent(h)
		default:
			h = m.Identify(h)
		}
		if m.Observe != nil {
			h = m.Observe(h)
		}
		r.Method(rt.Method, rt.Path, h)
		if rt.Method == http.MethodGet {
			r.Method(http.MethodHead, rt.Path, h)
		}
	}
	if m.Options {
		Options(r, table)
	}
}

// Options mounts the answers to OPTIONS, with the methods that each path of the table has. Tables with the same paths
// need one call together.
func Options(r chi.Router, table []Route) {
	allowed := map[string][]string{}
	for _, rt := range table {
		allowed[rt.Path] = append(allowed[rt.Path], rt.Method)
		if rt.Method == http.MethodGet {
			allowed[rt.Path] = append(allowed[rt.Path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		r.Options(path, options(methods))
	}
}

// Strict admits authenticated callers, and everybody to public routes. It refuses read-only people on routes with
// Write. It ignores compatibility switches.
func Strict(rt Route, r *http.Request) error { return admit(rt, r, auth.Openings{}) }

// Opened is Strict with the compatibility switches of an API.
func Opened(open auth.Openings) func(rt Route, r *http.Request) error {
	return func(rt Route, r *http.Request) error { return admit(rt, r, open) }
}

func admit(rt Route, r *http.Request, open auth.Openings) error {
	actor := wire.Actor(r.Context())
	switch rt.Access {
	case Public:
		return nil
	case Read:
		return actor.MayRead(open)
	case Write:
		return actor.MayTry(open)
	case Someone, Self:
	}
	return actor.MayCall(open)
}

// options answers with the methods of a path in the Allow header.
func options(methods []string) http.HandlerFunc {
	slices.Sort(methods)
	allow := strings.Join(append(methods, http.MethodOptions), ", ")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		wire.Empty(w, http.StatusOK)
	}
}

// serve checks access, runs the handler, and answers its errors and panics.
func (m Mount) serve(rt Route) http.Handler {
	return m.Errors.Recover(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := m.Admit(rt, r)
		if err == nil {
			err = rt.Handle(w, r)
		}
		if err == nil {
			return
		}
		if wire.Application(r.Context()).Recent && nothingDone(err) {
			m.Identify(m.serve(rt)).ServeHTTP(w, r)
			return
		}
		if m.Translate != nil {
			err = m.Translate(err)
		}
		m.Errors.Write(w, r, err)
	}))
}

// nothingDone reports whether an error means for certain that the request had no effect.
func nothingDone(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Internal, fault.Mismatch:
		return false
	}
	return true
}

// Param returns a path parameter with its escapes decoded, "+" replaced by a space, and no space at its ends.
func Param(r *http.Request, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(wire.Param(r, name), "+", " "))
}

// Empty answers with a status and an empty body with the Content-Type of JSON.
func Empty(w http.ResponseWriter, status int) error {
	wire.Empty(w, status)
	return nil
}

// Answer answers with v as JSON.
func Answer(w http.ResponseWriter, status int, v any) error {
	wire.JSON(w, status, v)
	return nil
}

// Done is Empty after a change: it returns err if the change failed.
func Done(w http.ResponseWriter, status int, err error) error {
	if err != nil {
		return err
	}
	return Empty(w, status)
}

// Reply is Answer after a call that returned v: it returns err if the call failed.
func Reply(w http.ResponseWriter, status int, v any, err error) error {
	if err != nil {
		return err
	}
	return Answer(w, status, v)
}

// OrEmpty returns l, or an empty list if l is nil, so that JSON has [] and not null.
func OrEmpty[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
