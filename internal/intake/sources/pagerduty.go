package sources

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// maxSummary is the longest summary that PagerDuty accepts, in characters. The title is cut; the context has all.
const maxSummary = 1024

// statuses are the actions of PagerDuty's events.
var statuses = map[string]intake.Status{"trigger": intake.Firing, "acknowledge": intake.Acknowledged,
	"resolve": intake.Resolved}

// PagerDuty decodes an event of PagerDuty's Events API v2. A trigger without dedup_key has an empty key.
func PagerDuty(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	payload := m.within("payload")
	e := intake.Event{Key: m.text("dedup_key"), Title: humanize.Shorten(payload.text("summary"), maxSummary),
		StartsAt: instant(payload.text("timestamp")), Context: r.Body}
	e.SaySeverity(payload.text("severity"))
	if err := checkEvent(&e, m, "event_action", "dedup_key"); err != nil {
		return nil, err
	}
	if e.Status == intake.Firing && e.Title == "" {
		return nil, fault.Invalidf("payload.summary", "payload.summary is missing")
	}
	details := payload.within("custom_details")
	e.Summary = details.text("description", "message", "firing")
	e.Labels = pick(payload, "source", "component", "group", "class")
	e.Annotations = details.texts()
	addAlerts(&e, details)
	for _, l := range m.list("links") {
		e.Links = addLink(e.Links, l.text("href"), l.text("text"))
	}
	for _, i := range m.list("images") {
		e.Images = addImage(e.Images, i)
	}
	e.Links = addLink(e.Links, m.text("client_url"), m.text("client"))
	return []intake.Event{e}, nil
}

// PagerDutyV1 decodes an event of PagerDuty's Events API v1.
func PagerDutyV1(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	e := intake.Event{Key: m.text("incident_key"), Title: humanize.Shorten(m.text("description"), maxSummary),
		Context: r.Body}
	if err := checkEvent(&e, m, "event_type", "incident_key"); err != nil {
		return nil, err
	}
	if e.Status == intake.Firing && e.Title == "" {
		return nil, fault.Invalidf("description", "description is missing")
	}
	details := m.within("details")
	e.Summary, e.Annotations = details.text("description", "message", "firing"), details.texts()
	addAlerts(&e, details)
	for _, c := range m.list("contexts") {
		if c.text("type") == "image" {
			e.Images = addImage(e.Images, c)
		} else {
			e.Links = addLink(e.Links, c.text("href"), c.text("text"))
		}
	}
	e.Links = addLink(e.Links, m.text("client_url"), m.text("client"))
	return []intake.Event{e}, nil
}

// maxPagerDutyKey is PagerDuty's limit of a key, in characters.
const maxPagerDutyKey = 255

// checkEvent sets the status, and hashes a key that is too long to be stored. A wrong action or key is an Invalid
// fault.
func checkEvent(e *intake.Event, m members, action, key string) error {
	given := m.text(action)
	status, known := statuses[strings.ToLower(given)]
	switch {
	case given == "":
		return fault.Invalidf(action, "%s is missing", action)
	case !known:
		return fault.Invalidf(action, "%s must be trigger, acknowledge or resolve", action)
	case utf8.RuneCountInString(e.Key) > maxPagerDutyKey:
		return fault.Invalidf(key, "%s has more than %d characters", key, maxPagerDutyKey)
	case e.Key == "" && status != intake.Firing:
		return fault.Invalidf(key, "%s is missing: only a trigger may omit it", key)
	}
	e.Status, e.Key = status, ShortKey(e.Key)
	return nil
}

// addAlerts adds what Alertmanager and Grafana put into the details: the alerts, and the labels that those that fire
// have in common.
func addAlerts(e *intake.Event, details members) {
	firing := listedAlerts(details, string(intake.Firing))
	if e.Labels == nil {
		e.Labels = map[string]string{}
	}
	for k, a := range firing {
		labels := a.within("labels").texts()
		for name, v := range labels {
			if k == 0 && e.Labels[name] == "" {
				e.Labels[name] = v
			}
		}
		for name, v := range firing[0].within("labels").texts() {
			if labels[name] != v {
				delete(e.Labels, name)
			}
		}
	}
	e.Alerts = alertRows(append(firing, listedAlerts(details, string(intake.Resolved))...))
}

// listedAlerts returns the alerts with a status: a list, or the text that older releases of Alertmanager send.
func listedAlerts(details members, status string) []members {
	if text := details.text(status); text != "" {
		return textAlerts(text, status)
	}
	alerts := details.list(status)
	for _, a := range alerts {
		a["status"] = quoted(status)
	}
	return alerts
}

// pick returns the named texts.
func pick(m members, names ...string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if s := m.text(name); s != "" {
			out[name] = s
		}
	}
	return out
}

func addImage(images []intake.Image, m members) []intake.Image {
	src, link := m.text("src"), m.text("href")
	if !absolute(src) {
		return images
	}
	if !absolute(link) {
		link = ""
	}
	return append(images, intake.Image{URL: src, Alt: m.text("alt"), Link: link})
}
