package oncallapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/wire"
)

// access says who may use a route, before the handler looks at the details.
type access int

const (
	public access = iota // everybody
	read                 // every known caller; everybody where anonymous reads are opened
	self                 // every known caller, also those who only read: it is about their own settings, and the handler makes sure
	login                // every known caller but read-only people where it changes something; the handler says who else may not
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

// v0 is where Oncall's API is, v1 what it never had.
const v0, v1 = "/api/v0", "/v1"

// table lists every route of the API. Fixed words in a path win over parameters.
func (a *API) table() []route {
	return slices.Concat(a.teamRoutes(), a.rosterRoutes(), a.peopleRoutes(), a.nameRoutes(), a.shiftRoutes(), a.scheduleRoutes(),
		a.noticeRoutes(), a.rotationRoutes(), a.wishRoutes(), a.coverageRoutes(), a.otherRoutes(),
		a.contactRoutes())
}

// Routes mounts the API on a router, which should use wire.TrimSlash. Paths are absolute.
func (a *API) Routes(r chi.Router) {
	allowed := map[string][]string{}
	turns := wire.NewTurns(a.Errors)
	for _, rt := range a.table() {
		h := a.serve(rt)
		if rt.method == get {
			h = turns.Middleware(h)
		}
		if rt.access != public {
			h = a.identified(h)
		}
		r.Method(rt.method, rt.path, h)
		methods := []string{rt.method}
		if rt.method == get {
			r.Method(http.MethodHead, rt.path, h)
			methods = append(methods, http.MethodHead)
		}
		allowed[rt.path] = append(allowed[rt.path], methods...)
	}
	for path, methods := range allowed {
		r.Options(path, options(methods))
	}
}

// options answers with the methods of a path and nothing else.
func options(methods []string) http.HandlerFunc {
	slices.Sort(methods)
	allow := strings.Join(append(methods, http.MethodOptions), ", ")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
	}
}

// serve runs a handler for callers who may, and answers its errors, panics included.
func (a *API) serve(rt route) http.Handler {
	return a.Errors.Recover(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := a.admit(rt, r)
		if err == nil {
			err = rt.handle(w, r)
		}
		if err != nil {
			a.Errors.Write(w, r, legacy(r, err))
		}
	}))
}

func (a *API) admit(rt route, r *http.Request) error {
	actor := wire.Actor(r.Context())
	switch rt.access {
	case read:
		return actor.MayReadOncall(a.Config.Openings)
	case self:
		return actor.MayUseOncall(false)
	case login:
		return actor.MayUseOncall(rt.method != get)
	case public:
	}
	return nil
}

// param returns a path parameter as people write it: escapes decoded, "+" a space.
func param(r *http.Request, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(wire.Param(r, name), "+", " "))
}

// empty answers with a status and nothing else, still labelled JSON.
func empty(w http.ResponseWriter, status int) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return nil
}

func answer(w http.ResponseWriter, status int, v any) error {
	wire.JSON(w, status, v)
	return nil
}

// list makes sure that an empty list is [] and not null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
