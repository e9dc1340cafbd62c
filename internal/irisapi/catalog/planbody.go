package catalog

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
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

func parsePlanHead(b v0.Body) (planHead, error) {
	var h planHead
	var err error
	if h.name, err = b.Required("name"); err != nil {
		return h, err
	}
	if h.name, err = catalog.PlanName(h.name); err != nil {
		return h, err
	}
	if h.creator, err = b.Text("creator"); err != nil {
		return h, err
	}
	if h.creator == "" {
		return h, b.Fault("creator", "Plan must specify a creator")
	}
	return h, nil
}

// parsePlan reads a whole plan, its head included.
func parsePlan(b v0.Body) (p planBody, err error) {
	if p.planHead, err = parsePlanHead(b); err != nil {
		return p, err
	}
	p.Name = p.name
	if !b.Given("description") {
		return p, b.Fault("description", "description is required")
	}
	if p.Description, err = b.Text("description"); err != nil {
		return p, err
	}
	for _, f := range []struct {
		name string
		set  func(int64)
	}{
		{"threshold_window", func(n int64) { p.ThresholdWindow = time.Duration(n) * time.Second }},
		{"threshold_count", func(n int64) { p.ThresholdCount = int(n) }},
		{"aggregation_window", func(n int64) { p.AggregationWindow = time.Duration(n) * time.Second }},
		{"aggregation_reset", func(n int64) { p.AggregationReset = time.Duration(n) * time.Second }},
	} {
		n, err := b.Whole(f.name, 0, math.MaxInt32)
		if err != nil {
			return p, err
		}
		f.set(n)
	}
	if p.Steps, err = parseSteps(b); err != nil {
		return p, err
	}
	p.tracking, err = parseTracking(b)
	return p, err
}

func parseSteps(b v0.Body) ([]escalation.Step, error) {
	var raw []json.RawMessage
	if !b.Given("steps") || json.Unmarshal(b.Members["steps"], &raw) != nil {
		return nil, b.Fault("steps", "steps must be a list of lists of notifications")
	}
	if len(raw) > catalog.MaxSteps {
		return nil, b.Fault("steps", "A plan cannot have more than %d steps", catalog.MaxSteps)
	}
	steps := make([]escalation.Step, len(raw))
	total := 0
	for i, s := range raw {
		given, ok := v0.Objects(s)
		if !ok {
			return nil, b.Fault("steps", "Step %d must be a list of notifications", i+1)
		}
		if total += len(given); total > catalog.MaxNotifications {
			return nil, b.Fault("steps", "A plan cannot have more than %d notifications", catalog.MaxNotifications)
		}
		for _, g := range given {
			n, err := parseNotification(v0.Of(g, catalog.InvalidPlan, fmt.Sprintf(" in step %d", i+1)))
			if err != nil {
				return nil, err
			}
			steps[i].Notifications = append(steps[i].Notifications, n)
		}
	}
	return steps, nil
}

func parseNotification(b v0.Body) (n escalation.Notification, err error) {
	priority, err := b.Text("priority")
	if err != nil {
		return n, err
	}
	n.Priority = users.Priority(strings.ToLower(priority))
	if n.Template, err = b.Required("template"); err != nil {
		return n, err
	}
	n.Template = strings.TrimSpace(n.Template)
	wait, err := b.Whole("wait", 0, math.MaxInt32)
	if err != nil {
		return n, err
	}
	repeat, err := b.Whole("repeat", 0, catalog.MaxRepeat)
	if err != nil {
		return n, err
	}
	n.Wait, n.Repeat = time.Duration(wait)*time.Second, int(repeat)
	if b.Given("optional") {
		optional, err := b.Whole("optional", 0, 1)
		if err != nil {
			return n, err
		}
		n.Optional = optional == 1
	}
	if b.Given("dynamic_index") {
		index, err := b.Whole("dynamic_index", 0, catalog.MaxNotifications)
		if err != nil {
			return n, err
		}
		at := int(index)
		n.DynamicIndex = &at
		return n, nil
	}
	n.Target = &escalation.Target{}
	if n.Target.Role, err = b.Text("role"); err != nil {
		return n, err
	}
	n.Target.Name, err = b.Required("target")
	return n, err
}

func parseTracking(b v0.Body) (*catalog.Tracking, error) {
	t := &catalog.Tracking{}
	var err error
	if t.Mode, err = b.Text("tracking_type"); err != nil {
		return nil, err
	}
	if t.Destination, err = b.Text("tracking_key"); err != nil {
		return nil, err
	}
	if raw := b.Members[trackingTemplate]; b.Given(trackingTemplate) && v0.Truthy(raw) {
		t.Templates = raw
	}
	if t.Mode == "" && t.Destination == "" && t.Templates == nil {
		return nil, nil
	}
	return t, nil
}
