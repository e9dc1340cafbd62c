package apiserver

import (
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/api"
	"github.com/iris-oncall/iris/internal/app/apiserver/callbacks"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/irisapi"
	"github.com/iris-oncall/iris/internal/load"
	"github.com/iris-oncall/iris/internal/login"
	accept "github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncallapi"
	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/calendar"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	"github.com/iris-oncall/iris/internal/postgres/engine"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/postgres/queue"
	"github.com/iris-oncall/iris/internal/responses"
	"github.com/iris-oncall/iris/internal/web"
	"github.com/iris-oncall/iris/internal/webhooks"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/calendars"
)

// apiShared has what several edges of iris-api use: storage adapters, authentication and limits. It has one method per
// edge; each dependency between two parts is one line there.
type apiShared struct {
	stored
	cfg    config.API
	log    *zap.Logger
	reg    *prometheus.Registry
	errors *wire.Errors
	in     postgres.Installation

	idempotency *postgres.Idempotency
	notifier    *postgres.Notifier
	queues      *queue.Queues
	sessionRows *access.Sessions
	directory   *engine.Directory
	resolver    *oncall.Resolver

	sessions      *scs.SessionManager
	authenticator *wire.Authenticator
	strict        *wire.Authenticator // refuses requests without credentials, whatever is opened
	requests      *wire.Requests
	acceptor      *accept.Acceptor
	caches        irisapi.Caches
	load          *load.Load
	rates         *load.Rates // nil = any number of incidents
	dummy         oncall.FindUser
	simulator     *operator.Simulator
	callbacks     callbacks.Callbacks
	replayed      prometheus.Counter
}

// share creates what the edges share.
func (a *API) share(in postgres.Installation) (*apiShared, error) {
	s := &apiShared{
		cfg: a.cfg, log: a.log, reg: a.reg, errors: a.errors, in: in,
		stored: newStored(a.db, in.Keys, catalog.NewPlans(a.db),
			notifications.New(a.db).WithQuota(server.StandardQuota(a.cfg.DefaultQuota))),
		idempotency: postgres.NewIdempotency(a.db),
		notifier:    postgres.NewNotifier(a.db),
		queues:      queue.NewQueues(a.db),
		sessionRows: access.NewSessions(a.db),
		directory:   engine.NewDirectory(a.db),
	}
	s.sessions = login.NewSessions(a.cfg, s.sessionRows, a.errors.Write)
	s.strict = wire.NewAuthenticator(s.applications, s.userRows, s.sessions, login.UserKey, a.errors)
	s.authenticator = wire.NewAuthenticator(s.applications, s.userRows, s.sessions, login.UserKey, a.errors)
	if a.cfg.Compatibility.DisableAuth {
		s.authenticator = s.authenticator.WithoutVerification()
	}
	s.load = load.New(s.queues, a.log)
	if b := a.cfg.IncidentRates; b.Enabled {
		s.rates = load.NewRates(s.incidents, b.MaxActive, b.MaxRecent, b.RecentLookback, b.Exempt)
	}
	if a.cfg.Compatibility.DummyRoles {
		s.dummy = s.userRows.ByName
	}
	s.replayed = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "iris_httpapi_replayed_total", Help: "Requests answered from a stored answer (Idempotency-Key).",
	})
	err := a.reg.Register(s.replayed)
	if err != nil {
		return nil, err
	}
	s.resolver = oncall.NewResolver(oncall.LimitLists(s.directory, s.cfg.MailingLists.MaxMembers),
		oncall.NewLiveCalendar(calendar.NewCalendars(s.db), oncall.LiveConfig{}), oncall.DefaultKeep)
	if s.dummy != nil {
		s.resolver = s.resolver.Dummy(s.dummy)
	}
	if s.requests, err = wire.NewRequests(a.reg); err != nil {
		return nil, err
	}
	s.acceptor = accept.New(accept.Deps{
		Store: s.notifications, Directory: s.directory, Resolver: s.resolver, Load: s.load, DummyRoles: s.dummy != nil,
	})
	s.caches = irisapi.NewCaches(incidents.NewStatistics(s.db))
	if s.simulator, err = operator.NewSimulator(a.db, s.applications, a.cfg.MailingLists.MaxMembers, s.dummy); err != nil {
		return nil, err
	}
	s.callbacks, err = callbacks.New(a.cfg)
	return s, err
}

