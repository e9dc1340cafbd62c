package escalation

import "strings"

// Reach holds the existing objects that a plan names. It is read before the plan is saved, to check the plan and to
// warn if the plan could reach nobody. Targets and templates are keyed by the name in the plan.
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
	Zone      string // time zone of a team
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
