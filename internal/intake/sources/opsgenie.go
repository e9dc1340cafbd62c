package sources

import (
	"encoding/json"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake"
)

// maxMessage is the longest message of Opsgenie's alerts, in characters.
const maxMessage = 130

// Opsgenie decodes the body that creates an alert of Opsgenie's Alert API v2. An alert without alias has an empty key.
func Opsgenie(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	e := intake.Event{Status: intake.Firing, Key: ShortKey(m.text("alias")), Title: cut(m.text("message"), maxMessage),
		Summary: m.text("description"), Severity: opsgenieSeverity(m.text("priority")), Context: r.Body}
	if e.Title == "" {
		return nil, fault.Invalidf("message", "message is missing")
	}
	details := m.within("details")
	e.Labels = details.texts()
	if entity := m.text("entity"); entity != "" {
		e.Labels["entity"] = entity
	}
	e.Annotations = pick(m, "note", "user", "source")
	var tags []string
	_ = json.Unmarshal(m["tags"], &tags) // another type counts as absent
	if plain := addTags(e.Labels, tags); len(plain) > 0 {
		e.Annotations["tags"] = strings.Join(plain, ",")
	}
	e.Links = addLink(addLink(nil, e.Labels["url"], "Details"), e.Annotations["source"], "Source")
	e.Images = addImages(nil, strings.Split(details.text("image_urls"), ", ")...)
	return []intake.Event{e}, nil
}

// opsgenieSeverity returns the severity of a priority; P3 is the default.
func opsgenieSeverity(priority string) intake.Severity {
	if priority == "" {
		return intake.Warning
	}
	return severity(priority)
}
