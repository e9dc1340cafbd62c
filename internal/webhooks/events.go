package webhooks

import (
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

// parseRackspace reads an event of Rackspace Monitoring. Every event opens an incident.
func parseRackspace(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	d := delivery{}.withPlan(plan, fault.Invalidf("plan", "missing plan in rackspace webhook url parameters"), fault.New(fault.NotFound, "no such plan"))
	if !has(members, "event_id", "details") {
		if d.plan == "" {
			return delivery{}, d.noPlan
		}
		return delivery{}, fault.Invalidf("event_id", "missing event_id and/or details attributes")
	}
	if d.context, err = limitedContext(wire.WithoutNUL(body)); err != nil {
		return delivery{}, err
	}
	return d, d.setFacts(nil)
}

// parseFreshping reads a ticket of Freshping. Every ticket opens an incident. The answer has no number.
func parseFreshping(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	d := withQueryPlan(plan)
	if !has(members, "title", "description", "tags", "ticket_id") {
		if d.plan == "" {
			return delivery{}, d.noPlan
		}
		return delivery{}, fault.Invalidf("title", "missing channel name attributes")
	}
	d.emptyAnswer = true
	if d.context, err = limitedContext(wire.WithoutNUL(body)); err != nil {
		return delivery{}, err
	}
	return d, d.setFacts(nil)
}
