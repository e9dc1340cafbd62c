package webhooks

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// unknownPlan is the title of the refusal of an unknown plan, for Grafana and Freshping.
const unknownPlan = "plan does not exist or is not active"

// rule has the fields of the payload of Grafana before version 9 that decide about incidents.
type rule struct {
	RuleID   json.Number `json:"ruleId"`
	RuleName string      `json:"ruleName"`
	State    string      `json:"state"`
	OrgID    json.Number `json:"orgId"`
}

// parseGrafana reads a delivery of Grafana's unified alerting, whose groups have the form of Alertmanager's, or of the older alerting with
// single rules. Any other object opens an incident of its own.
func parseGrafana(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	body = wire.WithoutNUL(body)
	d := withQueryPlan(plan)
	if d.context, err = limitedContext(body); err != nil {
		return delivery{}, err
	}
	switch {
	case has(members, "alerts") || has(members, "groupKey"):
		err = d.readGroup(body)
	case has(members, "ruleName", "state"):
		err = d.readRule(body)
	case has(members, "ruleName") || has(members, "state"):
		err = fault.Invalidf("ruleName", "missing ruleName and/of state attributes")
	default:
		err = d.setFacts(nil)
	}
	return d, err
}

// withQueryPlan returns a delivery with the plan of the query.
func withQueryPlan(plan string) delivery {
	return delivery{unknownPlan: unknownPlan}.withPlan(plan, fault.Titled("Missing parameter", `The "plan" parameter is required.`),
		fault.Invalidf("plan", unknownPlan))
}

func (d *delivery) readGroup(body []byte) error {
	var g alertGroup
	if err := json.Unmarshal(body, &g); err != nil {
		return fault.Titled("Invalid grafana payload", wrongType(err))
	}
	d.resolved, d.key = g.Status == "resolved", g.GroupKey
	if d.key == "" {
		d.key = labelKey(g.GroupLabels)
	}
	d.alerts = alertsOf(g.Alerts)
	return d.setFacts(factsOf(g.Alerts))
}

// readRule reads the older form. The number identifies a rule, if it has one, because several rules may have the same name.
func (d *delivery) readRule(body []byte) error {
	var r rule
	if err := json.Unmarshal(body, &r); err != nil {
		return fault.Titled("Invalid grafana payload", wrongType(err))
	}
	if r.RuleName == "" || r.State == "" {
		return fault.Invalidf("ruleName", "missing ruleName and/of state attributes")
	}
	d.resolved, d.emptyAnswer = r.State == "ok", true // senders of this form expect an empty answer
	d.key = "rule:" + r.OrgID.String() + "/" + firstOf(r.RuleID.String(), r.RuleName)
	d.alerts = []incidents.Alert{{Fingerprint: alert{Fingerprint: d.key}.id(), Firing: !d.resolved}}
	return d.setFacts([]fact{{Fingerprint: d.key, Status: r.State, name: r.RuleName}})
}
