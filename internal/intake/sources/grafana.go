package sources

import (
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Grafana decodes the webhooks of both alerting systems of Grafana. The present one sends groups like Alertmanager; the
// one before version 11 sends a single rule.
func Grafana(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	if m["alerts"] != nil || m["groupKey"] != nil {
		e := group(m, r.Body)
		e.Key = ShortKey(m.text("orgId") + "/" + e.Key)
		return []intake.Event{e}, nil
	}
	e := intake.Event{Title: m.text("title", "ruleName"), Summary: m.text("message"), Context: r.Body}
	switch m.text("state") {
	case "alerting", "no_data":
		e.Status = intake.Firing
	case "ok":
		e.Status = intake.Resolved
	case "":
		return nil, fault.Invalidf("state",
			"neither alerts nor state is present: send the standard payload of the webhook")
	default:
		return nil, nil // paused and pending rules say nothing about an alert
	}
	e.Key = ShortKey("rule:" + m.text("orgId") + "/" + m.text("ruleId", "ruleName"))
	e.Labels = m.within("tags").texts()
	e.SaySeverity(firstOf(e.Labels["severity"], e.Labels["priority"]))
	e.Links = addLink(nil, m.text("ruleUrl"), "Rule")
	e.Images = addImages(nil, m.text("imageUrl"))
	return []intake.Event{e}, nil
}
