package sources

import (
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Datadog decodes the payload template that docs/integrations.md gives for Datadog's webhooks. A monitor's cycle, from
// its trigger to its recovery, is one incident.
func Datadog(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	m = m.expanded()
	e := intake.Event{Status: intake.Firing, Key: m.text("cycle_key"),
		Title: humanize.Shorten(m.text("title"), maxSummary), Summary: m.text("text"),
		Labels: pick(m, "scope", "hostname"), StartsAt: epoch(m.text("date")), Context: r.Body}
	if e.Key == "" && m.text("monitor_id") != "" {
		e.Key = m.text("monitor_id") + "/" + m.text("scope")
	}
	if e.Key = ShortKey(e.Key); e.Key == "" && e.Title == "" {
		return nil, fault.Invalidf("title",
			"title, cycle_key and monitor_id are missing: use the payload that Iris documents")
	}
	transition, kind := strings.ToLower(m.text("transition")), strings.ToLower(m.text("alert_type"))
	if word := firstOf(m.text("priority"), kind); word != "success" {
		e.SaySeverity(word)
	}
	switch {
	case transition == "recovered", transition == "" && kind == "success":
		e.Status = intake.Resolved
	case strings.HasSuffix(transition, "warn"):
		e.Severity = intake.Warning
	}
	addTags(e.Labels, strings.Split(m.text("tags"), ","))
	e.Links = addLink(nil, m.text("link"), "Datadog")
	e.Images = addImages(nil, m.text("snapshot"))
	return []intake.Event{e}, nil
}
