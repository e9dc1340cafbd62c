package matchers_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

func TestMatchers(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"team": "db", "env": `a"b,c`, "severity": "critical", "title": "Disk full"}
	for s, want := range map[string]bool{
		``: true, `team="db"`: true, `{team="db"}`: true, `team=db`: true, `team = db , severity=critical`: true, `team!="db"`: false,
		`team=~"db|web"`: true, `team=~"d"`: false, `team!~"web.*"`: true, `severity="critical"`: true, `title=~"Disk.*"`: true,
		`absent=""`: true, `absent!=""`: false, `env="a\"b,c"`: true, `team="db",severity="info"`: false,
	} {
		m, err := matchers.Parse(s)
		require.NoError(t, err, s)
		require.Equal(t, want, m.Match(func(name string) string { return labels[name] }), s)
	}
	for _, s := range []string{`team`, `="x"`, `team="x`, `team=~"("`, `team="a" env="b"`} {
		_, err := matchers.Parse(s)
		require.True(t, fault.Is(err, fault.Invalid), s)
	}
}

func TestQuotesOfNamesAndValues(t *testing.T) {
	t.Parallel()
	m, err := matchers.Parse(`{"équipe du \"soir\""="db", team=db}`)
	require.NoError(t, err)
	labels := map[string]string{`équipe du "soir"`: "db", "team": "db"}
	require.True(t, m.Match(func(name string) string { return labels[name] }))
	for _, s := range []string{`""="x"`, `"team="x"`, `"te\xam"="x"`} {
		_, err := matchers.Stored(s)
		require.True(t, fault.Is(err, fault.Invalid), s)
	}
	for s, want := range map[string]string{`team=="db"`: "second operator", `team=d"b`: "need quotes", `a="b",team=~="db"`: "second operator"} {
		_, err := matchers.Parse(s)
		require.ErrorContains(t, err, want, s)
		_, err = matchers.Stored(s)
		require.NoError(t, err, "a stored one still works: %s", s)
		require.NotEmpty(t, matchers.ResaveProblem(s), s)
	}
}

// Texts that Iris read otherwise before are refused when they are new, and keep their meaning when they are stored.
func TestStoredMatchersKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	for s, value := range map[string]string{`a=~[0-9]{3}`: "500", `a=~foo(bar|baz){2}`: "foobarbaz", `a={x}`: "{x}", `a=b}`: "b}",
		`a=C:\new`: `C:\new`, `a="x\ty"`: "x\ty", `a="\u00e9"`: "é", `a=~\\d+`: `\d`} {
		m, err := matchers.Stored(s)
		require.NoError(t, err, s)
		require.True(t, m.Match(func(string) string { return value }), s)
		_, err = matchers.Parse(s)
		require.ErrorContains(t, err, "two ways", s)
		require.NotEmpty(t, matchers.ResaveProblem(s), s)
	}
	for _, s := range []string{`a=~"[0-9]{3}"`, `{a="x"}`, `a=~"foo(bar|baz){2}"`, `a="é"`} {
		_, err := matchers.Parse(s)
		require.NoError(t, err, s)
		require.Empty(t, matchers.ResaveProblem(s), s)
	}
}

// certain is what an expression says about a value, as Go's regexp does.
func certain(t *testing.T, expression, value string) bool {
	t.Helper()
	re, err := regexp.Compile("^(?:" + expression + ")$")
	require.NoError(t, err)
	return re.MatchString(value)
}

