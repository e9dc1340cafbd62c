package apiserver

import (
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/wire/replay"
)

// stored are the adapters that several edges use and that change what is stored. All are over one DB: that of the process, or
// that of the unit of work of a request.
type stored struct {
	db            *postgres.DB
	applications  *catalog.Applications
	incidents     *incidents.Incidents
	messages      *incidents.Messages
	notifications *notifications.Notifications
	plans         *catalog.Plans
	userRows      *people.Users
}

func newStored(d *postgres.DB, keys *auth.Keys, plans *catalog.Plans, notifications *notifications.Notifications) stored {
	return stored{
		db:            d,
		applications:  catalog.NewApplications(d, keys),
		incidents:     incidents.New(d),
		messages:      incidents.NewMessages(d),
		notifications: notifications,
		plans:         plans,
		userRows:      people.NewUsers(d),
	}
}

// within returns s over the DB of a unit of work. Caches, sessions, authentication, limits and metrics stay those of the process.
func (s *apiShared) within(d *postgres.DB) *apiShared {
	c := *s
	c.stored = newStored(d, s.in.Keys, s.plans.Within(d), s.notifications.Within(d))
	return &c
}

// units returns how an edge begins units of work. parts makes the parts of the edge.
func units[P any](s *apiShared, parts func(*apiShared) P) replay.Begin[P] {
	return replay.Units(s.idempotency, func(u *postgres.Unit) P { return parts(s.within(u.DB())) })
}
