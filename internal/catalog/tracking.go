package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
)

const invalidTracking = "Invalid tracking template"

// Check returns the tracking notification in its stored form. syntax returns the syntax error of a Jinja2 template.
func (t Tracking) Check(syntax func(string) error) (*escalation.Tracking, error) {
	if t.Mode == "" || t.Destination == "" || t.Templates == nil || string(t.Templates) == "null" {
		return nil, invalid("tracking", invalidTracking, "Incomplete tracking setting")
	}
	var apps map[string]json.RawMessage
	if json.Unmarshal(t.Templates, &apps) != nil {
		return nil, invalid("tracking.templates", invalidTracking, "Template must be a dictionary")
	}
	mode := users.Mode(t.Mode)
	if !slices.Contains(users.Modes, mode) || mode == users.Drop {
		return nil, invalid("tracking.mode", invalidTracking, "Unknown tracking type: "+t.Mode)
	}
	if mode == users.Email && !strings.Contains(t.Destination, "@") {
		return nil, invalid("tracking.destination", invalidTracking, "Invalid email address")
	}
	kept := map[string]map[string]string{}
	for _, app := range slices.Sorted(maps.Keys(apps)) {
		text, err := trackingText(mode, app, apps[app], syntax)
		if err != nil {
			return nil, err
		}
		kept[app] = text
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	if !Destination(t.Destination) {
		return nil, invalid("tracking.destination", invalidTracking,
			fmt.Sprintf("tracking_key must be one line of at most %d bytes", MaxDestination))
	}
	if strings.Contains(string(raw), `\u0000`) {
		return nil, invalid("tracking.templates", invalidTracking, "NUL characters cannot be stored")
	}
	return &escalation.Tracking{Mode: mode, Key: t.Destination, Template: raw}, nil
}

// trackingPart is one part of the text, and the beginning of the text of its syntax errors.
type trackingPart struct {
	name, title string
	required    bool
}

// trackingParts returns the parts that the text has in a mode.
func trackingParts(mode users.Mode) []trackingPart {
	if mode != users.Email {
		return []trackingPart{{"body", "incident tracking text", true}}
	}
	return []trackingPart{{"email_subject", "subject", true}, {"email_text", "body", true},
		{"email_html", "email html", false}}
}

// trackingText reads the text for one application.
func trackingText(mode users.Mode, app string, raw json.RawMessage, syntax func(string) error) (map[string]string, error) {
	refuse := func(format string, args ...any) (map[string]string, error) {
		return nil, invalid("tracking.templates", invalidTracking, fmt.Sprintf(format, args...))
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || len(given) == 0 {
		return refuse("No key for %s template", app)
	}
	parts := trackingParts(mode)
	var missing []string
	text := map[string]string{}
	for _, p := range parts {
		value, ok := given[p.name]
		if !ok || string(value) == "null" {
			if p.required {
				missing = append(missing, "'"+p.name+"'")
			}
			continue
		}
		var s string
		if json.Unmarshal(value, &s) != nil {
			return refuse("%s for %s template must be a string", p.name, app)
		}
		text[p.name] = s
	}
	if len(missing) > 0 {
		return refuse("Missing keys for %s template: {%s}", app, strings.Join(missing, ", "))
	}
	for _, p := range parts {
		if err := syntax(text[p.name]); err != nil {
			return refuse("Invalid jinja syntax in %s: %s", p.title, err)
		}
	}
	return text, nil
}
