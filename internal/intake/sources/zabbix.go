package sources

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// zabbixSeverities are the severities of Zabbix's numbers.
var zabbixSeverities = map[string]intake.Severity{
	"0": intake.Info, "1": intake.Info, "2": intake.Warning, "3": intake.Warning, "4": intake.Error, "5": intake.Critical,
}

// zabbixNames are the numbers of Zabbix's severities by their default names.
var zabbixNames = map[string]string{
	"not classified": "0", "information": "1", "warning": "2", "average": "3", "high": "4", "disaster": "5",
}

// Zabbix decodes what the media types in deploy/zabbix send. A problem, its updates and its recovery have the problem's
// event id.
func Zabbix(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	m = m.expanded()
	id := m.text("event_id")
	if id == "" {
		return nil, fault.Invalidf("event_id", "event_id is missing: send {EVENT.ID}")
	}
	e := intake.Event{Status: intake.Firing, Key: ShortKey(id), Title: humanize.Shorten(m.text("name"), maxSummary),
		Summary:  m.text("message", "opdata"),
		Severity: zabbixSeverities[m.text("nseverity")], Labels: pick(m, "host"), Context: r.Body}
	update := m.text("value") != "0" && m.text("update") == "1"
	acknowledged, changed := strings.EqualFold(m.text("ack"), "yes"), false
	if update {
		changed = changeZabbixSeverity(&e, m, acknowledged)
	}
	switch {
	case m.text("value") == "0":
		e.Status = intake.Resolved
	case changed:
	case update && acknowledged:
		e.Status = intake.Acknowledged
	case update:
		return nil, nil // a comment
	}
	for _, tag := range zabbixTags(m["tags"]) {
		if name := tag.text("tag"); name != "" && e.Labels[name] == "" {
			e.Labels[name] = tag.text("value")
		}
	}
	if base := strings.TrimRight(m.text("url"), "/"); base != "" {
		query := url.Values{"triggerid": {m.text("trigger_id")}, "eventid": {id}}
		e.Links = addLink(nil, base+"/tr_events.php?"+query.Encode(), "Zabbix")
	}
	events := []intake.Event{e}
	if changed && acknowledged {
		e.Status = intake.Acknowledged
		events = append(events, e)
	}
	return events, nil
}

// zabbixChange matches the sentence of {EVENT.UPDATE.ACTION} about the severity.
var zabbixChange = regexp.MustCompile(`(?i)changed severity from (.+?) to (.+?)(?:,| and |$)`)

// changeZabbixSeverity sets what an update says about the severity, and reports whether it changed. The change opens an
// incident only if the severity may have risen and nobody acknowledged the problem.
func changeZabbixSeverity(e *intake.Event, m members, acknowledged bool) (changed bool) {
	said := zabbixChange.FindStringSubmatch(m.text("action"))
	if said == nil {
		return false
	}
	from, to := zabbixNames[strings.ToLower(said[1])], zabbixNames[strings.ToLower(said[2])]
	to = firstOf(m.text("update_nseverity"), to)
	if s, known := zabbixSeverities[to]; known {
		e.Severity = s
	}
	e.UpdateOnly = acknowledged || from != "" && to != "" && to <= from
	return true
}

// zabbixTags reads {EVENT.TAGSJSON}: an array, or a text with one.
func zabbixTags(raw json.RawMessage) (tags []members) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	_ = json.Unmarshal(raw, &tags) // another type counts as absent
	return tags
}
