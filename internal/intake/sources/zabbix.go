package sources

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// zabbixSeverities are the severities of Zabbix's numbers.
var zabbixSeverities = map[string]intake.Severity{
	"0": intake.Info, "1": intake.Info, "2": intake.Warning, "3": intake.Warning, "4": intake.Error, "5": intake.Critical,
}

// Zabbix decodes what the media type deploy/zabbix/iris.yaml sends. A problem, its updates and its recovery have the
// problem's event id.
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
	switch {
	case m.text("value") == "0":
		e.Status = intake.Resolved
	case m.text("update") == "1" && strings.EqualFold(m.text("ack"), "yes"):
		e.Status = intake.Acknowledged
	case m.text("update") == "1":
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
	return []intake.Event{e}, nil
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
