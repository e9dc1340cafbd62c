package wire

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
)

type (
	actorKey       struct{}
	applicationKey struct{}
)

// WithActor returns a context that carries who the request acts for, and through which application. Only authentication
// calls it.
func WithActor(ctx context.Context, a auth.Actor, app auth.Application) context.Context {
	return context.WithValue(context.WithValue(ctx, actorKey{}, a), applicationKey{}, app)
}

// Application returns the application through which the request acts; the zero value is none.
func Application(ctx context.Context) auth.Application {
	app, _ := ctx.Value(applicationKey{}).(auth.Application)
	return app
}

// Actor returns who the request acts for; the zero value is nobody.
func Actor(ctx context.Context) auth.Actor {
	a, _ := ctx.Value(actorKey{}).(auth.Actor)
	return a
}
