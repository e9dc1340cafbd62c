package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRulesHoldEventsBack walks a rule through its doors: the API, the preview, and deliveries.
func TestRulesHoldEventsBack(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	path := "/v1/integrations/counting"
	body := m{"type": "generic", "application": "demo", "rules": []m{
		{"match": `noisy="yes"`, "plan": "pager", "after_events": 2, "after_seconds": 600},
		{"plan": "pager"}}}
	token := decode[struct{ Token string }](s.do(admin, put, path, body).is(201)).Token
	event := func(key, status, label string) string {
		name, value, _ := strings.Cut(label, "=")
		return fmt.Sprintf(`{"title": "disk of %s", "dedup_key": %q, "status": %q, "severity": "error", "labels": {%q: %q}}`, key, key, status, name, value)
	}
	send := func(key, status, label string) hookEvent {
		return s.hook("generic", token, "application/json", event(key, status, label))[0]
	}
	preview := func(key, label string) string {
		return decode[struct {
			Items []struct {
				Route struct {
					HeldBack string `json:"held_back"`
				}
			}
		}](s.do(admin, post, path+"/preview",
			m{"payload": event(key, "firing", label)}).is(200)).Items[0].Route.HeldBack
	}

	require.Contains(t, preview("n", "noisy=yes"), "event 1 in 10m of this alert; event 2 opens an incident")
	require.Equal(t, "held_back", send("n", "firing", "noisy=yes").Outcome)
	require.Equal(t, "opened", send("n", "firing", "noisy=yes").Outcome)

	for field, rule := range map[string]m{
		"after_events: it must be between 2 and 100":              {"plan": "pager", "after_events": 1, "after_seconds": 60},
		"after_events: give both after_events and after_seconds":  {"plan": "pager", "after_events": 2},
		"after_events: a rule that only records counts no events": {"record_only": true, "after_events": 2, "after_seconds": 60},
		"after_seconds: it must be between 60 and 86400":          {"plan": "pager", "after_events": 2, "after_seconds": 86401},
		"count_by: a label is empty":                              {"plan": "pager", "after_events": 2, "after_seconds": 60, "count_by": []string{""}},
	} {
		answer := s.do(admin, put, path, m{"type": "generic", "application": "demo", "rules": []m{rule}})
		answer.problem(400, "rules")
		require.Contains(t, answer.body, "rule 1: "+field)
	}
}
