package sources

import (
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// nagiosSeverities are the severities of the states of hosts and services.
var nagiosSeverities = map[string]intake.Severity{
	"DOWN": intake.Critical, "CRITICAL": intake.Critical, "UNREACHABLE": intake.Error, "UNKNOWN": intake.Error, "WARNING": intake.Warning,
}

// Nagios decodes what the command deploy/nagios/iris-notify sends for Nagios and Icinga. A host or service is one
// incident, so reminders and notifications of several contacts change nothing.
func Nagios(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil {
		return nil, err
	}
	m = m.expanded()
	host, service, state := m.text("host"), m.text("service"), m.text("state")
	if host == "" {
		return nil, fault.Invalidf("host", "host is missing")
	}
	e := intake.Event{Status: intake.Firing, Key: host, Title: host, Summary: m.text("output"),
		Severity: nagiosSeverities[strings.ToUpper(state)],
		Labels:   pick(m, "host", "service", "state"), Annotations: pick(m, "author",
			"comment"), StartsAt: epoch(m.text("time")), Context: r.Body}
	if service != "" {
		e.Key, e.Title = host+"!"+service, service+" on "+host
	}
	e.Key = ShortKey(e.Key)
	if state != "" {
		e.Title += " is " + state
	}
	e.Title = humanize.Shorten(e.Title, maxSummary)
	switch kind := strings.ToUpper(m.text("type")); {
	case kind == "RECOVERY":
		e.Status = intake.Resolved
	case kind == "ACKNOWLEDGEMENT":
		e.Status = intake.Acknowledged
	case kind == "DOWNTIMESTART":
		return nil, nil
	case strings.HasPrefix(kind, "FLAPPING"), strings.HasPrefix(kind, "DOWNTIME"), kind == "CUSTOM":
		// In a bad state it can be the only message: while a service flaps or is in a downtime, Nagios reports neither a
		// problem nor, at the end, that it is over.
		switch good := slices.Contains([]string{"OK", "UP"}, strings.ToUpper(state)); {
		case good && kind != "CUSTOM" && kind != "FLAPPINGSTART":
			e.Status = intake.Resolved
		case good, state == "", strings.EqualFold(state, "PENDING"):
			return nil, nil
		}
	}
	e.Links = addLink(nil, m.text("url"), "Source")
	return []intake.Event{e}, nil
}
