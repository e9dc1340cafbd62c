package config

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const databaseURL = "postgres://iris@db.example.com/iris"

// minimal is an environment that is sufficient for both servers.
var minimal = []string{"IRIS_DATABASE_URL=" + databaseURL}

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func load(t *testing.T, content string, environ ...string) (*Config, error) {
	t.Helper()
	path := ""
	if content != "" {
		path = write(t, content)
	}
	return Load(path, environ)
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", minimal...)
	require.NoError(t, err)
	api, err := c.API()
	require.NoError(t, err)
	require.Equal(t, ":16649", api.HTTP.Addr)
	require.Equal(t, 12*time.Hour, api.HTTP.SessionTTL)
	require.Equal(t, "http://127.0.0.1:16649", api.PublicURL)
	require.Equal(t, 16, api.Database.MaxConnections)
	require.Equal(t, "never", api.Migrate)
	require.Equal(t, Log{Level: "info", Format: "json"}, api.Log)
	require.Equal(t, 20*time.Second, api.ShutdownTimeout)
	p, err := c.Processor()
	require.NoError(t, err)
	require.Equal(t, 396*24*time.Hour, p.History.Retention)
	require.Equal(t, 720*time.Hour, p.CloseAfter)
	var warned strings.Builder
	for _, w := range c.Warnings() {
		fmt.Fprintln(&warned, w)
	}
	require.Contains(t, warned.String(), "public_url (IRIS_PUBLIC_URL): is not set")
	require.Contains(t, warned.String(), "secret_key (IRIS_SECRET_KEY): is not set")
	require.Contains(t, warned.String(), "no vendor is configured")
}

func TestFileAndEnvironment(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
database:
  url: postgres://file/iris
  max_connections: 40
public_url: https://iris.example.com/
smtp:
  - addr: mail.example.com:25
    from: Iris <iris@example.com>
    username: iris
    password: from-the-file
  - addr: spare.example.com:465
    from: iris@example.com
    spare: true
    account: backup
    timeout: 5s
twilio:
  account_sid: AC0123456789abcdef0123456789abcdef
  auth_token: 12345
  from: "+15550100"
limits:
  modes:
    sms: {rate: 600/min, burst: 3}
  accounts:
    twilio/main: {rate: 5/s}
    smtp/backup: {rate: 1/s}
  applications:
    my.app:
      email: {rate: 3600/h}
`, "IRIS_DATABASE_URL="+databaseURL, "IRIS_SMTP_ADDR=other.example.com:587", "IRIS_SMTP_PASSWORD=", "IRIS_TWILIO_FROM=+15550199",
		"IRIS_SLACK_TOKEN=xoxb-1", "IRIS_WEBHOOK_SECRET=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz", "IRIS_MIGRATE=auto", "PATH=/bin")
	require.NoError(t, err)
	p, err := c.Processor()
	require.NoError(t, err)
	require.Equal(t, databaseURL, p.Database.URL.Reveal())
	require.Equal(t, 40, p.Database.MaxConnections)
	require.Equal(t, "https://iris.example.com", p.PublicURL)
	require.Equal(t, "auto", p.Migrate)
	require.Equal(t, []SMTP{
		{Account: Account{Account: "main", Timeout: 20 * time.Second}, Addr: "other.example.com:587",
			From: "Iris <iris@example.com>", Username: "iris", Password: "from-the-file", TLS: "starttls"},
		{Account: Account{Account: "backup", Spare: true, Timeout: 5 * time.Second}, Addr: "spare.example.com:465",
			From: "iris@example.com", TLS: "tls"},
	}, p.SMTP)
	require.Equal(t, "+15550199", p.Twilio[0].From)
	require.Equal(t, Secret("12345"), p.Twilio[0].AuthToken)
	require.Equal(t, Secret("xoxb-1"), p.Slack[0].Token)
	require.Len(t, p.Webhook, 1)
	require.Equal(t, Limit{Rate: 10, Burst: 3}, p.Limits.Modes["sms"])
	require.Equal(t, Limit{Rate: 5}, p.Limits.Accounts["twilio/main"])
	require.Equal(t, Limit{Rate: 1}, p.Limits.Applications["my.app"]["email"])
}

func TestEveryVariableSetsItsKey(t *testing.T) {
	t.Parallel()
	for _, v := range variables {
		values := map[string]any{}
		require.NoError(t, set(values, v.path, "x"))
		l := &loader{origin: map[string]string{}, broken: map[string]bool{}}
		var f file
		l.unknownKeys(values, reflect.TypeFor[file](), "")
		l.decode(values, &f)
		for _, p := range l.problems { // values of the wrong type are allowed here, unknown keys are not
			require.NotContains(t, p.Message, "unknown key", v.name)
		}
	}
}

// The manual names every key and every variable.
func TestTheManualListsEveryKeyAndVariable(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	manual := string(raw)
	names := func(text string) {
		t.Helper()
		require.Contains(t, manual, text, "docs/configuration.md does not name %s", text)
	}
	for _, name := range append(Variables(), otherVariables...) {
		names("`" + name + "`")
	}
	var walk func(section reflect.Type, path string)
	walk = func(section reflect.Type, path string) {
		for i := range section.NumField() {
			field := section.Field(i)
			tag := field.Tag.Get("koanf")
			switch kind := field.Type; {
			case tag == ",squash":
				walk(kind, path)
			case tag == "compatibility":
				names("`compatibility.*`") // they are in a document of their own
			case kind.Kind() == reflect.Struct:
				walk(kind, path+tag+".")
			case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
				names("`" + path + tag + "[]`")
				walk(kind.Elem(), "")
			case kind.Kind() == reflect.Map:
				names("`" + path + tag + ".")
			default:
				names("`" + path + tag + "`")
			}
		}
	}
	walk(reflect.TypeFor[file](), "")
}

