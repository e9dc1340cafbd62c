package catalog

import (
	"context"
	"errors"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// create saves a new version of a plan, which becomes the active one of its name.
func (a plans) create(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b := v0.ReadBody(w, r, catalog.InvalidPlan)
	head, err := parsePlanHead(b)
	if err != nil {
		return err
	}
	creator, err := a.creator(ctx, head.creator, catalog.InvalidPlan)
	if err != nil {
		return err
	}
	p, err := parsePlan(b)
	if err != nil {
		return err
	}
	plans := catalog.Plans{Store: a.PlanStore, Authors: a.authors(), Syntax: messages.CheckSyntax, MaxLength: a.MaxPlanLength, ListLimit: a.ListLimit}
	id, warnings, err := plans.Save(ctx, wire.Actor(ctx), creator, p.PlanContent, p.tracking)
	if err == nil {
		wire.Warn(w, warnings)
	}
	return v0.Created(w, int64(id), "plans", err)
}

// creator finds the person in whose name a plan or template is saved. The caller must be allowed to act for that person.
func (d Deps) creator(ctx context.Context, name, title string) (users.User, error) {
	u, err := d.authors().Creator(ctx, wire.Actor(ctx), name)
	switch {
	case errors.Is(err, auth.ErrNotThisUser):
		// Clients know this text, which says "plan" for templates, too.
		return u, fault.New(fault.Unauthenticated, "Invalid plan creator for authenticated app/user")
	case fault.Is(err, fault.Invalid):
		return u, fault.Titled(title, fault.Public(err))
	}
	return u, err
}
