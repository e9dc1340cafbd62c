package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// iris runs the command and returns its exit code, its standard output and its standard error.
func iris(t *testing.T, environ []string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &env{environ: environ, stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs})
	return code, out.String(), errs.String()
}

func TestFirstUse(t *testing.T) {
	t.Parallel()
	environ := []string{"IRIS_DATABASE_URL=" + pgtest.EmptyURL(t)}
	must := func(stdin string, args ...string) string {
		t.Helper()
		code, out, errs := iris(t, environ, stdin, args...)
		require.Zero(t, code, errs)
		return out
	}
	fails := func(want, stdin string, args ...string) {
		t.Helper()
		code, _, errs := iris(t, environ, stdin, args...)
		require.Equal(t, 1, code, errs)
		require.Contains(t, errs, want)
	}
	fails("run: iris migrate", "secret words\n", "user", "add", "ann")
	must("", "migrate")
	must("", "migrate")
	must("secret words\n", "user", "add", "ann", "--admin", "--email", "ann@example.com", "--phone", "+12025550100",
		"--full-name", "Ann Other")
	must("", "user", "add", "bot", "--no-password")
	fails("a user named ANN exists already", "secret words\n", "user", "add", "ANN")
	fails("no password on standard input", "", "user", "add", "carl")
	fails("at least 8 characters", "short\n", "user", "add", "carl")
	fails("unknown time zone", "secret words\n", "user", "add", "carl", "--time-zone", "Mars/Base")
	fails(`user name "bo b" must not contain spaces`, "secret words\n", "user", "add", "bo b")
	fails(`the email contact "nonsense" must be an e-mail address`, "secret words\n", "user", "add", "bob", "--email",
		"nonsense")
	fails(`the sms contact "12" cannot be used: the phone number has no country code`, "secret words\n", "user", "add",
		"bob", "--phone", "12")
	says := func(want string, args ...string) {
		t.Helper()
		code, _, errs := iris(t, environ, "secret words\n", args...)
		require.Zero(t, code, errs)
		require.Contains(t, errs, want)
	}
	says("ann: contact for slack is now @ann", "contact", "set", "ann", "slack", "@ann")
	says("ann has no contact for call any more", "contact", "set", "ann", "call", "")
	fails(`the webhook contact "ftp://x" must be a URL`, "", "contact", "set", "ann", "webhook", "ftp://x")
	fails("iris: there is no user nobody: see iris user list\n", "", "contact", "set", "nobody", "slack", "@x")
	list := must("", "user", "list")
	require.Regexp(t, `ann +Ann Other +yes +yes +email=ann@example.com sms=\+12025550100 slack=@ann\n`, list)
	require.Regexp(t, `bot +no +yes *\n`, list)

	key := must("", "app", "add", "watch", "--variable", "title", "--variable", "host", "--title", "title",
		"--acts-for-users")
	require.Regexp(t, "^[0-9a-f]{64}\n$", key)
	fails("iris: an application named watch exists already\n", "", "app", "add", "watch")
	fails(`application half: the title variable "b" is not one of its variables (a)`, "", "app", "add", "half",
		"--variable", "a", "--title", "b")
	fails("the name of a variable is empty", "", "app", "add", "half", "--variable", "a,,b")
	must("", "app", "add", "half") // the failed commands stored nothing
	must("", "app", "add", "scheduler", "--uses-on-call")
	must("", "app", "set", "watch", "--uses-on-call")
	require.Equal(t, "urgent  call\nhigh    sms\nmedium  email\nlow     email\n", must("", "priority", "list"))
	must("", "priority", "set", "high", "push")
	require.Contains(t, must("", "priority", "list"), "high    push\n")
	fails("mode drop cannot be a default", "", "priority", "set", "high", "drop")
	fails("there is no mode fax: use email, sms", "", "priority", "set", "high", "fax")
	fails("there is no priority loud", "", "priority", "set", "loud", "sms")
	must("", "app", "set", "scheduler", "--no-uses-on-call")
	fails("there is no application nobody", "", "app", "set", "nobody", "--uses-on-call")
	code, _, errs := iris(t, environ, "", "app", "set", "watch")
	require.Equal(t, 2, code, "the command line is wrong: "+errs)
	require.Contains(t, errs, "nothing to change")
	must("", "app", "set", "watch", "--late-within", "5m", "--late-hold", "0")
	fails("--late-within must be between 0 and 24h", "", "app", "set", "watch", "--late-within=-1s")
	fails("application watch: there is no active plan nowhere for --default-plan", "", "app", "set", "watch",
		"--default-plan", "nowhere")
	fails(`there is no active plan "nowhere"`, "", "plan", "set", "nowhere", "--repage-after", "10m")
	fails("must not hold a colon", "", "app", "add", "a:b")

	require.Regexp(t, "address: /v1/hooks/generic\\ntoken: .+\\n",
		must("", "integration", "add", "any", "--type", "generic", "--application", "watch", "--rate", "60"))
	must("", "integration", "set", "any", "--resolve-after", "1h", "--close-after", "48h", "--severity", "info",
		"--no-enabled")
	shown := must("", "integration", "show", "any")
	for _, line := range []string{"default severity: info\n", "rate per minute: 60\n", "enabled: false\n", "resolve after: 1h0m0s\n", "close after: 48h0m0s\n"} {
		require.Contains(t, shown, line)
	}
	for flag, text := range map[string]string{"--plan=nowhere": "there is no active plan named nowhere", "--resolve-after=1s": "resolve_after_seconds must be at least 300"} {
		code, _, errs = iris(t, environ, "", "integration", "set", "any", flag)
		require.Equal(t, 2, code, "the command line is wrong: "+errs)
		require.Contains(t, errs, text)
	}
	code, _, _ = iris(t, environ, "", "integration", "set", "any")
	require.Equal(t, 2, code)

	must("", "team", "add", "ops", "--member", "ann", "--member", "bot", "--manager", "ann")
	must("", "team", "add", "more", "--member", "ann", "bot")
	says("warning: it has no members", "team", "add", "empty")
	says("warning: zoe has no contact and cannot be paged", "user", "add", "zoe")
	fails("the configured database has users (ann) whose pages would go to the bench", "", "bench", "--burst", "1")
	fails("a team named ops exists already", "", "team", "add", "ops")
	fails("there is no user nobody", "", "team", "add", "new", "--member", "nobody")
}

