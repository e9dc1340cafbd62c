package webhooks

import (
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

// parseRackspace reads an event of Rackspace's monitoring. Every event opens an incident.
func parseRackspace(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	d := delivery{plan: firstOf(plan)}
	switch {
	case d.plan == "":
		return delivery{}, fault.Invalidf("plan", "missing plan in rackspace webhook url parameters")
	case !has(members, "event_id", "details"):
		return delivery{}, fault.Invalidf("event_id", "missing event_id and/or details attributes")
	case !storable(d.plan):
		return delivery{}, fault.New(fault.NotFound, "no such plan")
	}
	if d.context, err = compacted(wire.WithoutNUL(body), contextLimit); err != nil {
		return delivery{}, err
	}
	return d, d.know(nil)
}

// parseFreshping reads a ticket of Freshping. Every ticket opens an incident; its number is not told.
func parseFreshping(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	d, err := planned(plan)
	if err != nil {
		return delivery{}, err
	}
	if !has(members, "title", "description", "tags", "ticket_id") {
		return delivery{}, fault.Invalidf("title", "missing channel name attributes")
	}
	d.quiet = true
	if d.context, err = compacted(wire.WithoutNUL(body), contextTooLong); err != nil {
		return delivery{}, err
	}
	return d, d.know(nil)
}
