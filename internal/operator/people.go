package operator

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	"github.com/iris-oncall/iris/internal/users"
)

// PriorityModes returns the default mode of every priority.
func (o *Operator) PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return o.targets.PriorityModes(ctx)
}

// SetPriorityMode changes the mode in which people hear of a priority where neither they nor the application chose one.
func (o *Operator) SetPriorityMode(ctx context.Context, p users.Priority, m users.Mode) error {
	switch {
	case !slices.Contains(users.Priorities, p):
		return fault.Invalidf("priority", "there is no priority %s; there are urgent, high, medium and low", p)
	case m == users.Drop:
		return fault.Invalidf("mode", "with drop as default messages would reach nobody")
	case !slices.Contains(users.Modes, m):
		return fault.Invalidf("mode", "there is no mode %s; there are email, sms, call, slack, push and webhook", m)
	}
	if err := o.targets.SetPriorityMode(ctx, p, m); err != nil {
		return err
	}
	return o.note(ctx, "default mode set", "priority "+string(p)+" to "+string(m))
}

// UserName returns a person's name as they spell it; NotFound when there is none.
func (o *Operator) UserName(ctx context.Context, name string) (string, error) {
	u, err := o.user(ctx, name)
	return u.Name, err
}

// SetPassword gives a person a new password and ends their sessions. It does not switch anybody on.
func (o *Operator) SetPassword(ctx context.Context, name, password string) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	if err := auth.CheckNewPassword(password); err != nil {
		return err
	}
	hash, err := o.passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	if err := o.users.SetPassword(ctx, u.ID, hash); err != nil {
		return err
	}
	return o.note(ctx, "password set", "user "+u.Name)
}

// TakePassword takes a person's password away and ends their sessions. A directory's password opens the door as before.
func (o *Operator) TakePassword(ctx context.Context, name string) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	if err := o.users.SetPassword(ctx, u.ID, ""); err != nil {
		return err
	}
	return o.note(ctx, "password taken away", "user "+u.Name)
}

// SetActive switches a person on or off and reports whether that changed anything. Who is off neither logs in nor is
// paged, and their sessions end; the fallbacks of plans are paged in their place. Switching off somebody who is in use is a
// Conflict fault that names what uses them, unless forced.
func (o *Operator) SetActive(ctx context.Context, name string, active, force bool) (bool, error) {
	u, err := o.user(ctx, name)
	if err != nil || u.Active == active {
		return false, err
	}
	if !active {
		uses, err := catalog.NewUses(o.db).OfPerson(ctx, u)
		if err != nil {
			return false, err
		}
		if err := refuse("user", u.Name, uses, force); err != nil {
			return false, err
		}
	}
	if err := o.users.SetActive(ctx, u.ID, active); err != nil {
		return false, err
	}
	action := "user switched off"
	if active {
		action = "user switched on"
	}
	return true, o.note(ctx, action, "user "+u.Name)
}
