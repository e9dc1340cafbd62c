package catalog

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// savePlan stores a version of a plan. replaces is as in resource.save.
func (d Deps) savePlan(r *http.Request, b jsonbody.Object, name string, creator users.User, replaces *escalation.PlanID) (escalation.PlanID, []string, error) {
	content, tracking, err := d.readPlan(r, b, name)
	if err != nil {
		return 0, nil, err
	}
	content.Replaces = replaces
	return d.planSaver().Save(r.Context(), wire.Actor(r.Context()), creator, content, tracking)
}

func (d Deps) planSaver() catalog.Plans {
	return catalog.Plans{Store: d.PlanStore, Authors: d.authors(), Syntax: messages.CheckSyntax, MaxLength: d.MaxPlanLength, ListLimit: d.ListLimit}
}

// readPlan reads the content of a version of a plan and the team that owns a new plan.
func (d Deps) readPlan(r *http.Request, b jsonbody.Object, name string) (escalation.PlanContent, *catalog.Tracking, error) {
	content, tracking, err := readPlan(b)
	if err != nil {
		return content, nil, err
	}
	content.Name = name
	content.Team, err = d.team(r, b)
	return content, tracking, err
}

// readPlan reads the content of a version of a plan.
func readPlan(b jsonbody.Object) (content escalation.PlanContent, tracking *catalog.Tracking, err error) {
	if content.Description, err = b.Text("description"); err != nil {
		return content, nil, err
	}
	if err := readFlood(b, &content); err != nil {
		return content, nil, err
	}
	if content.Steps, err = readSteps(b); err != nil {
		return content, nil, err
	}
	if content.WithConditions = true; b.Given("conditions") {
		if err := readConditions(b, content.Steps); err != nil {
			return content, nil, err
		}
	}
	t, given, err := b.Member("tracking", "mode", "destination", "templates")
	if err != nil || !given {
		return content, nil, err
	}
	tracking = &catalog.Tracking{}
	if tracking.Mode, err = t.Text("mode"); err != nil {
		return content, nil, err
	}
	if tracking.Destination, err = t.Text("destination"); err != nil {
		return content, nil, err
	}
	if t.Given("templates") {
		tracking.Templates = t.Members["templates"]
	}
	return content, tracking, nil
}

func readFlood(b jsonbody.Object, to *escalation.PlanContent) error {
	f, given, err := b.Member("flood", "threshold_count", "threshold_window_seconds", "aggregation_window_seconds", "aggregation_reset_seconds")
	if err != nil || !given {
		return err
	}
	count, err := f.Whole("threshold_count", math.MaxInt32, 0)
	if err != nil {
		return err
	}
	to.ThresholdCount = int(count)
	for _, part := range []struct {
		name string
		into *time.Duration
	}{
		{"threshold_window_seconds", &to.ThresholdWindow}, {"aggregation_window_seconds", &to.AggregationWindow},
		{"aggregation_reset_seconds", &to.AggregationReset},
	} {
		n, err := f.Whole(part.name, math.MaxInt32, 0)
		if err != nil {
			return err
		}
		*part.into = time.Duration(n) * time.Second
	}
	return nil
}

func readSteps(b jsonbody.Object) ([]escalation.Step, error) {
	if !b.Given("steps") {
		return nil, b.Missing("steps")
	}
	given, err := jsonbody.List("steps", b.Members["steps"], catalog.MaxSteps)
	if err != nil {
		return nil, err
	}
	steps, total := make([]escalation.Step, len(given)), 0
	for i, raw := range given {
		place := fmt.Sprintf("steps[%d]", i)
		items, err := jsonbody.List(place, raw, catalog.MaxNotifications)
		if err != nil {
			return nil, err
		}
		if total += len(items); total > catalog.MaxNotifications {
			return nil, fault.Invalidf("steps", "a plan has at most %d notifications", catalog.MaxNotifications)
		}
		for j, item := range items {
			n, err := jsonbody.At(fmt.Sprintf("%s[%d]", place, j), item, "target", "dynamic_index", "priority", "template", "wait_seconds", "repeat", "optional")
			if err != nil {
				return nil, err
			}
			read, err := readNotification(n)
			if err != nil {
				return nil, err
			}
			steps[i].Notifications = append(steps[i].Notifications, read)
		}
	}
	return steps, nil
}

// maxWindows is how many windows a condition has at most.
const maxWindows = 20

// readConditions reads when steps apply, into the steps.
func readConditions(b jsonbody.Object, steps []escalation.Step) error {
	list, err := b.Objects("conditions", len(steps), "step", "windows", "team", "zone")
	if err != nil {
		return err
	}
	for _, c := range list {
		step, err := c.Whole("step", int64(len(steps)), 0)
		if err != nil {
			return err
		}
		if step < 1 || steps[step-1].When != nil {
			return c.Fault("step", "step must be the number of a step, from 1, with one condition at most")
		}
		when := &escalation.Condition{}
		if when.Team, err = c.Text("team"); err != nil {
			return err
		}
		if when.Zone, err = c.Text("zone"); err != nil {
			return err
		}
		if when.Team != "" && when.Zone != "" {
			return c.Fault("zone", "give either team or zone")
		}
		windows, err := c.Objects("windows", maxWindows, "days", "from", "to")
		if err != nil {
			return err
		}
		for _, o := range windows {
			days, _, err := o.Texts("days")
			if err != nil {
				return err
			}
			from, err := o.Text("from")
			if err != nil {
				return err
			}
			to, err := o.Text("to")
			if err != nil {
				return err
			}
			when.Add(days, from, to)
		}
		steps[step-1].When = when
	}
	return nil
}

// readNotification reads one notification of a step. Either target or dynamic_index says who gets it.
func readNotification(b jsonbody.Object) (n escalation.Notification, err error) {
	priority, err := b.Required("priority")
	if err != nil {
		return n, err
	}
	n.Priority = users.Priority(priority)
	if n.Template, err = b.Text("template"); err != nil {
		return n, err
	}
	wait, err := b.Whole("wait_seconds", math.MaxInt32, 0)
	if err != nil {
		return n, err
	}
	repeat, err := b.Whole("repeat", catalog.MaxRepeat, 0)
	if err != nil {
		return n, err
	}
	n.Wait, n.Repeat = time.Duration(wait)*time.Second, int(repeat)
	if n.Optional, _, err = b.Flag("optional"); err != nil {
		return n, err
	}
	t, given, err := b.Member("target", "role", "name")
	switch {
	case err != nil:
		return n, err
	case given == b.Given("dynamic_index"):
		return n, b.Fault("target", "give either target or dynamic_index")
	case !given:
		index, err := b.Whole("dynamic_index", catalog.MaxNotifications, 0)
		at := int(index)
		n.DynamicIndex = &at
		return n, err
	}
	n.Target = &escalation.Target{}
	if n.Target.Role, err = t.Required("role"); err != nil {
		return n, err
	}
	n.Target.Name, err = t.Required("name")
	return n, err
}
