package catalog

import (
	"cmp"
	"encoding/json"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/filters"
)

func (d Deps) plans() resource[escalation.Plan, escalation.PlanSteps, escalation.PlanID] {
	return resource[escalation.Plan, escalation.PlanSteps, escalation.PlanID]{
		Versions: d.Plans, authors: d.authors(), kind: "plan", members: []string{"description", "steps", "conditions", "flood", "tracking"},
		row: func(p escalation.Plan) any { return showPlan(p) }, show: showWholePlan, name: catalog.PlanName, save: d.savePlan,
		place: func(p escalation.Plan) filters.Place { return filters.Place{At: p.CreatedAt, ID: int64(p.ID)} },
		head: func(p escalation.PlanSteps) (escalation.PlanID, catalog.Version) {
			return p.ID, catalog.Version{Kind: "plan", Name: p.Name, Creator: p.Creator, CreatorID: p.CreatorID, Team: p.Team}
		},
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
	Steps [][]notification `json:"steps"`
	// Conditions are the steps that apply at some times only.
	Conditions []condition `json:"conditions"`
	Flood      flood       `json:"flood"`
	Fallback   *target     `json:"fallback"`
	Tracking   *tracking   `json:"tracking"`
}

// condition is when a step applies.
type condition struct {
	Step    int      `json:"step"` // from 1
	Windows []window `json:"windows"`
	Team    *string  `json:"team"` // whose time zone is used
	Zone    string   `json:"zone"`
}

// window is a part of each week.
type window struct {
	Days []string `json:"days"`
	From string   `json:"from"`
	To   string   `json:"to"`
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
	return plan{version: version{ID: int64(p.ID), Name: p.Name, Active: p.Active, Creator: p.Creator, Team: page.OrNull(p.Team.Name), CreatedAt: page.Time(p.CreatedAt)},
		Description: p.Description, Paused: p.Paused}
}

func showTarget(t *escalation.Target) *target {
	if t == nil {
		return nil
	}
	return &target{Role: t.Role, Name: t.Name}
}

func showCondition(step int, c *escalation.Condition) condition {
	out := condition{Step: step, Windows: make([]window, len(c.Windows)), Team: page.OrNull(c.Team), Zone: cmp.Or(c.Zone, "UTC")}
	for i, w := range c.Windows {
		out.Windows[i] = window{Days: append([]string{}, w.Days...), From: cmp.Or(w.From, "00:00"), To: cmp.Or(w.To, "24:00")}
	}
	return out
}

func showWholePlan(p escalation.PlanSteps, mayEdit bool) any {
	body := wholePlan{plan: showPlan(p.Plan), Steps: make([][]notification, len(p.Steps)), Fallback: showTarget(p.Fallback), Flood: flood{
		Count: p.ThresholdCount, WindowSeconds: seconds(p.ThresholdWindow), DigestSeconds: seconds(p.AggregationWindow),
		UntilQuietSecond: seconds(p.AggregationReset),
	}}
	body.MayEdit, body.Conditions = &mayEdit, []condition{}
	for i, step := range p.Steps {
		if c := step.When; c != nil {
			body.Conditions = append(body.Conditions, showCondition(i+1, c))
		}
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
