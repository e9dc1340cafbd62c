// This file chooses the plan of an event by the rules of its integration. It does no input or output. Intake, the
// preview and the command line use the same functions.

package intake

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// Rule sends the events that it matches to a plan.
type Rule struct {
	// Match has matchers in the syntax of Alertmanager: team=~"db|storage", severity="critical". All must match; "" =
	// every event.
	Match string `json:"match" required:"false" doc:"Matchers in the syntax of Alertmanager; empty = every event."`
	// Plan is the name of a plan.
	Plan string `json:"plan,omitempty" doc:"A rule has a plan or record_only."`
	// Targets are those of the plan's dynamic steps, in the order of their indexes.
	Targets []Target `json:"targets,omitempty" doc:"Targets of the dynamic steps of the plan, in the order of their indexes."`
	// RecordOnly: the event opens no incident.
	RecordOnly bool `json:"record_only,omitempty"`
	// Times restrict the rule to some hours of the week; empty = always.
	Times []hours.Window `json:"times,omitempty"`
	Threshold
	Grouping
}

// Target is whom a dynamic step pages: a role and the name of a person, team or mailing list.
type Target struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

// String describes the target.
func (t Target) String() string { return t.Role + " " + t.Name }

// maxTargets is how many targets a rule has at most.
const maxTargets = 50

// Choice is the result of the rules.
type Choice struct {
	Rule       int    // the number of the rule that matched, from 1; 0 = none
	Plan       string // "" = the rule names none
	Targets    []Target
	RecordOnly bool
	Reason     string
	Doubt      bool // the rule is in doubt, and no other one matches
	// Threshold holds the event back until enough have come; nil = it opens an incident. Group makes it an alert of an
	// incident of several events; nil = it has one of its own. A choice in doubt has neither.
	Threshold *incidents.Threshold
	Group     *incidents.Group
}

// maxKept bounds the memory of a Router, in instructions and bytes of expressions.
const maxKept = 1_000_000

// Router chooses by rules, and compiles each matcher once. It is safe for concurrent use.
type Router struct {
	compiled *cache.Cache[string, matchers.Matchers]
}

// NewRouter returns a Router.
func NewRouter() *Router {
	return &Router{cache.New(cache.Config[string, matchers.Matchers]{TTL: cache.Forever, MaxWeight: maxKept,
		Weigh: func(match string, m matchers.Matchers) int { return len(match) + m.Cost() }})}
}

// Choose returns the choice of the first rule that matches an event at a time. Rules with a wrong syntax match nothing.
// A rule whose expressions are too expensive for the event is in doubt: an event is not left unopened while a rule with
// a plan before is in doubt, and a rule in doubt is used if no other rule matches. The error is that of ctx.
func (r *Router) Choose(ctx context.Context, rules []Rule, e Event, at time.Time) (Choice, error) {
	budget := matchers.NewBudget()
	doubt := Choice{}
	for k, rule := range rules {
		if err := ctx.Err(); err != nil {
			return Choice{}, err
		}
		choice := Choice{Rule: k + 1, Plan: rule.Plan, Targets: rule.Targets, RecordOnly: rule.RecordOnly,
			Reason: fmt.Sprintf("rule %d matches: %s", k+1, rule)}
		answer, err := r.decide(ctx, rule, e, at, budget)
		switch {
		case err != nil:
			return Choice{}, err
		case answer == matchers.Yes && (!rule.RecordOnly || doubt.Rule == 0):
			if doubt.Rule == 0 {
				choice.Threshold, choice.Group = rule.threshold(e), rule.group(e)
			}
			return choice, nil
		case answer == matchers.Yes:
			return doubt, nil
		case answer == matchers.Undecided && !rule.RecordOnly && doubt.Rule == 0:
			doubt, doubt.Doubt = choice, true
			doubt.Reason = fmt.Sprintf("rule %d may match, its expression is too large for this event: %s", k+1, rule)
		}
	}
	if doubt.Rule != 0 {
		return doubt, nil
	}
	return Choice{Reason: fmt.Sprintf("none of %d rules matches", len(rules))}, nil
}

// decide says whether a rule matches.
func (r *Router) decide(ctx context.Context, rule Rule, e Event, at time.Time, b *matchers.Budget) (matchers.Answer, error) {
	if len(rule.Times) > 0 && !hours.InAny(rule.Times, at) {
		return matchers.No, nil
	}
	m, err := r.compiled.Get(ctx, rule.Match,
		func(context.Context) (matchers.Matchers, error) { return matchers.Stored(rule.Match) })
	if err != nil {
		return matchers.No, ctx.Err()
	}
	return m.Decide(func(name string) string { return label(e, name) }, b), nil
}

// String describes the rule.
func (r Rule) String() string {
	text := r.Match
	if text == "" {
		text = "every event"
	}
	if len(r.Times) > 0 {
		text += ", at its times"
	}
	for _, more := range []string{r.Threshold.Text(), r.Grouping.Text()} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

// label returns the value that matchers see: a label of the event, and severity and title if no label has the name.
func label(e Event, name string) string {
	v, given := e.Labels[name]
	switch {
	case given:
	case name == "severity":
		v = string(e.Severity)
	case name == "title":
		v = e.Title
	}
	return v
}

// Check returns an Invalid fault for the first rule that is wrong.
func Check(rules []Rule) error {
	for k, r := range rules {
		if _, err := matchers.Parse(r.Match); err != nil {
			return fault.Invalidf("rules", "rule %d: match: %s", k+1, fault.Public(err))
		}
		if (r.Plan == "") != r.RecordOnly {
			return fault.Invalidf("rules", "rule %d needs either a plan or record_only", k+1)
		}
		if err := checkTargets(r); err != nil {
			return fault.Invalidf("rules", "rule %d: targets: %s", k+1, fault.Public(err))
		}
		if err := cmp.Or(r.Threshold.check(r.RecordOnly), r.Grouping.check(r.RecordOnly)); err != nil {
			return fault.Invalidf("rules", "rule %d: %s", k+1, fault.Public(err))
		}
		for _, w := range r.Times {
			if err := w.Check(); err != nil {
				return fault.Invalidf("rules", "rule %d: times: %s", k+1, fault.Public(err))
			}
		}
	}
	return nil
}

// checkTargets returns an Invalid fault for targets that a rule cannot have. It does not know whether they exist.
func checkTargets(r Rule) error {
	switch {
	case len(r.Targets) > maxTargets:
		return fault.Newf(fault.Invalid, "a rule has at most %d targets", maxTargets)
	case len(r.Targets) > 0 && r.Plan == "":
		return fault.New(fault.Invalid, "only a rule with a plan has targets")
	}
	for n, t := range r.Targets {
		if t.Role == "" || t.Name == "" {
			return fault.Newf(fault.Invalid, "target %d needs a role and a name", n+1)
		}
	}
	return nil
}
