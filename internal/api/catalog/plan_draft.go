package catalog

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// unnamed is the name of a draft without one.
const unnamed = "new plan"

// DraftPlan returns the plan that would be active if the content of a body were saved, and the warnings. It stores nothing, and refuses what
// saving would refuse. The member plan names the active plan whose new version it is; without it the body is a new plan, whose name may be
// absent.
func (d Deps) DraftPlan(r *http.Request, b jsonbody.Object) (draft escalation.Plan, warnings []string, err error) {
	if draft, err = d.drafted(r, b); err != nil {
		return draft, nil, err
	}
	creator, err := d.plans().creator(r, b)
	if err != nil {
		return draft, nil, err
	}
	c, tracking, err := d.readPlan(r, b, draft.Name)
	if err != nil {
		return draft, nil, err
	}
	warnings, err = d.planSaver().Check(r.Context(), wire.Actor(r.Context()), creator, &c, tracking)
	draft.ID, draft.Active = 0, true
	draft.Description, draft.Steps, draft.Tracking, draft.Creator, draft.CreatorID = c.Description, c.Steps, c.Tracking, creator.Name, creator.ID
	draft.ThresholdCount, draft.ThresholdWindow = c.ThresholdCount, c.ThresholdWindow
	draft.AggregationWindow, draft.AggregationReset = c.AggregationWindow, c.AggregationReset
	if err == nil {
		err = d.draftFallback(r.Context(), b, &draft)
	}
	return draft, warnings, err
}

// drafted returns the plan that a draft replaces, or a new plan with its name and the standard settings.
func (d Deps) drafted(r *http.Request, b jsonbody.Object) (escalation.Plan, error) {
	replaced, err := b.Text("plan")
	if err != nil {
		return escalation.Plan{}, err
	}
	if replaced != "" {
		if !wire.Storable(replaced) {
			return escalation.Plan{}, fault.Invalidf("plan", "there is no active plan %.100q", replaced)
		}
		p, err := d.Plans.ByName(r.Context(), replaced)
		return p.Plan, fault.When(err, fault.NotFound, fault.Invalidf("plan", "there is no active plan %.100q", replaced))
	}
	p := escalation.Plan{Name: unnamed, Settings: escalation.StandardSettings()}
	name, err := b.Text("name")
	if err != nil || name == "" {
		return p, err
	}
	if p.Name, err = catalog.PlanName(name); err != nil {
		return p, err
	}
	if !wire.Storable(name) {
		return p, fault.Invalidf("name", "name must be UTF-8 text without NUL characters")
	}
	switch _, err = d.Plans.ByName(r.Context(), p.Name); {
	case err == nil:
		return p, &fault.Error{Kind: fault.Conflict, Field: "name", Message: "there is a plan " + p.Name + " already: take another name"}
	case !fault.Is(err, fault.NotFound):
		return p, err
	}
	return p, nil
}

// draftFallback sets the fallback of a draft. Without the member fallback, that of the plan holds; null = none.
func (d Deps) draftFallback(ctx context.Context, b jsonbody.Object, plan *escalation.Plan) error {
	if !b.Has("fallback") {
		return nil
	}
	plan.Fallback = nil
	f, given, err := b.Member("fallback", "role", "name")
	if err != nil || !given {
		return err
	}
	var to escalation.Target
	if to.Role, err = f.Required("role"); err != nil {
		return err
	}
	if to.Name, err = f.Required("name"); err != nil {
		return err
	}
	if !wire.Storable(to.Role) || !wire.Storable(to.Name) {
		return fault.Invalidf("fallback", "fallback must be UTF-8 text without NUL characters")
	}
	reach, err := d.PlanStore.Reach(ctx, []string{to.Name}, nil)
	if err != nil {
		return err
	}
	role, kind, ok := reach.Role(to.Role)
	if !ok {
		return fault.Invalidf("fallback.role", "there is no role %.100q", to.Role)
	}
	found, fits, _ := reach.Pick(kind, to.Name)
	if !fits {
		return fault.Invalidf("fallback.name", "there is no %s %.100q", kind, to.Name)
	}
	plan.Fallback = &escalation.Target{Role: role, Name: found.Name, TargetID: found.TargetID}
	return nil
}
