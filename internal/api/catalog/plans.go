package catalog

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a plans) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/plans", routing.Someone, a.list),
		routing.Post("/v1/plans", routing.Write, a.create),
		routing.Get("/v1/plans/{plan}", routing.Someone, a.get),
		routing.Put("/v1/plans/{plan}", routing.Write, a.replace),
	}
}

// plan is a plan as lists show it.
type plan struct {
	version
	Description string `json:"description"`
	Paused      bool   `json:"paused"`
}

// wholePlan is a plan as its own route shows it.
type wholePlan struct {
	plan
	Steps    [][]notification `json:"steps"`
	Flood    flood            `json:"flood"`
	Fallback *target          `json:"fallback"`
	Tracking *tracking        `json:"tracking"`
}

// tracking is the notification that every incident of the plan sends, with its text for each application.
type tracking struct {
	Mode        string          `json:"mode"`
	Destination string          `json:"destination"`
	Templates   json.RawMessage `json:"templates"`
}

// flood is the number of incidents from which a plan's pages are held for digests.
type flood struct {
	Count            int   `json:"threshold_count"`
	WindowSeconds    int64 `json:"threshold_window_seconds"`
	DigestSeconds    int64 `json:"aggregation_window_seconds"`
	UntilQuietSecond int64 `json:"aggregation_reset_seconds"`
}

// target is the role and name of the people to page.
type target struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

// notification is one notification of a step.
type notification struct {
	Target       *target `json:"target"`        // null = the incident names it
	DynamicIndex *int    `json:"dynamic_index"` // which of the incident's targets
	Priority     string  `json:"priority"`
	Template     *string `json:"template"`
	WaitSeconds  int64   `json:"wait_seconds"`
	Repeat       int     `json:"repeat"`
	Optional     bool    `json:"optional"`
}

func showPlan(p escalation.Plan) plan {
	return plan{version: version{ID: int64(p.ID), Name: p.Name, Active: p.Active, Creator: p.Creator, CreatedAt: page.Time(p.CreatedAt)},
		Description: p.Description, Paused: p.Paused}
}

func showTarget(t *escalation.Target) *target {
	if t == nil {
		return nil
	}
	return &target{Role: t.Role, Name: t.Name}
}

func (a plans) list(w http.ResponseWriter, r *http.Request) error {
	q, query, err := versioned(r)
	if err != nil {
		return err
	}
	found, err := a.Plans.List(r.Context(), query)
	if err != nil {
		return err
	}
	return page.Answer(w, q, found, func(p escalation.Plan) any { return showPlan(p) },
		func(p escalation.Plan) (time.Time, int64) { return p.CreatedAt, int64(p.ID) })
}

func (a plans) get(w http.ResponseWriter, r *http.Request) error {
	id, name, err := named(r, "plan")
	if err != nil {
		return err
	}
	var p escalation.PlanSteps
	if name == "" {
		p, err = a.Plans.ByID(r.Context(), escalation.PlanID(id))
	} else {
		p, err = a.Plans.ByName(r.Context(), name)
	}
	if err != nil {
		return missing(err, "plan")
	}
	routing.ShowTag(w, tag(int64(p.ID)))
	return routing.Answer(w, http.StatusOK, showWholePlan(p))
}

func showWholePlan(p escalation.PlanSteps) wholePlan {
	body := wholePlan{plan: showPlan(p.Plan), Steps: make([][]notification, len(p.Steps)), Fallback: showTarget(p.Fallback), Flood: flood{
		Count: p.ThresholdCount, WindowSeconds: seconds(p.ThresholdWindow), DigestSeconds: seconds(p.AggregationWindow),
		UntilQuietSecond: seconds(p.AggregationReset),
	}}
	for i, step := range p.Steps {
		body.Steps[i] = make([]notification, len(step.Notifications))
		for k, n := range step.Notifications {
			body.Steps[i][k] = notification{Target: showTarget(n.Target), DynamicIndex: n.DynamicIndex, Priority: string(n.Priority),
				Template: page.OrNull(n.Template), WaitSeconds: seconds(n.Wait), Repeat: n.Repeat, Optional: n.Optional}
		}
	}
	if t := p.Tracking; t != nil {
		body.Tracking = &tracking{Mode: string(t.Mode), Destination: t.Key, Templates: t.Template}
	}
	return body
}
