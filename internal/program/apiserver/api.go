package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/irisapi"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	programhealth "github.com/iris-oncall/iris/internal/program/health"
	"github.com/iris-oncall/iris/internal/program/jobs"
	"github.com/iris-oncall/iris/internal/program/login"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/openapi"
	"github.com/iris-oncall/iris/internal/web/wire"
)

const apiAdminAddr = "127.0.0.1:16651"

// API is iris-api.
type API struct {
	cfg     config.API
	log     *zap.Logger
	reg     *prometheus.Registry
	health  *programhealth.Probes // accepts requests
	paging  *programhealth.Probes // incidents are paged
	errors  *wire.Errors
	bodies  *wire.Bodies
	public  net.Listener
	admin   net.Listener // nil = none
	proxies func(http.Handler) http.Handler
	// identity removes the headers of an authenticating proxy from requests of other peers.
	identity func(http.Handler) http.Handler
	mailbox  http.Handler // nil = none
	db       *postgres.DB
	// parts serves the routes that need the database; nil until the database answers for the first time.
	parts atomic.Pointer[chi.Mux]
}

// New checks what can be checked without the database, and opens the listeners. The caller must call Run.
func New(cfg config.API, deps server.Deps) (*API, error) {
	a := &API{cfg: cfg, log: deps.Log, reg: deps.Registry}
	if a.reg == nil {
		a.reg = server.NewRegistry(server.Version())
	}
	a.health = programhealth.New(a.log, a.reg)
	a.paging = programhealth.NewPaging(a.health, a.log, a.reg)
	a.errors = wire.NewErrors(a.log)
	a.bodies = newBodies(cfg.HTTP.BodiesInWork, a.reg)
	var err error
	if a.proxies, err = trustProxies(cfg.HTTP.TrustedProxies); err != nil {
		return nil, err
	}
	if a.identity, err = identityHeaders(cfg.Proxy); err != nil {
		return nil, err
	}
	if cfg.HTTP.MailboxURL != "" {
		if a.mailbox, err = mailboxProxy(cfg.HTTP.MailboxURL, a.log); err != nil {
			return nil, err
		}
	}
	ctx := context.Background() // the pool lives as long as the process; Open does not connect
	conns := cfg.Database.MaxConnections
	if conns == 1 {
		conns = 2 // a request with an Idempotency-Key holds one and reads through another
	}
	if a.db, err = database.Open(ctx, cfg.Common, "iris-api", conns, server.PoolMetrics(a.reg, "main"), a.log); err != nil {
		return nil, err
	}
	if a.public, err = listenPublic(cfg.HTTP.Addr); err != nil {
		return nil, err
	}
	if a.admin, err = server.ListenAdmin(cfg.Admin.Addr, apiAdminAddr, a.log); err != nil {
		a.public.Close()
		return nil, err
	}
	if err := a.checkOpenings(); err != nil {
		a.public.Close()
		if a.admin != nil {
			a.admin.Close()
		}
		a.db.Close()
		return nil, err
	}
	return a, nil
}

// checkOpenings refuses to start without authentication on an address that other machines reach. It logs that
// authentication is off.
func (a *API) checkOpenings() error {
	if !a.cfg.Compatibility.DisableAuth {
		return nil
	}
	for _, l := range []net.Listener{a.public, a.admin} {
		if l == nil {
			continue
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
			return fmt.Errorf("compatibility.disable_auth: other machines can reach %s; listen on 127.0.0.1 only",
				l.Addr())
		}
	}
	a.log.Warn("authentication is off: every request is accepted", zap.String("key", "compatibility.disable_auth"))
	return nil
}

// Addr returns the address of the API.
func (a *API) Addr() string { return a.public.Addr().String() }

// Run serves until ctx ends. Then running requests have the configured time to finish. It returns an error only if a
// retry cannot help.
func (a *API) Run(ctx context.Context) error {
	defer a.db.Close()
	base := context.WithoutCancel(ctx)
	background, stopBackground := context.WithCancel(base) // wake-ups and health stop after the requests
	defer stopBackground()
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()

	var g, bg errgroup.Group
	bg.Go(func() error { a.health.Watch(background); return nil })
	bg.Go(func() error { a.paging.Watch(background); return nil })
	if a.admin != nil {
		bg.Go(func() error {
			return server.Serve(background, a.admin, server.AdminRoutes(a.health, a.paging, a.reg), time.Second, a.log)
		})
	}
	a.log.Info("listening", zap.String("address", a.Addr()), zap.String("public_url", a.cfg.PublicURL))
	g.Go(func() error {
		defer stopServing()
		return server.Serve(serving, a.public, a.root(), a.cfg.ShutdownTimeout, a.log)
	})
	g.Go(func() error {
		err := a.start(serving, background, &bg)
		if err != nil {
			stopServing()
		}
		return err
	})
	go func() {
		<-serving.Done()
		a.health.NotReady(programhealth.Stopping, errors.New("the process is stopping"))
	}()
	err := g.Wait()
	stopBackground()
	err = errors.Join(err, bg.Wait())
	a.log.Info("stopped")
	return err
}