// irisParts are the parts of the API v0.
func (s *apiShared) irisParts() irisapi.Deps {
	c, open := s.cfg, openings(s.cfg)
	settings, targets, templates := pgpeople.NewSettings(s.db), catalog.NewTargets(s.db), catalog.NewTemplates(s.db)
	tags := irisapi.Tags{Names: c.Tags, Store: catalog.NewTags(s.db)}
	acceptor := s.acceptor.Within(s.notifications)
	return irisapi.Deps{
		Mount: irisapi.Mount{Errors: s.errors, Identify: s.authenticator.Middleware, Observe: s.requests.Observe},
		Applications: irisapi.ApplicationParts{
			Applications: s.applications, Changes: s.applications, Keys: s.applications, Limits: s.applications,
			Statistics: s.caches.Statistics, Tags: tags,
		},
		Catalog: irisapi.CatalogParts{
			Plans: s.plans, PlanChanges: s.plans, PlanStore: s.plans,
			Templates: templates, TemplateChanges: templates, TemplateStore: templates,
			People: s.userRows, Teammates: s.userRows.Teammates, Openings: open, Tags: tags,
			MaxPlanLength: c.MaxPlanLength, ListLimit: c.MailingLists.MaxMembers,
		},
		Incidents: irisapi.IncidentParts{
			Incidents: s.incidents, Transitions: s.incidents, Comments: s.incidents, Messages: s.messages, People: s.userRows,
			Tags: tags, Openings: open, InternalApplications: c.InternalApplications,
		},
		Messages: irisapi.MessageParts{Messages: s.messages, Queues: s.queues, Acceptor: acceptor},
		Opening: irisapi.OpeningParts{
			Incidents: s.incidents, Plans: s.plans, Applications: s.applications, Lookups: s.notifications, Load: s.load,
			Rates: s.rates, Variables: s.caches.Variables,
		},
		People: irisapi.PeopleParts{
			People: s.userRows, Profiles: settings, Modes: settings, Reprioritisations: settings, Categories: settings,
			Devices: settings, Acceptor: acceptor, SlackID: s.callbacks.SlackID, TimeZones: c.TimeZones,
			Mobile: c.Mobile.Activated, DeviceApplications: c.Mobile.Applications, InternalApplications: c.InternalApplications,
		},
		Vocabulary: irisapi.VocabularyParts{
			Targets: targets, Roles: targets, Categories: s.applications, Tags: tags,
			TimeZones: c.TimeZones, InternalApplications: c.InternalApplications,
		},
		Health: irisapi.Health{File: c.HTTP.HealthcheckFile, Ping: s.db.Ping},
		Begin:  units(s, (*apiShared).irisParts), Wake: s.notifier.Wake, Replayed: s.replayed.Inc, Registerer: s.reg,
	}
}

// calendarParts has what the two calendar APIs share.
type calendarParts struct {
	requests      calendars.Requests
	authenticator *calendars.Authenticator
	teams         *pgpeople.OncallTeams
	people        *pgpeople.OncallPeople
	rosters       *pgpeople.Rosters
	names         *catalog.RolesAndServices
	shifts        *calendar.Shifts
	schedules     *calendar.Schedules
	calendars     *calendar.Calendars
}

func (s *apiShared) calendarParts() calendarParts {
	c := s.cfg.Oncall
	teams := pgpeople.NewOncallTeams(s.db, operator.Reminders(c.ReminderTimes, c.ReminderModes, c.ReminderRoles))
	p := calendarParts{
		teams: teams, people: pgpeople.NewOncallPeople(s.db), rosters: pgpeople.NewRosters(teams), names: catalog.NewRolesAndServices(s.db),
		shifts: calendar.NewShifts(s.db), schedules: calendar.NewSchedules(s.db), calendars: calendar.NewCalendars(s.db),
	}
	open := auth.Openings{AnonymousReads: s.cfg.Compatibility.OncallAnonymousReads, AdminsEditMembers: s.cfg.Compatibility.TeamAdminsEditMembers}
	p.requests = calendars.Requests{
		Teams: teams, People: p.people, Roles: p.names, Rosters: p.rosters, Schedules: p.schedules, Shifts: p.shifts,
		Openings: open, Grace: c.Grace,
	}
	p.authenticator = &calendars.Authenticator{
		Applications: s.applications, Users: s.userRows, Sessions: s.sessions, UserKey: login.UserKey, Memberships: teams,
		Openings: open, DebugAuth: s.cfg.Compatibility.OncallDebugAuth, Errors: s.errors,
	}
	return p
}