func TestExpressionsThatListValuesAreExact(t *testing.T) {
	t.Parallel()
	values := []string{"", "a", "b", "ab", "web-1", "web-12", "Web-1", "db", "dbx", "x\n", "\xff", "\ufffd", "é", "\n"}
	for _, expression := range []string{"", "a|b", "web-[1-3]", "(?i)web-1", "(db|web-1)2?", "\ufffd", "[\ufffc-\ufffe]", `\x{D800}`, "é?", "()", "a*", ".", "a{2,}b?",
		"(a|b)(a|b)", "[^a]", `\Qdb\E`, "^db$", `\bdb\b`, "d(?:b|c)", "[[:alpha:]]", "(?s).", "x{0,3}"} {
		m, err := matchers.Parse("l=~" + strconv.Quote(expression))
		require.NoError(t, err)
		for _, v := range values {
			require.Equal(t, certain(t, expression, v), m.Match(func(string) string { return v }), "%q %q", expression,
				v)
		}
	}
	m, err := matchers.Parse(`a!="x",team=~"(db|web)-(eu|us)?",b=~".*"`)
	require.NoError(t, err)
	listed := m.Values()
	require.Len(t, listed, 1)
	require.ElementsMatch(t, []string{"db-", "db-eu", "db-us", "web-", "web-eu", "web-us"}, listed["team"])
}

func TestLargeExpressionsAreRefusedBeforeTheyAreStored(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`a=~"(x{0,30}){0,30}"`, `a!~"(x{0,30}){0,30}"`, `a=~"(((x{0,9}y){0,9}){0,9})+"`, strings.Repeat(`a=~"x{100}.*",`, 11),
		`a=~"` + strings.Repeat("(?:a+b){1000}", 1000) + `"`} {
		_, err := matchers.Parse(s)
		require.True(t, fault.Is(err, fault.Invalid), s)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, "match", f.Field)
		_, err = matchers.Stored(s)
		require.NoError(t, err, s)
		require.NotEmpty(t, matchers.ResaveProblem(s), s)
	}
	for _, s := range []string{"", `a=~"x.*"`, `a=~"("`} {
		require.Empty(t, matchers.ResaveProblem(s), s)
	}
	hosts := make([]string, 250)
	for k := range hosts {
		hosts[k] = fmt.Sprintf("host-%d.example", k)
	}
	m, err := matchers.Parse(`host=~"` + strings.Join(hosts, "|") + `"`)
	require.NoError(t, err, "a list of hosts may be long")
	require.True(t, m.Match(func(string) string { return hosts[99] }))
}

func TestWorkIsBoundedAndDoubtIsSaid(t *testing.T) {
	t.Parallel()
	decide := func(match, value string) matchers.Answer {
		m, err := matchers.Stored(match)
		require.NoError(t, err)
		return m.Decide(func(name string) string { return map[string]string{"a": value, "b": "y"}[name] },
			matchers.NewBudget())
	}
	long, endless := strings.Repeat("x", 60_000), strings.Repeat("(?:a+b){1000}", 1000)
	for _, c := range []struct {
		match, value string
		want         matchers.Answer
	}{
		{`a=~"(x{0,30}){0,30}"`, "xx", matchers.Yes},
		{`a=~"(x{0,30}){0,30}"`, long, matchers.No}, // longer than any value that matches
		{`a!~"(x{0,30}){0,30}"`, long, matchers.Yes},
		{`a=~"(x{0,30}){0,30}.*"`, long, matchers.Undecided},
		{`a!~"(x{0,30}){0,30}.*"`, long, matchers.Undecided},
		{`a!~"(x{0,30}){0,30}.*", b="z"`, long, matchers.No},
		{`a!~"(x{0,30}){0,30}.*", b="y"`, long, matchers.Undecided},
		{`a=~"x*"`, long, matchers.Yes},
		{`a=~"` + endless + `"`, "x", matchers.Undecided},
		{`a!~"` + endless + `"`, "x", matchers.Undecided},
	} {
		require.Equal(t, c.want, decide(c.match, c.value), "%.40s", c.match)
	}
	m, err := matchers.Parse(`a=~".*x{100}.*"`)
	require.NoError(t, err)
	budget, answers := matchers.NewBudget(), map[matchers.Answer]int{}
	for range 100 {
		answers[m.Decide(func(string) string { return long[:5000] }, budget)]++
	}
	require.Less(t, answers[matchers.Yes], 10, "many matchers share one budget")
	require.Positive(t, answers[matchers.Yes])
}

func FuzzParse(f *testing.F) {
	f.Add(`team=~"db|web", severity!="info"`)
	f.Fuzz(func(t *testing.T, s string) {
		m, err := matchers.Parse(s)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		m.Match(func(string) string { return "" })
	})
}
