package wire

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
)

type (
	actorKey       struct{}
	applicationKey struct{}
)

// WithActor returns a context with the actor of the request and the application that it came through. Only authentication
// calls it.
func WithActor(ctx context.Context, a auth.Actor, app auth.Application) context.Context {
	return context.WithValue(context.WithValue(ctx, actorKey{}, a), applicationKey{}, app)
}

// Application returns the application that the request came through; the zero value is none.
func Application(ctx context.Context) auth.Application {
	app, _ := ctx.Value(applicationKey{}).(auth.Application)
	return app
}

// Actor returns the actor of the request; the zero value is nobody.
func Actor(ctx context.Context) auth.Actor {
	a, _ := ctx.Value(actorKey{}).(auth.Actor)
	return a
}
