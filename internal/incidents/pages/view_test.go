package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestFactsOfContexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		context string
		want    facts
	}{
		"nothing": {`no json`, facts{}},
		"an integration": {`{"title": "disk full", "summary": "3 GB are left", "severity": "critical", "labels": {"host": "db-3", "cpu": 4, "deep": {}},
			"links": [{"url": "https://a.example/d", "text": "Dashboard"}, {"url": "https://a.example/r", "text": "Runbook"}, {"url": "javascript:alert(1)", "text": "evil"}],
			"images": [{"url": "https://a.example/p.png", "alt": "use"}, {"url": "data:image/png;base64,"}]}`,
			facts{Summary: "3 GB are left", Labels: []label{{"cpu", "4"}, {"host", "db-3"}},
				Links: []link{{"Runbook", "https://a.example/r"}, {"Dashboard", "https://a.example/d"},
					{"Picture: use", "https://a.example/p.png"}}}},
		"an Alertmanager group": {`{"commonLabels": {"alertname": "Disk"}, "commonAnnotations": {"description": "It fills", "runbook_url": "https://a.example/r"}, "externalURL": "https://am.example/",
			"alerts": [{"labels": {"alertname": "Disk", "host": "a"}, "generatorURL": "https://prom.example/g"}, {"labels": {"host": "b"}}]}`,
			facts{Summary: "It fills", Labels: []label{{"alertname", "Disk"}},
				Links: []link{{"Runbook", "https://a.example/r"}, {"Source", "https://prom.example/g"},
					{"Alertmanager", "https://am.example/"}}}},
		"values of an application": {`{"title": "disk full", "host": "db-3", "graph": "http://g.example/1", "list": [1], "nothing": null}`,
			facts{Labels: []label{{"host", "db-3"}}, Links: []link{{"Graph", "http://g.example/1"}}}},
	} {
		got := readFacts(json.RawMessage(c.context), "disk full")
		require.Equal(t, c.want, got, name)
	}
}

func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	labels, links := map[string]string{}, []map[string]string{}
	for i := range 100 {
		labels[fmt.Sprintf("l%03d%s", i, strings.Repeat("n", 500))] = strings.Repeat("v", 5000)
		links = append(links, map[string]string{"url": fmt.Sprintf("https://a.example/%d", i),
			"text": strings.Repeat("t", 5000)})
	}
	links = append(links, map[string]string{"url": "https://a.example/" + strings.Repeat("x", maxAddress)})
	raw, err := json.Marshal(map[string]any{"labels": labels, "links": links, "summary": strings.Repeat("s", 5000)})
	require.NoError(t, err)
	f := readFacts(raw, "t")
	require.Len(t, f.Labels, maxLabels)
	require.Equal(t, 100-maxLabels, f.More)
	require.Len(t, f.Links, maxLinks)
	require.Len(t, []rune(f.Summary), maxText)
	require.Len(t, []rune(f.Labels[0].Value), maxValue)
	require.Len(t, []rune(f.Labels[0].Name), maxName)
	require.Len(t, []rune(f.Links[0].Text), maxName)
}

func TestAlertsOfAGroup(t *testing.T) {
	t.Parallel()
	one := incidents.Alert{Firing: true, Labels: json.RawMessage(`{"alertname":"Disk","host":"a"}`)}
	require.Zero(t, viewAlerts([]incidents.Alert{one}).Count, "the facts show the only alert")
	many := []incidents.Alert{{Labels: json.RawMessage(`{"alertname":"Disk","host":"gone"}`)}}
	for i := range 6 {
		many = append(many, incidents.Alert{Firing: true, StartsAt: time.Unix(int64(i), 0),
			Labels:      json.RawMessage(fmt.Sprintf(`{"alertname":"Disk","host":"h%d"}`, i)),
			Annotations: json.RawMessage(fmt.Sprintf(`{"summary":"disk of h%d"}`, i))})
	}
	v := viewAlerts(many)
	require.Equal(t, 7, v.Count)
	require.Equal(t, 1, v.Resolved)
	require.Len(t, v.First, shownAlerts)
	require.Len(t, v.Rest, 2)
	require.Equal(t, alertView{Firing: true, Text: "disk of h5", Labels: []label{{"host", "h5"}}}, v.First[0],
		"the newest firing alert, with the labels that others do not have")
	require.False(t, v.Rest[1].Firing)
	require.False(t, v.Cut)
	require.True(t, viewAlerts(make([]incidents.Alert, maxAlerts+1)).Cut)
}

