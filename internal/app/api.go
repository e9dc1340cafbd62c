package app

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

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/httpapi"
	"github.com/iris-oncall/iris/internal/messages/jinja"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncallapi"
	"github.com/iris-oncall/iris/internal/openapi"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/responses"
	"github.com/iris-oncall/iris/internal/web"
	"github.com/iris-oncall/iris/internal/webhooks"
	"github.com/iris-oncall/iris/internal/wire"
)

const apiAdminAddr = "127.0.0.1:16651"

// API is iris-api.
type API struct {
	cfg     config.API
	log     *zap.Logger
	reg     *prometheus.Registry
	health  *health
	errors  *wire.Errors
	public  net.Listener
	admin   net.Listener // nil = none
	proxies func(http.Handler) http.Handler
	mailbox http.Handler // nil = none
	db      *postgres.DB
	// parts serves everything that needs the database; nil until that was reached for the first time.
	parts atomic.Pointer[chi.Mux]
}

// NewAPI checks what can be checked without the database and opens the listeners. Run must be called afterwards.
func NewAPI(cfg config.API, deps Deps) (*API, error) {
	a := &API{cfg: cfg, log: deps.Log, reg: deps.Registry}
	if a.reg == nil {
		a.reg = NewRegistry(Version())
	}
	a.health = newHealth(a.log, a.reg)
	a.errors = wire.NewErrors(a.log)
	var err error
	if a.proxies, err = trustProxies(cfg.HTTP.TrustedProxies); err != nil {
		return nil, err
	}
	if cfg.HTTP.MailboxURL != "" {
		if a.mailbox, err = mailboxProxy(cfg.HTTP.MailboxURL, a.log); err != nil {
			return nil, err
		}
	}
	ctx := context.Background() // the pool lives as long as the process; opening it connects to nothing
	if a.db, err = openDatabase(ctx, cfg.Common, "iris-api", 0, pool(a.reg, "main"), a.log); err != nil {
		return nil, err
	}
	if a.public, err = listenPublic(cfg.HTTP.Addr); err != nil {
		return nil, err
	}
	if a.admin, err = listenAdmin(cfg.Admin.Addr, apiAdminAddr, a.log); err != nil {
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

// checkOpenings refuses to serve whoever comes on an address that others reach, and is loud about what is open.
func (a *API) checkOpenings() error {
	if !a.cfg.Compatibility.DisableAuth {
		return nil
	}
	for _, l := range []net.Listener{a.public, a.admin} {
		if l == nil {
			continue
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
			return fmt.Errorf("compatibility.disable_auth: %s can be reached from other machines; listen on 127.0.0.1 only", l.Addr())
		}
	}
	a.log.Warn("authentication is switched off, everybody is believed", zap.String("key", "compatibility.disable_auth"))
	return nil
}

// Addr is where the API can be reached.
func (a *API) Addr() string { return a.public.Addr().String() }

// Run serves until ctx ends, then lets running requests finish within the configured time. It returns nil unless
// something failed that trying again cannot help.
func (a *API) Run(ctx context.Context) error {
	defer a.db.Close()
	base := context.WithoutCancel(ctx)
	background, stopBackground := context.WithCancel(base) // wake-ups and health outlive the requests
	defer stopBackground()
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()

	var g, bg errgroup.Group
	bg.Go(func() error { a.health.watch(background); return nil })
	if a.admin != nil {
		bg.Go(func() error { return serve(background, a.admin, adminRoutes(a.health, a.reg), time.Second, a.log) })
	}
	a.log.Info("listening", zap.String("address", a.Addr()), zap.String("public_url", a.cfg.PublicURL))
	g.Go(func() error {
		defer stopServing()
		return serve(serving, a.public, a.root(), a.cfg.ShutdownTimeout, a.log)
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
		a.health.waiting(checkStop, errors.New("the process is stopping"))
	}()
	err := g.Wait()
	stopBackground()
	err = errors.Join(err, bg.Wait())
	a.log.Info("stopped")
	return err
}

// root answers what must work without the database and passes the rest on to the parts.
func (a *API) root() http.Handler {
	fixed := chi.NewRouter()
	fixed.Use(middleware.GetHead)
	fixed.Get("/livez", a.health.livez)
	fixed.Get("/readyz", a.health.readyz)
	fixed.Handle("/metrics", metricsHandler(a.reg))
	if a.mailbox != nil {
		for _, path := range []string{"/dev/mailbox", "/dev/mailbox.json", "/dev/mailbox/*"} {
			fixed.Handle(path, a.mailbox)
		}
	}
	return a.proxies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // which fixed answers without the body
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
	}))
}

// start waits for the database, builds the parts and puts them to work.
func (a *API) start(ctx, background context.Context, bg *errgroup.Group) error {
	in, err := awaitDatabase(ctx, a.db, a.cfg.Common, a.health, a.log)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	router, run, err := a.build(in)
	if err != nil {
		return err
	}
	for _, f := range run {
		bg.Go(func() error { return f(background) })
	}
	a.parts.Store(router)
	a.health.set(append(newWatch(postgres.NewRunner(a.db), a.reg, a.log).checks(),
		databaseCheck(a.db), membersCheck(postgres.NewCluster(a.db)))...)
	return nil
}

