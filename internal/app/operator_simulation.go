package app

import (
	"context"

	"github.com/iris-oncall/iris/internal/escalation"
)

// Simulate foresees what would happen to an incident. It writes and sends nothing. listLimit is the size from which on a
// mailing list stands for nobody.
func (o *Operator) Simulate(ctx context.Context, a escalation.Asked, listLimit int) (escalation.Simulation, error) {
	s, err := newSimulator(o.db, o.applications, listLimit, nil)
	if err != nil {
		return escalation.Simulation{}, err
	}
	return s.Ask(ctx, a)
}
