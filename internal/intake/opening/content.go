package opening

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Content describes an incident. Its context is like that of the events of integrations, so the same templates,
// silences and built-in texts apply.
type Content struct {
	Title    string
	Summary  string
	Severity intake.Severity // "" = none
	Labels   map[string]string
	// Context is a JSON object without NUL characters; empty = none. Its members take precedence over those made from
	// the other fields.
	Context json.RawMessage
	// DedupKey prevents a second open incident of the same application, plan and key; "" = none.
	DedupKey string
}

// Check returns an Invalid fault if something is missing or wrong.
func (c Content) Check() error {
	switch {
	case c.Title == "" && c.Summary == "" && len(c.Context) == 0:
		return fault.Invalidf("title", "title is required if there is neither summary nor context")
	case c.Severity != "" && !intake.KnownSeverity(c.Severity):
		return fault.Invalidf("severity", "severity must be one of critical, error, warning and info")
	}
	return CheckKey(c.DedupKey)
}

// New returns the incident to open, or the fault of Check.
func (c Content) New() (n incidents.New, err error) {
	if err := c.Check(); err != nil {
		return n, err
	}
	n = incidents.New{DedupKey: c.DedupKey, Severity: string(c.Severity)}
	n.Context, err = intake.ContextOf(intake.Event{Title: c.Title, Summary: c.Summary, Labels: c.Labels,
		Context: c.Context}, "", c.Severity)
	return n, err
}