// build puts the parts together and returns the routes and what must run beside them. It is long because it is the
// drawing of the whole: every arrow between two parts is one line here.
func (a *API) build(in postgres.Installation) (*chi.Mux, []func(context.Context) error, error) {
	var (
		userRows      = postgres.NewUsers(a.db)
		applications  = postgres.NewApplications(a.db, in.Keys)
		incidents     = postgres.NewIncidents(a.db)
		plans         = postgres.NewPlans(a.db)
		messages      = postgres.NewMessages(a.db)
		queues        = postgres.NewQueues(a.db)
		directory     = postgres.NewDirectory(a.db)
		answers       = postgres.NewResponses(a.db)
		sessionRows   = postgres.NewSessions(a.db)
		notifier      = postgres.NewNotifier(a.db)
		sessions      = newSessions(a.cfg, sessionRows, a.errors.Write)
		load          = wire.NewLoad(queues, a.log)
		notices       = postgres.NewNotifications(a.db).WithQuota(standardQuota(a.cfg.DefaultQuota))
		oncallTeams   = postgres.NewOncallTeams(a.db, reminders(a.cfg.Oncall))
		c             = a.cfg.Compatibility
		settings      = apiConfig(a.cfg)
		openings      = settings.Openings
		authenticator = wire.NewAuthenticator(applications, userRows, sessions, userKey, a.errors)
		resolver      = oncall.NewResolver(oncall.LimitLists(directory, a.cfg.MailingLists.MaxMembers),
			oncall.NewLiveCalendar(postgres.NewOncallCalendars(a.db), oncall.LiveConfig{}), oncall.DefaultKeep)
	)
	if c.DisableAuth {
		authenticator = authenticator.Believing()
	}
	accounts, err := a.accounts(userRows)
	if err != nil {
		return nil, nil, err
	}
	var rates *wire.Rates
	if b := a.cfg.IncidentRates; b.Enabled {
		rates = wire.NewRates(incidents, b.MaxActive, b.MaxRecent, b.RecentLookback, b.Exempt)
	}
	var dummy oncall.FindUser
	if c.DummyRoles {
		dummy = userRows.ByName
		resolver = resolver.Dummy(dummy)
	}
	simulator, err := newSimulator(a.db, applications, a.cfg.MailingLists.MaxMembers, dummy)
	if err != nil {
		return nil, nil, err
	}
	back, err := newCallbacks(a.cfg)
	if err != nil {
		return nil, nil, err
	}
	api, err := httpapi.New(httpapi.Deps{
		Authenticator: authenticator, Errors: a.errors,
		Incidents: incidents, Plans: plans, Templates: postgres.NewTemplates(a.db), Messages: messages,
		Notifications: notices, Applications: applications, Directory: directory,
		Resolver: resolver, People: userRows, Queues: queues,
		Settings: applications, ApplicationKeys: applications, Limits: applications,
		Tags: postgres.NewTags(a.db), Rates: rates, States: incidents, Aggregations: plans,
		Statistics: postgres.NewStatistics(a.db), Simulator: simulator,
		Profiles: postgres.NewSettings(a.db), Targets: postgres.NewTargets(a.db), Categories: applications, SlackID: back.slackID,
		Replays: postgres.NewIdempotency(a.db), Load: load, Syntax: syntax, Wake: notifier.Wake, Ping: a.db.Ping,
		Log: a.log, Registerer: a.reg, Config: settings,
	})
	if err != nil {
		return nil, nil, err
	}
	hooks, err := webhooks.New(webhooks.Deps{
		Applications: applications, Incidents: incidents, Plans: plans, Load: load, Errors: a.errors, Wake: notifier.Wake, Log: a.log,
		Enabled: a.cfg.Webhooks, Openings: openings, Rates: rates,
	})
	if err != nil {
		return nil, nil, err
	}
	pages, err := web.New(web.Deps{
		Incidents: incidents, Messages: messages, Queues: queues, Cluster: postgres.NewCluster(a.db),
		People:   &people{Users: userRows, accounts: accounts, guard: &loginGuard{}},
		Sessions: sessions, UserKey: userKey, Steps: stepsOf(plans), Wake: notifier.Wake, Teams: postgres.NewTeams(a.db), Plans: plans, Simulator: simulator,
		Mailbox: a.cfg.HTTP.MailboxURL != "", Log: a.log,
	})
	if err != nil {
		return nil, nil, err
	}
	duty, err := oncallapi.New(oncallapi.Deps{
		Applications: applications, Users: userRows, Sessions: sessions, UserKey: userKey, Teams: oncallTeams,
		Rosters: postgres.NewOncallRosters(oncallTeams), People: postgres.NewOncallPeople(a.db), Names: postgres.NewOncallNames(a.db),
		Notices: postgres.NewOncallNotices(a.db), Shifts: postgres.NewOncallShifts(a.db), Schedules: postgres.NewOncallSchedules(a.db),
		Wishes: postgres.NewOncallWishes(a.db), Coverage: postgres.NewOncallCoverage(a.db), Calendars: postgres.NewOncallCalendars(a.db), Plans: plans, Incidents: incidents,
		Lookups: notices, Paid: paidRoles(a.cfg.Oncall.BonusURL), Wake: notifier.Wake, Errors: a.errors, Log: a.log, Config: oncallConfig(a.cfg),
	})
	if err != nil {
		return nil, nil, err
	}
	oneClick, err := newOneClick(a.cfg.Common)
	if err != nil {
		return nil, nil, err
	}
	replies, err := responses.New(responses.Deps{
		Authenticator: authenticator, Applications: applications, Plans: plans, Load: load, Rates: rates, Notifications: notices, OneClick: oneClick, Openings: openings,
		Pages: answers, Incidents: incidents, People: userRows, Receipts: postgres.NewReceipts(a.db), Links: in.Keys.Links(),
		Errors: a.errors, Wake: notifier.Wake, PublicURL: a.cfg.PublicURL, ValidTwilio: back.validTwilio,
		TwilioReceipt: back.twilioReceipt, SlackPressed: back.slackPressed, ReplySlack: back.replySlack, SlackEmail: back.slackEmail,
		Asset: pages.Asset, Log: a.log,
	})
	if err != nil {
		return nil, nil, err
	}
	docs, err := openapi.New(Version(), pages.Asset)
	if err != nil {
		return nil, nil, err
	}
	return a.routes(docs, api, duty, hooks, replies, pages), []func(context.Context) error{
		notifier.Run, api.Run, expireSessions(sessionRows, a.log), newQueueGauges(queues.Depths, a.reg).run,
	}, nil
}

