package sources

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Alertmanager decodes version 4 of Alertmanager's webhook. A group is one event. A group of which alerts were cut
// (max_alerts) is not resolved. If no listed alert fires, it opens nothing: nobody knows whether one that was cut fires.
func Alertmanager(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	if m["alerts"] == nil && m["groupKey"] == nil {
		return nil, fault.Invalidf("alerts", "alerts is missing: send the standard payload of the webhook")
	}
	e := group(m, r.Body)
	return []intake.Event{e}, nil
}

// group returns the event of a group of alerts.
func group(m members, body []byte) intake.Event {
	common, annotations := m.within("commonLabels").texts(), m.within("commonAnnotations").texts()
	labels := m.within("groupLabels").texts()
	e := intake.Event{Status: intake.Firing, Labels: common, Annotations: annotations, Context: body}
	e.Key = m.text("groupKey")
	if e.Key == "" {
		e.Key = labelKey(labels)
	}
	e.Key = ShortKey(joined(e.Key, m.text("receiver")))
	alerts := m.list("alerts")
	e.Alerts = alertRows(alerts)
	if e.Severity = worst(alerts); e.Severity == "" {
		e.SaySeverity(firstOf(common["severity"], common["priority"], common["level"]))
	}
	first := shown(alerts)
	switch cut := m.text("truncatedAlerts"); {
	case cut != "" && cut != "0":
		e.UpdateOnly = first.text("status") == "resolved" || len(alerts) == 0 && m.text("status") == "resolved"
	case m.text("status") == "resolved":
		e.Status = intake.Resolved
	}
	own, ownLabels := first.within("annotations"), first.within("labels")
	if len(alerts) > 1 {
		own = members{} // says nothing about the others
	}
	e.Title = humanize.Shorten(firstOf(annotations["summary"], annotations["title"], annotations["message"],
		own.text("summary", "title", "message"),
		strings.TrimSpace(firstOf(labels["alertname"], common["alertname"], ownLabels.text("alertname"))+" "+
			others(labels))), maxSummary)
	e.Summary = firstOf(annotations["description"], annotations["message"], own.text("description", "message"))
	e.StartsAt, e.EndsAt = instant(first.text("startsAt")), instant(first.text("endsAt"))
	e.Links, e.Images = groupLinks(m, first)
	return e
}

// shown returns the first alert that fires, else the first.
func shown(alerts []members) members {
	for _, a := range alerts {
		if a.text("status") != "resolved" {
			return a
		}
	}
	if len(alerts) > 0 {
		return alerts[0]
	}
	return members{}
}

func groupLinks(m, alert members) (links []intake.Link, images []intake.Image) {
	annotations := alert.within("annotations")
	links = addLink(links, annotations.text("runbook_url"), "Runbook")
	links = addLink(links, alert.text("dashboardURL"), "Dashboard")
	links = addLink(links, alert.text("panelURL"), "Panel")
	links = addLink(links, alert.text("generatorURL"), "Source")
	links = addLink(links, alert.text("silenceURL"), "Silence")
	links = addLink(links, m.text("externalURL"), "Alertmanager")
	return links, addImages(nil, alert.text("imageURL"))
}

// alertRows returns the alerts, one for each fingerprint: a firing one if there is one, else the last.
func alertRows(alerts []members) []incidents.Alert {
	out := make([]incidents.Alert, 0, len(alerts))
	at := map[string]int{}
	for _, a := range alerts {
		labels := a.within("labels").texts()
		row := incidents.Alert{Fingerprint: a.text("fingerprint"), Firing: a.text("status") != "resolved",
			StartsAt: instant(a.text("startsAt")), EndsAt: instant(a.text("endsAt"))}
		if row.Fingerprint == "" {
			row.Fingerprint = labelKey(labels)
		}
		row.Fingerprint = ShortKey(row.Fingerprint)
		row.Labels, row.Annotations = encoded(labels), encoded(a.within("annotations").texts())
		k, twice := at[row.Fingerprint]
		switch {
		case !twice:
			at[row.Fingerprint] = len(out)
			out = append(out, row)
		case row.Firing || !out[k].Firing:
			out[k] = row
		}
	}
	return out
}

func encoded(texts map[string]string) json.RawMessage {
	if len(texts) == 0 {
		return nil
	}
	raw, _ := json.Marshal(texts) // a map of texts is always valid
	return raw
}

// worst returns the highest severity of the alerts that fire; "" = none is known.
func worst(alerts []members) (found intake.Severity) {
	order := []intake.Severity{intake.Critical, intake.Error, intake.Warning, intake.Info}
	best := len(order)
	for _, a := range alerts {
		if a.text("status") == "resolved" {
			continue
		}
		severity, _ := intake.SeverityOf(a.within("labels").text("severity", "priority", "level"))
		if k := slices.Index(order, severity); k >= 0 && k < best {
			best, found = k, order[k]
		}
	}
	return found
}

// labelKey returns the sorted labels. They identify a group or an alert that names no key.
func labelKey(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for k, v := range labels {
		pairs = append(pairs, k+"="+v)
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

// others returns the group labels except the name of the alert, sorted by label.
func others(labels map[string]string) string {
	var pairs []string
	for k, v := range labels {
		if k != "alertname" {
			pairs = append(pairs, k+"="+v)
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, " ")
}

func joined(key, receiver string) string {
	if receiver == "" {
		return key
	}
	return key + "/" + receiver
}
