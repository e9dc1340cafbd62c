package main

import (
	"context"
	"fmt"
)

type userPasswdCommand struct {
	Name string `arg:"" help:"Log-in name."`
	None bool   `help:"Take the password away: only the directory's opens the door from now on, if one is configured."`
}

// Run sets a password, or takes it away.
func (c userPasswdCommand) Run(ctx context.Context, e *env) error {
	o, err := e.operator(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	name, err := o.UserName(ctx, c.Name) // before a password is asked for
	if err != nil {
		return err
	}
	if c.None {
		if err := o.RemovePassword(ctx, name); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s has no password here; their sessions have ended\n", name)
		return nil
	}
	password, err := e.password(name, "")
	if err != nil {
		return err
	}
	if err := o.SetPassword(ctx, name, password); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s has a new password; their sessions have ended\n", name)
	return nil
}

type userDisableCommand struct {
	Name  string `arg:"" help:"Log-in name."`
	Force bool   `help:"Switch them off although plans, rosters or others use them."`
}

// Run switches a user off.
func (c userDisableCommand) Run(ctx context.Context, e *env) error {
	return switchUser(ctx, e, c.Name, false, c.Force)
}

type userDeleteCommand struct{ deleteFlags }

// Run deletes a user: switches them off and takes them out of rotations.
func (c userDeleteCommand) Run(ctx context.Context, e *env) error {
	return c.remove(ctx, e, "user", "deleted: no log-in, no pages, in no rotation; their past stays")
}

type userEnableCommand struct {
	Name string `arg:"" help:"Log-in name."`
}

// Run switches a user on.
func (c userEnableCommand) Run(ctx context.Context, e *env) error {
	return switchUser(ctx, e, c.Name, true, false)
}

func switchUser(ctx context.Context, e *env, name string, active, force bool) error {
	o, err := e.operator(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	if name, err = o.UserName(ctx, name); err != nil {
		return err
	}
	changed, err := o.SetActive(ctx, name, active, force)
	switch {
	case err != nil:
		return forcible(err)
	case !changed && active:
		fmt.Fprintf(e.stderr, "%s is on already\n", name)
	case !changed:
		fmt.Fprintf(e.stderr, "%s is off already\n", name)
	case active:
		fmt.Fprintf(e.stderr, "%s can log in and is paged again\n", name)
	default:
		fmt.Fprintf(e.stderr, "%s is switched off: no log-in, no pages; their sessions have ended\n", name)
	}
	return nil
}
