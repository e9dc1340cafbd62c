package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Rule says who is confined.
type Rule struct {
	Openings auth.Openings
	// Answers: the caller passes on the answers of people. Relays may do that for every application.
	Answers bool
}

// caller returns the caller of a request as operations see it.
func (r Rule) caller(ctx context.Context) operation.Actor {
	actor := wire.Actor(ctx)
	by := actor.Caller(r.Openings)
	if r.Answers && actor.Relay {
		by.Application, by.ApplicationName = 0, ""
	}
	return by
}
