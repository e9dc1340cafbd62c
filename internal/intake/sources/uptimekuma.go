package sources

import (
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// UptimeKuma decodes the webhook of Uptime Kuma with the content type application/json. A monitor is one incident while
// it is down. A notice without a monitor, such as an expiring certificate, is an incident with the severity Info.
func UptimeKuma(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	heartbeat, monitor, text := m.within("heartbeat"), m.within("monitor"), m.text("msg")
	if heartbeat == nil || monitor == nil {
		if text == "" {
			return nil, fault.Invalidf("msg",
				"msg, heartbeat and monitor are missing: use the preset payload of the webhook")
		}
		return []intake.Event{{Status: intake.Firing, Key: hashed(text), Title: humanize.Shorten(text, maxSummary),
			Severity: intake.Info, Context: r.Body}}, nil
	}
	id := firstOf(monitor.text("id"), heartbeat.text("monitorID"))
	if id == "" {
		return nil, fault.Invalidf("monitor.id", "monitor.id is missing")
	}
	e := intake.Event{Status: intake.Firing, Key: ShortKey(id),
		Title: humanize.Shorten(monitor.text("pathName", "name"), maxSummary), Summary: text,
		Severity: intake.Critical, Labels: pick(monitor, "name", "type",
			"hostname"), StartsAt: instant(heartbeat.text("time") + "Z"), Context: r.Body}
	switch heartbeat.text("status") {
	case "1":
		e.Status, e.EndsAt = intake.Resolved, e.StartsAt
	case "2", "3":
		return nil, nil // pending and maintenance
	}
	for _, tag := range monitor.list("tags") {
		if name := tag.text("name"); name != "" && e.Labels[name] == "" {
			e.Labels[name] = tag.text("value")
		}
	}
	e.Links = addLink(nil, monitor.text("url"), "Monitored address")
	return []intake.Event{e}, nil
}
