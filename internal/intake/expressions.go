// This file takes the facts of an event from a payload of any shape by template expressions, which are the settings of
// an integration of type generic. The decoder of generic payloads applies them; package intake checks them. It knows no
// transport.

package intake

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/jinja"
)

// Expressions are Jinja2 templates over the members of a payload. An expression that is absent, fails or renders to
// nothing leaves the default of the decoder.
type Expressions struct {
	Key      string            `json:"key,omitempty"`
	Title    string            `json:"title,omitempty"`
	Summary  string            `json:"summary,omitempty"`
	Status   string            `json:"status,omitempty"`   // renders to a word such as firing, ok or ack
	Severity string            `json:"severity,omitempty"` // renders to a word such as critical, high or p3
	Link     string            `json:"link,omitempty"`     // renders to an absolute address
	Labels   map[string]string `json:"labels,omitempty"`   // by name of the label
}

// names are the members of settings.
var names = []string{"key", "title", "summary", "status", "severity", "link", "labels"}

const (
	maxLabels = 50
	maxSource = 2000 // bytes of an expression
)

// Parse reads settings. An unknown member, or an expression that does not compile, is an Invalid fault that names it.
// Empty settings have no expressions.
func Parse(settings json.RawMessage) (x Expressions, err error) {
	if len(settings) == 0 {
		return x, nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(settings, &given) != nil {
		return x, fault.Invalidf("settings", "settings must be an object")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return x, fault.Invalidf("settings."+name, "there is no setting %.60q: use %s", name,
				strings.Join(names, ", "))
		}
	}
	if err := json.Unmarshal(settings, &x); err != nil {
		return x, fault.Invalidf("settings", "settings must be texts, and labels an object of texts")
	}
	if len(x.Labels) > maxLabels {
		return x, fault.Invalidf("settings.labels", "settings have at most %d labels", maxLabels)
	}
	all := map[string]string{"key": x.Key, "title": x.Title, "summary": x.Summary, "status": x.Status,
		"severity": x.Severity, "link": x.Link}
	for name, source := range x.Labels {
		all["labels."+name] = source
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := compile(all[name]); err != nil {
			return x, fault.Invalidf("settings."+name, "the expression is wrong: %s", err)
		}
	}
	return x, nil
}

func compile(source string) (*jinja.Template, error) {
	return jinja.Compile(source, jinja.Limits{Source: maxSource, Output: 64 << 10, Steps: 100_000})
}

// Facts are what the expressions found; "" = the default stays.
type Facts struct {
	Key, Title, Summary, Status, Severity, Link string
	Labels                                      map[string]string
	Failures                                    []Failure
}

// Given reports whether there is an expression.
func (x Expressions) Given() bool {
	return x.Key+x.Title+x.Summary+x.Status+x.Severity+x.Link != "" || len(x.Labels) > 0
}

// Find renders the expressions with a payload, a JSON object.
func (x Expressions) Find(payload []byte) Facts {
	vars, err := jinja.DecodeVars(payload)
	if err != nil {
		return Facts{}
	}
	f := Facts{Labels: map[string]string{}}
	render := func(field, source string) string {
		if source == "" {
			return ""
		}
		text, err := render(source, vars)
		switch {
		case err != nil:
			f.Failures = append(f.Failures, Failure{Field: field, Reason: err.Error()})
		case text == "":
			f.Failures = append(f.Failures, Failure{Field: field, Reason: "it renders to nothing", Empty: true})
		}
		return text
	}
	f.Key, f.Title, f.Summary = render("key", x.Key), render("title", x.Title), render("summary", x.Summary)
	f.Status, f.Severity, f.Link = render("status", x.Status), render("severity", x.Severity), render("link", x.Link)
	for _, name := range slices.Sorted(maps.Keys(x.Labels)) {
		if v := render("labels."+name, x.Labels[name]); v != "" {
			f.Labels[name] = v
		}
	}
	return f
}

// render returns the text without the spaces around it. None is no text.
func render(source string, vars jinja.Vars) (string, error) {
	t, err := compile(source)
	if err != nil {
		return "", err
	}
	text, err := t.Render(vars)
	if text = strings.TrimSpace(text); err != nil || text == "None" {
		return "", err
	}
	return text, nil
}
