// Package web serves the pages that people use: log-in, incidents, one incident with its timeline, plans with their
// simulation, the cluster, and the on-call calendar. Pages are rendered by the server from embedded templates; they refresh themselves by requesting their own
// body again, and work without that. A message shown as sent was accepted by a vendor; a waiting one is shown as waiting. The calendar's pages are frames: their scripts (static/oncall) talk to the JSON API with the reader's session.
package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Incidents reads and changes incidents. Changes are answered only when they are durable.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)
}

// Messages reads the messages of an incident, oldest first.
type Messages interface {
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
}

// Queues returns the messages that wait for delivery, as counts.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// Cluster returns the live processes and the owners of the buckets, from the database.
type Cluster interface {
	View(ctx context.Context) (buckets.View, error)
}

// People logs users in. Authenticate returns a fault of kind Unauthenticated for a wrong name or password.
type People interface {
	Authenticate(ctx context.Context, name, password string) (users.User, error)
	ByName(ctx context.Context, name string) (users.User, error)
	Contacts(ctx context.Context, id users.ID) (map[users.Mode]string, error)
	// Shown returns the address of the person's picture and the time zone that somebody chose; "" = none.
	Shown(ctx context.Context, id users.ID) (photoURL, timeZone string, err error)
}

// Teams finds a team by name, ignoring case; a NotFound fault when there is none.
type Teams interface {
	ByName(ctx context.Context, name string) (oncall.Team, error)
}

// Deps are the parts that the pages work on. All are required except Mailbox.
type Deps struct {
	Incidents Incidents
	Messages  Messages
	Queues    Queues
	Cluster   Cluster
	People    People
	Teams     Teams
	Sessions  *scs.SessionManager
	// UserKey is the session key that holds the name of the logged-in user.
	UserKey   string
	Plans     Plans
	Simulator Simulator
	// Steps returns how many steps a plan version has, for "step 1 of 2"; 0 when unknown.
	Steps func(ctx context.Context, planID int64) int
	// Wake tells the processors of changed buckets; it never blocks.
	Wake    func(buckets.Set)
	Mailbox bool // a local mailbox is served at /dev/mailbox
	Log     *zap.Logger
}

// Web serves the pages. It is safe for concurrent use.
type Web struct {
	d      Deps
	views  *views
	errors *wire.Errors
}

// New prepares the pages; it fails only when the embedded templates are broken.
func New(d Deps) (*Web, error) {
	if d.Incidents == nil || d.Messages == nil || d.Queues == nil || d.Cluster == nil || d.People == nil || d.Teams == nil || d.Plans == nil || d.Simulator == nil ||
		d.Sessions == nil {
		return nil, errors.New("web: a part is missing")
	}
	v, err := newViews()
	if err != nil {
		return nil, err
	}
	d.Log = d.Log.Named("web")
	w := &Web{d: d, views: v, errors: wire.NewErrors(d.Log)}
	sessions := *d.Sessions // the same sessions; failures become pages
	sessions.ErrorFunc = w.sessionFailed
	w.d.Sessions = &sessions
	return w, nil
}

// Routes mounts the pages, and the log-in: as Iris's clients know it with a trailing slash, as Oncall's without. Requests that change something are refused when another site sent them; the session cookie is
// SameSite=Lax besides.
func (w *Web) Routes(r chi.Router) {
	r.Handle("/static/*", w.views.assets)
	r.Group(func(r chi.Router) {
		r.Use(headers, http.NewCrossOriginProtection().Handler, w.d.Sessions.LoadAndSave)
		get := func(r chi.Router, path string, h http.HandlerFunc) {
			r.Get(path, h)
			r.Head(path, h)
		}
		get(r, "/", w.home)
		get(r, "/login", w.showLogin)
		get(r, "/login/", w.showLogin)
		r.Post("/login/", w.login)
		r.Post("/login", w.loginOncall)
		get(r, "/logout/", w.showLogout)
		get(r, "/logout", w.showLogout)
		r.Post("/logout/", w.logout)
		r.Post("/logout", w.logoutOncall)
		r.Group(func(r chi.Router) {
			r.Use(w.requireUser)
			for _, end := range []string{"", "/"} {
				get(r, "/incidents"+end, w.listIncidents)
				get(r, "/incidents/{id}"+end, w.showIncident)
				get(r, "/cluster"+end, w.showCluster)
			}
			w.calendarRoutes(r, get)
			w.planRoutes(r, get)
			w.irisRoutes(r, get)
			r.Group(func(r chi.Router) {
				r.Use(w.requireWrite)
				r.Post("/incidents/{id}/acknowledge", w.acknowledge)
				r.Post("/incidents/{id}/reopen", w.reopen)
				r.Post("/incidents/{id}/resolve", w.resolve)
				r.Post("/incidents/{id}/comments", w.comment)
			})
		})
	})
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(rw, r)
	})
}

// requestTimeout bounds what one page may cost the database.
const requestTimeout = 5 * time.Second
