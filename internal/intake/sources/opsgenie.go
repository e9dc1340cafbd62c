package sources

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// maxMessage is the longest message of Opsgenie's alerts, in characters.
const maxMessage = 130

// maxResponders is how many responders of an alert count.
const maxResponders = 50

// Opsgenie decodes the body that creates an alert of Opsgenie's Alert API v2. An alert without alias has an empty key.
func Opsgenie(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	e := intake.Event{Status: intake.Firing, Key: ShortKey(m.text("alias")),
		Title:   humanize.Shorten(m.text("message"), maxMessage),
		Summary: m.text("description"), Context: r.Body}
	e.SaySeverity(firstOf(m.text("priority"), "P3")) // P3 is Opsgenie's default
	if e.Title == "" {
		return nil, fault.Invalidf("message", "message is missing")
	}
	details := m.within("details")
	e.Labels = details.texts()
	if entity := m.text("entity"); entity != "" {
		e.Labels["entity"] = entity
	}
	e.Plans = responders(m)
	if len(e.Plans) > 0 && e.Labels["responder"] == "" {
		e.Labels["responder"] = e.Plans[0]
	}
	e.Annotations = pick(m, "note", "user", "source")
	if plain := addTags(e.Labels, m.strings("tags")); len(plain) > 0 {
		e.Annotations["tags"] = strings.Join(plain, ",")
	}
	e.Links = addLink(addLink(nil, e.Labels["url"], "Details"), e.Annotations["source"], "Source")
	e.Images = addImages(nil, strings.Split(details.text("image_urls"), ", ")...)
	return []intake.Event{e}, nil
}

// responders returns the names of the teams, escalations, schedules and people that an alert asks for.
func responders(m members) (names []string) {
	for _, r := range slices.Concat(m.list("responders"), m.list("teams")) {
		if name := r.text("name", "username"); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), maxResponders)]
}

// addedMembers are the members of an alert's context that the decoder makes from the other members.
var addedMembers = []string{"title", "summary", "severity", "labels", "links", "images", "integration"}

// OpsgeniePayload returns the payload in the context of an alert: the context without what the decoder adds.
func OpsgeniePayload(context json.RawMessage) map[string]json.RawMessage {
	m, err := object(context)
	if err != nil {
		m = members{}
	}
	title := m["title"]
	for _, name := range addedMembers {
		delete(m, name)
	}
	if m.text("message") == "" && title != nil { // it was too large for the context
		m["message"] = title
	}
	return m
}

// OpsgenieFacts are the facts of an alert's payload.
type OpsgenieFacts struct {
	Message, Description, Source, Entity, Priority string
	Tags, Actions                                  []string
	Details                                        map[string]string
	Responders                                     []map[string]string // type, id, name, username
}

// OpsgenieFactsOf reads the facts of a payload. Members with a wrong type count as absent.
func OpsgenieFactsOf(payload map[string]json.RawMessage) OpsgenieFacts {
	m := members(payload)
	f := OpsgenieFacts{Message: m.text("message"), Description: m.text("description"), Source: m.text("source"),
		Entity: m.text("entity"),
		Priority: firstOf(m.text("priority"),
			"P3"), Tags: m.strings("tags"), Actions: m.strings("actions"), Details: m.within("details").texts()}
	for _, r := range slices.Concat(m.list("responders"), m.list("teams")) {
		f.Responders = append(f.Responders, responder(r))
	}
	return f
}

// responder returns a responder with the type and the id that clients require. A responder without an id has its name
// as id, which the actions on alerts accept.
func responder(m members) map[string]string {
	r := pick(m, "type", "id", "name", "username")
	r["id"] = firstOf(r["id"], r["name"], r["username"])
	if kind := strings.ToLower(r["type"]); slices.Contains(responderKinds, kind) {
		r["type"] = kind
	} else if r["type"] = "team"; r["username"] != "" {
		r["type"] = "user"
	}
	return r
}

// responderKinds are the types of responders that clients accept.
var responderKinds = []string{"user", "team", "escalation", "schedule"}

// OpsgenieTime reads a time of a client: with a zone, without one in UTC, as a date, as Opsgenie writes it in searches
// (31-12-2026T23:59:59), or as seconds or milliseconds since 1970. An unreadable time is zero.
func OpsgenieTime(s string) time.Time {
	if t := instant(s); !t.IsZero() {
		return t
	}
	for _, layout := range []string{"2006-01-02T15:04:05", time.DateTime, time.DateOnly, "02-01-2006T15:04:05", "02-01-2006"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1 {
			return t.Truncate(time.Microsecond)
		}
	}
	return epoch(s)
}

// OpsgenieEdit is a change of an alert's facts. Empty fields change nothing.
type OpsgenieEdit struct {
	Field, Value      string // message, description or priority
	AddTags, DropTags []string
	SetDetails        map[string]string
	DropDetails       []string
}

// maxTags is how many tags an alert has at most.
const maxTags = 100

// Apply returns the payload after the edit, and what changed as a text for the timeline; "" = nothing.
func (e OpsgenieEdit) Apply(payload map[string]json.RawMessage) (after json.RawMessage, text string, err error) {
	m := members(maps.Clone(payload))
	var changed []string
	if e.Field != "" && m.text(e.Field) != e.Value {
		line := e.Field + " changed"
		if e.Field == "priority" {
			line = "priority changed from " + firstOf(m.text(e.Field), "P3") + " to " + e.Value
		}
		m[e.Field], changed = asJSON(e.Value), append(changed, line)
	}
	if tags := m.strings("tags"); len(e.AddTags)+len(e.DropTags) > 0 {
		added := missing(e.AddTags, tags)
		kept := missing(tags, e.DropTags)
		changed = append(changed, listed("tags removed: ", kept, tags)...)
		changed = append(changed, listed("tags added: ", tags, slices.Concat(tags, added))...)
		if kept = append(kept, added...); len(kept) > maxTags {
			return nil, "", fault.Invalidf("tags", "an alert has at most %d tags", maxTags)
		}
		m["tags"] = asJSON(kept)
	}
	if details := m.within("details"); len(e.SetDetails)+len(e.DropDetails) > 0 {
		was := details.texts()
		now := maps.Clone(was)
		maps.Copy(now, e.SetDetails)
		maps.DeleteFunc(now, func(name, _ string) bool { return slices.Contains(e.DropDetails, name) })
		var set, removed []string
		for _, name := range slices.Sorted(maps.Keys(now)) {
			if old, had := was[name]; !had || old != now[name] {
				set = append(set, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if _, has := now[name]; !has {
				removed = append(removed, name)
			}
		}
		changed = append(changed, listed("details set: ", nil, set)...)
		changed = append(changed, listed("details removed: ", nil, removed)...)
		m["details"] = asJSON(now)
	}
	return asJSON(m), strings.Join(changed, "; "), nil
}

// listed returns a line with those of the names that known lacks; none if it lacks none.
func listed(head string, known, names []string) []string {
	if names = missing(names, known); len(names) == 0 {
		return nil
	}
	return []string{head + strings.Join(names, ", ")}
}

// missing returns the values that known lacks, each once.
func missing(values, known []string) (out []string) {
	for _, v := range values {
		if !slices.Contains(known, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// asJSON returns the JSON of a value that always has one.
func asJSON(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}
