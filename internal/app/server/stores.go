package server

import (
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/clock"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications/responders"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/calendar"
	"github.com/iris-oncall/iris/internal/postgres/engine"
	"github.com/iris-oncall/iris/internal/postgres/heartbeats"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/integrations"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/postgres/queue"
	"github.com/iris-oncall/iris/internal/postgres/quotas"
	"github.com/iris-oncall/iris/internal/postgres/statistics"
	"github.com/iris-oncall/iris/internal/silences"
	pgsilences "github.com/iris-oncall/iris/internal/silences/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// Records are the adapters that a request may use to change something.
type Records struct {
	DB            *postgres.DB
	Applications  *pg.Applications
	Incidents     *Incidents
	Integrations  *integrations.Integrations
	Heartbeats    *heartbeats.Heartbeats
	Messages      *incidents.Messages
	Requests      *incidents.Requests
	Notifications *notifications.Notifications
	Plans         *pg.Plans
	Templates     *pg.Templates
	Targets       *pg.Targets
	Tags          *pg.Tags
	Owners        *pg.Owners
	Names         *calendar.RolesAndServices
	Users         *people.Users
	Settings      *people.Settings
	Contacts      *people.Contacts
	People        *people.OncallPeople
	Teams         *people.OncallTeams
	Rosters       *people.Rosters
	Shifts        *calendar.Shifts
	Schedules     *calendar.Schedules
	Calendars     *calendar.Calendars
	Coverage      *calendar.Coverage
	Absences      *calendar.Requests
	Subscribed    *calendar.Subscriptions
	Directory     *engine.Directory
	Audit         *access.Audit
	Tokens        *access.Tokens
	Grants        *access.Grants
}

// Stores are the storage adapters of a server. Only the composition roots have all; a part gets those that it needs.
type Stores struct {
	Records
	Keys *auth.Keys
	// Region is the country of phone numbers without a country code.
	Region users.Region

	KnownAddresses *access.KnownAddresses
	Sessions       *access.Sessions
	Attempts       *access.Attempts
	Cluster        *engine.Cluster
	Reach          *engine.Reach
	Runner         *engine.Runner
	Receipts       *incidents.Receipts
	Responses      *incidents.Responses
	Statistics     *statistics.Counts
	Notices        *notifications.Notices
	TeamRows       *people.Teams
	Queue          *queue.Queue
	Queues         *queue.Queues
	QueueHistory   *queue.History
	QueueLimits    *queue.Limits
	QueueLoader    *queue.Loader

	newTeams []oncall.NoticeSetting // reminders of new members of a team
	// Clock is the clock of the database, as this process last measured it.
	Clock *clock.Database

	silences *pgsilences.Store
	inForce  *silences.Current
}

// NewStores returns the adapters over d. all has the settings of applications and people without settings of their own.
func NewStores(d *postgres.DB, keys *auth.Keys, all config.Common, c config.Oncall) *Stores {
	standard := standardQuota(all.DefaultQuota)
	s := &Stores{
		Keys: keys, Region: users.Region(all.PhoneRegion), KnownAddresses: access.NewKnownAddresses(d, keys), Sessions: access.NewSessions(d), Attempts: access.NewAttempts(d, keys),
		Cluster: engine.NewCluster(d), Reach: engine.NewReach(d), Runner: engine.NewRunner(d).WithQuota(standard, all.QuietTime.CallsAndTextsPerDay),
		Receipts: incidents.NewReceipts(d), Responses: incidents.NewResponses(d), Statistics: statistics.New(d),
		Notices: notifications.NewNotices(d, keys), TeamRows: people.NewTeams(d),
		Queue: queue.New(d), Queues: queue.NewQueues(d), QueueHistory: queue.NewHistory(d), QueueLimits: queue.NewLimits(d),
		QueueLoader: queue.NewLoader(d),
		Clock:       &clock.Database{},
		newTeams:    operator.Reminders(c.ReminderTimes, c.ReminderModes, c.ReminderRoles),
	}
	s.silences = pgsilences.New(d)
	s.inForce = silences.NewCurrent(s.silences, s.Clock)
	s.Records = s.records(d, notifications.New(d).WithQuota(standard))
	return s
}

func (s *Stores) records(d *postgres.DB, n *notifications.Notifications) Records {
	teams := people.NewOncallTeams(d, s.newTeams)
	return Records{
		DB: d, Applications: pg.NewApplications(d, s.Keys), Incidents: s.incidents(incidents.New(d)), Integrations: integrations.New(d, s.Keys), Heartbeats: heartbeats.New(d), Messages: incidents.NewMessages(d),
		Requests: incidents.NewRequests(d), Notifications: n, Plans: pg.NewPlans(d),
		Templates: pg.NewTemplates(d), Targets: pg.NewTargets(d), Tags: pg.NewTags(d), Owners: pg.NewOwners(d), Names: calendar.NewRolesAndServices(d),
		Users: people.NewUsers(d), Settings: people.NewSettings(d), Contacts: people.NewContacts(d, s.Keys, n),
		People: people.NewOncallPeople(d), Teams: teams, Rosters: people.NewRosters(teams),
		Shifts: calendar.NewShifts(d), Schedules: calendar.NewSchedules(d), Calendars: calendar.NewCalendars(d),
		Coverage: calendar.NewCoverage(d), Absences: calendar.NewRequests(d), Subscribed: calendar.NewSubscriptions(d, s.Keys),
		Directory: engine.NewDirectory(d), Audit: access.NewAudit(d), Tokens: access.NewTokens(d), Grants: access.NewGrants(d),
	}
}

// Responders returns the operations that change who works on an incident.
func (s *Stores) Responders() responders.Responders {
	return responders.Responders{Store: s.Incidents, Lookups: s.Notifications, People: s.Users}
}

// DirectorySync returns the store of changes that come from a directory. actor is their author in the audit log.
func (s *Stores) DirectorySync(actor string) *people.DirectorySync {
	return people.NewDirectorySync(s.DB, actor)
}

// Resolver returns the resolver that finds the recipients of targets now. Mailing lists of listLimit members or more are not paged;
// 0 = no limit. dummyRoles resolves every target to one user.
func (s *Stores) Resolver(listLimit int, dummyRoles bool) *oncall.Resolver {
	r := oncall.NewResolver(oncall.LimitLists(s.Directory, listLimit), oncall.NewLiveCalendar(s.Calendars, oncall.LiveConfig{}), oncall.DefaultKeep)
	if dummyRoles {
		return r.Dummy(s.Users.ByName)
	}
	return r
}

// standardQuota returns the quota of applications without a quota of their own; nil = none.
func standardQuota(c config.Quota) *quotas.StandardQuota {
	if c.HardLimit == 0 {
		return nil
	}
	return &quotas.StandardQuota{Target: c.Target, Quota: messages.Quota{
		HardLimit: c.HardLimit, HardWithin: c.HardWithin, SoftLimit: c.SoftLimit, SoftWithin: c.SoftWithin, Plan: c.Plan, Wait: c.Wait,
	}}
}
