package receiving

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Previewer answers what a delivery would do now. It changes nothing. It is safe for concurrent use.
type Previewer struct {
	Chooser      Chooser
	Applications auth.Applications
	Decoders     map[string]intake.Decoder // by type of integration
	Alerts       interface {
		// AlertOfKey returns the open alert with the key, else the newest one. If there is none, it returns a NotFound
		// fault.
		AlertOfKey(ctx context.Context, of intake.Integration, key string) (intake.Alert, error)
	}
	Held interface {
		// CountHeld says how many events there would be with one more, and whether that one would be held back.
		CountHeld(ctx context.Context, integration int64, t incidents.Threshold) (events int, holds bool, err error)
		// OpenGroup returns the incident that takes a further event of a group; 0 = none does.
		OpenGroup(ctx context.Context, integration int64, g incidents.Group) (incidents.ID, error)
	}
}

// Preview is what a delivery would do with one event.
type Preview struct {
	Event intake.Event
	// Open is the open incident with the key of the event. It takes the event, and no rule runs. 0 = none.
	Open incidents.ID
	// Choice is the route of a firing event that no open incident takes. Refusal says why no plan can take it; "" = one
	// can.
	Choice  Choice
	Refusal string
	// Held says that the rule would hold the event back, and why; "" = it would not.
	Held string
	// Group says which group of events the event belongs to, and which incident takes it; "" = it has one of its own.
	Group string
}

// Delivery is a delivery to preview.
type Delivery struct {
	Body        []byte
	ContentType string
	At          time.Time
}

// Preview decodes a delivery of an integration, and routes its events as Receive does. A delivery that cannot be
// decoded is an Invalid fault.
func (p Previewer) Preview(ctx context.Context, from intake.Integration, d Delivery) ([]Preview, error) {
	decode := p.Decoders[from.Type]
	if decode == nil {
		return nil, fault.Invalidf("integration", "integrations of type %s have no payloads", from.Type)
	}
	header := func(name string) string {
		if name == "Content-Type" {
			return d.ContentType
		}
		return ""
	}
	events, err := decodeSafely(decode, intake.Request{Header: header, Query: func(string) string { return "" },
		Body: d.Body, Settings: from.Settings, At: d.At})
	if err != nil {
		return nil, err
	}
	app, err := p.Applications.ByName(ctx, from.Application)
	if err != nil {
		return nil, err
	}
	out := make([]Preview, len(events))
	for k, e := range events {
		e.Severity = severity(from, e)
		if out[k], err = p.route(ctx, app, from, e, d.At); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeSafely decodes a delivery. A panic is an Internal fault.
func decodeSafely(decode intake.Decoder, r intake.Request) (events []intake.Event, err error) {
	defer fault.Recover(&err)
	return decode(r)
}

func (p Previewer) route(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, at time.Time) (Preview, error) {
	out := Preview{Event: e}
	for _, key := range append([]string{e.Key}, e.OtherKeys...) {
		if e.Key == "" || out.Open != 0 {
			break
		}
		found, err := p.Alerts.AlertOfKey(ctx, from, key)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return out, err
		}
		if err == nil && found.Open {
			out.Open = incidents.ID(found.Incident)
		}
	}
	if e.Status != intake.Firing || out.Open != 0 {
		return out, nil
	}
	var err error
	if out.Choice, err = p.Chooser.Choose(ctx, app, from, e, at); fault.Is(err, fault.NotFound) {
		out.Refusal, err = fault.Public(err), nil
	}
	if err != nil || out.Refusal != "" {
		return out, err
	}
	var taken incidents.ID
	group := out.Choice.group
	if group != nil {
		if taken, err = p.Held.OpenGroup(ctx, int64(from.ID), *group); err != nil {
			return out, err
		}
	}
	if t := out.Choice.threshold; t != nil && taken == 0 {
		events, holds, err := p.Held.CountHeld(ctx, int64(from.ID), *t)
		if holds {
			out.Held = t.HeldText(events)
		}
		if holds || err != nil {
			return out, err
		}
	}
	if group != nil {
		out.Group = group.PreviewText(taken)
	}
	return out, nil
}
