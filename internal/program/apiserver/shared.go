package apiserver

import (
	"context"

	"github.com/alexedwards/scs/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/iris-oncall/iris/internal/answers"
	"github.com/iris-oncall/iris/internal/auth"
	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/escalation/reach"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	incidentsload "github.com/iris-oncall/iris/internal/incidents/load"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/opening"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/irisapi"
	"github.com/iris-oncall/iris/internal/legacy/oncallapi"
	"github.com/iris-oncall/iris/internal/legacy/pagerdutyapi"
	"github.com/iris-oncall/iris/internal/messages"
	pagesmessages "github.com/iris-oncall/iris/internal/messages/pages"
	accept "github.com/iris-oncall/iris/internal/notifications"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	oncallrequests "github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/login"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/silences"
	pagessilences "github.com/iris-oncall/iris/internal/silences/pages"
	"github.com/iris-oncall/iris/internal/system"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/replay"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// apiShared has what several edges of iris-api use: storage adapters, authentication and limits. It has one method per
// edge; each dependency between two parts is one line there.
type apiShared struct {
	*API
	*server.Stores

	idempotency *postgres.Idempotency
	notifier    *pgbuckets.Notifier

	sessions      *scs.SessionManager
	authenticator *wire.Authenticator
	strict        *wire.Authenticator // refuses requests without credentials, whatever the compatibility switches are
	requests      *wire.Requests
	acceptor      *accept.Acceptor
	statistics    *applications.RecentStatistics
	recipes       *recipes.Book
	load          *incidentsload.Load
	rates         *incidentsload.Rates // nil = any number of incidents
	callbacks     Callbacks
	wings
	typed   *mount.API // the operations below /v1
	planned *mount.API // those on calendars
	keys    *replay.Keys[*postgres.Unit]
}

// wings are the operations of the wings, for the routes of /v1 and for pages.
type wings struct {
	access        pagesauth.Operations
	applications  *catalog.Applications
	calendaring   *calendaring.Calendaring
	contacts      *users.Contacts
	incidents     *incidents.Incidents
	integrations  *integrations.Integrations
	messages      *messages.Messages
	notifications *accept.Notifications
	simulator     *simulation.Simulator
	onCall        operation.Op[calendaring.OnCallFilter, operation.Page[scheduling.Team]]
	onCallRoles   calendaring.OnCallRoles
	open          operation.Op[opening.NewIncident, opening.OpenedIncident]
	people        *users.People
	personal      *personal.Personal
	planning      *planning.Planning
	plans         *catalog.Plans
	preferences   *users.Preferences
	reviews       *reviews.Reviews
	search        operation.Op[calendaring.SearchFilter, calendaring.Found]
	silences      *silences.Silences
	system        *system.System
	teams         *teams.Teams
	templates     *catalog.Templates
	updates       *updates.Updates
}

// share creates what the edges share.
func (a *API) share(in pgauth.Installation) (*apiShared, error) {
	s := &apiShared{
		API: a, Stores: server.NewStores(a.db, in.Keys, a.cfg.Common, a.cfg.Oncall),
		idempotency: postgres.NewIdempotency(a.db), notifier: pgbuckets.NewNotifier(a.db),
	}
	dummy, listLimit := a.cfg.Compatibility.DummyRoles, a.cfg.MailingLists.MaxMembers
	s.Sessions = s.Sessions.WithIdle(a.cfg.HTTP.SessionIdle)
	s.sessions = login.NewSessions(a.cfg, s.Sessions, a.errors.Write)
	s.strict = wire.NewAuthenticator(s.Applications, s.Users, s.sessions, login.UserKey,
		a.errors).WithTokens(s.Tokens).WithRecentLogin(a.cfg.HTTP.SessionConfirm)
	s.authenticator = wire.NewAuthenticator(s.Applications, s.Users, s.sessions, login.UserKey,
		a.errors).WithTokens(s.Tokens).WithRecentLogin(a.cfg.HTTP.SessionConfirm)
	if a.cfg.Compatibility.DisableAuth {
		s.authenticator = s.authenticator.WithoutVerification()
	}
	s.load = incidentsload.New(s.Queues, a.log)
	if b := a.cfg.IncidentRates; b.Enabled {
		s.rates = incidentsload.NewRates(s.Incidents, b.MaxActive, b.MaxRecent, b.RecentLookback, b.Exempt)
	}
	s.keys = replay.New(s.idempotency, a.errors, promauto.With(a.reg).NewCounter(prometheus.CounterOpts{
		Name: "iris_httpapi_replayed_total", Help: "Requests answered from a stored answer (Idempotency-Key).",
	}).Inc)
	var err error
	if s.requests, err = wire.NewRequests(a.reg); err != nil {
		return nil, err
	}
	if s.recipes, err = sources.Recipes(a.cfg.Intake.Recipes); err != nil {
		return nil, err
	}
	s.acceptor = accept.New(accept.Deps{
		Store: s.Notifications, Directory: s.Directory, Resolver: s.Resolver(listLimit,
			dummy), Load: s.load, DummyRoles: dummy, Region: s.Region, Clock: s.Clock,
	})
	s.statistics = applications.NewRecentStatistics(s.Statistics)
	if s.simulator, err = operator.NewSimulator(a.db, s.Applications, operator.SimulatorConfig{ListLimit: listLimit, PerDay: a.cfg.QuietTime.CallsAndTextsPerDay, DummyRoles: dummy}); err != nil {
		return nil, err
	}
	s.silences = s.Silences(s.notifier.Wake, a.log)
	s.plans = catalog.NewPlans(catalog.PlanDeps{Store: s.Stores.Plans, Authors: s.authors(), Owners: s.Owners,
		Syntax: messages.CheckSyntax,
		Simulator: operator.NewSimulations(s.simulator, a.db,
			s.Applications), MaxLength: a.cfg.MaxPlanLength, ListLimit: listLimit, CatchAll: a.cfg.Intake.CatchAllPlan})
	s.templates = catalog.NewTemplates(catalog.TemplateDeps{Store: s.Stores.Templates, Authors: s.authors(),
		Owners: s.Owners, Syntax: messages.CheckSyntax, Drafts: catalog.Drafts{Application: s.Applications.Describe,
			Facts: s.QueueLoader, Sample: sources.Sample, Address: a.cfg.PublicURL}})
	// The switches that allow what Iris allowed hold for /v0 only, but for what the key of an application reaches.
	open := auth.Openings{ReachEverything: a.cfg.Compatibility.ApplicationsReachEverything}
	s.typed = mount.New(func(ctx context.Context) operation.Actor { return wire.Actor(ctx).Caller(open) })
	s.access = accessOperations(a.cfg, s.Stores, s.sessions.Token)
	pagesauth.Mount(s.typed, s.access)
	pagessilences.Mount(s.typed, s.silences)
	s.applications = catalog.NewApplications(catalog.ApplicationDeps{Store: s.Applications, People: s.Users,
		Teams: s.Owners, Owners: s.Owners, Fallbacks: s.Directory.Applications, Pause: pgsystem.New(s.DB).SetPaused, Statistics: s.statistics})
	pagescatalog.Mount(s.typed, s.plans, s.templates, s.applications)
	finder, _ := s.calendarEdge()
	s.planned = mount.New(func(ctx context.Context) operation.Actor { return wire.Actor(ctx).CalendarCaller(finder.Openings) }).Open()
	s.planning = planning.New(s.planningDeps(finder))
	s.calendaring = calendaring.New(calendaring.Deps{Finder: finder.Finder, Grace: finder.Grace,
		Memberships: s.Teams, Absences: s.Absences, Sealer: s.Keys, Swaps: s.Absences, Imports: s.Shifts, Members: s.Teams,
		Rotations: s.Schedules, Planning: s.planning})
	s.onCallRoles = calendaring.NewRoles(s.Names)
	s.onCall = calendaring.NewOnCall(operator.NewOnCall(s.DB, s.Applications).Who)
	s.search = calendaring.NewSearch(s.Teams, s.People.Search, s.searched()...)
	callers := oncallrequests.Callers{Requests: finder}
	s.personal = personal.New(personal.Deps{Finder: finder.Finder, Pins: s.People, Notices: s.Notices, Keys: s.Notices,
		Callers: callers, Modes: noticeModes, People: s.People, Region: s.Region})
	removals := operator.NewRemovals(s.DB)
	s.teams = teams.New(teams.Deps{Finder: finder, Administrators: s.planning, People: s.People, Store: s.Teams,
		Rosters: s.Rosters, Services: s.Names, Removals: removals, PlanNamed: s.planNamed(), Region: s.Region})
	pagesoncall.Mount(s.planned, s.planning, s.calendaring, s.personal, s.onCallRoles, s.search)
	pagesoncall.MountTeams(s.planned, s.teams)
	pagesoncall.MountReads(s.typed, s.teams, s.onCall)
	s.integrations = integrations.New(integrations.Deps{Store: s.Integrations, Heartbeats: s.Heartbeats,
		Applications: s.Applications, Types: sources.Types(), Recipes: s.recipes, Previewer: previewer(s.cfg, s.recipes, s.Stores, s.log)})
	s.open = opening.NewOpenIncident(opening.OperationDeps{Opener: s.opener(), Caller: openingCaller, Get: s.Incidents.Get,
		Wake: s.notifier.Wake})
	pagesintake.Mount(s.typed, s.integrations, s.open)
	s.contacts = users.NewContacts(s.Contacts, callers, s.Region)
	pagesusers.MountContacts(s.planned, s.contacts)
	s.preferences = users.NewPreferences(s.Users, s.Settings)
	s.people = users.NewPeople(users.PeopleDeps{Accounts: operator.NewAccounts(s.DB), Removals: removals, Region: s.Region})
	pagesusers.Mount(s.typed, s.people, s.preferences)
	s.system = systemOf(a.cfg, s.Stores, s.notifier.Wake)
	pagessystem.Mount(s.typed, s.system)
	s.incidents = incidents.NewIncidents(incidents.Deps{Store: s.Incidents, Responders: s.Responders(),
		People: s.Users, Wake: s.notifier.Wake})
	pagesincidents.Mount(s.typed, s.incidents, simulation.NewNext(s.simulator.Next, s.Incidents.Get))
	s.reviews = reviews.New(s.Incidents, s.Incidents)
	pagesincidents.MountReviews(s.typed, s.reviews)
	s.updates = updates.New(updates.Deps{Store: pgnotifications.NewUpdates(s.Stores.Notifications), Incident: s.Incidents.Get,
		Applications: s.Applications, Load: s.load, Wake: s.notifier.Wake, PublicURL: a.cfg.PublicURL})
	pagesnotifications.Mount(s.typed, s.updates)
	strict := *s.acceptor
	strict.DummyRoles = false
	s.messages = messages.NewMessages(s.seen(), s.Incidents.Get)
	s.notifications = accept.NewNotifications(s.Requests, &strict, s.Applications, s.notifier.Wake)
	pagesmessages.Mount(s.typed, s.messages, s.notifications)
	s.callbacks, err = newCallbacks(a.cfg)
	return s, err
}

// authors decides in whose name plans and templates are saved.
func (s *apiShared) authors() catalog.Authors {
	return catalog.Authors{People: s.Users, Teams: s.Owners, Teammates: s.Users.Teammates}
}

// irisDeps are the parts of the API v0.
func (s *apiShared) irisDeps() irisapi.Deps {
	c, open := s.cfg, openings(s.cfg)
	rule := reach.Rule{Openings: open}
	tags := irisapi.Tags{Names: c.Tags, Store: s.Tags}
	return irisapi.Deps{
		Mount: routing.Mount{Errors: s.errors, Identify: s.authenticator.Middleware, Recent: s.authenticator.Recent,
			Once: s.keys.Once, Observe: s.requests.Observe},
		Applications: irisapi.ApplicationsDeps{
			Applications: s.Applications, Operations: s.applications,
			Statistics: s.statistics, Tags: tags,
		},
		Catalog: irisapi.CatalogDeps{
			Plans: s.Plans, PlanOperations: s.plans,
			Templates: s.Templates, TemplateOperations: s.templates,
			Authors: s.authors(), Openings: open, Tags: tags,
		},
		Incidents: irisapi.IncidentsDeps{
			Incidents: reach.Incidents{Rule: rule, Store: s.Incidents}, Operations: s.incidents,
			Messages: reach.Messages{Rule: rule, Seen: s.seen()}, People: s.Users,
			Tags: tags, Openings: open, InternalApplications: c.InternalApplications,
		},
		Messages: irisapi.MessagesDeps{Messages: reach.Messages{Rule: rule, Seen: s.seen()}, Queues: s.Queues, Acceptor: s.acceptor, Wake: s.notifier.WakeDelivery},
		Opening:  irisapi.OpeningDeps{Opener: s.opener(), Texts: s.Plans, Wake: s.notifier.WakeEscalation},
		People: irisapi.PeopleDeps{
			People: s.Users, Settings: s.Settings, Preferences: s.preferences, Acceptor: s.acceptor,
			SlackID: s.callbacks.SlackID, TimeZones: c.TimeZones,
			Mobile: c.Mobile.Activated, DeviceApplications: c.Mobile.Applications, InternalApplications: c.InternalApplications,
		},
		Vocabulary: irisapi.VocabularyDeps{
			Targets: s.Targets, Categories: s.Applications, Tags: tags,
			TimeZones: c.TimeZones, InternalApplications: c.InternalApplications,
		},
		Health:     irisapi.Health{File: c.HTTP.HealthcheckFile, Ping: s.DB.Ping},
		Registerer: s.reg,
	}
}

// seen returns the messages as callers see them.
func (s *apiShared) seen() messages.Seen {
	return messages.Seen{Store: s.Messages, OnCallNow: s.People.OnCallNow}
}

// openingCaller returns the caller of a request who opens an incident.
func openingCaller(ctx context.Context) opening.Caller {
	return opening.Caller{Actor: wire.Actor(ctx), Application: wire.Application(ctx)}
}

// opener returns what opens the incidents that applications and people ask for.
func (s *apiShared) opener() opening.Opener {
	return opening.Opener{Incidents: s.Incidents, Plans: s.Plans, Applications: s.Applications,
		Lookups: s.Notifications, Load: s.load, Rates: s.rates}
}

// calendarEdge returns what the two calendar APIs share.
func (s *apiShared) calendarEdge() (oncallrequests.Requests, *oncallrequests.Authenticator) {
	c := s.cfg.Compatibility
	open := auth.Openings{AnonymousReads: c.OncallAnonymousReads, AdminsEditMembers: c.TeamAdminsEditMembers}
	return oncallrequests.Requests{
			Finder: calendaring.Finder{Teams: s.Teams, People: s.People, Roles: s.Names, Rosters: s.Rosters,
				Schedules: s.Schedules, Shifts: s.Shifts},
			Openings: open, Memberships: s.Teams, Grace: s.cfg.Oncall.Grace,
		}, &oncallrequests.Authenticator{
			Applications: s.Applications, Users: s.Users, Sessions: s.sessions, UserKey: login.UserKey, Memberships: s.Teams, Tokens: s.Tokens, RecentLogin: s.cfg.HTTP.SessionConfirm,
			Openings: open, DebugAuth: c.OncallDebugAuth, Errors: s.errors,
		}
}

// planningDeps are the parts of the operations that plan calendars.
func (s *apiShared) planningDeps(finder oncallrequests.Requests) planning.Deps {
	return planning.Deps{Finder: finder, Teams: s.Teams, People: s.People, Members: s.Teams, Memberships: s.Teams, Schedules: s.Schedules,
		Changes: s.Schedules, Calendars: s.Calendars, Coverage: s.Coverage, Shifts: s.Shifts, Holidays: s.Absences, Absences: s.Absences,
		Imports: s.Shifts, Subscriptions: s.Subscribed, Subscribed: s.Subscribed, PrivateCalendars: s.cfg.Oncall.PrivateCalendars}
}

// planNamed returns the check of plans that teams name; nil if teams have no use for them.
func (s *apiShared) planNamed() func(context.Context, string) error {
	if s.cfg.Oncall.EscalateApplication == "" {
		return nil
	}
	return func(ctx context.Context, name string) error {
		_, err := s.Stores.Plans.ByName(ctx, name)
		return err
	}
}

// oncallAPI creates the calendar API below /api/v0.
func (s *apiShared) oncallAPI() (*oncallapi.API, error) {
	requests, authenticator := s.calendarEdge()
	return oncallapi.New(oncallapi.Deps{
		Requests: requests, Authenticator: authenticator, Errors: s.errors,
		Teams: oncallapi.TeamsDeps{
			Teams: s.Teams, Rosters: s.Rosters,
			Names: s.Names, Previews: s.Schedules, Planning: s.planning, OnCallRoles: s.onCallRoles, Notices: s.Notices, Rules: s.teams,
			TimeZones: s.cfg.TimeZones, Modes: noticeModes,
		},
		People: oncallapi.PeopleDeps{
			Users: s.People, Notices: s.Notices, Feeds: s.Shifts, Personal: s.personal, Search: s.search,
		},
		Events: oncallapi.EventsDeps{
			Edits:     s.calendaring.Edit,
			Calendars: s.Calendars, Teams: s.Teams, Users: s.People, Names: s.Names, Notices: s.Notices,
			Paid: oncallapi.PaidRoles(s.cfg.Oncall.BonusURL), Bonus: oncallapi.Bonus{Whitelist: s.cfg.Oncall.BonusWhitelist, Blacklist: s.cfg.Oncall.BonusBlacklist},
		},
		Escalate: oncallapi.EscalateDeps{
			Plans: s.Plans, Incidents: s.Incidents, Lookups: s.Notifications, Applications: s.Applications, Wake: s.notifier.Wake,
			Config: escalateConfig(s.cfg),
		},
	})
}

// pagerDutyAPI creates the part of PagerDuty's REST API that scripts call.
func (s *apiShared) pagerDutyAPI() (*pagerdutyapi.API, error) {
	open := auth.Openings{ReachEverything: s.cfg.Compatibility.ApplicationsReachEverything}
	return pagerdutyapi.New(pagerdutyapi.Deps{Incidents: s.incidents, People: s.people, Plans: s.plans, Applications: s.applications,
		Teams: s.teams, Planning: s.planning, OnCall: &s.onCall, Addresses: s.Responses,
		Caller:       func(ctx context.Context) operation.Actor { return wire.Actor(ctx).Caller(open) },
		Authenticate: s.strict.Middleware, Errors: s.errors, PublicURL: s.cfg.PublicURL})
}

// v1Deps are the parts of the project's own API below /v1.
func (s *apiShared) v1Deps() V1Deps {
	requests, authenticator := s.calendarEdge()
	return V1Deps{
		Authenticator:         s.strict,
		CalendarAuthenticator: authenticator, Errors: s.errors, Observe: s.requests.Observe,
		Once: s.keys.Once, Typed: s.typed, Planned: s.planned,
		Calendar: requests,
	}
}

// receivers creates the edges that take alerts.
func (s *apiShared) receivers() (*Receivers, error) {
	return newReceivers(s.cfg, s.recipes, openings(s.cfg), s.Stores, Limits{Load: s.load, Rates: s.rates, Bodies: s.bodies},
		s.notifier.Wake, s.errors, s.log, s.reg)
}

// responses creates the edge that takes answers. asset returns the address of a static file for its pagescatalog.
func (s *apiShared) responses(asset func(string) string) (*answers.Responses, error) {
	oneClick, err := server.NewOneClick(s.cfg.Common)
	if err != nil {
		return nil, err
	}
	return answers.New(answers.Deps{
		Answers: answers.AnswerDeps{
			Store: s.Responses, Openings: openings(s.cfg), Wake: s.notifier.Wake, Region: s.Region,
			Incidents: reach.Incidents{Rule: reach.Rule{Openings: openings(s.cfg), Answers: true}, Store: s.Incidents},
		},
		Links: answers.LinkDeps{People: s.Users, Links: s.Keys.Links(), Asset: asset},
		Mail: answers.MailDeps{
			Opener: s.Incidents, Applications: s.Applications, Plans: s.Plans, Load: s.load, Rates: s.rates, Notifications: s.Notifications,
		},
		Slack: answers.SlackDeps{Pressed: s.callbacks.SlackPressed,
			Reply: s.callbacks.ReplySlack, Email: s.callbacks.SlackEmail},
		Twilio: answers.TwilioDeps{
			PublicURL: s.cfg.PublicURL, Valid: s.callbacks.ValidTwilio, Receipt: s.callbacks.TwilioReceipt, Receipts: s.Receipts,
			Reveal: s.Keys.RevealTo,
		},
		OneClick: oneClick, Authenticator: s.authenticator, Errors: s.errors, Log: s.log,
	})
}

// openings returns the compatibility settings about access.
func openings(c config.API) auth.Openings {
	return auth.Openings{
		AnonymousReads: c.Compatibility.AnonymousReads, ChangeAnyPlan: c.Compatibility.ChangeAnyPlan,
		SessionsActForAnyone: c.Compatibility.SessionsActForAnyone, NoCredentials: c.Compatibility.DisableAuth,
		ApplicationsClaim: c.Compatibility.ApplicationsClaimForAnyone, ReachEverything: c.Compatibility.ApplicationsReachEverything,
	}
}
