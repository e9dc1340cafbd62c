package incidents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// maxTitle is the length of a title in characters.
const maxTitle = 160

// Title is a line that describes the incident. It comes from the context: the value of the application's title
// variable, else the first text under a usual name for one, else the texts of an Alertmanager group or its first alert,
// else plan and application. It is never empty.
func (i Incident) Title() string {
	var c map[string]json.RawMessage
	_ = json.Unmarshal(i.Context, &c)
	delete(c, "") // an application without a title variable would match it
	names := []string{i.TitleVariable, "title", "summary", "subject", "ruleName", "description", "message", "name",
		"text", "alertname"}
	var found []string
	for _, name := range names {
		found = append(found, plain(c[name]))
	}
	if c["alerts"] != nil || c["groupLabels"] != nil || c["commonLabels"] != nil || c["commonAnnotations"] != nil {
		// Grafana's title and message of a group say less than its alerts.
		found = append([]string{plain(c[i.TitleVariable])}, append(groupTitles(i.Context), found[1:]...)...)
	}
	for _, s := range append(found, i.Plan+" from "+i.Application) {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			return humanize.Shorten(s, maxTitle)
		}
	}
	return ""
}

// plain returns a JSON text; "" for any other value.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return "" // Unmarshal would only make an error, which is slow
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// groupTitles returns possible titles of a group of alerts, best first.
func groupTitles(context json.RawMessage) []string {
	type texts map[string]string
	var group struct {
		GroupLabels, CommonAnnotations, CommonLabels texts
		Alerts                                       []struct{ Labels, Annotations texts }
	}
	_ = json.Unmarshal(context, &group)
	name := group.GroupLabels["alertname"]
	if name == "" {
		name = group.CommonLabels["alertname"]
	}
	out := []string{group.CommonAnnotations["summary"], group.CommonAnnotations["title"],
		group.CommonAnnotations["description"]}
	if len(group.Alerts) == 0 {
		return append(out, name)
	}
	first, more := group.Alerts[0], ""
	if n := len(group.Alerts) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	for _, text := range []string{first.Annotations["summary"], first.Annotations["title"], first.Annotations["description"]} {
		if text != "" {
			out = append(out, text+more)
		}
	}
	if name != "" {
		return append(out, name)
	}
	if name = first.Labels["alertname"]; name != "" {
		out = append(out, name+more)
	}
	return out
}
