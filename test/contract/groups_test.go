package contract

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRulesGroupEvents walks a rule through its doors: the API, the preview, deliveries and the page of the incident.
func TestRulesGroupEvents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	path := "/v1/integrations/grouping"
	body := m{"type": "generic", "application": "demo", "rules": []m{
		{"plan": "pager", "group_by": []string{"cluster"}, "group_seconds": 300}}}
	token := decode[struct{ Token string }](s.do(admin, put, path, body).is(201)).Token
	event := func(key, status string) string {
		return fmt.Sprintf(`{"title": "disk of %s", "dedup_key": %q, "status": %q, "severity": "error", "labels": {"cluster": "prod", "host": %q}}`, key, key, status, key)
	}
	send := func(key, status string) hookEvent {
		return s.hook("generic", token, "application/json", event(key, status))[0]
	}
	preview := func(key string) string {
		return decode[struct {
			Items []struct{ Route struct{ Group string } }
		}](s.do(admin, post, path+"/preview", m{"payload": event(key, "firing")}).is(200)).Items[0].Route.Group
	}

	require.Equal(t, `further events with cluster="prod" in the next 5m become alerts of this incident`, preview("db1"))
	opened := send("db1", "firing")
	require.Equal(t, "opened", opened.Outcome)
	require.Contains(t, preview("db2"), fmt.Sprintf("becomes an alert of incident %d", opened.Incident))
	joined := send("db2", "firing")
	require.Equal(t, "grouped", joined.Outcome)
	require.Equal(t, opened.Incident, joined.Incident)
	page := s.html(bob, fmt.Sprintf("/incidents/%d", opened.Incident))
	require.Contains(t, page, "disk of db1 (and 1 more)")
	require.Contains(t, page, `cluster=&#34;prod&#34; in the next 5m become alerts of this incident`)
	require.Contains(t, s.html(owner, "/integrations/grouping/rules"), `value="cluster"`)

	require.Equal(t, "resolved", send("db1", "resolved").Outcome)
	require.Contains(t, s.html(bob, fmt.Sprintf("/incidents/%d", opened.Incident)), "1 of 2 alerts fire")
	require.Equal(t, "updated", send("db1", "firing").Outcome, "it fires again in the same incident")
	send("db1", "resolved")
	require.Equal(t, opened.Incident, send("db2", "resolved").Incident)
	require.Contains(t, s.html(bob, fmt.Sprintf("/incidents/%d", opened.Incident)), `class="chip resolved"`)

	for field, rule := range map[string]m{
		"group_by: give both group_by and group_seconds":      {"plan": "pager", "group_by": []string{"cluster"}},
		"group_by: a label is empty":                          {"plan": "pager", "group_by": []string{""}, "group_seconds": 60},
		"group_by: a rule that only records groups no events": {"record_only": true, "group_by": []string{"cluster"}, "group_seconds": 60},
		"group_seconds: it must be between 60 and 86400":      {"plan": "pager", "group_by": []string{"cluster"}, "group_seconds": 59},
	} {
		answer := s.do(admin, put, path, m{"type": "generic", "application": "demo", "rules": []m{rule}})
		answer.problem(400, "rules")
		require.Contains(t, answer.body, "rule 1: "+field)
	}
}

// A client of Opsgenie names the alert that it reported, which may be one of several of an incident.
func TestAnAliasNamesOneAlertOfAGroup(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	token := decode[struct{ Token string }](s.do(admin, put, "/v1/integrations/grouping", m{"type": "opsgenie", "application": "demo",
		"rules": []m{{"plan": "pager", "group_by": []string{"cluster"}, "group_seconds": 300}}}).is(201)).Token
	send := func(path string, body m) { s.do(anonymous, post, "/v2/alerts"+path+"?apiKey="+token, body).is(202) }
	alert := func(alias string) m {
		return m{"message": "disk of " + alias, "alias": alias, "details": m{"cluster": "prod"}}
	}
	send("", alert("db1"))
	send("", alert("db2"))
	newest := func() m {
		return decode[struct{ Items []m }](s.do(bob, get, "/v1/incidents?limit=1", nil).is(200)).Items[0]
	}
	require.Contains(t, s.html(bob, fmt.Sprintf("/incidents/%v", newest()["id"])), "disk of db1 (and 1 more)")
	send("/db2/close", m{})
	require.Equal(t, "escalating", newest()["state"])
	send("/db1/snooze", m{"endTime": "2100-01-01T00:00:00Z"})
	require.Equal(t, "escalating", newest()["state"], "it would hide what others reported")
	send("/db1/acknowledge", m{})
	require.Equal(t, "acknowledged", newest()["state"])
	send("/db1/close", m{})
	require.Equal(t, "resolved", newest()["state"])

	own := m{"message": "no alias", "details": m{"cluster": "prod"}}
	send("", own)
	first := newest()["id"]
	send("", own)
	require.NotEqual(t, first, newest()["id"], "only its id names an alert without an alias")
}