func TestCommandsReportAnUnreachableDatabase(t *testing.T) {
	t.Parallel()
	code, _, errs := iris(t, []string{"IRIS_DATABASE_URL=postgres://x:secret@127.0.0.1:1/x"}, "", "user", "list")
	require.Equal(t, 1, code)
	require.Equal(t, "iris: the database cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused\n", errs)
	code, _, errs = iris(t, nil, "", "migrate")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "database.url (IRIS_DATABASE_URL): is missing")
	for _, command := range []string{"migrate", "check-config"} {
		code, _, errs = iris(t, []string{"IRIS_DATABASE_URL=mysql://x:secret@h/x"}, "", command)
		require.Equal(t, 1, code)
		require.Contains(t, errs, "database.url (IRIS_DATABASE_URL): the database URL cannot be read")
		require.NotContains(t, errs, "secret@")
	}
}

// written writes a configuration file with text and returns its path.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestCheckConfig(t *testing.T) {
	t.Parallel()
	code, out, errs := iris(t, []string{"IRIS_DATABASE_URL=postgres://h/d"}, "", "check-config")
	require.Zero(t, code, errs)
	require.Equal(t, "the configuration is valid\n", out)
	require.Contains(t, errs, "warning: secret_key (IRIS_SECRET_KEY): is not set")
	_, _, errs = iris(t, []string{"IRIS_DATABASE_URL=postgres://h/d"}, "", "check-config", "--config",
		written(t, "oncall: {urgent_plan: p}"))
	require.Equal(t, 1, strings.Count(errs, "oncall.escalate_application: is not set"),
		"both servers read it, it is said once")

	file := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(file, []byte("smtp:\n  addr: mail\nlimits:\n  modes:\n    fax: {rate: 1/s}\n"),
		0o600))
	code, out, errs = iris(t, []string{"IRIS_GOSSIP_KEY=x"}, "", "check-config", "--config", file)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	for _, want := range []string{
		"iris.yaml line 2 (smtp.addr): \"mail\" must be host:port", "smtp[0].from (IRIS_SMTP_FROM): is missing",
		"iris.yaml line 5 (limits.modes.fax)", "IRIS_GOSSIP_KEY: must be 32 bytes", "database.url (IRIS_DATABASE_URL): is missing",
	} {
		require.Equal(t, 1, strings.Count(errs, want), "%s in\n%s", want, errs)
	}
	code, _, errs = iris(t, []string{"IRIS_DATABASE_URL=postgres://h/d"}, "", "check-config", "--config", file,
		"--only", "api")
	require.Zero(t, code, errs)
}