// oncallAPI creates the calendar API below /api/v0.
func (s *apiShared) oncallAPI(p calendarParts) (*oncallapi.API, error) {
	notices := notifications.NewNotices(s.db, s.in.Keys)
	return oncallapi.New(oncallapi.Deps{
		Requests: p.requests, Authenticator: p.authenticator, Errors: s.errors,
		Teams: oncallapi.TeamParts{
			Teams: p.teams, Members: p.teams, Admins: p.teams, Subscriptions: p.teams, Rosters: p.rosters, RosterMembers: p.rosters,
			RoleChanges: p.names, Services: p.names, TeamServices: p.names, ScheduleChanges: p.schedules, Audit: notices, Plans: s.plans,
			CheckPlans: s.cfg.Oncall.EscalateApplication != "", TimeZones: s.cfg.TimeZones, Modes: noticeModes,
		},
		People: oncallapi.PeopleParts{
			Users: p.people, Pins: p.people, NoticeTypes: notices, Notices: notices, Keys: notices, KeyRemovals: notices,
			Feeds: p.shifts, Modes: noticeModes,
		},
		Events: oncallapi.EventParts{
			Calendars: p.calendars, TeamNames: p.teams, Users: p.people, Services: p.names, Audit: notices,
			Paid: oncallapi.PaidRoles(s.cfg.Oncall.BonusURL), Bonus: oncallapi.Bonus{Whitelist: s.cfg.Oncall.BonusWhitelist, Blacklist: s.cfg.Oncall.BonusBlacklist},
		},
		Escalate: oncallapi.EscalateParts{
			Plans: s.plans, Incidents: s.incidents, Lookups: s.notifications, Applications: s.applications, Wake: s.notifier.Wake,
			Config: escalateConfig(s.cfg),
		},
	})
}

// v1Parts are the parts of the project's own API below /v1.
func (s *apiShared) v1Parts() api.Deps {
	absent, p := calendar.NewRequests(s.db), s.calendarParts()
	acceptor := s.acceptor.Within(s.notifications)
	acceptor.DummyRoles = false
	return api.Deps{
		Authenticator:         s.strict,
		CalendarAuthenticator: p.authenticator, Errors: s.errors, Observe: s.requests.Observe,
		Keys:      &api.Keys{Begin: units(s, (*apiShared).v1Parts), Errors: s.errors, Wake: s.notifier.Wake, Replayed: s.replayed.Inc},
		Incidents: api.IncidentParts{Incidents: s.incidents, Transitions: s.incidents, Comments: s.incidents, Timelines: s.incidents, People: s.userRows, Wake: s.notifier.Wake},
		Messages: api.MessageParts{Messages: s.messages, Notifications: incidents.NewRequests(s.db), Wake: s.notifier.Wake,
			Acceptor: acceptor},
		Catalog: api.CatalogParts{Plans: s.plans, Templates: catalog.NewTemplates(s.db),
			People: s.userRows, Teammates: s.userRows.Teammates, MaxPlanLength: s.cfg.MaxPlanLength,
			ListLimit: s.cfg.MailingLists.MaxMembers},
		Applications: api.ApplicationParts{Applications: s.applications, People: s.userRows},
		Configuration: api.ConfigurationParts{
			Plans: s.plans, Applications: s.applications, Fallbacks: engine.NewDirectory(s.db), AuditLog: access.NewAudit(s.db),
			Removals: operator.NewRemovals(s.db, s.plans, s.cfg.Intake.CatchAllPlan), Simulator: s.simulator,
		},
		People: api.PeopleParts{People: p.people, Teams: p.teams},
		Calendar: api.CalendarParts{
			Requests: p.requests, Calendars: p.calendars, Members: p.teams, Rotations: p.schedules, Unavailability: absent,
			Holidays: absent, Swaps: absent, Coverage: calendar.NewCoverage(s.db), Imports: p.shifts,
			Contacts: pgpeople.NewContacts(s.db, s.in.Keys, s.notifications),
		},
	}
}

