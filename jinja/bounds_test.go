package jinja_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/jinja"
)

// hostile are templates that would use unbounded time or memory, or crash the process, if there were no limits.
var hostile = []string{
	`{{ s * 1000 * 1000 * 1000 }}`,
	`{{ 'x' * 2000000000 }}`,
	`{{ 'x' * 9223372036854775807 }}`,
	`{{ ('x' * 1000000) ~ ('y' * 15000000) ~ ('z' * 15000000) }}`,
	`{{ [1] * 1000000000 }}`,
	`{{ (1, 2) * 4611686018427387904 }}`,
	`{% set ns = namespace(l=[0]) %}{% for i in range(64) %}{% set ns.l = ns.l + ns.l %}{% endfor %}`,
	`{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}`,
	`{% set ns = namespace(l=[]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}`,
	`{% set ns = namespace(l=[]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l == ns.l }}{{ ns.l|tojson }}`,
	`{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}`,
	`{% set ns = namespace(s='x') %}{% for i in range(64) %}{% set ns.s = ns.s|replace('x', 'xx') %}{% endfor %}`,
	`{% set l = [1] %}{% for x in l %}{{ l.append(x) or '' }}{% endfor %}`,
	`{{ 'x'|center(2147483648) }}`,
	`{{ 'x'.ljust(9223372036854775807) }}`,
	`{{ 'x'.zfill(10000000000) }}`,
	`{{ '%1000000000d' % 5 }}`,
	`{{ '%.1000000000f' % 5 }}`,
	`{{ '%*d' % (1000000000, 5) }}`,
	`{{ '{:>1000000000}'.format('x') }}`,
	`{{ '{:1000000000d}'.format(5) }}`,
	`{{ '{:.1000000000f}'.format(5.0) }}`,
	`{{ '{:{}}'.format('x', 1000000000) }}`,
	`{{ 'a\tb'.expandtabs(2000000000) }}`,
	`{{ 2 ** 10 ** 9 }}`,
	`{{ 2 ** 100000000000 }}`,
	`{{ 10 ** 100000 }}`,
	`{% set ns = namespace(n=3) %}{% for i in range(64) %}{% set ns.n = ns.n * ns.n %}{% endfor %}`,
	`{{ range(100000)|list * 1000 }}`,
	`{{ (range(100000)|list)|batch(1)|list|batch(1)|list|batch(1)|list|batch(1)|list }}`,
	`{{ [1]|batch(1000000000, 'x')|list }}`,
	`{{ [1]|slice(1000000000)|list }}`,
	`{{ lines|indent(1000000000) }}`,
	`{{ [1]|tojson(1000000000) }}`,
	`{{ range(100000)|join('x' * 100000) }}`,
	`{{ ('a' * 10000)|replace('', 'b' * 10000) }}`,
	`{{ ('a ' * 100000)|wordwrap(1, wrapstring='x' * 10000) }}`,
	`{{ ('x' * 1000000)|list|map('upper')|list|map('list')|list|pprint }}`,
	`{{ ('<' * 10000000)|e|e|e|e }}`,
	`{{ ('http://a.com ' * 500000)|urlize }}`,
	`{{ ('-' * 3000000)|wordwrap(5) }}`,
	`{{ lipsum(1000000) }}`,
	`{{ lipsum(1, false, 1, 1000000000) }}`,
	`{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}`,
	`{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}`,
	`{% for i in range(100000) %}{{ i in range(100000)|list }}{% endfor %}`,
	`{% set t = 'x' * 1000000 %}{% for i in range(100000) %}{% if 'y' in t %}{% endif %}{% endfor %}`,
	`{% set t = 'x' * 1000000 %}{% for i in range(100000) %}{% if t.count('y') %}{% endif %}{% endfor %}`,
	`{% set t = 'x' * 1000000 %}{% for i in range(100000) %}{% if t == t ~ '' %}{% endif %}{% endfor %}`,
	`{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}`,
	`{% macro m(k) %}{{ k(k) }}{% endmacro %}{{ m(m) }}`,
	`{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}`,
	`{% for a in x recursive %}{{ loop(x) }}{% endfor %}`,
	`{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}`,
	`{% for i in [1] %}{% for j in loop %}{% endfor %}{% endfor %}{% set l = [] %}{{ l.append(l) }}{{ l == [l] }}{{ [l] == l }}`,
	`{{ (((range(100000)|list)|map('string')|list)|sort|list * 10)|unique|list|length }}`,
	`{{ dict(range(100000)|map('string')|batch(2)).items()|list * 100 }}`,
	`{{ ('a,' * 5000000).split(',') }}`,
	`{{ ('{}' * 100000).format(*range(100000)) * 1000 }}`,
	`{{ ('%s' * 100000) % (range(100000)|list) }}{{ 'x' * 10000000000 }}`,
	strings.Repeat("(", 20000) + strings.Repeat(")", 8000),
	"{{ " + strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000) + " }}",
	"{{ " + strings.Repeat("[", 5000) + " }}",
	"{{ 1" + strings.Repeat("+1", 15000) + " }}",
	"{{ " + strings.Repeat("-", 30000) + "1 }}",
	"{{ " + strings.Repeat("not ", 8000) + "1 }}",
	"{{ x" + strings.Repeat("|e", 15000) + " }}",
	"{{ x" + strings.Repeat(".a", 15000) + " }}",
	"{{ x" + strings.Repeat("()", 15000) + " }}",
	strings.Repeat("{% if x %}", 3000),
	strings.Repeat("{% for x in y %}", 2000),
	"{{ 1" + strings.Repeat(" if 1 else 1", 2500) + " }}",
	strings.Repeat("x", 33<<10),
	strings.Repeat("{{ ('x'*9999)|upper|length }}", 1100),
	strings.Repeat("{% set x = [('x'*9999)|upper] %}", 1000),
	strings.Repeat("{% if (1 or x) %}", 500),
	"{{ " + strings.Repeat("(", 200) + "1" + strings.Repeat("/0)", 200) + " }}",
	strings.Repeat("{{ "+strings.Repeat("(", 100)+"1"+strings.Repeat("/0)", 100)+" }}", 80),
	strings.Repeat("{% set x = (1 if 0 else y)"+strings.Repeat("~1", 200)+" %}", 70),
}

