package opening

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// NewIncident is an incident as a caller of /v1 describes it.
type NewIncident struct {
	Plan           string             `json:"plan" doc:"Name of the plan that the incident follows."`
	Application    string             `json:"application,omitempty" doc:"Default: the application of the caller; for people and service tokens, the application iris. Another one may be named by its owners, by administrators, and by applications with the power to open incidents for others."`
	Title          string             `json:"title,omitempty" doc:"What is wrong, in a line. title, summary or context is required."`
	Summary        string             `json:"summary,omitempty"`
	Severity       intake.Severity    `json:"severity,omitempty" doc:"critical, error, warning or info."`
	Labels         Labels             `json:"labels,omitempty" doc:"Silences and templates see them."`
	Context        json.RawMessage    `json:"context,omitempty" doc:"An object for the templates. title, summary, severity and labels are added unless it has them."`
	DynamicTargets []incidents.Target `json:"dynamic_targets,omitempty" maxItems:"100" doc:"The targets for the dynamic steps of the plan, by their index."`
	DedupKey       string             `json:"dedup_key,omitempty" doc:"At most 255 characters. If an incident of the application and plan is open with this key, the answer is 200 with that incident."`
}

// Labels are texts by name. A null in JSON is an empty text.
type Labels map[string]string

// Schema implements huma.SchemaProvider.
func (Labels) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString, Nullable: true}}
}

// Check implements operation.Checker.
func (n NewIncident) Check() error {
	if given := n.context(); len(given) > 0 && given[0] != '{' {
		return fault.Invalidf("context", "context must be an object")
	}
	return n.content().Check()
}

// context returns the context; nil for none, and for null.
func (n NewIncident) context() json.RawMessage {
	if string(n.Context) == "null" {
		return nil
	}
	return n.Context
}

func (n NewIncident) content() Content {
	return Content{Title: n.Title, Summary: n.Summary, Severity: n.Severity, Labels: n.Labels, Context: n.context(),
		DedupKey: n.DedupKey}
}

// OpenedIncident is the incident that was opened, or the one that was open with the key.
type OpenedIncident struct {
	incidents.IncidentDetail
	known bool
}

// Made reports whether the incident was opened.
func (o OpenedIncident) Made() bool { return !o.known }

// Location is the address of the incident.
func (o OpenedIncident) Location() string { return operation.Path("/v1/incidents/{id}", o.ID) }

// OpenIncident opens an incident, which is durable before the answer.
var OpenIncident = operation.Define[NewIncident, OpenedIncident](operation.Doc{Name: "incident.open",
	Method: http.MethodPost, Path: "/v1/incidents", Status: http.StatusOK, Needs: operation.Member, Rule: operation.AsApplication,
	Summary: "Open an incident", Errors: []int{409, 422, 429},
	Note: "200: an incident with the dedup_key was open; nothing was changed. 403: the caller may not open incidents of " +
		"the application. 429: too many messages of the application wait, or it opened too many incidents. Incidents that " +
		"people and service tokens open without an application belong to the application iris, where each person and " +
		"token has its own quotas and dedup keys."})

// OperationDeps are the parts that the operation works on. All are required.
type OperationDeps struct {
	Opener Opener
	// Caller returns the caller of a request, and the application by which it calls.
	Caller func(context.Context) Caller
	Get    func(context.Context, incidents.ID) (incidents.Incident, error)
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// NewOpenIncident returns the operation. If an incident of the application, plan and dedup_key is open, it answers with
// that incident, and nothing is changed.
func NewOpenIncident(d OperationDeps) operation.Op[NewIncident, OpenedIncident] {
	return OpenIncident.By(func(ctx context.Context, _ operation.Actor, n NewIncident) (out OpenedIncident, err error) {
		content, err := n.content().New()
		if err != nil {
			return out, err
		}
		by := d.Caller(ctx)
		to, err := d.Opener.Find(ctx, by, Request{n.Plan, n.Application, n.DynamicTargets})
		if err != nil {
			return out, fault.When(err, fault.NotFound, fault.Invalidf("plan", "there is no active plan %.100q", n.Plan))
		}
		opened, err := d.Opener.Open(ctx, by, to, content)
		if err != nil {
			return out, err
		}
		if !opened.Known {
			d.Wake(ctx, buckets.Of(opened.Bucket))
		}
		found, err := d.Get(ctx, opened.ID)
		return OpenedIncident{found.Detail(), opened.Known}, err
	})
}
