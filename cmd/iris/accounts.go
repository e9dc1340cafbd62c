package main

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/program/operator"
)

type userPasswdCommand struct {
	Name string `arg:"" help:"Log-in name."`
	None bool   `help:"Remove the password. The user can log in only with the password of the directory, if one is configured."`
}

// Run sets or removes a password.
func (c userPasswdCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	name, err := o.UserName(ctx, c.Name) // before the password is read
	if err != nil {
		return err
	}
	if c.None {
		if err := o.RemovePassword(ctx, name); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s has no password in Iris now; their sessions have ended\n", name)
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
	Force bool   `help:"Switch the user off even if plans, rosters or other objects use them."`
}

// Run switches a user off.
func (c userDisableCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return switchUser(ctx, e, o, c.Name, false, c.Force)
}

type userEnableCommand struct {
	Name string `arg:"" help:"Log-in name."`
}

// Run switches a user on.
func (c userEnableCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return switchUser(ctx, e, o, c.Name, true, false)
}

func switchUser(ctx context.Context, e *env, o *operator.Operator, name string, active, force bool) error {
	name, err := o.UserName(ctx, name)
	if err != nil {
		return err
	}
	changed, err := o.SetActive(ctx, name, active, force)
	switch {
	case err != nil:
		return operator.WithHint(err, "--force")
	case !changed && active:
		fmt.Fprintf(e.stderr, "%s is switched on already\n", name)
	case !changed:
		fmt.Fprintf(e.stderr, "%s is switched off already\n", name)
	case active:
		fmt.Fprintf(e.stderr, "%s is switched on: can log in and is paged\n", name)
	default:
		fmt.Fprintf(e.stderr, "%s is switched off: no log-in, no pages; their sessions have ended\n", name)
	}
	return nil
}
