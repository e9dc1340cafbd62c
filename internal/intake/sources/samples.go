package sources

import (
	"cmp"
	"embed"
	"encoding/json"
	"maps"
	"slices"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

//go:embed testdata/*.json
var payloads embed.FS

// typical are the payloads that stand for a source. Email has none: it has no variables of its own.
var typical = map[string]string{
	"alertmanager": "three", "datadog": "triggered", "generic": "list", "grafana": "firing", "nagios": "problem", "opsgenie": "create",
	"pagerduty": "trigger", "sentry": "event", "sns": "alarm", "uptime_kuma": "down", "zabbix": "problem",
}

// Samples returns the sources that have a sample, sorted.
func Samples() []string { return slices.Sorted(maps.Keys(typical)) }

// Sample returns the context of an incident that a typical payload of a source opens. An unknown source is a NotFound
// fault.
func Sample(source string) (json.RawMessage, error) {
	name, ok := typical[source]
	if !ok {
		return nil, fault.Newf(fault.NotFound, "there is no sample of the source %.60q", source)
	}
	body, err := payloads.ReadFile("testdata/" + source + "-" + name + ".json")
	if err != nil {
		return nil, err
	}
	none := func(string) string { return "" }
	events, err := All(nil)[source](intake.Request{Header: none, Query: none, Body: body})
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if e.Status == intake.Firing {
			return intake.ContextOf(e, source, cmp.Or(e.Severity, intake.Error))
		}
	}
	return nil, fault.Newf(fault.NotFound, "the sample of the source %s has no firing alert", source)
}
