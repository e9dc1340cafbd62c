package escalation

import (
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// PlanContent is what a new version of a plan holds. Everything in it is checked, and names are resolved to ids.
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
	// Replaces is the version that must be the active one when this one is stored; 0 = none may be active, nil = any.
	Replaces *PlanID
}

// PlanSteps is a plan version with what lists do not show.
type PlanSteps struct {
	Plan
	// Lost names the templates of its notifications that have no active version at the moment.
	Lost map[string]bool
}

// DynamicTargets returns how many targets an incident of the plan has to bring.
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

// Reach is what exists of everything that a plan about to be saved names: the facts to check it by, and to warn when
// it could reach nobody. Keys of targets and templates are the names as they were
// asked for.
type Reach struct {
	Roles     map[string]string // role -> kind of target it fits
	Targets   map[string][]ReachTarget
	Templates map[string]ReachTemplate
	// ListLimit is the number of members from which a mailing list is not unrolled, and pages nobody; 0 = no limit.
	ListLimit int
}

// ReachTarget is one target of a name (a user and a team may share one).
type ReachTarget struct {
	Kind     string // user, team or mailing-list
	TargetID int64
	Name     string
	Active   bool
	// Reachable counts the active people behind it who have at least one contact; People all active ones.
	People    int
	Reachable int
	// Size is how many members a mailing list has in all, as far as is known.
	Size int
}

// ReachTemplate is the active version of a template.
type ReachTemplate struct {
	Applications int // that it has content for
}

// Role finds a role whatever its case, and returns it as we spell it and the kind of target it fits.
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

// Pick returns the target of a name that fits a role's kind, and whether any target has the name at all.
func (r Reach) Pick(kind, name string) (target ReachTarget, fits, exists bool) {
	for _, t := range r.Targets[name] {
		exists = true
		if t.Kind == kind {
			return t, true, true
		}
	}
	return ReachTarget{}, false, exists
}

// Lookup is what a role and a target's name mean together.
type Lookup struct {
	Role     string // as we spell it; "" = there is no such role
	TargetID int64  // 0 = no active target of that name fits the role
	Exists   bool   // some active target has the name, whatever its kind
}
