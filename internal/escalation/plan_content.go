package escalation

import (
	"strings"
	"time"

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
	// WithConditions: the steps have their conditions. Otherwise those of the version before stay, if it has as many steps.
	WithConditions bool
	// Replaces is the version that must be the active one when this one is stored; 0 = none may be active, nil = any.
	Replaces *PlanID
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

// Reach holds the existing objects that a plan names. It is read before the plan is saved, to check the plan and to warn
// if the plan could reach nobody. Targets and templates are keyed by the name in the plan.
type Reach struct {
	Roles     map[string]string // role -> kind of target it fits
	Targets   map[string][]ReachTarget
	Templates map[string]ReachTemplate
	// ListLimit is the number of members from which a mailing list is not paged; 0 = no limit.
	ListLimit int
}

// ReachTarget is one target of a name. A user and a team may share a name.
type ReachTarget struct {
	Kind     string // user, team or mailing-list
	TargetID int64
	Name     string
	Active   bool
	// People counts its active people, Reachable those with at least one contact.
	People    int
	Reachable int
	// Size is how many members a mailing list has in all, as far as known.
	Size int
}

// ReachTemplate is the active version of a template.
type ReachTemplate struct {
	Applications int // number of applications that it has content for
}

// Role finds a role regardless of case. It returns the role in its stored spelling and the kind of target that it fits.
func (r Reach) Role(name string) (role, kind string, ok bool) {
	if kind, ok = r.Roles[name]; ok {
		return name, kind, true
	}
	for role, kind = range r.Roles {
		if strings.EqualFold(role, strings.TrimRight(name, " ")) {
			return role, kind, true
		}
	}
	return "", "", false
}

// Pick returns the target of a name that fits a role's kind, and whether any target has the name.
func (r Reach) Pick(kind, name string) (target ReachTarget, fits, exists bool) {
	for _, t := range r.Targets[name] {
		exists = true
		if t.Kind == kind {
			return t, true, true
		}
	}
	return ReachTarget{}, false, exists
}

// Lookup is the result of looking up a role and a target's name together.
type Lookup struct {
	Role     string // in its stored spelling; "" = there is no such role
	TargetID int64  // 0 = no active target of that name fits the role
	Exists   bool   // an active target of any kind has the name
}
