package intake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Fact is the part of an alert that decides whether the alert is new: id, status and start.
type Fact struct {
	Fingerprint string `json:"f"`
	Status      string `json:"s"`
	StartsAt    string `json:"t"`
	Name        string `json:"-"` // for people
}

// Stored returns facts as the incident stores them.
func Stored(facts []Fact) json.RawMessage {
	raw, _ := json.Marshal(facts) // structs of strings are always valid JSON
	return raw
}

// News describes the new facts; "" = nothing is new.
func News(known json.RawMessage, now []Fact) string {
	var before []Fact
	_ = json.Unmarshal(known, &before) // unreadable facts count as no facts
	was := map[string]Fact{}
	for _, f := range before {
		was[f.Fingerprint] = f
	}
	var added, resolved int
	var names []string
	for _, f := range now {
		old, ok := was[f.Fingerprint]
		delete(was, f.Fingerprint)
		if ok && old.Status == f.Status && old.StartsAt == f.StartsAt {
			continue
		}
		if f.Status == "resolved" {
			resolved++
			continue
		}
		added++
		if f.Name != "" && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	removed := len(was)
	var parts []string
	if added > 0 {
		text := count(added, "new alert", "new alerts")
		if len(names) > 0 {
			slices.Sort(names)
			text += " (" + strings.Join(names[:min(len(names), 5)], ", ") + ")"
		}
		parts = append(parts, text)
	}
	if resolved > 0 {
		parts = append(parts, count(resolved, "alert resolved", "alerts resolved"))
	}
	if removed > 0 {
		parts = append(parts, count(removed, "alert left the group", "alerts left the group"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "the alert group changed: " + strings.Join(parts, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
