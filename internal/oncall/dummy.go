package oncall

import (
	"context"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/users"
)

// FindUser finds a user by name, ignoring case; a NotFound fault if there is none.
type FindUser func(ctx context.Context, name string) (users.User, error)

// The user of the predecessor's dummy look-up, and the names for which it returns nobody.
const (
	dummyUser   = "foo"
	dummyRole   = "_invalid_role"
	dummyTarget = "_invalid_user"
)

// Dummy returns a resolver that answers every query with the user foo, and with nobody for the role _invalid_role and
// the target _invalid_user, as tests of the predecessor's clients expect. Only test configurations may use it.
func (r *Resolver) Dummy(find FindUser) *Resolver {
	d := *r
	d.dummy = find
	return &d
}

func (r *Resolver) always(ctx context.Context, q Query) (Answer, error) {
	if strings.EqualFold(q.Role, dummyRole) || strings.EqualFold(q.Name, dummyTarget) {
		return Answer{Rule: "nobody, as the dummy look-up has it"}, nil
	}
	u, err := r.dummy(ctx, dummyUser)
	if err != nil {
		return Answer{}, fmt.Errorf("find the user of the dummy look-up: %w", err)
	}
	if !u.Active {
		return Answer{Rule: "the user of the dummy look-up is not active"}, nil
	}
	return Answer{Users: []users.ID{u.ID}, Rule: "the dummy look-up"}, nil
}
