package apiclient

import (
	"context"
	"net/http"
)

// Target is a recipient: a role and a name.
type Target struct {
	Role   string `json:"role"`
	Target string `json:"target"`
}

// Incident is the body of POST /v0/incidents.
type Incident struct {
	Plan           string         `json:"plan"`
	Context        map[string]any `json:"context"`
	Application    string         `json:"application,omitempty"` // opens it in the name of another application
	DynamicTargets []Target       `json:"dynamic_targets,omitempty"`
}

// OpenIncident opens an incident and returns its id.
func (c *Client) OpenIncident(ctx context.Context, in Incident) (int64, error) {
	if in.Context == nil {
		in.Context = map[string]any{}
	}
	var id int64
	err := c.Call(ctx, http.MethodPost, "/v0/incidents", in, &id)
	return id, err
}

// Notification is an out-of-band message to a target, by priority or mode, with a template or a body.
type Notification struct {
	Target
	Subject  string         `json:"subject"`
	Priority string         `json:"priority,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Template string         `json:"template,omitempty"`
	Context  map[string]any `json:"context,omitempty"`
	Body     string         `json:"body,omitempty"`
}

// Notify posts a notification. If it returns nil, the notification is stored and will be sent.
func (c *Client) Notify(ctx context.Context, n Notification) error {
	return c.Call(ctx, http.MethodPost, "/v0/notifications", n, nil)
}

// PlanNotification is one notification of a step.
type PlanNotification struct {
	Target
	Priority string `json:"priority"`
	Template string `json:"template"`
	Wait     int    `json:"wait"` // seconds
	Repeat   int    `json:"repeat"`
	Optional int    `json:"optional"`
}

// Plan is the body of POST /v0/plans, which stores a new version of a plan. Windows and AggregationReset are in
// seconds.
type Plan struct {
	Name              string               `json:"name"`
	Creator           string               `json:"creator"`
	Description       string               `json:"description"`
	ThresholdWindow   int                  `json:"threshold_window"`
	ThresholdCount    int                  `json:"threshold_count"`
	AggregationWindow int                  `json:"aggregation_window"`
	AggregationReset  int                  `json:"aggregation_reset"`
	Steps             [][]PlanNotification `json:"steps"`
}

// CreatePlan stores a plan and returns its id. It is then the active version.
func (c *Client) CreatePlan(ctx context.Context, p Plan) (int64, error) {
	var id int64
	err := c.Call(ctx, http.MethodPost, "/v0/plans", p, &id)
	return id, err
}

// Text is the text of a template for one mode.
type Text struct {
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// Template is the body of POST /v0/templates, which stores a new version of a template. Content is by application and
// mode.
type Template struct {
	Name    string                     `json:"name"`
	Creator string                     `json:"creator"`
	Content map[string]map[string]Text `json:"content"`
}

// CreateTemplate stores a template and returns its id. It is then the active version.
func (c *Client) CreateTemplate(ctx context.Context, t Template) (int64, error) {
	var id int64
	err := c.Call(ctx, http.MethodPost, "/v0/templates", t, &id)
	return id, err
}
