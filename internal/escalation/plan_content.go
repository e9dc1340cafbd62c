package escalation

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// PlanContent is the content of a new version of a plan. Everything in it is checked, and names are resolved to ids.
type PlanContent struct {
	Name              string
	CreatorID         users.ID
	Description       string
	ThresholdWindow   time.Duration
	ThresholdCount    int
	AggregationWindow time.Duration
	AggregationReset  time.Duration
	Tracking          *Tracking
	Steps             []Step
	// WithConditions: the steps have their conditions. Otherwise those of the version before stay, if it has as many
	// steps.
	WithConditions bool
	// Replaces is the version that must be the active one when this one is stored; 0 = none may be active, nil = any.
	Replaces *PlanID
	// Team owns the new plan; 0 = the owner stays.
	Team int64
}

// PlanSteps is a plan version with the details that lists do not show.
type PlanSteps struct {
	Plan
	// Lost names the templates of its notifications that have no active version now.
	Lost map[string]bool
}

// DynamicTargets returns how many targets an incident of the plan must name.
func (p Plan) DynamicTargets() int {
	n := 0
	for _, s := range p.Steps {
		for _, nt := range s.Notifications {
			if nt.DynamicIndex != nil && *nt.DynamicIndex >= n {
				n = *nt.DynamicIndex + 1
			}
		}
	}
	return n
}

// Lookup is the result of looking up a role and a target's name together.
type Lookup struct {
	Role     string // in its stored spelling; "" = there is no such role
	TargetID int64  // 0 = no active target of that name fits the role
	Exists   bool   // an active target of any kind has the name
}

// Lookups finds the targets that a role and a name mean. The result may be a second old.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (Lookup, error)
}

// FindTargets finds the targets of a plan's dynamic steps, in the order of their indexes. unknown is the first that
// does not exist; nil = all exist.
func FindTargets(ctx context.Context, l Lookups, given []incidents.Target) (found []incidents.DynamicTarget, unknown *incidents.Target, err error) {
	found = make([]incidents.DynamicTarget, len(given))
	for i, t := range given {
		one, err := l.Lookup(ctx, t.Role, t.Name)
		if err != nil {
			return nil, nil, err
		}
		if one.TargetID == 0 {
			return nil, &t, nil
		}
		found[i] = incidents.DynamicTarget{Index: i, Role: one.Role, TargetID: one.TargetID}
	}
	return found, nil, nil
}
