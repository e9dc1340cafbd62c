package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// InvalidPlan is the title of faults of a plan.
const InvalidPlan = "Invalid plan"

// PlanName returns the name of a plan without the spaces around it. A name that no plan can have is an Invalid fault.
func PlanName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return name, invalid("name", InvalidPlan, "Empty plan name")
	case IsNumber(name):
		return name, invalid("name", InvalidPlan, "Plan name cannot be a number")
	case utf8.RuneCountInString(name) > MaxName:
		return name, invalid("name", InvalidPlan, fmt.Sprintf("Plan name cannot be longer than %d characters", MaxName))
	}
	return name, nil
}

// IsNumber reports whether routes read a name as the number of a version.
func IsNumber(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool { return c < '0' || c > '9' })
}

// CheckShape returns an Invalid fault if steps break a rule that needs no stored data. longest = 0 allows any length.
func CheckShape(steps []escalation.Step, longest time.Duration) error {
	seen := map[int]bool{}
	highest := -1
	var length time.Duration
	for _, s := range steps {
		var step time.Duration
		for _, n := range s.Notifications {
			if n.DynamicIndex != nil {
				seen[*n.DynamicIndex] = true
				highest = max(highest, *n.DynamicIndex)
			}
			step = max(step, n.Wait*time.Duration(n.Repeat+1))
		}
		length += step
	}
	if highest+1 != len(seen) {
		return invalid("steps", InvalidPlan, "Dynamic target numbers must span 0..n without gaps")
	}
	if longest > 0 && length > longest {
		return invalid("steps", InvalidPlan, fmt.Sprintf("Plan length exceeds the %g hour maximum", longest.Hours()))
	}
	return nil
}

// checkSteps checks that the objects of the steps exist, fills in their ids, and returns warnings for targets that
// reach nobody now.
func (p *Plans) checkSteps(ctx context.Context, steps []escalation.Step) ([]string, error) {
	var targets, templates []string
	for i, s := range steps {
		if s.When != nil {
			if err := s.When.Check(); err != nil {
				return nil, invalid("conditions", InvalidPlan,
					fmt.Sprintf("the condition of step %d: %s", i+1, fault.Public(err)))
			}
			targets = append(targets, s.When.Team)
		}
		for _, n := range s.Notifications {
			if n.Target != nil && !slices.Contains(targets, n.Target.Name) {
				targets = append(targets, n.Target.Name)
			}
			if !slices.Contains(templates, n.Template) {
				templates = append(templates, n.Template)
			}
		}
	}
	reach, err := p.deps.Store.Reach(ctx, targets, templates)
	if err != nil {
		return nil, err
	}
	reach.ListLimit = p.deps.ListLimit
	var warnings []string
	if len(steps) == 0 {
		warnings = append(warnings, "the plan has no steps: incidents with it are refused")
	}
	for i := range steps {
		if c := steps[i].When; c != nil && c.Team != "" {
			t, fits, _ := reach.Pick("team", c.Team)
			if !fits {
				return nil, invalid("conditions", InvalidPlan,
					fmt.Sprintf("the condition of step %d: there is no team %.100q", i+1, c.Team))
			}
			if c.Zone != "" && c.Zone != t.Zone {
				return nil, invalid("conditions", InvalidPlan, fmt.Sprintf("the condition of step %d: the zone of the team %s "+
					"is %s: give either team or zone", i+1, t.Name, t.Zone))
			}
			c.TeamID, c.Zone = t.TargetID, t.Zone
		}
		needed := false
		for j := range steps[i].Notifications {
			n := &steps[i].Notifications[j]
			needed = needed || !n.Optional
			found, err := checkNotification(n, reach, i, j)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				if text := fmt.Sprintf("step %d: %s", i+1, f); !slices.Contains(warnings, text) {
					warnings = append(warnings, text)
				}
			}
		}
		if !needed {
			return nil, invalid(fmt.Sprintf("steps[%d]", i), InvalidPlan, fmt.Sprintf(
				"You must have at least one non-optional notification per step. Step %d has none.", i+1))
		}
	}
	return warnings, nil
}

// checkNotification checks one notification of a step and fills in its ids. Its warnings do not prevent saving.
func checkNotification(n *escalation.Notification, reach escalation.Reach, step, place int) (warnings []string, err error) {
	refuse := func(member, title, format string, args ...any) ([]string, error) {
		return nil, invalid(fmt.Sprintf("steps[%d][%d].%s", step, place, member), title, fmt.Sprintf(format, args...))
	}
	if !slices.Contains(users.Priorities, n.Priority) {
		return refuse("priority", InvalidPlan, "Priority not found for step %d", step+1)
	}
	if n.Target != nil {
		role, kind, ok := reach.Role(n.Target.Role)
		if !ok {
			return refuse("target.role", InvalidPlan, "Role not found for step %d", step+1)
		}
		t, fits, exists := reach.Pick(kind, n.Target.Name)
		if !exists {
			return refuse("target.name", InvalidPlan, "Target %s not found for step %d", n.Target.Name, step+1)
		}
		if !fits {
			return refuse("target.role", "Invalid role", "Role %s is not appropriate for target %s in step %d",
				n.Target.Role, n.Target.Name, step+1)
		}
		n.Target.Role, n.Target.TargetID = role, t.TargetID
		warnings = append(warnings, targetWarnings(t, reach.ListLimit)...)
	}
	t, ok := reach.Templates[n.Template]
	switch {
	case n.Template == "": // messages have the built-in text
	case !ok:
		return refuse("template", InvalidPlan, "Invalid data for step %d", step+1)
	case t.Applications == 0:
		warnings = append(warnings, "the template "+n.Template+" has no text for any application")
	}
	return warnings, nil
}

func targetWarnings(t escalation.ReachTarget, listLimit int) []string {
	switch {
	case !t.Active:
		return []string{fmt.Sprintf("the %s %s is not active", t.Kind, t.Name)}
	case listLimit > 0 && t.Size >= listLimit:
		return []string{fmt.Sprintf("the mailing list %s is too large: it has %d members, and lists of %d or more are not paged", t.Name, t.Size, listLimit)}
	case t.People == 0:
		return []string{fmt.Sprintf("the %s %s has no active members", t.Kind, t.Name)}
	case t.Reachable == 0 && t.Kind == "user":
		return []string{fmt.Sprintf("the user %s has no contact in any mode", t.Name)}
	case t.Reachable == 0:
		return []string{fmt.Sprintf("nobody in the %s %s has a contact in any mode", t.Kind, t.Name)}
	}
	return nil
}
