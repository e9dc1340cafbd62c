// Package reach hides from an application what does not belong to it. Its stores stand between the edges and storage:
// for a caller whom auth.Actor.Confined confines, the incidents, messages and notifications of other applications do
// not exist. A read or change of one is auth.ErrNotReached, and lists leave them out. Everybody else gets what storage
// has. app puts the stores together; the handlers of the edges need no check of their own. It decides no permission:
// package auth does.
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

// Own returns the number and the name of the application that a confined caller is confined to; 0 and "" for everybody
// else. Reads that narrow themselves ask it.
func (r Rule) Own(ctx context.Context) (int64, string) {
	by := r.caller(ctx)
	return by.Application, by.ApplicationName
}