// root serves the routes that work without the database, and forwards all others to the parts.
func (a *API) root() http.Handler {
	fixed := chi.NewRouter()
	fixed.Use(middleware.GetHead)
	fixed.Get("/livez", a.health.Livez)
	fixed.Get("/readyz", a.health.Readyz)
	fixed.Get("/readyz/paging", a.paging.Readyz)
	if a.mailbox != nil {
		for _, path := range []string{"/dev/mailbox", "/dev/mailbox.json", "/dev/mailbox/*"} {
			fixed.Handle(path, a.mailbox)
		}
	}
	return a.identity(a.proxies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // fixed answers HEAD by its GET routes
		}
		if fixed.Match(chi.NewRouteContext(), method, r.URL.Path) {
			fixed.ServeHTTP(w, r)
			return
		}
		parts := a.parts.Load()
		if parts == nil {
			a.errors.Write(w, r, &fault.Error{
				Kind: fault.Unavailable, Message: "Iris is waiting for its database", RetryAfter: 5 * time.Second,
			})
			return
		}
		parts.ServeHTTP(w, r)
	})))
}

// start waits for the database, then builds and runs the parts.
func (a *API) start(ctx, background context.Context, bg *errgroup.Group) error {
	in, err := server.AwaitDatabase(ctx, a.db, a.cfg.Common, a.health, a.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := a.share(in)
	if err != nil {
		return err
	}
	measure, clockCheck := s.MeasureClock(ctx, a.reg, a.log)
	alerts, err := s.receivers()
	if err != nil {
		return err
	}
	router, pages, err := s.build(alerts)
	if err != nil {
		return err
	}
	bg.Go(func() error { return pages.Run(ctx) }) // its streams must end before the server stops
	for _, run := range []func(context.Context) error{
		measure, s.notifier.Run, s.load.Run, alerts.Run, jobs.Expire("sessions", s.Sessions.DeleteExpired, a.log),
		jobs.Expire("audit log", func(ctx context.Context) (int64, error) {
			return s.Audit.Expire(ctx,
				a.cfg.History.AuditRetention)
		}, a.log),
		jobs.Expire("attempts to log in", s.Attempts.Expire, a.log),
		jobs.Expire("idempotent answers", s.idempotency.Expire, a.log),
		jobs.Expire("payloads of integrations", s.Integrations.ExpirePayloads,
			a.log), jobs.NewQueueGauges(s.Queues.Depths, a.reg).Run,
		jobs.WarmStatistics(s.Statistics, a.log),
	} {
		bg.Go(func() error { return run(background) })
	}
	a.parts.Store(router)
	a.health.Set(programhealth.DatabaseCheck(a.db), clockCheck)
	a.paging.Set(append(programhealth.NewOverdue(s.Runner, a.reg, a.log).Checks(),
		programhealth.MembersCheck(s.Cluster, a.reg), programhealth.ModesCheck(s.Cluster, "", a.reg))...)
	return nil
}

// build creates the other edges. It returns all routes, and the site.
func (s *apiShared) build(alerts *Receivers) (*chi.Mux, *siteAndSCIM, error) {
	v0, err := irisapi.New(s.irisDeps())
	if err != nil {
		return nil, nil, err
	}
	calendars, err := s.oncallAPI()
	if err != nil {
		return nil, nil, err
	}
	pagerDuty, err := s.pagerDutyAPI()
	if err != nil {
		return nil, nil, err
	}
	v1, err := NewV1(s.v1Deps())
	if err != nil {
		return nil, nil, err
	}
	pages, err := newSite(siteDeps{Config: s.cfg, Stores: s.Stores, Sessions: s.sessions,
		Wake: s.notifier.Wake, wings: s.wings, Log: s.log, Registerer: s.reg})
	if err != nil {
		return nil, nil, err
	}
	answers, err := s.responses(pages.Asset)
	if err != nil {
		return nil, nil, err
	}
	typed, err := s.typed.Describe()
	if err != nil {
		return nil, nil, err
	}
	ofCalendar, err := s.planned.Describe()
	if err != nil {
		return nil, nil, err
	}
	all, err := typed.And(ofCalendar)
	if err != nil {
		return nil, nil, err
	}
	docs, err := openapi.New(server.Version(), pages.Asset, all)
	if err != nil {
		return nil, nil, err
	}
	zip, err := compress()
	if err != nil {
		return nil, nil, err
	}
	routes := s.routes(zip, docs, v0, calendars, pagerDuty, v1, alerts, answers, pages)
	pages.Refuse(routes)
	return routes, pages, nil
}

// routes returns the handler of all parts, behind the middleware of every request.
func (a *API) routes(zip func(http.Handler) http.Handler, docs *openapi.Docs, parts ...interface{ Routes(r chi.Router) }) *chi.Mux {
	r := chi.NewRouter()
	r.Use(wire.NoteOrigin, newHTTPMetrics(a.reg).middleware, zip, a.errors.Recover, a.bodies.Middleware,
		wire.SecurityHeaders, wire.StrictTransport(a.cfg.PublicURL), wire.CORS(a.cfg.HTTP.AllowedOrigins),
		wire.TrimSlash, a.errors.BoundQuery, refuseUnknownQueries(r, docs.Query,
			a.errors.Write), middleware.GetHead, login.NoteClient)
	var seen []func(*http.Request)
	for _, p := range parts {
		if hooks, ok := p.(interface{ NoteMethod(r *http.Request) }); ok {
			seen = append(seen, hooks.NoteMethod)
		}
	}
	a.errors.Refuse(r, seen...)
	for _, p := range parts {
		p.Routes(r)
	}
	r.Get("/openapi.json", docs.JSON)
	r.Get("/docs", docs.Page)
	return r
}

// listenPublic opens the listener of iris-api. The error names the setting.
func listenPublic(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http.addr (IRIS_HTTP_ADDR): %w", err)
	}
	return l, nil
}
