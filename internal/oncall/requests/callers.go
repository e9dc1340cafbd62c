package requests

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Callers are the callers of the calendar APIs. It implements users.Callers.
type Callers struct{ Requests }

// Editable implements users.Callers.
func (c Callers) Editable(ctx context.Context, name string, reads bool) (users.User, error) {
	p, err := c.PersonNamed(ctx, name, reads)
	return p.User, err
}

// ByName implements users.Callers.
func (c Callers) ByName(ctx context.Context, name string) (users.User, error) {
	p, err := c.People.ByName(ctx, name)
	return p.User, err
}

// Sight implements users.Callers.
func (c Callers) Sight(ctx context.Context, by operation.Actor, owner string) (func(users.Mode, string) string, error) {
	sight, err := auth.SightOf(ctx, by, c.People.OnCallNow, []string{owner})
	return func(m users.Mode, to string) string { return sight.Contact(owner, m, to) }, err
}
