// This file builds the web site, the log-in of people, and the routes of /v1 about their accounts.

package apiserver

import (
	"cmp"
	"context"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/buckets"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	pagesmessages "github.com/iris-oncall/iris/internal/messages/pages"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/login"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/site"
	pagessilences "github.com/iris-oncall/iris/internal/silences/pages"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
)

// siteDeps are the parts of the server that the site works on.
type siteDeps struct {
	Config   config.API
	Stores   *server.Stores
	Sessions *scs.SessionManager
	Wake     func(context.Context, buckets.Set)
	wings
	Log        *zap.Logger
	Registerer prometheus.Registerer
}

// mailDomain returns the domain for addresses of integrations; "" = this server receives no mails.
func mailDomain(c config.API) string {
	if c.Intake.SMTP.Addr == "" {
		return ""
	}
	return cmp.Or(c.MailDomain(), "localhost")
}

// siteAndSCIM is the web site, and the edge for directories that push people.
type siteAndSCIM struct {
	*site.Handler
	scim interface{ Routes(r chi.Router) }
}

// Routes mounts both.
func (s *siteAndSCIM) Routes(r chi.Router) {
	s.Handler.Routes(r)
	s.scim.Routes(r)
}

// newSite builds the site.
func newSite(d siteDeps) (*siteAndSCIM, error) {
	s := d.Stores
	accounts, account, err := newAccounts(d.Config, s, d.Log, d.Registerer)
	if err != nil {
		return nil, err
	}
	account.Administration = d.access.Accounts
	signOn, err := SignOn(d.Config, d.Stores, d.Log)
	if err != nil {
		return nil, err
	}
	told := pagesnotifications.Deps{Updates: d.updates, Applications: d.applications, Teams: d.teams, Contacts: d.contacts}
	pages, err := site.New(site.Deps{
		Incidents: pagesincidents.Deps{Incidents: s.Incidents, Changes: d.incidents, Messages: s.Messages,
			Plans: d.plans, Applications: d.applications, People: d.people, Open: d.open, Next: d.simulator.Next,
			Steps: s.Plans.StepCount, AlertCounts: s.Incidents.AlertCounts, Version: s.Incidents.VersionOf, Told: told.Told, Reviews: d.reviews},
		Sections: site.Sections{
			Catalog: pagescatalog.Deps{Plans: d.plans, Templates: d.templates, Applications: d.applications,
				Incidents: d.incidents, Notifications: d.notifications, Integrations: d.integrations, Teams: d.teams, People: d.people},
			System: pagessystem.Deps{System: d.system, Applications: d.applications, Incidents: d.incidents,
				Integrations: d.integrations, Messages: d.messages, Plans: d.plans, Preferences: d.preferences,
				Contacts: d.contacts, People: d.people, Personal: d.personal, OnCall: d.onCall},
			People: pagesusers.Deps{People: d.people, Preferences: d.preferences, Contacts: d.contacts,
				Accounts: d.access.Accounts, Held: d.access.Connections, Messages: d.messages,
				Applications: d.applications, Categories: s.Applications.Categories, TimeZones: d.Config.TimeZones,
				Personal: d.personal, OnCallRoles: d.onCallRoles, Teams: d.teams, NoticeModes: noticeModes,
				PublicURL: d.Config.PublicURL},
			Messages: pagesmessages.Deps{Messages: d.messages, Resend: d.system.Resend},
			Integrations: pagesintake.Deps{Integrations: d.integrations, Plans: d.plans, Applications: d.applications,
				PublicURL: d.Config.PublicURL, MailDomain: mailDomain(d.Config)},
			Silences: pagessilences.Deps{Silences: d.silences, Incidents: s.Incidents, Applications: d.applications,
				Plans: d.plans, Teams: d.teams},
			Reviews:  pagesincidents.ReviewDeps{Reviews: d.reviews, Teams: d.teams},
			Updates:  told,
			Tokens:   pagesauth.TokenDeps{Tokens: d.access.Tokens, Services: d.access.Services, Grants: s.Grants},
			Sessions: d.access.Sessions,
			Audit:    pagesauth.AuditLogDeps{Log: d.access.Audit},
			OnCall: pagesoncall.Deps{Found: s.TeamRows, Calendaring: d.calendaring, Planning: d.planning, People: d.people,
				Search: d.search, Teams: d.teams},
			PublicURL: d.Config.PublicURL,
		},
		People:       login.NewPeople(s.Users, accounts, s.KnownAddresses, s.Attempts, d.Log),
		SignOn:       signOn,
		Account:      account,
		Applications: s.Applications, Sessions: d.Sessions, UserKey: login.UserKey, RecentLogin: d.Config.HTTP.SessionConfirm, Mailbox: d.Config.HTTP.MailboxURL != "", Version: s.Incidents.Version,
		Open: s.Incidents.OpenCounts, Log: d.Log,
	})
	return &siteAndSCIM{pages, SCIM(d.Config, s, d.Log)}, err
}