// Limits, duplicates and spares are decided by EachAccount: it visits the accounts of every kind of vendor.
func TestEachAccountVisitsEveryVendor(t *testing.T) {
	t.Parallel()
	var p Processor
	var want, got []string
	for i := range reflect.TypeFor[Processor]().NumField() {
		field := reflect.TypeFor[Processor]().Field(i)
		if field.Type.Kind() == reflect.Slice && field.Type.Elem().Implements(reflect.TypeFor[interface{ shared() Account }]()) {
			reflect.ValueOf(&p).Elem().Field(i).Set(reflect.MakeSlice(field.Type, 1, 1))
			want = append(want, strings.ToLower(field.Name))
		}
	}
	require.NotEmpty(t, want)
	p.EachAccount(func(kind string, _ int, _ Account) { got = append(got, kind) })
	require.ElementsMatch(t, want, got, "add the missing kind to EachAccount in validate_vendors.go")
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("from a file\n"), 0o600))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))

	c, err := load(t, "smtp: {addr: 'mail:25', from: a@example.com, username: u, password_file: "+secret+"}",
		"IRIS_DATABASE_URL="+databaseURL, "IRIS_SLACK_TOKEN_FILE="+secret, "IRIS_SLACK_API_URL=http://127.0.0.1:1/")
	require.NoError(t, err)
	p, err := c.Processor()
	require.NoError(t, err)
	require.Equal(t, Secret("from a file"), p.SMTP[0].Password)
	require.Equal(t, Secret("from a file"), p.Slack[0].Token)

	for name, test := range map[string]struct {
		content string
		env     []string
		want    string
	}{
		"both in the environment": {"", []string{"IRIS_SLACK_TOKEN=x", "IRIS_SLACK_TOKEN_FILE=" + secret},
			"both IRIS_SLACK_TOKEN and IRIS_SLACK_TOKEN_FILE are set"},
		"no such file": {"", []string{"IRIS_SLACK_TOKEN_FILE=/nowhere"},
			"IRIS_SLACK_TOKEN_FILE: open /nowhere: no such file"},
		"empty": {"", []string{"IRIS_SLACK_TOKEN_FILE=" + empty}, "is empty"},
		"both in the file": {"slack: [{token: a, token_file: " + secret + "}]", nil,
			"both token and token_file are set"},
		"no such file in file": {"slack: [{token_file: /nowhere}]", nil,
			"line 1 (slack[0].token_file): open /nowhere"},
		"not a secret": {"public_url_file: " + secret, nil, "unknown key public_url_file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, test.content, test.env...)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestLoadRefusesWrongSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"unknown key": {"\npublic_ulr: x",
			"line 2 (public_ulr): unknown key public_ulr; did you mean public_url?"},
		"unknown nested key": {"smtp:\n  - addr: a:1\n    frm: b",
			"line 3 (smtp[0].frm): unknown key frm; did you mean from?"},
		"unknown in a single": {"smtp:\n  adrr: a:1", "line 2 (smtp.adrr): unknown key adrr; did you mean addr?"},
		"wrong case":          {"Public_URL: x", "unknown key Public_URL"},
		"duration":            {"shutdown_timeout: 10", "line 1 (shutdown_timeout): 10 needs a unit"},
		"duration text": {"shutdown_timeout: 3 s",
			`line 1 (shutdown_timeout): "3 s" is not a duration; write it like 30s`},
		"months":        {"history: {retention: 13 months}", "is not a duration"},
		"too many days": {"history: {retention: 99999d}", "is not a duration"},
		"number": {"database: {max_connections: many}",
			"line 1 (database.max_connections): must be a whole number"},
		"switch": {"compatibility: {anonymous_reads: maybe}",
			"line 1 (compatibility.anonymous_reads): must be true or false"},
		"list for text":    {"public_url: [a, b]", "line 1 (public_url): must be a single value"},
		"text for section": {"database: here", "line 1 (database): must be a section"},
		"rate":             {"limits: {modes: {sms: {rate: fast}}}", `"fast" is not a rate`},
		"rate, no unit":    {"limits: {modes: {sms: {rate: 10}}}", "10 needs a unit, such as 10/s"},
		"not a mapping":    {"- a", "must contain keys and values"},
		"not yaml":         {"a: [", "line 1"},
		"twice":            {"migrate: auto\nmigrate: never", "already defined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, test.content)
			require.ErrorContains(t, err, test.want)
			require.Contains(t, err.Error(), "iris.yaml")
		})
	}
	_, err := Load("/nowhere/iris.yaml", nil)
	require.ErrorContains(t, err, "/nowhere/iris.yaml")
	_, err = load(t, "smtp: yes", "IRIS_SMTP_ADDR=a:1")
	require.ErrorContains(t, err, "IRIS_SMTP_ADDR: cannot be set: smtp is not a list")
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, "publc: 1\nshutdown_timeout: 1\nhttp: {adr: x}")
	require.ErrorContains(t, err, "publc")
	require.ErrorContains(t, err, "shutdown_timeout")
	require.ErrorContains(t, err, "http.adr")

	// What could be understood is judged as well, and what could not be had is not said to be missing.
	c, err := load(t, "database: {url_file: /nowhere, max_connections: many}\npublic_url: ftp://x\nsmtp: {addr: mail, from: a@b.example, timeout: 3}",
		"IRIS_WEBHOOK_ALLOW_HTTP=maybe", "IRIS_SMTP_PASSWORD_FILE=/nowhere", "IRIS_WEBHOOK_SECRET_FILE=/nowhere")
	var loading []string
	for _, p := range c.loader.problems {
		loading = append(loading, p.Where)
	}
	require.Len(t, loading, 6, "%v", err)
	_, err = c.Processor()
	require.ErrorContains(t, err, "public_url")
	require.ErrorContains(t, err, `"mail" must be host:port`)
	require.NotContains(t, err.Error(), "missing")
	require.NotContains(t, err.Error(), "together")
}

