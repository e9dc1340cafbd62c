// This file takes the facts of an event from a payload of any shape by template expressions, which are the settings of
// an integration of type generic. The decoder of generic payloads applies them; package intake checks them. It knows no
// transport.

package intake

import (
	"cmp"
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
	// Recipe is the name of the recipe that reads the payload before the expressions; "" = the one that recognises it if
	// there are no expressions, "none" = none.
	Recipe   string            `json:"recipe,omitempty"`
	Key      string            `json:"key,omitempty"`
	Title    string            `json:"title,omitempty"`
	Summary  string            `json:"summary,omitempty"`
	Status   string            `json:"status,omitempty"`   // renders to a word such as firing, ok or ack
	Severity string            `json:"severity,omitempty"` // renders to a word such as critical, high or p3
	Link     string            `json:"link,omitempty"`     // renders to an absolute address
	Labels   map[string]string `json:"labels,omitempty"`   // by name of the label
	Ignore   string            `json:"ignore,omitempty"`   // renders to true if the payload says nothing about an alert

	compiled []compiled
}

// compiled is an expression of a field.
type compiled struct {
	field    string
	template *jinja.Template
}

// NoRecipe is the name with which an integration says that no recipe applies.
const NoRecipe = "none"

// names are the members of settings.
var names = []string{"recipe", "key", "title", "summary", "status", "severity", "link", "labels", "ignore"}

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
	return x, x.Compile()
}

// HasExpressions reports whether integrations of a type have expressions.
func HasExpressions(kind string) bool { return kind == Generic || kind == Email || kind == SNS }

// Split divides settings into the expressions and what else a type has. Settings that are no object are no expressions.
func Split(settings json.RawMessage) (expressions, others json.RawMessage) {
	var all map[string]json.RawMessage
	if json.Unmarshal(settings, &all) != nil {
		return nil, settings
	}
	own := map[string]json.RawMessage{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			own[name] = value
			delete(all, name)
		}
	}
	expressions, _ = json.Marshal(own) // what was JSON is JSON
	others, _ = json.Marshal(all)
	return expressions, others
}

// Compile prepares the expressions for Find. An expression that does not compile is an Invalid fault that names it.
func (x *Expressions) Compile() error {
	if len(x.Labels) > maxLabels {
		return fault.Invalidf("settings.labels", "settings have at most %d labels", maxLabels)
	}
	all := []struct{ field, source string }{{"key", x.Key}, {"title", x.Title}, {"summary", x.Summary},
		{"status", x.Status}, {"severity", x.Severity}, {"link", x.Link}, {"ignore", x.Ignore}}
	for _, name := range slices.Sorted(maps.Keys(x.Labels)) {
		all = append(all, struct{ field, source string }{labelPrefix + name, x.Labels[name]})
	}
	x.compiled = nil
	for _, e := range all {
		if e.source == "" {
			continue
		}
		t, err := compile(e.source)
		if err != nil {
			return fault.Invalidf("settings."+e.field, "the expression is wrong: %s", err)
		}
		x.compiled = append(x.compiled, compiled{e.field, t})
	}
	return nil
}

// labelPrefix begins the fields of labels.
const labelPrefix = "labels."

func compile(source string) (*jinja.Template, error) {
	return jinja.Compile(source, jinja.Limits{Source: maxSource, Output: 64 << 10, Steps: 100_000})
}

// Facts are what the expressions found; "" = the default stays.
type Facts struct {
	Key, Title, Summary, Status, Severity, Link string
	Labels                                      map[string]string
	Ignore                                      bool // the payload says nothing about an alert
	Failures                                    []Failure
}

// Over returns the facts with those of f before those of other.
func (f Facts) Over(other Facts) Facts {
	out := Facts{Key: cmp.Or(f.Key, other.Key), Title: cmp.Or(f.Title, other.Title),
		Summary: cmp.Or(f.Summary, other.Summary), Status: cmp.Or(f.Status, other.Status),
		Severity: cmp.Or(f.Severity, other.Severity), Link: cmp.Or(f.Link, other.Link),
		Labels: maps.Clone(other.Labels), Ignore: f.Ignore || other.Ignore,
		Failures: slices.Concat(f.Failures, other.Failures)}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, f.Labels)
	return out
}

// Given reports whether there is an expression.
func (x Expressions) Given() bool {
	return x.Key+x.Title+x.Summary+x.Status+x.Severity+x.Link+x.Ignore != "" || len(x.Labels) > 0
}

// Find renders the expressions, which Parse or Compile prepared, with a payload, a JSON object.
func (x Expressions) Find(payload []byte) Facts {
	if len(x.compiled) == 0 {
		return Facts{}
	}
	vars, err := jinja.DecodeVars(payload)
	if err != nil {
		return Facts{}
	}
	return x.FindIn(vars)
}

// FindIn is Find with the variables of a payload.
func (x Expressions) FindIn(vars jinja.Vars) Facts {
	f := Facts{Labels: map[string]string{}}
	for _, e := range x.compiled {
		text, err := render(e.template, vars)
		switch {
		case err != nil:
			f.Failures = append(f.Failures, Failure{Field: e.field, Reason: err.Error()})
		case text == "":
			f.Failures = append(f.Failures, Failure{Field: e.field, Reason: "it renders to nothing", Empty: true})
		}
		f.set(e.field, text)
	}
	return f
}

// set stores the text of an expression.
func (f *Facts) set(field, text string) {
	switch field {
	case "key":
		f.Key = text
	case "title":
		f.Title = text
	case "summary":
		f.Summary = text
	case "status":
		f.Status = text
	case "severity":
		f.Severity = text
	case "link":
		f.Link = text
	case "ignore":
		f.Ignore = strings.EqualFold(text, "true")
	default:
		if text != "" {
			f.Labels[strings.TrimPrefix(field, labelPrefix)] = text
		}
	}
}

// render returns the text without the spaces around it. None is no text.
func render(t *jinja.Template, vars jinja.Vars) (string, error) {
	text, err := t.Render(vars)
	if text = strings.TrimSpace(text); err != nil || text == "None" {
		return "", err
	}
	return text, nil
}
