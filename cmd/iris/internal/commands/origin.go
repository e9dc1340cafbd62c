package commands

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
)

// OnServer returns a context in which a command on the server, with access to the database, is the author of changes.
func OnServer(ctx context.Context) context.Context {
	return audit.With(ctx, audit.Origin{Kind: audit.Operator, Actor: "iris command"})
}

// AsProgram returns a context in which Iris itself is the author of changes: a server, and not the person who started
// it.
func AsProgram(ctx context.Context) context.Context { return audit.With(ctx, audit.Origin{}) }
