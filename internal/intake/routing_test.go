package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
)

func chosen(t *testing.T, rules []Rule, e Event, at time.Time) Choice {
	t.Helper()
	choice, err := NewRouter().Choose(t.Context(), rules, e, at)
	require.NoError(t, err)
	return choice
}

func TestTheFirstRuleThatMatchesWins(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Match: `env="test"`, RecordOnly: true},
		{Match: `team="db"`, Plan: "night",
			Times: []hours.Window{{Days: []string{"fri"}, From: "22:00", To: "06:00", Zone: "Europe/Berlin"}}},
		{Match: `team="db"`, Plan: "day", Targets: []Target{{"team", "db"}}},
	}
	require.NoError(t, Check(rules))
	db := Event{Labels: map[string]string{"team": "db"}}
	friday := time.Date(2026, 11, 20, 21, 30, 0, 0, time.UTC) // 22:30 in Berlin
	require.Equal(t, Choice{Rule: 2, Plan: "night", Reason: `rule 2 matches: team="db", at its times`},
		chosen(t, rules, db, friday))
	require.Equal(t, 2, chosen(t, rules, db, friday.Add(7*time.Hour)).Rule,
		"Saturday at 05:30 belongs to Friday's window")
	require.Equal(t, "day", chosen(t, rules, db, friday.Add(8*time.Hour)).Plan)
	require.Equal(t, "day", chosen(t, rules, db, friday.Add(24*time.Hour)).Plan)
	require.Equal(t, []Target{{"team", "db"}}, chosen(t, rules, db, friday.Add(24*time.Hour)).Targets)
	require.True(t, chosen(t, rules, Event{Labels: map[string]string{"env": "test", "team": "db"}}, friday).RecordOnly)
	require.Equal(t, Choice{Reason: "none of 3 rules matches"}, chosen(t, rules, Event{}, friday))
	for _, wrong := range []Rule{{}, {Plan: "a", RecordOnly: true}, {Match: "x", Plan: "a"}, {Plan: "a", Times: []hours.Window{{Zone: "Moon"}}},
		{Plan: "a", Times: []hours.Window{{Days: []string{"x"}}}}, {Plan: "a", Times: []hours.Window{{From: "25:00"}}},
		{RecordOnly: true, Targets: []Target{{"team", "db"}}}, {Plan: "a", Targets: []Target{{Role: "team"}}}, {Plan: "a", Targets: make([]Target, maxTargets+1)}} {
		require.True(t, fault.Is(Check([]Rule{wrong}), fault.Invalid), wrong)
	}
}

// large is an expression that Check refuses, but that may be stored.
const large = `"(x{0,30}){0,30}.*"`

func TestALargeExpressionIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	err := Check([]Rule{{Match: "a=b", Plan: "one"}, {Match: "title=~" + large, Plan: "two"}})
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "rule 2: match: the regular expressions are too large")
}

func TestAnEventIsOpenedWhenARuleIsInDoubt(t *testing.T) {
	t.Parallel()
	e := Event{Labels: map[string]string{"long": strings.Repeat("x", 60_000), "team": "db"}}
	doubt := Rule{Match: "long=~" + large, Plan: "doubtful"}
	not := Rule{Match: "long!~" + large, Plan: "doubtful"}
	for name, c := range map[string]struct {
		rules []Rule
		want  string
		doubt bool
	}{
		"alone":                      {[]Rule{doubt}, "doubtful", true},
		"negated":                    {[]Rule{not}, "doubtful", true},
		"before a rule that matches": {[]Rule{doubt, {Match: "team=db", Plan: "sure"}}, "sure", false},
		"before a rule that records": {[]Rule{doubt, {Match: "team=db", RecordOnly: true}}, "doubtful", true},
		"a rule that records": {[]Rule{{Match: "long=~" + large, RecordOnly: true},
			{Match: "team=db", Plan: "sure"}}, "sure", false},
		"another label decides": {[]Rule{{Match: "long=~" + large + ", team=web", Plan: "doubtful"}}, "", false},
		"two":                   {[]Rule{doubt, {Match: "long=~" + large, Plan: "second"}}, "doubtful", true},
	} {
		choice := chosen(t, c.rules, e, time.Unix(0, 0))
		require.Equal(t, c.want, choice.Plan, name)
		require.False(t, choice.RecordOnly, name)
		require.Equal(t, c.doubt, choice.Doubt, name)
	}
	short := Event{Labels: map[string]string{"long": "xx"}}
	require.Equal(t, Choice{Rule: 1, Plan: "doubtful", Reason: "rule 1 matches: long=~" + large},
		chosen(t, []Rule{doubt}, short, time.Unix(0, 0)),
		"a large expression that is stored still matches")
}

// countdown is a context that ends when it was asked some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestChoosingEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	_, err := NewRouter().Choose(&countdown{t.Context(), 10}, make([]Rule, 50), Event{Labels: map[string]string{}},
		time.Unix(0, 0))
	require.NoError(t, err, "the first rule matches")
	rules := slices.Repeat([]Rule{{Match: "a=b"}}, 50)
	_, err = NewRouter().Choose(&countdown{t.Context(), 10}, rules, Event{}, time.Unix(0, 0))
	require.ErrorIs(t, err, context.Canceled)
}

// The worst case: rules that were stored before their size was limited, and a long label.
func BenchmarkLargeRulesAndALongLabel(b *testing.B) {
	rules := slices.Repeat([]Rule{{Match: "a=~" + large, Plan: "one"}}, 50)
	e := Event{Labels: map[string]string{"a": strings.Repeat("x", 60_000) + "\n"}}
	router := NewRouter()
	for b.Loop() {
		_, _ = router.Choose(b.Context(), rules, e, time.Unix(0, 0))
	}
}

func BenchmarkRules(b *testing.B) {
	var rules []Rule
	for k := range 200 {
		rules = append(rules, Rule{Match: fmt.Sprintf(`team=~"team-%d.*|other-%d", severity=~"critical|error"`, k,
			k), Plan: "one"})
	}
	e := Event{Severity: Critical, Labels: map[string]string{"team": "team-x"}}
	router := NewRouter()
	for b.Loop() {
		_, _ = router.Choose(b.Context(), rules, e, time.Unix(0, 0))
	}
}
