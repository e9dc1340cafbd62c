package server

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/silences"
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
func (s *Stores) SilenceKeeper(leases silences.Leases, wake silences.Wake, log *zap.Logger) *silences.Keeper {
	return silences.NewKeeper(s.silences, s.inForce, leases, wake, log)
}

// Silences returns the operations of people on silences.
func (s *Stores) Silences(wake silences.Wake, log *zap.Logger) *silences.Silences {
	return silences.New(s.silences, silences.NewKeeper(s.silences, s.inForce, nil, wake, log))
}
