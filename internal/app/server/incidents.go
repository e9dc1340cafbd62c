package server

import (
	"context"

	"go.uber.org/zap"

	api "github.com/iris-oncall/iris/internal/api/silences"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Incidents are the stored incidents. New ones are opened under the silences.
type Incidents struct {
	*pgincidents.Incidents
	opener silences.Opener
}

// Open opens an incident; see silences.Opener.
func (i *Incidents) Open(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	return i.opener.Open(ctx, n)
}

func (s *Stores) incidents(stored *pgincidents.Incidents) *Incidents {
	return &Incidents{Incidents: stored, opener: silences.Opener{Incidents: stored, Current: s.inForce}}
}

// SilenceKeeper returns the part that hides and releases the incidents of a process's buckets.
func (s *Stores) SilenceKeeper(leases silences.Leases, wake func(buckets.Set), log *zap.Logger) *silences.Keeper {
	return silences.NewKeeper(s.silences, s.inForce, leases, wake, log)
}

// SilenceRoutes returns the routes of /v1 about silences.
func (s *Stores) SilenceRoutes(wake func(buckets.Set), log *zap.Logger) []routing.Route {
	return api.Routes(s.Silences(wake, log))
}

// Silences returns the operations of people on silences.
func (s *Stores) Silences(wake func(buckets.Set), log *zap.Logger) silences.Silences {
	return silences.Silences{Editor: s.silences, Keeper: s.SilenceKeeper(nil, wake, log)}
}
