package wire

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
)

type actorKey struct{}

// WithActor returns a context that carries who the request acts for. Only authentication calls it.
func WithActor(ctx context.Context, a auth.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// Actor returns who the request acts for; the zero value is nobody.
func Actor(ctx context.Context) auth.Actor {
	a, _ := ctx.Value(actorKey{}).(auth.Actor)
	return a
}
