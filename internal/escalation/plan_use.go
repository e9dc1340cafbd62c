package escalation

import (
	"fmt"
	"strings"
	"time"
)

// PlanUse is how a version of a plan is used, and what is wrong with it now.
type PlanUse struct {
	ID PlanID
	// LastAt is when the last incident of any version was opened; zero = never.
	LastAt time.Time
	// Escalating is how many incidents of any version escalate now.
	Escalating  int
	Paused      bool
	HasFallback bool
	Steps       int
	// LostTemplates have no active version. LostTargets are inactive or deleted. EmptyRoles are on-call roles that nobody holds now.
	LostTemplates, LostTargets, EmptyRoles []string
}

// Warnings returns what needs attention, the worst first.
func (u PlanUse) Warnings() []string {
	var out []string
	add := func(text string, names []string) {
		if len(names) > 0 {
			out = append(out, fmt.Sprintf(text, strings.Join(names, ", ")))
		}
	}
	if u.Paused {
		out = append(out, "paused: nobody is paged")
	}
	if u.Steps == 0 {
		out = append(out, "no step: incidents with this plan are refused")
	}
	add("no such target: %s", u.LostTargets)
	add("no such template: %s", u.LostTemplates)
	add("nobody is on call now: %s", u.EmptyRoles)
	if !u.HasFallback {
		out = append(out, "no fallback")
	}
	return out
}
