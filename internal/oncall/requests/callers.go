package requests

import (
	"context"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Callers are the callers of the calendar APIs. It implements users.Callers.
type Callers struct{ Requests }

// Editable implements users.Callers.
func (c Callers) Editable(ctx context.Context, name string, reads bool) (users.User, error) {
	p, err := c.PersonNamed(ctx, name, reads)
	return p.User, err
}

// Application implements users.Callers.
func (Callers) Application(ctx context.Context) int64 { return wire.Actor(ctx).ApplicationID }

// Seen implements users.Callers.
func (Callers) Seen(ctx context.Context, owner string, mode users.Mode, destination string) string {
	return wire.Actor(ctx).Sight().Contact(owner, mode, destination)
}
