package matchers

import (
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Matchers are conditions that all must hold.
type Matchers []matcher

type matcher struct {
	label string
	not   bool
	value string
	like  *expression // nil = equal to value
}

// Answer says whether matchers hold.
type Answer int

// The answers.
const (
	No Answer = iota
	Yes
	Undecided // an expression is too large, or was not run because the budget is used up
)

// Budget is how much work expressions may still cause, in instructions times bytes.
type Budget int

// NewBudget returns the budget of one decision: for one event and all rules, or for one incident and all silences.
func NewBudget() *Budget {
	b := Budget(maxWork)
	return &b
}

// maxMatchers and maxLength bound the size of one rule.
const (
	maxMatchers = 50
	maxLength   = 10_000 // bytes
)

// Parse reads matchers that are about to be stored, as Alertmanager does (pkg/labels and matcher/parse, "fallback" mode):
// label="value", with =, !=, =~ or !~, separated by commas, with or without braces. Expressions must match the whole
// value. An Invalid fault is what Alertmanager refuses, what earlier releases of Iris read otherwise (see Stored), and
// expressions that are too large.
func Parse(s string) (Matchers, error) {
	if len(s) > maxLength {
		return nil, fault.Invalidf("match", "match has more than %d bytes", maxLength)
	}
	out, err := alertmanager(s)
	if err != nil {
		return nil, err
	}
	if before, err := earlier(s); err == nil && !slices.EqualFunc(out, before, matcher.same) {
		return nil, fault.Invalidf("match",
			`%.60s can be read in two ways: write the value in double quotes, and escape only ", \ and newlines there`, s)
	}
	if size := out.Cost(); size > max(maxSize, len(s)) {
		return nil, fault.Invalidf("match",
			"the regular expressions are too large: %d instructions, at most %d; use smaller repetitions such as {0,5}",
			size, max(maxSize, len(s)))
	}
	return out, nil
}

// Equal returns a matcher that both grammars of Alertmanager read as: the label has this value.
func Equal(label, value string) string {
	if name := classicName.FindStringSubmatch(label + "="); name == nil || name[1] != label {
		label = quote(label)
	}
	return label + "=" + quote(value)
}

// quote escapes the three characters that both grammars can escape.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// ResaveProblem says what to do about matchers that are stored and work, but would be refused if they were stored again; ""
// = nothing.
func ResaveProblem(s string) string {
	if _, err := Stored(s); err != nil {
		return "" // they do not work: those who use them say so
	}
	if _, err := Parse(s); err != nil {
		return fault.Public(err)
	}
	return ""
}

// Stored reads matchers that are stored already, as the release read them that stored them. So no upgrade changes what a
// rule or a silence means. It accepts large expressions.
func Stored(s string) (Matchers, error) {
	if out, err := earlier(s); err == nil {
		return out, nil
	}
	return alertmanager(s)
}

// alertmanager reads matchers with the newer grammar, and with the older one if the newer grammar refuses them or
// if both read something else.
func alertmanager(s string) (Matchers, error) {
	newer, err := utf8Grammar(s)
	older, olderErr := classic(s)
	if olderErr != nil {
		return newer, err
	}
	if err == nil && slices.EqualFunc(newer, older, matcher.same) {
		return newer, nil
	}
	return older, nil
}

// Match reports whether all matchers certainly hold. label returns the value of a label; an absent one is empty.
func (m Matchers) Match(label func(name string) string) bool {
	return m.Decide(label, NewBudget()) == Yes
}

// Decide says whether all matchers hold, and takes the work of their expressions from the budget. label returns the
// value of a label; an absent one is empty. One matcher that certainly does not hold decides, whatever the others are.
func (m Matchers) Decide(label func(name string) string, b *Budget) Answer {
	out := Yes
	for _, cheap := range []bool{true, false} {
		for _, one := range m {
			if (one.like == nil) != cheap {
				continue
			}
			switch one.decide(label(one.label), b) {
			case No:
				return No
			case Undecided:
				out = Undecided
			case Yes:
			}
		}
	}
	return out
}

// Ask reports whether a matcher is about one of the labels.
func (m Matchers) Ask(labels []string) bool {
	return slices.ContainsFunc(m, func(one matcher) bool { return slices.Contains(labels, one.label) })
}

func (m matcher) decide(v string, b *Budget) Answer {
	holds := v == m.value
	if m.like != nil {
		var decided bool
		if holds, decided = m.like.match(v, b); !decided {
			return Undecided
		}
	}
	if holds == m.not {
		return No
	}
	return Yes
}

// Cost is the size of all expressions. Callers decide cheap matchers first, so that large expressions of others do not
// use up their budget.
func (m Matchers) Cost() (total int) {
	for _, one := range m {
		if one.like != nil {
			total = capped(total + one.like.size)
		}
	}
	return total
}

// Values returns labels with the only values that they can have where the matchers hold. It is for an index.
func (m Matchers) Values() map[string][]string {
	out := map[string][]string{}
	for _, one := range m {
		switch {
		case one.not:
		case one.like == nil:
			out[one.label] = []string{one.value}
		case one.like.values != nil:
			out[one.label] = slices.Collect(maps.Keys(one.like.values))
		}
	}
	return out
}
