// This file builds what concerns integrations and alerts: the routes of /v1, and the edges that take alerts: the
// deliveries of integrations, and the webhooks with a key in their address.

package apiserver

import (
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
	legacywebhooks "github.com/iris-oncall/iris/internal/legacy/webhooks"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Limits are the limits of new incidents, and of bodies in work. Rates is nil if there is none.
type Limits struct {
	Load   *load.Load
	Rates  *load.Rates
	Bodies *wire.Bodies
}

// Receivers are the edges.
type Receivers struct {
	deliveries *Deliveries
	webhooks   *legacywebhooks.Webhooks
	activity   *receiving.Activity
	reception  *receiving.Reception
}

// anyActive is more active incidents than an application ever has: for default plans only the opened incidents per
// minute are limited.
const anyActive = 100_000

// newReceivers creates the edges.
func newReceivers(cfg config.API, book *recipes.Book, open auth.Openings, s *server.Stores, l Limits, wake receiving.Wake, e *wire.Errors, log *zap.Logger,
	reg prometheus.Registerer) (*Receivers, error) {
	in := cfg.Intake
	fallbacks := load.NewRates(s.Incidents, anyActive, in.FallbackPerMinute, time.Minute, nil)
	old, err := legacywebhooks.New(legacywebhooks.Deps{
		CatchAll: in.CatchAllPlan, Registerer: reg, FallbackRates: fallbacks, Applications: s.Applications, Incidents: s.Incidents,
		Plans: s.Plans, Load: l.Load, Errors: e, Wake: wake, Log: log, Enabled: cfg.Webhooks, Openings: open, Rates: l.Rates,
	})
	if err != nil {
		return nil, err
	}
	receiver, err := receiving.New(receiving.Deps{
		Incidents: s.Incidents, Load: l.Load, Wake: wake, Log: log, Rates: l.Rates, FallbackRates: fallbacks, Registerer: reg, Types: sources.Types(),
		Chooser: chooser(cfg, s, log),
	})
	if err != nil {
		return nil, err
	}
	activity, err := receiving.NewActivity(s.Integrations, log, append(sources.Types(), "unknown"), reg)
	if err != nil {
		return nil, err
	}
	edges, err := newDeliveries(Deps{
		Config: cfg, Stores: s, Recipes: book, Receiver: receiver, Activity: activity, Wake: wake, Errors: e, Bodies: l.Bodies, Log: log, Registerer: reg,
	})
	if err != nil {
		return nil, err
	}
	reception, err := receiving.NewReception(s.Heartbeats.KeepReception, log, reg)
	return &Receivers{edges, old, activity, reception}, err
}

// previewer returns what answers what a delivery would do.
func previewer(cfg config.API, book *recipes.Book, s *server.Stores, log *zap.Logger) receiving.Previewer {
	return receiving.Previewer{Chooser: chooser(cfg, s, log), Applications: s.Applications, Decoders: sources.All(book),
		Alerts: s.Integrations, Held: s.Incidents}
}

// chooser returns what chooses the plans of events.
func chooser(cfg config.API, s *server.Stores, log *zap.Logger) receiving.Chooser {
	return receiving.NewChooser(s.Plans, s.Notifications, cfg.Intake.CatchAllPlan, log)
}

// Routes mounts the routes.
func (r *Receivers) Routes(to chi.Router) {
	r.webhooks.Routes(to)
	r.deliveries.Routes(to)
}

// NoteMethod records a request of a hook that is refused because of its method.
func (r *Receivers) NoteMethod(req *http.Request) { r.deliveries.NoteMethod(req) }

// Run receives mails, and records what integrations received and that pings can be received, until ctx ends.
func (r *Receivers) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.activity.Run(ctx) })
	g.Go(func() error { return r.reception.Run(ctx) })
	g.Go(func() error { return r.deliveries.Run(ctx) })
	return g.Wait()
}
