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

// planHead is what decides whether the caller may save a plan at all.
type planHead struct {
	name    string
	creator string
}

// planBody is a posted plan, decoded but not yet compared with what exists.
type planBody struct {
	planHead
	escalation.PlanContent // without ids; targets have names only
	tracking               *catalog.Tracking
}

func parsePlanHead(b body) (planHead, error) {
	var h planHead
	var err error
	if h.name, err = b.text("name"); err != nil {
		return h, err
	}
	if h.name, err = catalog.PlanName(h.name); err != nil {
		return h, err
	}
	if h.creator, err = b.optionalText("creator"); err != nil {
		return h, err
	}
	if h.creator == "" {
		return h, b.fault("creator", "Plan must specify a creator")
	}
	return h, nil
}

// parsePlan decodes everything; the head again, so that it stands alone.
func parsePlan(b body) (p planBody, err error) {
	if p.planHead, err = parsePlanHead(b); err != nil {
		return p, err
	}
	p.Name = p.name
	if !b.given("description") {
		return p, b.fault("description", "description is required")
	}
	if p.Description, err = b.optionalText("description"); err != nil {
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
		n, err := b.number(f.name, 0, math.MaxInt32)
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

func parseSteps(b body) ([]escalation.Step, error) {
	var raw []json.RawMessage
	if !b.given("steps") || json.Unmarshal(b.members["steps"], &raw) != nil {
		return nil, b.fault("steps", "steps must be a list of lists of notifications")
	}
	if len(raw) > catalog.MaxSteps {
		return nil, b.fault("steps", "A plan cannot have more than %d steps", catalog.MaxSteps)
	}
	steps := make([]escalation.Step, len(raw))
	total := 0
	for i, s := range raw {
		given, ok := objects(s)
		if !ok {
			return nil, b.fault("steps", "Step %d must be a list of notifications", i+1)
		}
		if total += len(given); total > catalog.MaxNotifications {
			return nil, b.fault("steps", "A plan cannot have more than %d notifications", catalog.MaxNotifications)
		}
		for _, g := range given {
			n, err := parseNotification(body{members: g, title: catalog.InvalidPlan, where: fmt.Sprintf(" in step %d", i+1)})
			if err != nil {
				return nil, err
			}
			steps[i].Notifications = append(steps[i].Notifications, n)
		}
	}
	return steps, nil
}

func parseNotification(b body) (n escalation.Notification, err error) {
	priority, err := b.optionalText("priority")
	if err != nil {
		return n, err
	}
	n.Priority = users.Priority(strings.ToLower(priority))
	if n.Template, err = b.text("template"); err != nil {
		return n, err
	}
	n.Template = strings.TrimSpace(n.Template)
	wait, err := b.number("wait", 0, math.MaxInt32)
	if err != nil {
		return n, err
	}
	repeat, err := b.number("repeat", 0, catalog.MaxRepeat)
	if err != nil {
		return n, err
	}
	n.Wait, n.Repeat = time.Duration(wait)*time.Second, int(repeat)
	if b.given("optional") {
		optional, err := b.number("optional", 0, 1)
		if err != nil {
			return n, err
		}
		n.Optional = optional == 1
	}
	if b.given("dynamic_index") {
		index, err := b.number("dynamic_index", 0, catalog.MaxNotifications)
		if err != nil {
			return n, err
		}
		at := int(index)
		n.DynamicIndex = &at
		return n, nil
	}
	n.Target = &escalation.Target{}
	if n.Target.Role, err = b.optionalText("role"); err != nil {
		return n, err
	}
	n.Target.Name, err = b.text("target")
	return n, err
}

func parseTracking(b body) (*catalog.Tracking, error) {
	t := &catalog.Tracking{}
	var err error
	if t.Mode, err = b.optionalText("tracking_type"); err != nil {
		return nil, err
	}
	if t.Destination, err = b.optionalText("tracking_key"); err != nil {
		return nil, err
	}
	if raw := b.members[trackingTemplate]; b.given(trackingTemplate) && truthy(raw) {
		t.Templates = raw
	}
	if t.Mode == "" && t.Destination == "" && t.Templates == nil {
		return nil, nil
	}
	return t, nil
}
