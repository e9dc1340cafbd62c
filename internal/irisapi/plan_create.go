package irisapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// authors decides in whose name plans and templates are saved.
func (a *API) authors() catalog.Authors {
	return catalog.Authors{People: a.People, Teammates: a.Teammates, Openings: a.Config.Openings}
}

// createPlan saves a new version of a plan, which becomes the active one of its name.
func (a *API) createPlan(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b, err := readBody(w, r, catalog.InvalidPlan)
	if err != nil {
		return err
	}
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
	plans := catalog.Plans{Store: a.Plans, Authors: a.authors(), Syntax: a.Syntax, MaxLength: a.Config.MaxPlanLength, ListLimit: a.Config.ListLimit}
	id, warnings, err := plans.Save(ctx, wire.Actor(ctx), creator, p.PlanContent, p.tracking)
	if err != nil {
		return err
	}
	wire.Warn(w, warnings)
	created(w, int64(id), "plans")
	return nil
}

// creator finds the person in whose name a plan or template is saved, if the caller may act for them.
func (a *API) creator(ctx context.Context, name, title string) (users.User, error) {
	u, err := a.authors().Creator(ctx, wire.Actor(ctx), name)
	switch {
	case errors.Is(err, auth.ErrNotThisUser):
		// The same text for plans and templates, as clients know it.
		return u, fault.New(fault.Unauthenticated, "Invalid plan creator for authenticated app/user")
	case fault.Is(err, fault.Invalid):
		return u, fault.Titled(title, fault.Public(err))
	}
	return u, err
}
