// Package reach hides from an application what does not belong to it. Its stores stand between the edges and storage:
// for a caller whom auth.Actor.Confined confines, the incidents, messages and notifications of other applications do
// not exist. A read or change of one is auth.ErrNotReached, and lists leave them out. Everybody else gets what storage
// has. app puts the stores together; the handlers of the edges need no check of their own. It decides no permission:
// package auth does.
package reach

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Rule says who is confined.
type Rule struct {
	Openings auth.Openings
	// Answers: the caller passes on the answers of people. Relays may do that for every application.
	Answers bool
}

// confined returns the caller, and whether the caller is confined to its application.
func (r Rule) confined(ctx context.Context) (auth.Actor, bool) {
	actor := wire.Actor(ctx)
	return actor, actor.Confined(r.Openings) && (!r.Answers || !actor.Relay)
}

// Own returns the number and the name of the application that a confined caller is confined to; 0 and "" for everybody
// else. Reads that narrow themselves ask it.
func (r Rule) Own(ctx context.Context) (int64, string) {
	if actor, confined := r.confined(ctx); confined {
		return actor.ApplicationID, actor.Application
	}
	return 0, ""
}

// within adds the condition that a row belongs to the application of a confined caller.
func (r Rule) within(ctx context.Context, q filters.Query) filters.Query {
	if actor, confined := r.confined(ctx); confined {
		own := filters.Condition{Field: "application_id", Op: filters.Eq, Values: []any{actor.ApplicationID}}
		q.Conditions = append(q.Conditions[:len(q.Conditions):len(q.Conditions)], own)
	}
	return q
}

// named returns auth.ErrNotReached if the caller is confined to an application with another name.
func (r Rule) named(ctx context.Context, application string) error {
	if actor, confined := r.confined(ctx); confined && actor.Application != application {
		return auth.ErrNotReached
	}
	return nil
}
