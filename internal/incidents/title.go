package incidents

import (
	"encoding/json"
	"strings"
)

// maxTitle is the length of a title in characters.
const maxTitle = 160

// Title is one line that says what the incident is about, made from its context: the value of the application's title
// variable, else the first text under a name that usually holds one, else what an Alertmanager group has in common, else
// plan and application. It is never empty.
func (i Incident) Title() string {
	var c map[string]json.RawMessage
	_ = json.Unmarshal(i.Context, &c)
	text := func(raw json.RawMessage) string {
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	}
	var group struct {
		CommonAnnotations map[string]string `json:"commonAnnotations"`
		CommonLabels      map[string]string `json:"commonLabels"`
	}
	_ = json.Unmarshal(i.Context, &group)
	var found []string
	if i.TitleVariable != "" {
		found = append(found, text(c[i.TitleVariable]))
	}
	for _, name := range []string{"title", "summary", "subject", "description", "message", "name"} {
		found = append(found, text(c[name]))
	}
	found = append(found, group.CommonAnnotations["summary"], group.CommonAnnotations["description"], group.CommonLabels["alertname"],
		i.Plan+" from "+i.Application)
	for _, s := range found {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			return cut(s)
		}
	}
	return ""
}

func cut(s string) string {
	if r := []rune(s); len(r) > maxTitle {
		return string(r[:maxTitle-1]) + "…"
	}
	return s
}
