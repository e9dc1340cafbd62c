package catalog

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Assumptions are what a simulation assumes.
type Assumptions struct {
	At          string `query:"at" json:"at,omitempty" doc:"When the incident is opened, such as 2026-01-31T08:00:00Z; default: now."`
	Assume      string `query:"assume" json:"assume,omitempty" doc:"no-ack, or ack-after= and a duration such as 5m; default: no-ack."`
	Application string `query:"application" json:"application,omitempty"`
}

// PlanQuestion asks what a plan would do.
type PlanQuestion struct {
	OnePlan
	Assumptions
	Targets []string `query:"target,explode" json:"targets,omitempty" doc:"The targets that the incident names, as role:name, by their index."`
}

// PlanPreview is a plan that is not stored, and what is assumed about an incident of it.
type PlanPreview struct {
	PlanDraft
	Plan     operation.Text             `json:"plan" required:"false" doc:"The active plan whose new version the draft is; without it, the draft is a new plan."`
	Settings *escalation.SettingsPatch  `json:"settings,omitempty" doc:"Default: those of the plan."`
	Fallback operation.Optional[Target] `json:"fallback,omitzero" required:"false" doc:"null = none; default: that of the plan."`
	At       operation.Text             `json:"at" required:"false" doc:"When the incident is opened, such as 2026-01-31T08:00:00Z; default: now."`
	Assume   operation.Text             `json:"assume" required:"false" doc:"no-ack, or ack-after= and a duration such as 5m; default: no-ack."`
	Applied  operation.Text             `json:"application" required:"false"`
	Targets  []string                   `json:"targets" required:"false" doc:"The targets that the incident names, as role:name, by their index."`
}

// Check implements operation.Checker.
func (p PlanPreview) Check() error {
	var wrong fault.Wrong
	p.check(&wrong)
	if p.Settings != nil {
		wrong.Join(p.Settings.Check())
	}
	return wrong.Err()
}

// Foreseen is what a plan would do.
type Foreseen struct {
	Warnings   []string          `json:"warnings"`
	Simulation simulation.Report `json:"simulation"`
}

// The operations that foresee what a plan does.
var (
	SimulatePlan = operation.Define[PlanQuestion, simulation.Report](operation.Doc{Name: "plan.simulate",
		Method: http.MethodGet,
		Path:   "/v1/plans/{plan}/simulation", Needs: operation.Reader, Summary: "Who would be paged, when, how and why; changes and sends nothing"})
	PreviewPlan = operation.Define[PlanPreview, Foreseen](operation.Doc{Name: "plan.preview", Method: http.MethodPost,
		Status: http.StatusOK,
		Path:   "/v1/plans/preview", Needs: operation.Member, Rule: operation.InTheNameOf, Summary: "Check a plan as saving would, and simulate it; stores and sends nothing",
		Errors: []int{403, 409, 422}})
)

// simulationTimeout limits the database time of one simulation.
const simulationTimeout = 10 * time.Second

func (p *Plans) simulate(ctx context.Context, _ operation.Actor, q PlanQuestion) (out simulation.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, simulationTimeout)
	defer cancel()
	sim, err := p.deps.Simulator.Ask(ctx, simulation.TypedQuestion{Plan: q.Plan, Application: q.Application, At: q.At,
		Assume: q.Assume, Targets: q.Targets, Zone: time.UTC})
	if err != nil {
		return out, err
	}
	return sim.Report(), nil
}

// preview refuses what saving would refuse.
func (p *Plans) preview(ctx context.Context, by operation.Actor, d PlanPreview) (out Foreseen, err error) {
	ctx, cancel := context.WithTimeout(ctx, simulationTimeout)
	defer cancel()
	draft, err := p.drafted(ctx, d)
	if err != nil {
		return out, err
	}
	creator, err := p.deps.Authors.creator(ctx, by, string(d.Creator))
	if err != nil {
		return out, err
	}
	c, err := p.content(ctx, by, d.PlanDraft, draft.Name)
	if err != nil {
		return out, err
	}
	warnings, err := p.check(ctx, by, creator, &c, d.Tracking)
	if err != nil {
		return out, err
	}
	draft.ID, draft.Active = 0, true
	draft.Description, draft.Steps, draft.Tracking, draft.Creator, draft.CreatorID = c.Description, c.Steps, c.Tracking, creator.Name, creator.ID
	draft.ThresholdCount, draft.ThresholdWindow = c.ThresholdCount, c.ThresholdWindow
	draft.AggregationWindow, draft.AggregationReset = c.AggregationWindow, c.AggregationReset
	if d.Fallback.Given {
		if draft.Fallback, err = p.resolve(ctx, d.Fallback.Value); err != nil {
			return out, err
		}
	}
	if d.Settings != nil {
		draft.Settings = d.Settings.OverStandard().Settings()
	}
	sim, err := p.deps.Simulator.Ask(ctx, simulation.TypedQuestion{Draft: &draft, Application: string(d.Applied),
		At: string(d.At), Assume: string(d.Assume),
		Targets: d.Targets, Zone: time.UTC})
	if err != nil {
		return out, err
	}
	return Foreseen{append([]string{}, warnings...), sim.Report()}, nil
}

// unnamed is the name of a draft without one.
const unnamed = "new plan"

// drafted returns the plan that a draft replaces, or a new plan with its name and the standard settings.
func (p *Plans) drafted(ctx context.Context, d PlanPreview) (escalation.Plan, error) {
	if d.Plan != "" {
		found, err := p.deps.Store.ByName(ctx, string(d.Plan))
		return found.Plan, fault.When(err, fault.NotFound, fault.Invalidf("plan", "there is no active plan %.100q",
			string(d.Plan)))
	}
	draft := escalation.Plan{Name: unnamed, Settings: escalation.StandardSettings()}
	if d.Name == "" {
		return draft, nil
	}
	var err error
	if draft.Name, err = PlanName(string(d.Name)); err != nil {
		return draft, err
	}
	_, err = p.deps.Store.ByName(ctx, draft.Name)
	if err == nil {
		return draft, &fault.Error{Kind: fault.Conflict, Field: "name", Message: "there is a plan " + draft.Name +
			" already: take another name"}
	}
	return draft, fault.When(err, fault.NotFound, nil)
}

// resolve finds the typed fallback of a draft; nil = none.
func (p *Plans) resolve(ctx context.Context, to *Target) (*escalation.Target, error) {
	if to == nil {
		return nil, nil
	}
	reach, err := p.deps.Store.Reach(ctx, []string{to.Name}, nil)
	if err != nil {
		return nil, err
	}
	role, kind, ok := reach.Role(to.Role)
	if !ok {
		return nil, fault.Invalidf("fallback.role", "there is no role %.100q", to.Role)
	}
	found, fits, _ := reach.Pick(kind, to.Name)
	if !fits {
		return nil, fault.Invalidf("fallback.name", "there is no %s %.100q", kind, to.Name)
	}
	return &escalation.Target{Role: role, Name: found.Name, TargetID: found.TargetID}, nil
}
