package matchers

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/alertmanager/matcher/parse"
	"github.com/prometheus/alertmanager/pkg/labels"
	"github.com/stretchr/testify/require"
)

// inputs are the inputs of the tests of Alertmanager's packages matcher/parse, matcher/compat and pkg/labels, v0.35.0.
var inputs = []string{
	"", "{}", "{foo=bar}", "{foo=bar,}", "{foo!=bar}", "{foo=~[a-z]+}", "{foo!~[a-z]+}", "{foo=🙂}", "{foo=🙂bar}",
	"foo=bar", "foo=bar,", "foo!=bar", "foo=~[a-z]+", "foo!~[a-z]+", "{\"foo\"=\"bar\"}", "{\"foo\"=\"bar\",}",
	"{\"foo\"!=\"bar\"}", "{\"foo\"=~\"[a-z]+\"}", "{\"foo\"=~\"\\\\d+\"}", "{\"foo\"!~\"[a-z]+\"}",
	"{\"foo\"=\"🙂\"}", "{\"foo\"=\"\\xf0\\x9f\\x99\\x82\"}", "{\"foo\"=\"\\U0001f642\"}", "{\"foo\"=\"🙂bar\"}",
	"{\"foo\"=\"bar\\n\"}", "{\"foo\"=\"bar\\t\"}", "{\"foo\"=\"\\\"bar\\\"\"}", "{\"foo\"=\"bar\\\\\"}",
	"\"foo\"=\"bar\"", "\"foo\"=\"bar\",", "{foo=bar,bar!=baz}", "{foo=\"bar\",bar!=\"baz\"}", "foo=bar,bar!=baz",
	"foo=\"bar\",bar!=\"baz\"", ",", "{,}", "{", "}", "foo=bar}", "{foo=bar", "{foo=:\"bar\"}", "{foo=\"bar\\w\"}",
	"{\"foo\"=~\"\\d+\"}", "{foo=bar\\n}", "{\"foo\"=\"\\xf0\\x9f\"}", "foo=bar,bar=baz", "foo=\"\\xf0\\x9f\"",
	"foo!bar", "foo🙂=bar", "foo=!bar\\n", "foo=\"\\xf0\\x9f\\x99\\x82\"", "{foo=bar,bar=baz}", "{foo!bar}",
	"{foo🙂=bar,bar=baz🙂}", "{foo=!bar,bar=$baz\\n}", "{foo=\"\\xf0\\x9f\\x99\\x82\"}", "foo", "_foo1", "0foo",
	"foo🙂", `{}`, `,`, `{,}`, `{foo='}`, "{foo=`}", "{foo=\\\"}", `{foo=bar}`, `{foo="bar"}`, `{foo=~bar.*}`,
	`{foo=~"bar.*"}`, `{foo!=bar}`, `{foo!="bar"}`, `{foo!~bar.*}`, `{foo!~"bar.*"}`, `{foo="bar", baz!="quux"}`,
	`{foo="bar", baz!~"quux.*"}`, `{foo="bar",baz!~".*quux", derp="wat"}`, `{foo="bar", baz!="quux", derp="wat"}`,
	`{foo="bar", baz!~".*quux.*", derp="wat"}`, `{foo="bar", instance=~"some-api.*"}`, `{foo=""}`,
	`{foo="bar,quux", job="job1"}`, `{foo = "bar", dings != "bums", }`, `foo=bar,dings!=bums`,
	`{quote="She said: \"Hi, ladies! That's gender-neutral…\""}`, `statuscode=~"5.."`, `tricky=~~~`,
	`trickier==\\=\=\"`, `contains_quote != "\"" , contains_comma !~ "foo,bar" , `, `{foo=bar}}`, `{foo=bar}},}`,
	`{foo=,bar=}}`, `{foo=bar\t}`, `{foo=bar\n}`, `{foo=bar\}`, `{foo=bar\\}`, `{foo=bar\"}`, `job=`, `job="value`,
	`job=value"`, `trickier==\\=\=\""`, `contains_unescaped_quote = foo"bar`, `{invalid-name = "valid label"}`,
	`{foo=~"invalid[regexp"}`, `"{foo=\"bar"}`, `"foo=\"bar"`, `"foo=\"bar\""`, `"foo=\"bar\"`, `"{foo=\"bar\"}"`,
	`"foo="bar""`, `{{foo=`, `{foo=`, `{foo=}b`,
}