func TestADryRunGivesAWarning(t *testing.T) {
	t.Parallel()
	c, err := load(t, "delivery: {dry_run: store}", minimal...)
	require.NoError(t, err)
	_, err = c.Processor()
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(c.Warnings()), "nobody is paged")
}

func TestIncidentsAreClosed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0s": 0, "2h": 2 * time.Hour, "7d": 7 * 24 * time.Hour} {
		c, err := load(t, "incidents: {close_after: "+text+"}", minimal...)
		require.NoError(t, err, text)
		p, err := c.Processor()
		require.NoError(t, err, text)
		require.Equal(t, want, p.CloseAfter, text)
	}
	for _, text := range []string{"1m", "-1h"} {
		c, err := load(t, "incidents: {close_after: "+text+"}", minimal...)
		require.NoError(t, err, text)
		_, err = c.Processor()
		require.ErrorContains(t, err, "incidents.close_after")
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	c, err := load(t, "history: {retention: 90d}", minimal...)
	require.NoError(t, err)
	p, err := c.Processor()
	require.NoError(t, err)
	require.Equal(t, 90*24*time.Hour, p.History.Retention)

	c, err = load(t, "history: {retention: 13m}", minimal...)
	require.NoError(t, err)
	_, err = c.Processor()
	require.ErrorContains(t, err, "must be at least 1d, not 13m0s; m means minutes")
}

func TestProcessorRefusesWrongSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		env     []string
		want    string
	}{
		"no database": {"public_url: http://x", nil, "database.url (IRIS_DATABASE_URL): is missing"},
		"public url": {"public_url: iris.example.com", minimal,
			`line 1 (public_url): "iris.example.com" must be a URL`},
		"public url query": {"public_url: http://x/?a=1", minimal, "must not contain"},
		"secret key": {"secret_key: c2hvcnQ=", minimal,
			"line 1 (secret_key): must have at least 32 characters"},
		"gossip key": {"", append([]string{"IRIS_GOSSIP_KEY=%"}, minimal...),
			"IRIS_GOSSIP_KEY: must be 32 bytes"},
		"gossip addr": {"gossip: {addr: here}", minimal, `"here" must be host:port`},
		"advertise":   {"gossip: {advertise: ':1'}", minimal, "has no host"},
		"level":       {"log: {level: wran}", minimal, "did you mean warn?"},
		"migrate":     {"migrate: always", minimal, "use never, auto"},
		"smtp incomplete": {"", append([]string{"IRIS_SMTP_ADDR=mail:25"}, minimal...),
			"smtp[0].from (IRIS_SMTP_FROM): is missing"},
		"smtp address": {"smtp: {addr: mail, from: a@b.example}", minimal,
			`line 1 (smtp.addr): "mail" must be host:port`},
		"smtp from": {"smtp: {addr: 'mail:25', from: nobody}", minimal, "is not an e-mail address"},
		"smtp tls": {"smtp: {addr: 'mail:25', from: a@b.example, tls: ssl}", minimal,
			"use tls, starttls"},
		"smtp no ca file": {"smtp: {addr: 'mail:25', from: a@b.example, ca_file: /nowhere}", minimal,
			"no such file"},
		"smtp ca file of no use": {"smtp: {addr: 'mail:25', from: a@b.example, tls: none, ca_file: /dev/null}",
			minimal, "contains no certificate in PEM"},
		"smtp half a log-in": {"smtp: {addr: 'mail:25', from: a@b.example, username: u}", minimal, "go together"},
		"password in clear": {"smtp: {addr: 'mail:25', from: a@b.example, username: u, password: p, tls: none}",
			minimal, "unencrypted"},
		"two of one name":  {"slack: [{token: a}, {token: b, account: main}]", minimal, `"main" is used twice`},
		"slash in account": {"slack: [{token: a, account: a/b}]", minimal, "slashes"},
		"slack token":      {"slack: {token: abc}", minimal, "(slack.token): is not a token of Slack"},
		"twilio account": {"twilio: {account_sid: AC1, auth_token: t, from: '+1'}", minimal,
			"(twilio.account_sid): is not an account SID"},
		"twilio key": {"twilio: {account_sid: AC1, key_sid: AC1, key_secret: t, from: '+1'}", minimal,
			"(twilio.key_sid): is not a key SID"},
		"twilio incomplete": {"twilio: {account_sid: AC1}", minimal, "auth_token"},
		"twilio mode": {"twilio: {account_sid: AC1, auth_token: t, from: '+1', modes: [email]}", minimal,
			"use sms, call"},
		"webhook secret": {"webhook: {secrets: [abc]}", minimal, "whsec_"},
		"webhook no secret": {"webhook: {allow_private: true}", minimal,
			"webhook[0].secrets[0] (IRIS_WEBHOOK_SECRET): is missing"},
		"limit mode": {"limits: {modes: {fax: {rate: 1/s}}}", minimal, `"fax" is not a mode`},
		"limit account": {"limits: {accounts: {twilio/other: {rate: 1/s}}}", minimal,
			"is not a configured account; known: none"},
		"limit without rate": {"limits: {applications: {a: {sms: {burst: 1}}}}", minimal, "rate is missing"},
		"dry run":            {"delivery: {dry_run: yes please}", minimal, "use render, store"},
		"long timeout":       {"slack: {token: a, timeout: 10m}", minimal, "at most 2m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(t, test.content, test.env...)
			require.NoError(t, err)
			_, err = c.Processor()
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAPIRefusesWrongSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"addr":    {"http: {addr: '16649'}", "must be host:port"},
		"network": {"http: {trusted_proxies: [10.0.0.1]}", "is not a network"},
		"ttl":     {"http: {session_ttl: -1s}", "must not be negative"},
		"second factor": {"auth: {second_factor: admin}",
			"\"admin\" is unknown; use optional, admins, everybody"},
		"mailbox":           {"http: {mailbox_url: there}", "must be a URL"},
		"mails without TLS": {"intake: {smtp: {addr: ':2525'}}", "addresses of integrations are secrets"},
		"mails half a key":  {"intake: {smtp: {addr: ':2525', tls_cert_file: /x}}", "belong together"},
		"mails no certificate": {"intake: {smtp: {addr: ':2525', tls_cert_file: /nowhere, tls_key_file: /nowhere}}",
			"no such file"},
		"mails address": {"intake: {smtp: {addr: here}}", `"here" must be host:port`},
		"mails size":    {"intake: {smtp: {addr: '127.0.0.1:2525', max_size: 1}}", "must be between 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load(t, test.content, minimal...)
			require.NoError(t, err)
			_, err = c.API()
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestVerificationSecretsAloneAreNoVendorAccounts(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", append([]string{"IRIS_SLACK_SIGNING_SECRET=s", "IRIS_TWILIO_AUTH_TOKEN=t"}, minimal...)...)
	require.NoError(t, err)
	p, err := c.Processor()
	require.NoError(t, err)
	require.Empty(t, p.Slack)
	require.Empty(t, p.Twilio)
	api, err := c.API()
	require.NoError(t, err)
	require.Equal(t, Secret("s"), api.Slack[0].SigningSecret)
	require.Equal(t, Secret("t"), api.Twilio[0].AuthToken)
}

func TestUnknownVariablesGiveWarnings(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", append([]string{"IRIS_SMTP_ADR=x", "IRIS_STATE_DIR=x", "IRIS_SERVICE_HOST=x",
		"IRIS_PORT_80_TCP=x"}, minimal...)...)
	require.NoError(t, err)
	require.Equal(t, []Problem{{"IRIS_SMTP_ADR",
		"unknown environment variable, ignored; did you mean IRIS_SMTP_ADDR?"}}, c.Warnings())
}

func TestFilesThatCannotBeConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"tabs":          {"http:\n\taddr: ':1'\n", "spaces, not with tabs"},
		"two documents": {"public_url: http://x\n---\nhttp: {addr: ':1'}\n", "more than one document"},
		"very long":     {"# " + strings.Repeat("x", 2<<20), "longer than 1024 KiB"},
		"a list":        {"- a\n- b\n", "must contain keys and values"},
		"twice":         {"public_url: http://x\npublic_url: http://y\n", "already defined at line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, test.content, minimal...)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestASecretGivenTwiceIsRefused(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", append([]string{"IRIS_DATABASE_URL_FILE=/somewhere"}, minimal...)...)
	require.EqualError(t, err, "IRIS_DATABASE_URL: both IRIS_DATABASE_URL and IRIS_DATABASE_URL_FILE are set; remove one")
	require.Empty(t, c.Warnings(), "both variables are known")
	_, err = c.API()
	require.NoError(t, err, "it is not missing, too")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", "IRIS_DATABASE_URL=postgres://u:hidden@h/d", "IRIS_SLACK_TOKEN=hidden",
		"IRIS_SECRET_KEY=hidden")
	require.NoError(t, err)
	encoded, err := json.Marshal(c.file)
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", c.file, c.file, c.file), string(encoded)} {
		require.NotContains(t, text, "hidden")
	}
	_, err = c.API()
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hidden")
}