func TestMessagesByPerson(t *testing.T) {
	t.Parallel()
	people := byPerson([]messages.Message{
		{ID: 1, Target: "ann", Mode: users.Call, State: messages.Failed}, {ID: 2, Target: "bob", Mode: users.SMS,
			State: messages.Pending},
		{ID: 3, Target: "ann", Mode: users.SMS, State: messages.Delivered, Body: strings.Repeat("b", 9000)}, {ID: 4,
			Target: "ann", Mode: users.Email, State: messages.Cancelled},
	})
	require.Len(t, people, 2)
	require.Equal(t, "ann", people[0].Target)
	require.Equal(t, "delivered by sms", people[0].StateText, "the best state of the messages")
	require.Len(t, people[0].Messages, 3)
	require.Len(t, []rune(people[0].Messages[1].Body), maxBody)
	require.Equal(t, "waiting by sms", people[1].StateText)
}

func TestLongTimelinesAreFolded(t *testing.T) {
	t.Parallel()
	earlier, recent := viewTimeline(make([]incidents.Entry, 200))
	require.Len(t, earlier, 200-recentEntries)
	require.Len(t, recent, recentEntries)
	earlier, recent = viewTimeline(make([]incidents.Entry, 3))
	require.Empty(t, earlier)
	require.Len(t, recent, 3)
}

func TestWhatComesNext(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	active := incidents.Incident{Active: true, CurrentStep: 1}
	to := func(target string, mode users.Mode) simulation.SimulatedPage {
		return simulation.SimulatedPage{New: messages.New{Target: target, Mode: mode}}
	}
	pages := []simulation.SimulatedPage{to("omar", "call"), to("a", "sms"), to("b", "sms"), to("c", "sms")}
	for want, c := range map[string]struct {
		i incidents.Incident
		n simulation.Next
	}{
		"Step 2: omar by call": {active, simulation.Next{At: at, Step: 2, Pages: pages[:1]}},
		"Step 2: omar by call, a by sms, b by sms and 1 further page": {active, simulation.Next{At: at, Step: 2, Pages: pages}},
		"The plan ends. Nobody else is paged after that":              {active, simulation.Next{At: at, Ends: true}},
		"The snooze ends and the plan begins again":                   {incidents.Incident{SnoozedUntil: at}, simulation.Next{}},
		"The silence ends. If the alert still fires, the plan begins": {incidents.Incident{SilencedUntil: at}, simulation.Next{}},
	} {
		require.Equal(t, nextView{want, at}, viewNext(c.i, c.n))
	}
	require.Contains(t, viewNext(active, simulation.Next{Paused: true}).Text, "paused")
	require.Zero(t, viewNext(active, simulation.Next{}))
	require.Zero(t, viewNext(incidents.Incident{Owner: "ann"}, simulation.Next{}))
	require.Zero(t, viewNext(incidents.Incident{Resolved: true, SnoozedUntil: at}, simulation.Next{}))
}

func TestChangesLeadBackOnlyToPagesOfIncidents(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]bool{"/": true, "/incidents": true, "/incidents?show=mine": true, "//evil.example": false, "/incidents/../evil": false, "": false, "https://evil.example/": false} {
		require.Equal(t, want, goesBack(to), to)
	}
}