// apiConfig is what the configuration says of the Iris API.
func apiConfig(c config.API) httpapi.Config {
	return httpapi.Config{
		Openings: auth.Openings{
			AnonymousReads: c.Compatibility.AnonymousReads, ChangeAnyPlan: c.Compatibility.ChangeAnyPlan,
			SessionsActForAnyone: c.Compatibility.SessionsActForAnyone, NoCredentials: c.Compatibility.DisableAuth,
		},
		HealthcheckFile: c.HTTP.HealthcheckFile, MaxPlanLength: c.MaxPlanLength, Tags: c.Tags, InternalApplications: c.InternalApplications,
		ListLimit: c.MailingLists.MaxMembers, DummyRoles: c.Compatibility.DummyRoles, TimeZones: c.TimeZones,
		Mobile: c.Mobile.Activated, DeviceApplications: c.Mobile.Applications,
	}
}

// accounts returns the log-in of people: with passwords kept here, and the directory's if one is configured.
func (a *API) accounts(people *postgres.Users) (*auth.Accounts, error) {
	accounts := auth.NewAccounts(people, auth.NewPasswords())
	if a.cfg.Compatibility.DisableAuth {
		accounts = accounts.Believing()
	}
	return withDirectory(accounts, a.cfg, postgres.NewDirectorySync(a.db, "log-in with the directory's password"), a.log, a.reg)
}

// routes returns what serves all parts, behind what every request passes.
func (a *API) routes(docs *openapi.Docs, parts ...interface{ Routes(r chi.Router) }) *chi.Mux {
	r := chi.NewRouter()
	r.Use(newHTTPMetrics(a.reg).middleware, recoverer(a.log, a.errors.Write), wire.SecurityHeaders, wire.StrictTransport(a.cfg.PublicURL), wire.CORS(a.cfg.HTTP.AllowedOrigins),
		wire.TrimSlash, middleware.GetHead, throttleLogins(a.errors.Write))
	r.NotFound(a.errors.NotFound)
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		if allowed := wire.Allowed(r, req); allowed != "" {
			w.Header().Set("Allow", allowed)
		}
		a.errors.MethodNotAllowed(w, req)
	})
	for _, p := range parts {
		p.Routes(r)
	}
	r.Get("/openapi.json", docs.JSON)
	r.Get("/docs", docs.Page)
	return r
}

// stepsOf tells pages how many steps a plan version has; 0 when that cannot be found out.
func stepsOf(plans *postgres.Plans) func(context.Context, int64) int {
	return func(ctx context.Context, id int64) int {
		p, err := plans.ByID(ctx, escalation.PlanID(id))
		if err != nil {
			return 0
		}
		return len(p.Steps)
	}
}

// expireSessions removes sessions that are over, now and then.
func expireSessions(s *postgres.Sessions, log *zap.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(10 * time.Minute)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				if _, err := s.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
					log.Warn("expired sessions cannot be removed", zap.Error(fmt.Errorf("expire sessions: %w", err)))
				}
			}
		}
	}
}

// syntax says what is wrong with a template.
func syntax(source string) error {
	_, err := jinja.Compile(source, jinja.Limits{})
	return err
}
