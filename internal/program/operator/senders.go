// This file adds integrations and their heartbeats without a request. Every change is in the audit log. The demo data
// calls it, and tests of deliveries. It knows neither HTTP nor flags.

package operator

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/intake"
	pgintake "github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
)

// Senders performs the operations. It is safe for concurrent use.
type Senders struct {
	store        *pgintake.Integrations
	heartbeats   *pgintake.Heartbeats
	applications *pg.Applications
	plans        *pg.Plans
	lookups      *pgnotifications.Notifications
}

// senderName is the actor in the audit log.
const senderName = "iris command"

// NewSenders returns the operations on a database.
func NewSenders(db *postgres.DB, keys *auth.Keys) *Senders {
	apps, plans := pg.NewApplications(db, keys), pg.NewPlans(db)
	return &Senders{store: pgintake.NewIntegrations(db, keys), heartbeats: pgintake.New(db),
		applications: apps, plans: plans, lookups: pgnotifications.New(db)}
}

func (s *Senders) chooser() receiving.Chooser {
	return receiving.NewChooser(s.plans, s.lookups, "", zap.NewNop())
}

func (s *Senders) application(ctx context.Context, name string) (auth.Application, error) {
	app, err := s.applications.ByName(ctx, name)
	return app, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no application %s", name))
}

// NewIntegration is an integration to be added.
type NewIntegration struct {
	intake.Content
	Application string
	Token       string // "" = a random one
}

// Add adds an integration and returns its token. It returns a Conflict fault if the name exists.
func (s *Senders) Add(ctx context.Context, n NewIntegration) (token string, err error) {
	if err := n.Check(sources.Types(), nil); err != nil {
		return "", err
	}
	app, err := s.application(ctx, n.Application)
	if err != nil {
		return "", err
	}
	if err := s.chooser().CheckPlans(ctx, n.Content); err != nil {
		return "", err
	}
	if token = n.Token; token == "" {
		token = intake.NewToken(n.Type)
	}
	_, err = s.store.Create(ctx, app, n.Content, token, senderName)
	return token, err
}

// maxIntegrations is how many integrations a list has at most.
const maxIntegrations = 10_000

// List returns all integrations.
func (s *Senders) List(ctx context.Context) ([]intake.Integration, error) {
	return s.store.List(ctx, intake.Query{Most: maxIntegrations})
}
