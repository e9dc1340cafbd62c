package escalation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// storedCondition is the condition of one step as storage keeps it.
type storedCondition struct {
	Step int `json:"step"` // from 1
	hours.Condition
}

// EncodeConditions returns the conditions of steps as JSON.
func EncodeConditions(steps []Step) (json.RawMessage, error) {
	stored := []storedCondition{}
	for i, s := range steps {
		if s.When != nil {
			stored = append(stored, storedCondition{i + 1, *s.When})
		}
	}
	return json.Marshal(stored)
}

// DecodeCondition reads the stored condition of a step. team and zone are those of the team that it names; "" = none. A
// condition of a step or team that does not exist, or that cannot be read, is left out: then the step always applies.
func DecodeCondition(raw json.RawMessage, team, zone string, steps []Step) {
	var c storedCondition
	if json.Unmarshal(raw, &c) != nil || c.Step < 1 || c.Step > len(steps) || c.TeamID != 0 && team == "" || c.Check() != nil {
		return
	}
	if c.TeamID != 0 {
		c.Team, c.Zone = team, zone
	}
	steps[c.Step-1].When = &c.Condition
}

// AllRounds returns the plan as the engine carries it out: its steps follow each other as often as the plan repeats,
// and a page to the fallback comes last. It comes if the plan or the application has a fallback, and if every step has
// a condition: then possibly no step paged anybody. A step of a repeat has a number of its own, so that its messages do
// too (promise P3).
func (p Plan) AllRounds(app Application) Plan {
	if p.once > 0 || len(p.Steps) == 0 {
		return p
	}
	p.once = len(p.Steps)
	steps := slices.Clip(p.Steps)
	for range p.Repeat {
		steps = append(steps, p.Steps...)
	}
	if p.Fallback != nil || app.Fallback != nil || !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.When == nil }) {
		steps = append(steps, Step{Notifications: []Notification{p.lastResort()}})
	}
	p.Steps = steps
	return p
}

// lastResort returns the page to the fallback: with the priority and the template of the last notification of the plan.
func (p Plan) lastResort() Notification {
	n := Notification{Priority: users.High, lastResort: true}
	for _, s := range p.Steps {
		for _, last := range s.Notifications {
			n.Priority, n.Template = last.Priority, last.Template
		}
	}
	return n
}

// StepName names a step of AllRounds for people: "step 2", "step 5 (step 2 of repeat 1)", "step 7 (fallback)".
func (p Plan) StepName(step int) string {
	switch {
	case p.once == 0 || step <= p.once:
		return fmt.Sprintf("step %d", step)
	case step > p.once*(1+p.Repeat):
		return fmt.Sprintf("step %d (fallback)", step)
	}
	return fmt.Sprintf("step %d (step %d of repeat %d)", step, (step-1)%p.once+1, (step-1)/p.once)
}

// waitPoll is the time between two tries to page an on-call role that nobody holds.
const waitPoll = time.Minute

// mayWait reports whether a page to the target waits until somebody holds its role.
func (p Plan) mayWait(t Target) bool {
	return p.WaitForOnCall && (strings.HasPrefix(t.Role, "oncall-") || t.Role == oncall.RoleNextOnCall)
}
