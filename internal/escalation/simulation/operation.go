package simulation

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Foreseen is what happens next to an incident.
type Foreseen struct {
	At     *time.Time     `json:"at" doc:"null = nothing happens."`
	Step   int            `json:"step"`
	Pages  []ForeseenPage `json:"pages" doc:"The pages at that time."`
	Ends   bool           `json:"ends" doc:"The plan ends at that time."`
	Paused bool           `json:"paused" doc:"The plan or the application is paused."`
}

// ForeseenPage is a page that will be sent.
type ForeseenPage struct {
	Target   string         `json:"target"`
	Mode     users.Mode     `json:"mode"`
	Priority users.Priority `json:"priority"`
}

// NextOfIncident is the operation that says what happens next to an incident.
var NextOfIncident = operation.Define[incidents.One, Foreseen](operation.Doc{Name: "incident.next",
	Method: http.MethodGet, Path: "/v1/incidents/{id}/next", Needs: operation.Reader, Rule: operation.Confined,
	Summary: "What happens next to an incident if nobody does anything; changes and sends nothing"})

// NewNext binds NextOfIncident. next is Simulator.Next. incident reads an incident; one that does not exist is a
// NotFound fault.
func NewNext(next func(ctx context.Context, ids []incidents.ID) (map[incidents.ID]Next, error), incident func(ctx context.Context, id incidents.ID) (incidents.Incident, error)) operation.Op[incidents.One, Foreseen] {
	return NextOfIncident.By(func(ctx context.Context, by operation.Actor, one incidents.One) (out Foreseen, err error) {
		of, err := incident(ctx, one.ID)
		if err := by.Reached(of.Application, err); err != nil {
			return out, err
		}
		all, err := next(ctx, []incidents.ID{one.ID})
		if err != nil {
			return out, err
		}
		found := all[one.ID]
		out = Foreseen{At: operation.OrNull(found.At.UTC()), Step: found.Step, Pages: []ForeseenPage{},
			Ends: found.Ends, Paused: found.Paused}
		for _, p := range found.Pages {
			out.Pages = append(out.Pages, ForeseenPage{p.Target, p.Mode, p.Priority})
		}
		return out, nil
	})
}
