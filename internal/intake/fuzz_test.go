package intake

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// FuzzMatchers checks that any text is either refused with a reason or works as documented.
func FuzzMatchers(f *testing.F) {
	for _, s := range []string{"", "a=b", `{team=~"db|storage",severity="critical"}`, `a="\"x\"", b!=c`, `a=~"a)|(b"`, "a=~(", "a", `title!~".*"`, "a=b,,c=d", "\xff=\x00"} {
		f.Add(s, "db")
	}
	f.Fuzz(func(t *testing.T, match, value string) {
		e := Event{Title: value, Severity: Critical, Labels: map[string]string{"a": value, "team": value}}
		rules := []Rule{{Match: match, Plan: "one"}, {Plan: "two"}}
		choice := chosen(t, rules, e, time.Unix(0, 0))
		if _, err := matchers.Stored(match); err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			require.Error(t, Check(rules))
			require.Equal(t, "two", choice.Plan, "a rule without sense matches nothing")
			return
		}
		if _, err := matchers.Parse(match); err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			require.Error(t, Check(rules))
		} else {
			require.NoError(t, Check(rules))
		}
		require.Contains(t, []string{"one", "two"}, choice.Plan)
		require.Equal(t, choice, chosen(t, rules, e, time.Unix(0, 0)))
	})
}

// FuzzValues checks that a value is compared exactly, and an expression with the whole value.
func FuzzValues(f *testing.F) {
	for _, s := range [][2]string{{"db", "db"}, {"a)|(b", "ax"}, {`"`, `\`}, {"", ""}, {"db|storage", "storage"}, {"x.*", "x\ny"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, expression, value string) {
		holds := func(operator string) bool {
			m, err := matchers.Parse("l" + operator + strconv.Quote(expression))
			return err == nil && m.Match(func(string) string { return value })
		}
		if unquoted, err := strconv.Unquote(strconv.Quote(expression)); err != nil || unquoted != expression {
			return
		}
		require.Equal(t, expression == value, holds("="))
		require.Equal(t, expression != value, holds("!="))
		like, err := regexp.Compile(expression)
		if err != nil {
			require.False(t, holds("=~") || holds("!~"), "no expression matches nothing")
			return
		}
		if holds("=~") {
			require.True(t, like.MatchString(value))
		}
		require.NotEqual(t, holds("=~"), holds("!~"))
	})
}
