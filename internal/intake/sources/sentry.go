package sources

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Sentry decodes the webhooks of an internal integration of Sentry. Alerts about issues and changes of issues have the
// key of the issue, so resolving or ignoring the issue resolves the incident.
func Sentry(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	data, action := m.within("data"), m.text("action")
	if data == nil {
		return nil, fault.Invalidf("data", "data is missing: send the webhook of an internal integration")
	}
	var e intake.Event
	switch {
	case data.within("metric_alert") != nil:
		e = sentryMetric(data, action)
	case data.within("event") != nil && action == "triggered":
		e = sentryEvent(data)
	case data.within("issue") != nil:
		e = sentryIssue(data.within("issue"), action)
	}
	if e.Status == "" {
		return nil, nil // says nothing about an alert
	}
	e.Key, e.Title, e.Context = ShortKey(e.Key), humanize.Shorten(e.Title, maxSummary), r.Body
	return []intake.Event{e}, nil
}

func sentryMetric(data members, action string) intake.Event {
	alert := data.within("metric_alert")
	e := intake.Event{Key: keyed("metric:", alert.text("id")),
		Title: firstOf(data.text("description_title"), alert.text("title")), Summary: data.text("description_text"),
		StartsAt: instant(alert.text("date_started")), Links: addLink(nil,
			data.text("web_url"), "Sentry")}
	e.Severity, _ = intake.SeverityOf(action) // open and resolved are no severities
	switch action {
	case "critical", "warning", "open":
		e.Status = intake.Firing
	case "resolved":
		e.Status = intake.Resolved
	}
	return e
}

func sentryEvent(data members) intake.Event {
	event := data.within("event")
	e := intake.Event{Status: intake.Firing, Key: keyed("issue:", event.text("issue_id")), Title: event.text("title"),
		Labels: pick(event, "level", "environment",
			"project"), StartsAt: instant(event.text("datetime")), Links: addLink(nil, event.text("web_url"), "Sentry")}
	e.SaySeverity(event.text("level"))
	if rule := data.text("triggered_rule"); rule != "" {
		e.Annotations = map[string]string{"triggered_rule": rule}
	}
	var tags []json.RawMessage
	_ = json.Unmarshal(event["tags"], &tags) // another type counts as absent
	for _, raw := range tags {
		var pair [2]string
		if json.Unmarshal(raw, &pair) == nil && pair[0] != "" && e.Labels[pair[0]] == "" {
			e.Labels[pair[0]] = pair[1]
		}
	}
	return e
}

func sentryIssue(issue members, action string) intake.Event {
	e := intake.Event{Key: keyed("issue:", issue.text("id")), Title: issue.text("title"),
		Labels: pick(issue, "shortId", "level"), Links: addLink(nil, issue.text("web_url", "permalink"), "Sentry")}
	e.SaySeverity(issue.text("level"))
	switch action {
	case "created", "unresolved":
		e.Status = intake.Firing
	case "resolved", "ignored", "archived":
		e.Status = intake.Resolved
	}
	return e
}

// keyed returns a key of a kind of objects; "" without an id.
func keyed(kind, id string) string {
	if id == "" {
		return ""
	}
	return kind + id
}
