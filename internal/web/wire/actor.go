package wire

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
)

type (
	actorKey       struct{}
	applicationKey struct{}
)

// WithActor returns a context with the actor and the application of a request, in which the actor is the author of
// changes. Only authentication calls it.
func WithActor(ctx context.Context, a auth.Actor, app auth.Application) context.Context {
	by, from := a.Origin(), audit.From(ctx)
	by.Address, by.Request = from.Address, from.Request
	ctx = audit.With(ctx, by)
	return context.WithValue(context.WithValue(ctx, actorKey{}, a), applicationKey{}, app)
}

// Application returns the application of the request; the zero value if there is none.
func Application(ctx context.Context) auth.Application {
	app, _ := ctx.Value(applicationKey{}).(auth.Application)
	return app
}

// Actor returns the actor of the request; the zero value for an unauthenticated request.
func Actor(ctx context.Context) auth.Actor {
	a, _ := ctx.Value(actorKey{}).(auth.Actor)
	return a
}

// Sight returns what the actor of the request sees of the contacts of the people with these names. onCallNow tells who
// of them is on call; it is asked only if that matters.
func Sight(ctx context.Context, onCallNow func(context.Context, []string) (map[string]bool, error), names []string) (auth.Sight, error) {
	return auth.SightOf(ctx, Actor(ctx).Caller(auth.Openings{}), onCallNow, names)
}