// anyActive is more active incidents than an application ever has: for default plans only the opened incidents per minute
// are limited.
const anyActive = 100_000

func (s *apiShared) webhooks() (*webhooks.Webhooks, error) {
	in := s.cfg.Intake
	return webhooks.New(webhooks.Deps{
		CatchAll: in.CatchAllPlan, Registerer: s.reg,
		FallbackRates: load.NewRates(s.incidents, anyActive, in.FallbackPerMinute, time.Minute, nil),
		Applications:  s.applications, Incidents: s.incidents, Plans: s.plans, Load: s.load, Errors: s.errors, Wake: s.notifier.Wake, Log: s.log,
		Enabled: s.cfg.Webhooks, Openings: openings(s.cfg), Rates: s.rates,
	})
}

func (s *apiShared) pages() (*web.Web, error) {
	accounts, err := s.accounts()
	if err != nil {
		return nil, err
	}
	return web.New(web.Deps{
		Incidents: web.IncidentParts{Incidents: s.incidents, Transitions: s.incidents, Messages: s.messages, Steps: s.plans.StepCount, Wake: s.notifier.Wake},
		Plans:     web.PlanParts{Plans: s.plans, Simulator: s.simulator},
		Cluster:   web.ClusterParts{Members: engine.NewCluster(s.db), Queues: s.queues},
		Teams:     pgpeople.NewTeams(s.db),
		People:    login.NewPeople(s.userRows, accounts, access.NewKnownAddresses(s.db, s.in.Keys), s.log),
		Sessions:  s.sessions, UserKey: login.UserKey, Mailbox: s.cfg.HTTP.MailboxURL != "", Log: s.log,
	})
}

// responses makes the edge that takes answers; asset gives the addresses of what its pages load.
func (s *apiShared) responses(asset func(string) string) (*responses.Responses, error) {
	oneClick, err := server.NewOneClick(s.cfg.Common)
	if err != nil {
		return nil, err
	}
	rows := incidents.NewResponses(s.db)
	return responses.New(responses.Deps{
		Answers: responses.AnswerParts{
			Messages: rows, Paged: rows, Senders: rows, Records: rows, Incidents: s.incidents, Openings: openings(s.cfg), Wake: s.notifier.Wake,
		},
		Links: responses.LinkParts{People: s.userRows, Links: s.in.Keys.Links(), Asset: asset},
		Mail: responses.MailParts{
			Mailboxes: rows, Openers: s.incidents, Applications: s.applications, Plans: s.plans, Load: s.load, Rates: s.rates, Notifications: s.notifications,
		},
		Slack: responses.SlackParts{Posted: rows, Pressed: s.callbacks.SlackPressed, Reply: s.callbacks.ReplySlack, Email: s.callbacks.SlackEmail},
		Twilio: responses.TwilioParts{
			PublicURL: s.cfg.PublicURL, Valid: s.callbacks.ValidTwilio, Receipt: s.callbacks.TwilioReceipt, Receipts: incidents.NewReceipts(s.db),
			Reveal: s.in.Keys.RevealTo,
		},
		OneClick: oneClick, Authenticator: s.authenticator, Errors: s.errors, Log: s.log,
	})
}

// accounts returns the log-in of people, with local passwords and those of the directory.
func (s *apiShared) accounts() (*auth.Accounts, error) {
	accounts := auth.NewAccounts(s.userRows, auth.NewPasswords())
	if s.cfg.Compatibility.DisableAuth {
		accounts = accounts.WithAnyPassword()
	}
	return login.WithDirectory(accounts, s.cfg, pgpeople.NewDirectorySync(s.db, "log-in with the directory's password"), s.log, s.reg)
}

// openings returns the compatibility settings about access.
func openings(c config.API) auth.Openings {
	return auth.Openings{
		AnonymousReads: c.Compatibility.AnonymousReads, ChangeAnyPlan: c.Compatibility.ChangeAnyPlan,
		SessionsActForAnyone: c.Compatibility.SessionsActForAnyone, NoCredentials: c.Compatibility.DisableAuth,
		ApplicationsClaim: c.Compatibility.ApplicationsClaimForAnyone,
	}
}
