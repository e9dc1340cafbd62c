package messages

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/users"
)

// contextsOfSources returns the context of an incident for each firing event of the samples of all sources.
func contextsOfSources(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../intake/sources/testdata/*-*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string][]byte{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		kind, _, _ := strings.Cut(name, "-")
		none := func(string) string { return "" }
		events, err := sources.All(recipes.Builtin())[kind](intake.Request{Header: none, Query: none, Body: body})
		require.NoError(t, err)
		for _, e := range events {
			if e.Status == intake.Firing {
				out[name], err = intake.ContextOf(e, "sender", cmp.Or(e.Severity, intake.Error))
				require.NoError(t, err)
			}
		}
	}
	return out
}

func (f *fixture) ofContext(context []byte, mode users.Mode) Content {
	f.t.Helper()
	data := f.incidents[5]
	data.Context, data.TitleVariable = context, ""
	f.incidents[5] = data
	q := f.request(mode)
	q.Template = ""
	return f.one(q)
}

func TestEverySourceReadsWellWithoutATemplate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, context := range contextsOfSources(t) {
		sms := f.ofContext(context, users.SMS)
		require.Empty(t, sms.Problem, name)
		require.LessOrEqual(t, utf8.RuneCountInString(sms.Body), 160, name)
		mail := f.ofContext(context, users.Email)
		require.Contains(t, mail.Body, "Severity: ", name)
		for _, raw := range []string{"payload.", "heartbeat.", "data.", "routing_key", "labels.", "event_id"} {
			require.NotContains(t, mail.Body, raw, "%s: names of the payload say nothing to people", name)
		}
		require.NotEmpty(t, f.ofContext(context, users.Slack).Body, name)
		require.NotEmpty(t, f.ofContext(context, users.Call).Subject, name)
	}
}

func TestAGroupOfThreeAlertsWithoutATemplate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	context := contextsOfSources(t)["alertmanager-three"]
	require.Equal(t, "[shop] critical: /var on db7 is 96 % full (and 2 more)\nReply \"27 ack\"\n"+ackURL,
		f.ofContext(context, users.SMS).Body)
	alerts := "- /var on db7 is 96 % full\n- /var on db8 is 91 % full\n- /var on db9 is 97 % full: resolved\n"
	require.True(t, strings.HasPrefix(f.ofContext(context, users.Email).Body, `/var on db7 is 96 % full (and 2 more)

Severity: critical
State: firing, 3 alerts
`+alerts+`cluster: eu1
team: db
runbook: https://wiki.example.com/disk
source: https://prometheus.example.com/graph?g0.expr=disk_used&g0.tab=1
silence: https://alertmanager.example.com/#/silences/new?filter=%7Balertname=%22DiskFull%22%2Ccluster=%22eu1%22%2Cteam=%22db%22%7D
Alertmanager: https://alertmanager.example.com
`), f.ofContext(context, users.Email).Body)
	slack := f.ofContext(context, users.Slack).Body
	require.True(t, strings.HasPrefix(slack,
		"*/var on db7 is 96 % full (and 2 more)*\n\n*Severity:* critical\n*State:* firing, 3 alerts\n"+alerts), slack)
	require.Contains(t, slack, "<https://wiki.example.com/disk|runbook>")
	require.Equal(t, "shop critical: /var on db7 is 96 % full (and 2 more). firing.",
		f.ofContext(context, users.Call).Body)
}

func TestAnEventWithoutATemplate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	context := contextsOfSources(t)["pagerduty-trigger"]
	require.True(t, strings.HasPrefix(f.ofContext(context, users.Email).Body, `Disk 95 % on db7

/var fills at 1 GB/h

Severity: critical
component: disk
source: db7
Runbook: https://wiki.example.net/disk
`), f.ofContext(context, users.Email).Body)
	require.Equal(t, "shop critical: Disk 95 % on db7. /var fills at 1 GB/h", f.ofContext(context, users.Call).Body)
}

func TestBuiltInTextsFillOneSegment(t *testing.T) {
	t.Parallel()
	f := setup(t)
	long := strings.Repeat("x", 300)
	require.Equal(t, 158, utf8.RuneCountInString(f.ofContext([]byte(`{"title":"`+long+`"}`), users.SMS).Body),
		"each bracket takes the room of two characters")
	require.Equal(t, 70, utf8.RuneCountInString(f.ofContext([]byte(`{"title":"ż`+long+`"}`), users.SMS).Body))
}

var documented = regexp.MustCompile("(?s)```jinja\n(.*?)```")

// TestDocumentedTemplates renders each example of docs/templates.md with the samples of every source.
func TestDocumentedTemplates(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/templates.md")
	require.NoError(t, err)
	examples := documented.FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		f := setup(t)
		f.template(users.Email, TemplateContent{Subject: "{{ iris.title }}", Body: example[1]})
		for name, context := range contextsOfSources(t) {
			data := f.incidents[5]
			data.Context, data.TitleVariable = context, ""
			f.incidents[5] = data
			got := f.one(f.request(users.Email))
			require.Empty(t, got.Problem, "%s: %s", name, example[1])
			require.NotContains(t, got.Body, "None", "%s: %s", name, example[1])
			require.Greater(t, len(got.Body), len("Acknowledge"), name)
		}
	}
}
