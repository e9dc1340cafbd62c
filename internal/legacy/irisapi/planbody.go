package irisapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
)

// planHead is the part of a plan that decides whether the caller may save the plan.
type planHead struct {
	name    string
	creator string
}

// planBody is a posted plan. Parsing does not check whether its targets and templates exist.
type planBody struct {
	planHead
	escalation.PlanContent // without ids; targets have names only
	tracking               *catalog.Tracking
}

func parsePlanHead(b Body) (h planHead, err error) {
	h.name, err = catalog.PlanName(b.Required("name"))
	b.Check(err == nil, err)
	h.creator = b.Text("creator")
	b.Check(h.creator != "", b.Fault("creator", "Plan must specify a creator"))
	return h, b.Err()
}

// parsePlan reads a whole plan, its head included.
func parsePlan(b Body) (p planBody, err error) {
	if p.planHead, err = parsePlanHead(b); err != nil {
		return p, err
	}
	p.Name = p.name
	b.Check(b.Given("description"), b.Fault("description", "description is required"))
	p.Description = b.Text("description")
	p.ThresholdWindow = seconds(b, "threshold_window")
	p.ThresholdCount = int(b.Whole("threshold_count", 0, math.MaxInt32))
	p.AggregationWindow, p.AggregationReset = seconds(b, "aggregation_window"), seconds(b, "aggregation_reset")
	p.Steps = parseSteps(b)
	p.tracking = parseTracking(b)
	return p, b.Err()
}

func seconds(b Body, name string) time.Duration {
	return time.Duration(b.Whole(name, 0, math.MaxInt32)) * time.Second
}

func parseSteps(b Body) []escalation.Step {
	var raw []json.RawMessage
	err := json.Unmarshal(b.Members["steps"], &raw)
	b.Check(err == nil && b.Given("steps"), b.Fault("steps", "steps must be a list of lists of notifications"))
	b.Check(len(raw) <= catalog.MaxSteps, b.Fault("steps", "A plan cannot have more than %d steps", catalog.MaxSteps))
	steps := make([]escalation.Step, len(raw))
	total := 0
	for i, s := range raw {
		given, ok := Objects(s)
		b.Check(ok, b.Fault("steps", "Step %d must be a list of notifications", i+1))
		total += len(given)
		b.Check(total <= catalog.MaxNotifications, b.Fault("steps", "A plan cannot have more than %d notifications",
			catalog.MaxNotifications))
		if b.Err() != nil {
			return nil
		}
		for _, g := range given {
			n := parseNotification(b.In(g, catalog.InvalidPlan, fmt.Sprintf(" in step %d", i+1)))
			steps[i].Notifications = append(steps[i].Notifications, n)
		}
	}
	return steps
}

func parseNotification(b Body) escalation.Notification {
	n := escalation.Notification{
		Priority: users.Priority(strings.ToLower(b.Text("priority"))), Template: strings.TrimSpace(b.Required("template")),
		Wait: seconds(b, "wait"), Repeat: int(b.Whole("repeat", 0, catalog.MaxRepeat)),
	}
	if b.Given("optional") {
		n.Optional = b.Whole("optional", 0, 1) == 1
	}
	if b.Given("dynamic_index") {
		index := int(b.Whole("dynamic_index", 0, catalog.MaxNotifications))
		n.DynamicIndex = &index
		return n
	}
	n.Target = &escalation.Target{Role: b.Text("role"), Name: b.Required("target")}
	return n
}

func parseTracking(b Body) *catalog.Tracking {
	t := &catalog.Tracking{Mode: b.Text("tracking_type"), Destination: b.Text("tracking_key")}
	if raw := b.Members[trackingTemplate]; b.Given(trackingTemplate) && Truthy(raw) {
		t.Templates = raw
	}
	if t.Mode == "" && t.Destination == "" && t.Templates == nil {
		return nil
	}
	return t
}
