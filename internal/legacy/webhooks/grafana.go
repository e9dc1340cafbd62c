package webhooks

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
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

// grafana reads a delivery of Grafana's unified alerting, whose groups have the form of Alertmanager's, or of the older
// alerting with single rules. Any other object opens an incident of its own.
func grafana(p payload) (d delivery, err error) {
	d = withQueryPlan(p.plan)
	switch {
	case p.has("alerts") || p.has("groupKey"):
		err = d.readGroup(p.body)
	case p.has("ruleName", "state"):
		err = d.readRule(p.body)
	case p.has("ruleName") || p.has("state"):
		err = fault.Invalidf("ruleName", "missing ruleName and/of state attributes")
	}
	return d, err
}

// withQueryPlan returns a delivery with the plan of the query.
func withQueryPlan(plan string) delivery {
	return delivery{unknownPlan: unknownPlan}.withPlan(plan,
		fault.Titled("Missing parameter", `The "plan" parameter is required.`),
		fault.Invalidf("plan", unknownPlan))
}

func (d *delivery) readGroup(body []byte) error {
	var g alertGroup
	if err := json.Unmarshal(body, &g); err != nil {
		return fault.Titled("Invalid grafana payload", wrongType(err))
	}
	d.setGroup(g)
	return nil
}

// readRule reads the older form. The number identifies a rule, if it has one, because several rules may have the same
// name.
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
	d.facts = []intake.Fact{{Fingerprint: d.key, Status: r.State, Name: r.RuleName}}
	return nil
}
