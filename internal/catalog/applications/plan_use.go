package applications

import (
	"fmt"
	"strings"
	"time"
)

// PlanUse is how the incidents of applications use a version of a plan now. LastAt (zero = never) and Escalating are
// of incidents of any version. Escalating counts only the newest 20,000 escalating incidents of all plans.
// EmptyRoles are on-call roles that nobody holds; lost targets and templates are not active.
type PlanUse struct {
	ID                                     int64
	LastAt                                 time.Time
	Escalating, Steps                      int
	Paused, HasFallback                    bool
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
