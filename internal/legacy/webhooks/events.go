package webhooks

import "github.com/iris-oncall/iris/internal/kit/fault"

// rackspace reads an event of Rackspace Monitoring. Every event opens an incident.
func rackspace(p payload) (delivery, error) {
	d := delivery{}.withPlan(p.plan, fault.Invalidf("plan", "missing plan in rackspace webhook url parameters"),
		fault.New(fault.NotFound, "no such plan"))
	return d.single(p, fault.Invalidf("event_id", "missing event_id and/or details attributes"), "event_id", "details")
}

// freshping reads a ticket of Freshping. Every ticket opens an incident. The answer has no number.
func freshping(p payload) (delivery, error) {
	d := withQueryPlan(p.plan)
	d.emptyAnswer = true
	return d.single(p, fault.Invalidf("title", "missing channel name attributes"), "title", "description", "tags",
		"ticket_id")
}

// single returns d, which opens an incident of its own, if the payload has all names. Otherwise the error is d.noPlan
// if d has no plan, else missing.
func (d delivery) single(p payload, missing error, names ...string) (delivery, error) {
	switch {
	case p.has(names...):
		return d, nil
	case d.plan == "":
		return delivery{}, d.noPlan
	}
	return delivery{}, missing
}
