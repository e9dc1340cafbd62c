package configuration

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Drafts reads plans that are not stored.
type Drafts interface {
	// DraftPlan returns the plan that would be active if the content of a body were saved, with its fallback, and the warnings. It stores
	// nothing, and refuses what saving would refuse.
	DraftPlan(r *http.Request, b jsonbody.Object) (escalation.Plan, []string, error)
}

// preview checks a plan as saving would, and simulates it. It stores and sends nothing.
func (s simulations) preview(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "plan", "name", "creator", "team", "description", "steps", "conditions", "flood", "tracking", "settings", "fallback",
		"at", "assume", "application", "targets")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), simulationTimeout)
	defer cancel()
	plan, warnings, err := s.Drafts.DraftPlan(r.WithContext(ctx), b)
	if err != nil {
		return err
	}
	if err := settle(b, &plan); err != nil {
		return err
	}
	asked, err := question(b)
	if err != nil {
		return err
	}
	asked.Draft = &plan
	sim, err := s.Simulator.Ask(ctx, asked)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, struct {
		Warnings   []string          `json:"warnings"`
		Simulation simulation.Report `json:"simulation"`
	}{append([]string{}, warnings...), sim.Report()})
}

// settle sets the settings of a draft. Without the member settings, those of the plan hold.
func settle(b jsonbody.Object, plan *escalation.Plan) error {
	s, given, err := b.Member("settings", Settings...)
	if err != nil || !given {
		return err
	}
	patch, err := ReadSettings(s)
	if err != nil {
		return err
	}
	plan.Settings = escalation.DecodeSettings(json.RawMessage(patch.String()))
	return nil
}

// question reads what is asked about a draft.
func question(b jsonbody.Object) (q simulation.TypedQuestion, err error) {
	q.Zone = time.UTC
	for name, into := range map[string]*string{"at": &q.At, "assume": &q.Assume, "application": &q.Application} {
		if *into, err = b.Text(name); err != nil {
			return q, err
		}
		if !wire.Storable(*into) {
			return q, b.Fault(name, "%s must be UTF-8 text without NUL characters", name)
		}
	}
	q.Targets, _, err = b.Texts("targets")
	return q, err
}