func TestRender(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "context.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"name": "Zoë", "list": [1, 2]}`), 0o600))
	code, out, errs := iris(t, nil, "Hello {{ name }}{% for n in list %} {{ n }}{% endfor %}", "render", "--context",
		file)
	require.Zero(t, code, errs)
	require.Equal(t, "Hello Zoë 1 2", out, "no newline is added")
	code, out, _ = iris(t, nil, "plain\n\n", "render")
	require.Zero(t, code)
	require.Equal(t, "plain\n", out, "as Jinja2 does, one newline at the end is taken")

	for source, want := range map[string]string{
		"a\n{% if %}":                    "line 2",
		"a\nb\n{{ missing.attribute }}":  "line 3",
		"\n{% include 'x' %}":            "line 2",
		"{{ 'x' * 1000 * 1000 * 1000 }}": "line 1",
	} {
		code, out, errs := iris(t, nil, source, "render", "--context", file)
		require.Equal(t, 1, code, source)
		require.Empty(t, out)
		require.Contains(t, errs, want, source)
	}
	require.NoError(t, os.WriteFile(file, []byte(`[1]`), 0o600))
	code, _, errs = iris(t, nil, "x", "render", "--context", file)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "context.json")
}

func TestBenchRefusesWrongOptions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--processors 0": "--processors must be more than 0", "--connections 0": "--connections must be more than 0",
		"--patience 0s": "--patience must be more than 0", "--for 0s": "--for must be more than 0", "--rate fast": "--rate: \"fast\" is not a rate",
		"--json /nowhere/x": "--json: open /nowhere/x", "--profile /dev/null/x": "--profile: mkdir /dev/null", "--rate 1/s": "exactly one of",
	} {
		code, out, errs := iris(t, nil, "", append([]string{"bench", "--burst", "1"}, strings.Fields(line)...)...)
		wantCode := 2
		if strings.Contains(line, "/") && !strings.Contains(line, "--rate") || strings.Contains(want, "exactly one of") {
			wantCode = 1 // an unwritable file, or options that the bench refuses
		}
		require.Equal(t, wantCode, code, line)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	code, out, _ := iris(t, nil, "")
	require.Zero(t, code)
	for _, want := range []string{"dev", "migrate", "check-config", "render", "user add", "bench"} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "processor ", "the servers are hidden commands")
	for _, ask := range []string{"version", "--version"} {
		code, out, _ = iris(t, nil, "", ask)
		require.Zero(t, code)
		require.Regexp(t, `^iris \S+\n$`, out)
	}
	for _, args := range [][]string{{"nonsense"}, {"user", "add"}, {"contact", "set", "a", "fax", "1"}, {"dev", "--nonsense"}} {
		code, _, errs := iris(t, nil, "", args...)
		require.Equal(t, 2, code, args)
		require.NotEmpty(t, errs)
	}
	for line, want := range map[string]string{
		"user add":           "iris: expected \"<name>\" (see: iris user add --help)\n",
		"contact":            "iris: expected one of \"set\", \"verify\" (see: iris contact --help)\n",
		"bench --processors": "iris: --processors: needs a value (see: iris bench --help)\n",
		"nonsense":           "iris: unexpected argument nonsense (see: iris --help)\n",
	} {
		_, _, errs := iris(t, nil, "", strings.Fields(line)...)
		require.Equal(t, want, errs)
	}
}
