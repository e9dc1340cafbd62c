package sources

import (
	"maps"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// SNS returns a decoder of notifications of Amazon SNS, with and without raw delivery. A message with an alarm of CloudWatch has the
// alarm's name as key; any other message is decoded like Generic. Confirmations of subscriptions are no events.
func SNS(book *recipes.Book) intake.Decoder {
	return func(r intake.Request) ([]intake.Event, error) {
		r.Settings, _ = intake.Split(r.Settings)
		x, err := intake.Parse(r.Settings)
		if err != nil {
			return nil, err
		}
		return reader{book, x, r.At}.sns(r)
	}
}

func (g reader) sns(r intake.Request) ([]intake.Event, error) {
	m, err := object(r.Body)
	if err != nil || strings.EqualFold(r.Header("X-Amz-Sns-Rawdelivery"), "true") {
		return g.snsMessage(r, "", "")
	}
	switch m.text("Type") {
	case "SubscriptionConfirmation", "UnsubscribeConfirmation":
		return nil, nil
	case "Notification":
	default:
		return g.snsMessage(r, "", "")
	}
	if m.text("Message") == "" {
		return nil, fault.Invalidf("Message", "Message is missing")
	}
	r.Body = []byte(m.text("Message"))
	return g.snsMessage(r, m.text("Subject"), m.text("MessageId"))
}

// snsMessage decodes the message of a notification. A retry has the same id, so the id identifies a message without a
// key.
func (g reader) snsMessage(r intake.Request, subject, id string) ([]intake.Event, error) {
	if m, err := object(r.Body); err == nil && m.text("AlarmName") != "" {
		return g.over(cloudWatch(m, r.Body), r.Body), nil
	}
	r.Header = func(string) string { return "" } // the content type is that of the envelope
	events, err := g.events(r)
	for k := range events {
		e := &events[k]
		if e.Context == nil { // a text
			e.Key = ShortKey(id)
			if subject != "" {
				e.Title, e.Summary = "", string(r.Body)
			}
		}
		e.Title = firstOf(e.Title, humanize.Shorten(subject, maxSummary))
	}
	return events, err
}

// over changes events by what the expressions of the integration find in a payload.
func (g reader) over(events []intake.Event, payload []byte) []intake.Event {
	found := g.x.Find(payload)
	if found.Ignore {
		return nil
	}
	for k := range events {
		e := &events[k]
		e.Key, e.Title = ShortKey(firstOf(found.Key, e.Key)), humanize.Shorten(firstOf(found.Title, e.Title), maxSummary)
		e.Summary, e.Links = firstOf(found.Summary, e.Summary), addLink(e.Links, found.Link, "Source")
		if found.Status != "" {
			e.SayStatus(found.Status)
		}
		if found.Severity != "" {
			e.SaySeverity(found.Severity)
		}
		maps.Copy(e.Labels, found.Labels)
		e.Failures = append(e.Failures, found.Failures...)
	}
	return events
}

// cloudWatch decodes an alarm. Insufficient data says nothing about the alarm.
func cloudWatch(m members, body []byte) []intake.Event {
	trigger := m.within("Trigger")
	e := intake.Event{Status: intake.Firing, Key: ShortKey(m.text("AlarmArn", "AlarmName")),
		Title: humanize.Shorten(m.text("AlarmName"), maxSummary),
		Summary: firstOf(m.text("AlarmDescription"),
			m.text("NewStateReason")), StartsAt: instant(m.text("StateChangeTime")), Context: body,
		Labels: map[string]string{}, Annotations: pick(m, "NewStateReason")}
	for _, l := range [][2]string{{"account", m.text("AWSAccountId")}, {"region", m.text("Region")}, {"metric", trigger.text("MetricName")}, {"namespace", trigger.text("Namespace")}} {
		if l[1] != "" {
			e.Labels[l[0]] = l[1]
		}
	}
	for _, d := range trigger.list("Dimensions") {
		if name := d.text("name"); name != "" && e.Labels[name] == "" {
			e.Labels[name] = d.text("value")
		}
	}
	switch m.text("NewStateValue") {
	case "OK":
		e.Status, e.EndsAt = intake.Resolved, e.StartsAt
	case "INSUFFICIENT_DATA":
		return nil
	}
	return []intake.Event{e}
}
