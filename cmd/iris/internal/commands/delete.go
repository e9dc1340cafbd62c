package commands

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Template is the group of commands about templates.
type Template struct {
	Delete templateDelete `cmd:"" help:"Delete a template that is not in use. Its versions are kept as history."`
}

// deletion selects an object to delete.
type deletion struct {
	remote.Flags
	Name  string `arg:"" help:"Name."`
	Force bool   `help:"Delete it even if plans, incidents or other objects use it."`
}

func (c deletion) remove(ctx context.Context, e remote.Env, kind, done string) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	err = api.Do(ctx, http.MethodDelete, fmt.Sprintf("/v1/%ss/%s?force=%t", kind, url.PathEscape(c.Name), c.Force),
		nil, nil)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return fmt.Errorf("%w (--force)", err)
	}
	if err == nil {
		fmt.Fprintf(e.Err, "%s %s %s\n", kind, c.Name, done)
	}
	return err
}

type planDelete struct{ deletion }

// Run deletes a plan.
func (c planDelete) Run(ctx context.Context, e remote.Env) error {
	return c.remove(ctx, e, "plan", "deleted; it has no active version any more")
}

type templateDelete struct{ deletion }

// Run deletes a template.
func (c templateDelete) Run(ctx context.Context, e remote.Env) error {
	return c.remove(ctx, e, "template", "deleted; it has no active version any more")
}

// TeamDelete deletes a team.
type TeamDelete struct{ deletion }

// Run deletes a team.
func (c TeamDelete) Run(ctx context.Context, e remote.Env) error {
	return c.remove(ctx, e, "team", "deleted; steps that name it page the fallback")
}

// UserDelete deletes a user: it switches them off and removes them from rotations.
type UserDelete struct{ deletion }

// Run deletes a user.
func (c UserDelete) Run(ctx context.Context, e remote.Env) error {
	return c.remove(ctx, e, "user", "deleted: no log-in, no pages, in no rotation; the history is kept")
}