const hostileContext = `{"s": "aaaaaaaaaa", "x": [1], "lines": "a\nb\nc"}`

// survive renders a template. It requires an error or output of bounded size, within bounded time.
func survive(t *testing.T, src string) {
	t.Helper()
	start := time.Now()
	out, err := jinja.RenderString(src, []byte(hostileContext))
	var e *jinja.Error
	if err != nil {
		require.ErrorAs(t, err, &e)
		require.NotEqual(t, "InternalError", e.Kind, e.Message)
	}
	require.LessOrEqual(t, len(out), 64<<10)
	require.Less(t, time.Since(start), 20*time.Second)
}

func TestHostileTemplatesStayInBounds(t *testing.T) {
	for _, src := range hostile { // not in parallel: allocations are measured
		name := src[:min(len(src), 60)]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		survive(t, src)
		runtime.ReadMemStats(&after)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(200), "MiB allocated by %s", name)
	}
}

// TestUnderMemoryLimit renders every hostile template in a child process that is limited to 256 MiB.
func TestUnderMemoryLimit(t *testing.T) {
	if os.Getenv("IRIS_TEST_HOSTILE") != "" {
		for _, src := range hostile {
			survive(t, src)
		}
		_, err := fmt.Println("survived")
		require.NoError(t, err)
		return
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestUnderMemoryLimit$", "-test.v")
	cmd.Env = append(os.Environ(), "IRIS_TEST_HOSTILE=1", "GOTRACEBACK=none")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "survived")
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	peak := usage.Maxrss
	if runtime.GOOS == "linux" {
		peak <<= 10
	}
	require.Less(t, peak>>20, int64(256), "MiB at most at once")
}

func TestLimitErrorsNameTheBound(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`{{ 'x' * 100000000 }}`: "too much memory",
		`{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}`: "too much work",
		"\n{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}":                                "nested too deeply",
		`{% for i in range(100000) %}{{ i }}{% endfor %}`:                                  "too much text",
		`{{ 2 ** 100000 }}`: "a number of more than",
	} {
		tpl, err := jinja.Compile(src, jinja.Limits{Time: time.Hour})
		require.NoError(t, err)
		_, err = tpl.Render(jinja.Vars{})
		var e *jinja.Error
		require.ErrorAs(t, err, &e, src)
		require.Equal(t, "LimitError", e.Kind)
		require.True(t, e.Limited())
		require.Contains(t, e.Message, want)
		require.Positive(t, e.Line)
	}
}

func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	tpl, err := jinja.Compile(`{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}`,
		jinja.Limits{Steps: 1 << 40, Time: 10 * time.Millisecond})
	require.NoError(t, err)
	_, err = tpl.Render(jinja.Vars{})
	require.ErrorContains(t, err, "too long")
}

func TestTruncatedOutputIsReturned(t *testing.T) {
	t.Parallel()
	tpl, err := jinja.Compile(`{% for i in range(1000) %}ü{% endfor %}`, jinja.Limits{Output: 101})
	require.NoError(t, err)
	out, err := tpl.Render(jinja.Vars{})
	var e *jinja.Error
	require.ErrorAs(t, err, &e)
	require.True(t, e.Truncated)
	require.Equal(t, strings.Repeat("ü", 50), out)
}

func TestTemplatesCannotReadFiles(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{
		"include '/etc/passwd'", "import '/etc/passwd' as x", "from '/etc/passwd' import x", "extends '/etc/passwd'", "block x",
		"do x", "trans",
	} {
		_, err := jinja.Compile("\n{% "+tag+" %}", jinja.Limits{})
		var e *jinja.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "TemplateSyntaxError", e.Kind)
		require.Contains(t, e.Message, "unknown tag '"+strings.Fields(tag)[0]+"'")
		require.Equal(t, 2, e.Line)
	}
}

func TestOneTemplateRendersConcurrently(t *testing.T) {
	t.Parallel()
	tpl, err := jinja.Compile(`{% set l = [] %}{% macro m(x) %}[{{ x }}]{% endmacro %}{% for i in range(20) %}{{ l.append(i) or '' }}{{ m(i) }}{% endfor %}{{ l|length }} {{ who }}`, jinja.Limits{})
	require.NoError(t, err)
	want, err := tpl.Render(vars(t, `{"who": 0}`))
	require.NoError(t, err)
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			for range 200 {
				v, err := jinja.DecodeVars([]byte(fmt.Sprintf(`{"who": %d}`, i)))
				got := ""
				if err == nil {
					got, err = tpl.Render(v)
				}
				if err == nil && got != strings.TrimSuffix(want, "0")+fmt.Sprint(i) {
					err = errors.New("rendered " + got)
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}

func vars(t testing.TB, json string) jinja.Vars {
	t.Helper()
	v, err := jinja.DecodeVars([]byte(json))
	require.NoError(t, err)
	return v
}