// ours are inputs with more white space, quotes, escapes and braces.
var ours = []string{
	`team=="db"`, `team==db`, `team=~="db"`, `team = "a b"`, `team=a b`, `a.b=c`, `a.b="c d"`, `a.b=c d`, `"a b"=c`, `""=x`, `" "=x`, `'a'=b`,
	"{ a=b }", "a=b\n,c=d", `a="b" c="d"`, `a=b,,c=d`, `a="\d"`, `a=\d`, `a="\""`, `a="\\"`, `a=\\d`, `a=~"\\d"`, `a=~"\d"`, `a=~\d+`, `a=~"("`, `a=~"[`,
	`a=~"x{1001}"`, `a="\u00e9"`, `a="\'"`, "a=\"\xff\"", "\xff=x", "a=\xff\xff", `a=b\,c="d"`, `a="b`, `a=b"`, `a="b"c`, `{a=b}, c=d`, `{a=b} x`,
	`a={b}`, `a="{b}"`, `a=b}`, `a!=""`, `a !~ "b|c" `, "\u00a0a=b", "a=\u00a0b", `a=`, `a!~`, ` `, `,a=b`,
}

// asLibrary checks that matchers are read, or refused, as Alertmanager does it in its default mode.
func asLibrary(t *testing.T, s string) {
	t.Helper()
	want, err := parse.Matchers(s)
	older, olderErr := labels.ParseMatchers(s)
	if olderErr == nil && (err != nil || labels.Matchers(older).String() != want.String()) {
		want, err = older, nil
	}
	got, gotErr := alertmanager(s)
	unnamed := slices.ContainsFunc(want, func(m *labels.Matcher) bool { return m.Name == "" }) // refused by its silences
	if err != nil || unnamed {
		require.Error(t, gotErr, "%q: the library says %v", s, err)
		return
	}
	require.NoError(t, gotErr, "%q", s)
	require.Len(t, got, len(want), "%q", s)
	for k, one := range want {
		require.Equal(t, []any{one.Name, one.Value, one.Type == labels.MatchRegexp || one.Type == labels.MatchNotRegexp,
			one.Type == labels.MatchNotEqual || one.Type == labels.MatchNotRegexp},
			[]any{got[k].label, got[k].value, got[k].like != nil, got[k].not}, "%q", s)
	}
}

func TestMatchersAreReadAsAlertmanagerReadsThem(t *testing.T) {
	t.Parallel()
	for _, s := range append(inputs, ours...) {
		asLibrary(t, s)
	}
}

func TestEqualIsReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "a/b", `x="y"`, `\d\`, "line\nline", "tab\t\x00", "é, ü", "{}", " "} {
		s := Equal(text, text)
		asLibrary(t, s)
		m, err := Parse(s)
		require.NoError(t, err, s)
		require.Len(t, m, 1)
		require.Equal(t, []string{text, text}, []string{m[0].label, m[0].value}, s)
	}
}

func FuzzMatchersAreReadAsAlertmanagerReadsThem(f *testing.F) {
	for _, s := range append(inputs, ours...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Count(s, ",") >= maxMatchers || strings.Contains(s, "~") && !complete(s) {
			t.Skip("the library has no bound, and closes its own group with a parenthesis of the expression")
		}
		asLibrary(t, s)
	})
}

// complete reports whether no part of a text closes a group that it does not open, or repeats something.
func complete(s string) bool {
	_, err := syntax.Parse(s, syntax.Perl)
	return err == nil && !strings.ContainsAny(s, "{()")
}