func TestRates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"10/s": 10, "600/min": 10, "3600/h": 1, "0.5/s": 0.5, "90 / m": 1.5, "1/hour": 1.0 / 3600,
	} {
		got, err := ParseRate(text)
		require.NoError(t, err, text)
		require.InDelta(t, want, float64(got), 1e-9, text)
	}
	for _, text := range []string{"", "10", "/s", "0/s", "-1/s", "NaN/s", "Inf/s", "1/day", "1e9/s", "x/s"} {
		_, err := ParseRate(text)
		require.Error(t, err, text)
	}
}

func TestRateProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9.eE+-]{0,6}/?(s|min|h|x)?`).Draw(t, "text")
		r, err := ParseRate(text)
		if err == nil {
			require.Greater(t, float64(r), 0.0)
			require.False(t, math.IsInf(float64(r), 0))
		}
	})
}

func TestPushNeedsAServiceAccount(t *testing.T) {
	t.Parallel()
	for credentials, good := range map[string]bool{
		`{"type":"service_account","project_id":"p","private_key":"k"}`: true, `{"type":"authorized_user","project_id":"p"}`: false, `k`: false,
	} {
		c, err := load(t, "", "IRIS_DATABASE_URL="+databaseURL, "IRIS_PUSH_CREDENTIALS="+credentials)
		require.NoError(t, err)
		p, err := c.Processor()
		if good {
			require.NoError(t, err)
			require.Equal(t, "main", p.Push[0].Account.Account)
			continue
		}
		require.ErrorContains(t, err, "IRIS_PUSH_CREDENTIALS: must be the JSON of a service account")
		require.NotContains(t, err.Error(), credentials+" ")
	}
	c, err := load(t, "gmail_one_click: {enabled: true, key: short}\nwebhooks: [nagios]", "IRIS_DATABASE_URL="+
		databaseURL)
	require.NoError(t, err)
	_, err = c.API()
	require.ErrorContains(t, err, "gmail_one_click.key")
	require.ErrorContains(t, err, "webhooks[0]")
	c, err = load(t, "gmail_one_click: {enabled: true, key: a key that is long}\npublic_url: https://iris.example",
		"IRIS_DATABASE_URL="+databaseURL)
	require.NoError(t, err)
	a, err := c.API()
	require.NoError(t, err)
	require.Equal(t, "https://iris.example/api/v0/gmail-oneclick/relay", a.GmailOneClick.Endpoint)
}
