package webhooks

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// unknownPlan is the title with which Grafana and Freshping learn that there is no such plan.
const unknownPlan = "plan does not exist or is not active"

// rule is the payload of Grafana's alerting before version 9, as far as it is read.
type rule struct {
	RuleID   json.Number `json:"ruleId"`
	RuleName string      `json:"ruleName"`
	State    string      `json:"state"`
	OrgID    json.Number `json:"orgId"`
}

// parseGrafana reads a delivery of either of Grafana's alerting systems: the unified one, whose groups look like
// Alertmanager's, and the older one of single rules. Any other object opens an incident of its own.
func parseGrafana(body []byte, plan string) (delivery, error) {
	members, err := wire.Object(body)
	if err != nil {
		return delivery{}, err
	}
	body = wire.WithoutNUL(body)
	d := planned(plan)
	if d.context, err = fitted(body); err != nil {
		return delivery{}, err
	}
	switch {
	case has(members, "alerts") || has(members, "groupKey"):
		err = d.unified(body)
	case has(members, "ruleName", "state"):
		err = d.ruled(body)
	case has(members, "ruleName") || has(members, "state"):
		err = fault.Invalidf("ruleName", "missing ruleName and/of state attributes")
	default:
		err = d.know(nil)
	}
	return d, err
}

// planned begins a delivery with the plan of the query.
func planned(plan string) delivery {
	return delivery{unknownPlan: unknownPlan}.on(plan, fault.Titled("Missing parameter", `The "plan" parameter is required.`),
		fault.Invalidf("plan", unknownPlan))
}

func (d *delivery) unified(body []byte) error {
	var g alertGroup
	if err := json.Unmarshal(body, &g); err != nil {
		return fault.Titled("Invalid grafana payload", wrongType(err))
	}
	d.resolved, d.key = g.Status == "resolved", g.GroupKey
	if d.key == "" {
		d.key = labelKey(g.GroupLabels)
	}
	d.alerts = alertsOf(g.Alerts)
	return d.know(factsOf(g.Alerts))
}

// ruled reads the older form. A rule is identified by its number where it has one, because names may repeat.
func (d *delivery) ruled(body []byte) error {
	var r rule
	if err := json.Unmarshal(body, &r); err != nil {
		return fault.Titled("Invalid grafana payload", wrongType(err))
	}
	if r.RuleName == "" || r.State == "" {
		return fault.Invalidf("ruleName", "missing ruleName and/of state attributes")
	}
	d.resolved, d.quiet = r.State == "ok", true // senders of this form expect an empty answer
	d.key = "rule:" + r.OrgID.String() + "/" + firstOf(r.RuleID.String(), r.RuleName)
	d.alerts = []incidents.Alert{{Fingerprint: alert{Fingerprint: d.key}.id(), Firing: !d.resolved}}
	return d.know([]fact{{Fingerprint: d.key, Status: r.State, name: r.RuleName}})
}
