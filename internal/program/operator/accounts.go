package operator

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// PriorityModes returns the default mode of every priority.
func (o *Operator) PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return o.targets.PriorityModes(ctx)
}

// SetPriorityMode changes the default mode of a priority. It applies where neither the user nor the application has a
// setting.
func (o *Operator) SetPriorityMode(ctx context.Context, p users.Priority, m users.Mode) error {
	switch {
	case !slices.Contains(users.Priorities, p):
		return fault.Invalidf("priority", "there is no priority %s: use urgent, high, medium or low", p)
	case m == users.Drop:
		return fault.Invalidf("mode", "mode drop cannot be a default: messages would reach nobody")
	case !slices.Contains(users.Modes, m):
		return fault.Invalidf("mode", "there is no mode %s: use email, sms, call, slack, push or webhook", m)
	}
	return o.targets.SetPriorityMode(ctx, p, m)
}

// UserName returns the name of a user in its stored spelling. It returns a NotFound fault if there is none.
func (o *Operator) UserName(ctx context.Context, name string) (string, error) {
	u, err := o.user(ctx, name)
	return u.Name, err
}

// SetPassword sets the password of a user and ends their sessions. A user who is switched off stays so.
func (o *Operator) SetPassword(ctx context.Context, name, password string) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	hash, err := o.passwords.HashNew(ctx, password)
	if err != nil {
		return err
	}
	return o.users.SetPassword(ctx, u.ID, hash)
}

// RemovePassword removes the password of a user and ends their sessions. A password of the directory still works.
func (o *Operator) RemovePassword(ctx context.Context, name string) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	return o.users.SetPassword(ctx, u.ID, "")
}

// SetActive switches a user on or off and reports whether that is a change. A user who is switched off cannot log in
// and is not paged; fallbacks of plans are paged instead, and the sessions end. It returns a Conflict fault that names
// the uses of a user who is in use, unless force is set.
func (o *Operator) SetActive(ctx context.Context, name string, active, force bool) (bool, error) {
	u, err := o.user(ctx, name)
	if err != nil || u.Active == active {
		return false, err
	}
	if !active {
		uses, err := pg.NewUses(o.db).OfPerson(ctx, u)
		if err != nil {
			return false, err
		}
		if err := catalog.RefuseInUse("user", u.Name, uses, force); err != nil {
			return false, err
		}
	}
	if err := o.users.SetActive(ctx, u.ID, active); err != nil {
		return false, err
	}
	return true, nil
}
