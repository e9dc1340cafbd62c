package pages

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Simulator computes what happens to an incident. It writes and sends nothing.
type Simulator interface {
	// Next returns what happens next to an incident; a NotFound fault if there is no such incident.
	Next(ctx context.Context, id incidents.ID) (simulation.Next, error)
}

func (s simulations) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/incidents/{id}/next", routing.Someone, s.next),
	}
}

// simulationTimeout limits the database time of one simulation.
const simulationTimeout = 10 * time.Second

// next answers with the pages that an incident waits for.
func (s simulations) next(w http.ResponseWriter, r *http.Request) error {
	id, err := strconv.ParseInt(wire.Param(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return fault.New(fault.NotFound, "there is no such incident")
	}
	ctx, cancel := context.WithTimeout(r.Context(), simulationTimeout)
	defer cancel()
	found, err := s.Simulator.Next(ctx, incidents.ID(id))
	if err != nil {
		return err
	}
	out := nextObject{Step: found.Step, Pages: []nextPage{}, Ends: found.Ends, Paused: found.Paused}
	if !found.At.IsZero() {
		at := found.At.UTC().Format(time.RFC3339Nano)
		out.At = &at
	}
	for _, p := range found.Pages {
		out.Pages = append(out.Pages, nextPage{p.Target, string(p.Mode), string(p.Priority)})
	}
	return routing.Answer(w, http.StatusOK, out)
}

// nextObject is what happens next, on the wire.
type nextObject struct {
	At     *string    `json:"at"`
	Step   int        `json:"step"`
	Pages  []nextPage `json:"pages"`
	Ends   bool       `json:"ends"`
	Paused bool       `json:"paused"`
}

type nextPage struct {
	Target   string `json:"target"`
	Mode     string `json:"mode"`
	Priority string `json:"priority"`
}
