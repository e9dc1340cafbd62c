package site

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/auth/signon"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

//go:embed templates static
var files embed.FS

// People logs people in. Authenticate returns an Unauthenticated fault for a wrong name or password.
type People interface {
	Authenticate(ctx context.Context, name, password string) (users.User, error)
	ByName(ctx context.Context, name string) (users.User, error)
	Contacts(ctx context.Context, id users.ID) (map[users.Mode]string, error)
	// Shown returns the picture of a person, and how times are shown to the person.
	Shown(ctx context.Context, id users.ID) (users.Display, error)
}

// Deps are the parts that the site works on.
type Deps struct {
	Incidents pagesincidents.Deps
	Sections  Sections
	People    People
	SignOn    signon.Deps
	Account   pagesauth.Deps
	// Applications finds the application of people with a session.
	Applications auth.Applications
	Sessions     *scs.SessionManager
	UserKey      string // session key of the name of the logged-in person
	// RecentLogin is how recent a log-in must be for dangerous changes; 0 = any.
	RecentLogin time.Duration `optional:"true"`
	Mailbox     bool          // `iris dev` serves a mailbox at /dev/mailbox
	// Version returns a text that changes when incidents have changed, for pages that refresh themselves.
	Version func(ctx context.Context) (string, error) `optional:"true"`
	// Open counts the open incidents, and those that a person owns, up to a limit.
	Open func(ctx context.Context, owner users.ID, limit int) (all, mine int, err error) `optional:"true"`
	Log  *zap.Logger
}

// Handler serves the site. It is safe for concurrent use.
type Handler struct {
	people       People
	applications auth.Applications
	userKey      string
	pages        *page.Pages
	incidents    pagesincidents.Handlers
	sections     Sections
	signOn       *signon.SignOn
	again        func(http.Handler) http.Handler
	recent       time.Duration // see Deps.RecentLogin
	account      *pagesauth.Account
	errors       *wire.Errors
	log          *zap.Logger
}

// New checks that every part is there and reads the embedded templates.
func New(d Deps) (*Handler, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("web: a part is missing: " + name)
	}
	log := d.Log.Named("web")
	w := &Handler{people: d.People, applications: d.Applications, userKey: d.UserKey, sections: d.Sections, recent: d.RecentLogin,
		errors: wire.NewErrors(log), log: log}
	sessions := *d.Sessions // a copy, so that failures become pages here and stay JSON elsewhere
	sessions.ErrorFunc = w.sessionFailed
	var err error
	if w.pages, err = page.New(files, &sessions, d.Mailbox, log); err != nil {
		return nil, err
	}
	w.pages.Version = d.Version
	if d.Open != nil {
		counts := cache.New(cache.Config[users.ID, page.OpenCounts]{TTL: openTTL})
		w.pages.Open = func(ctx context.Context, id users.ID) (page.OpenCounts, error) {
			return counts.Get(ctx, id, func(ctx context.Context) (c page.OpenCounts, err error) {
				c.All, c.Mine, err = d.Open(ctx, id, page.MaxOpen)
				return c, err
			})
		}
	}
	w.incidents = pagesincidents.Handlers{Deps: d.Incidents, Pages: w.pages}
	w.account = pagesauth.New(d.Account, d.People, w.pages, d.UserKey, log)
	w.signOn = signon.New(d.SignOn, &sessions, d.UserKey, log)
	w.again = w.account.Again(d.SignOn.Choices)
	return w, nil
}

// openTTL is how old the counts of open incidents in the navigation may be.
const openTTL = 3 * time.Second

// Asset returns the address of a static file, for pages of other packages that use the same stylesheet.
func (w *Handler) Asset(name string) string { return w.pages.Asset(name) }

// Run serves the streams of pages that refresh themselves, until ctx ends. Without it they look for changes every few
// seconds.
func (w *Handler) Run(ctx context.Context) error { return w.pages.Run(ctx) }

// Routes mounts the site. The log-in has two addresses: clients of Iris use the one with a trailing slash, clients of
// Oncall the one without. A request that changes something is refused when another site sent it; the session cookie is
// SameSite=Lax too.
func (w *Handler) Routes(r chi.Router) {
	r.Handle("/static/*", w.pages.Assets)
	r.Group(func(r chi.Router) {
		sameOrigin := http.NewCrossOriginProtection()
		sameOrigin.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.errors.Write(rw, r, fault.New(fault.Forbidden,
				"another site sent this request, so it was not carried out: open Iris and do it there"))
		}))
		r.Use(w.pages.Stream, headers, sameOrigin.Handler, w.pages.Sessions.LoadAndSave)
		page.Get(r, "/login", w.showLogin)
		w.signOn.Routes(r)
		w.account.LoginRoutes(r)
		r.Post("/login/", w.login)
		r.Post("/login", w.loginOncall)
		page.Get(r, "/logout", w.showLogout)
		r.Post("/logout/", w.logout)
		r.Post("/logout", w.logoutOncall)
		r.Group(func(r chi.Router) {
			r.Use(w.requireReader, w.pages.ReadForm, w.again)
			page.Get(r, "/", w.sections.Home(w.pages))
			w.incidents.Routes(r)
			w.sections.Routes(r, w.pages)
			w.account.Routes(r)
			page.Get(r, "/session-ready", w.sessionReady)
			r.Post("/theme", w.setTheme)
			redirectIrisPages(r)
			r.Group(func(r chi.Router) {
				r.Use(w.requireWriter)
				w.incidents.ChangeRoutes(r)
				w.sections.ChangeRoutes(r, w.pages)
			})
		})
	})
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; " +
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
