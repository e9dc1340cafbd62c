package server

import (
	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	pgintake "github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/silences"
	pgsilences "github.com/iris-oncall/iris/internal/silences/pg"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Records are the adapters that a request may use to change something.
type Records struct {
	DB            *postgres.DB
	Applications  *pg.Applications
	Incidents     *Incidents
	Integrations  *pgintake.Integrations
	Heartbeats    *pgintake.Heartbeats
	Messages      *pgincidents.Messages
	Requests      *pgincidents.Requests
	Notifications *pgnotifications.Notifications
	Plans         *pg.Plans
	Templates     *pg.Templates
	Targets       *pg.Targets
	Tags          *pg.Tags
	Owners        *pg.Owners
	Names         *pgoncall.RolesAndServices
	Users         *pgusers.Users
	Settings      *pgusers.Settings
	Contacts      *pgusers.Contacts
	People        *pgusers.OncallPeople
	Teams         *pgusers.OncallTeams
	Rosters       *pgusers.Rosters
	Shifts        *pgoncall.Shifts
	Schedules     *pgoncall.Schedules
	Calendars     *pgoncall.Calendars
	Coverage      *pgoncall.Coverage
	Absences      *pgoncall.Requests
	Subscribed    *pgoncall.Subscriptions
	Directory     *pgescalation.Directory
	Audit         *pgauth.Audit
	Tokens        *pgauth.Tokens
	Grants        *pgauth.Grants
}

// Stores are the storage adapters of a server. Only the composition roots have all; a part gets those that it needs.
type Stores struct {
	Records
	Keys *auth.Keys
	// Region is the country of phone numbers without a country code.
	Region users.Region

	KnownAddresses *pgauth.KnownAddresses
	Sessions       *pgauth.Sessions
	Attempts       *pgauth.Attempts
	Cluster        *pgbuckets.Cluster
	Served         *pgdelivery.Served
	Reach          *pgescalation.Reach
	Runner         *pgescalation.Runner
	Receipts       *pgincidents.Receipts
	Responses      *pgincidents.Responses
	Statistics     *pgsystem.Counts
	Notices        *pgnotifications.Notices
	TeamRows       *pgusers.Teams
	Queue          *pgdelivery.Queue
	Queues         *pgdelivery.Queues
	QueueHistory   *pgdelivery.History
	QueueLimits    *pgdelivery.Limits
	QueueLoader    *pgdelivery.Loader

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
		Keys: keys, Region: users.Region(all.PhoneRegion), KnownAddresses: pgauth.NewKnownAddresses(d,
			keys), Sessions: pgauth.NewSessions(d), Attempts: pgauth.NewAttempts(d, keys),
		Cluster: pgbuckets.NewCluster(d), Served: pgdelivery.NewServed(d), Reach: pgescalation.NewReach(d), Runner: pgescalation.NewRunner(d).WithQuota(standard, all.QuietTime.CallsAndTextsPerDay),
		Receipts: pgincidents.NewReceipts(d), Responses: pgincidents.NewResponses(d), Statistics: pgsystem.NewStatistics(d),
		Notices: pgnotifications.NewNotices(d, keys), TeamRows: pgusers.NewTeams(d),
		Queue: pgdelivery.New(d), Queues: pgdelivery.NewQueues(d), QueueHistory: pgdelivery.NewHistory(d), QueueLimits: pgdelivery.NewLimits(d),
		QueueLoader: pgdelivery.NewLoader(d),
		Clock:       &clock.Database{},
		newTeams:    operator.Reminders(c.ReminderTimes, c.ReminderModes, c.ReminderRoles),
	}
	s.silences = pgsilences.New(d)
	s.inForce = silences.NewCurrent(s.silences, s.Clock)
	s.Records = s.records(d, pgnotifications.New(d).WithQuota(standard))
	return s
}

func (s *Stores) records(d *postgres.DB, n *pgnotifications.Notifications) Records {
	teams := pgusers.NewOncallTeams(d, s.newTeams)
	return Records{
		DB: d, Applications: pg.NewApplications(d,
			s.Keys), Incidents: s.incidents(pgincidents.New(d)), Integrations: pgintake.NewIntegrations(d, s.Keys),
		Heartbeats: pgintake.New(d), Messages: pgincidents.NewMessages(d),
		Requests: pgincidents.NewRequests(d), Notifications: n, Plans: pg.NewPlans(d),
		Templates: pg.NewTemplates(d), Targets: pg.NewTargets(d), Tags: pg.NewTags(d), Owners: pg.NewOwners(d), Names: pgoncall.NewRolesAndServices(d),
		Users: pgusers.NewUsers(d), Settings: pgusers.NewSettings(d), Contacts: pgusers.NewContacts(d, s.Keys, n),
		People: pgusers.NewOncallPeople(d), Teams: teams, Rosters: pgusers.NewRosters(teams),
		Shifts: pgoncall.NewShifts(d), Schedules: pgoncall.NewSchedules(d), Calendars: pgoncall.NewCalendars(d),
		Coverage: pgoncall.NewCoverage(d), Absences: pgoncall.NewRequests(d), Subscribed: pgoncall.NewSubscriptions(d,
			s.Keys),
		Directory: pgescalation.NewDirectory(d), Audit: pgauth.NewAudit(d), Tokens: pgauth.NewTokens(d), Grants: pgauth.NewGrants(d),
	}
}

// Responders returns the operations that change who works on an incident.
func (s *Stores) Responders() notifications.Responders {
	return notifications.Responders{Store: s.Incidents, Lookups: s.Notifications, People: s.Users}
}

// DirectorySync returns the store of changes that come from a directory. actor is their author in the audit log.
func (s *Stores) DirectorySync(actor string) *pgusers.DirectorySync {
	return pgusers.NewDirectorySync(s.DB, actor)
}

// Resolver returns the resolver that finds the recipients of targets now. Mailing lists of listLimit members or more
// are not paged; 0 = no limit. dummyRoles resolves every target to one user.
func (s *Stores) Resolver(listLimit int, dummyRoles bool) *oncall.Resolver {
	r := oncall.NewResolver(oncall.LimitLists(s.Directory, listLimit),
		oncall.NewLiveCalendar(s.Calendars, oncall.LiveConfig{}), oncall.DefaultKeep)
	if dummyRoles {
		return r.Dummy(s.Users.ByName)
	}
	return r
}

// standardQuota returns the quota of applications without a quota of their own; nil = none.
func standardQuota(c config.Quota) *pgdelivery.StandardQuota {
	if c.HardLimit == 0 {
		return nil
	}
	return &pgdelivery.StandardQuota{Target: c.Target, Quota: messages.Quota{
		HardLimit: c.HardLimit, HardWithin: c.HardWithin, SoftLimit: c.SoftLimit, SoftWithin: c.SoftWithin, Plan: c.Plan, Wait: c.Wait,
	}}
}
