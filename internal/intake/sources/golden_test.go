package sources

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/golden"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// builtin are the recipes of the program. Reading them takes a while.
var builtin = recipes.Builtin()

// samples returns the payloads in testdata: TYPE-CASE.json, and mails: TYPE-CASE.eml. They have the form that
// Alertmanager 0.34, Grafana 12 and 8, Events API v2, Alert API v2, Datadog and Amazon SNS (2026), Sentry 26, Zabbix 7,
// Uptime Kuma 2.5, Nagios 4 and Icinga 2 send.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob("testdata/*-*.json")
	require.NoError(tb, err)
	mails, err := filepath.Glob("testdata/*-*.eml")
	require.NoError(tb, err)
	files = append(files, mails...)
	out := map[string][]byte{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(tb, err)
		out[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = body
	}
	return out
}

// TestSamples compares the events of each payload with a golden file. Run it with -update to rewrite the files.
func TestSamples(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, body := range samples(t) {
		kind, _, _ := strings.Cut(name, "-")
		seen[kind] = true
		decode := All(builtin)[kind]
		require.NotNil(t, decode, "testdata/%s: All in sources.go has no type %s", name, kind)
		events, err := decode(request(string(body)))
		require.NoError(t, err, name)
		for k := range events {
			require.True(t, json.Valid(events[k].Context) || events[k].Context == nil, name)
			events[k].Context = nil // the payload
		}
		got, err := json.MarshalIndent(events, "", "  ")
		require.NoError(t, err)
		golden.Equal(t, filepath.Join("testdata", name+".golden"), string(got)+"\n", name)
	}
	require.Equal(t, slices.Sorted(maps.Keys(All(nil))), slices.Sorted(maps.Keys(seen)), "each type of All in sources.go has a delivery testdata/TYPE-CASE.json")
}

func TestDecodersRefuseWhatCanNeverBeDecoded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decode      intake.Decoder
		body, field string
	}{
		{Alertmanager, `{}`, "alerts"}, {Grafana, `{}`, "state"}, {Opsgenie, `{"alias":"x"}`, "message"}, {Datadog,
			`{"title":"$EVENT_TITLE"}`, "title"},
		{Zabbix, `{"event_id":"{EVENT.ID}"}`, "event_id"}, {UptimeKuma, `{}`, "msg"}, {UptimeKuma,
			`{"heartbeat":{},"monitor":{}}`, "monitor.id"},
		{Nagios, `{"host":"$HOSTNAME$"}`, "host"}, {Sentry, `{"action":"triggered"}`, "data"}, {SNS(builtin),
			`{"Type":"Notification"}`, "Message"},
	} {
		_, err := c.decode(request(c.body))
		var f *fault.Error
		require.ErrorAs(t, err, &f, c.body)
		require.Equal(t, fault.Invalid, f.Kind, c.body)
		require.Equal(t, c.field, f.Field, c.body)
	}
	for kind, decode := range All(builtin) {
		for _, body := range []string{"", "{", "[7]"} {
			if (kind == "generic" || kind == "sns") && body == "{" {
				continue // pages as text
			}
			_, err := decode(request(body))
			require.True(t, fault.Is(err, fault.Invalid), "%s: %q", kind, body)
		}
	}
}

func TestWhatSaysNothingAboutAnAlertIsNoEvent(t *testing.T) {
	t.Parallel()
	for body, decode := range map[string]intake.Decoder{
		`{"event_id":"1","value":"1","update":"1","ack":"No"}`:                     Zabbix,
		`{"type":"FLAPPINGSTART","host":"a"}`:                                      Nagios,
		`{"heartbeat":{"status":3},"monitor":{"id":1}}`:                            UptimeKuma,
		`{"action":"assigned","data":{"issue":{"id":"1"}}}`:                        Sentry,
		`{"action":"created","data":{"installation":{"uuid":"a"}}}`:                Sentry,
		`{"Type":"UnsubscribeConfirmation"}`:                                       SNS(builtin),
		`{"AlarmName":"a","AlarmArn":"b","NewStateValue":"INSUFFICIENT_DATA"}`:     SNS(builtin),
		`{"Type":"SubscriptionConfirmation","SubscribeURL":"https://sns.example"}`: SNS(builtin),
	} {
		events, err := decode(request(body))
		require.NoError(t, err, body)
		require.Empty(t, events, body)
	}
}

// TestNothingResolvesOnDoubt checks that only the word of the sender resolves.
func TestNothingResolvesOnDoubt(t *testing.T) {
	t.Parallel()
	for body, decode := range map[string]intake.Decoder{
		`{"title":"a","transition":"Renotify","alert_type":"success"}`:      Datadog,
		`{"event_id":"1","value":"{EVENT.VALUE}"}`:                          Zabbix,
		`{"host":"a","state":"UP"}`:                                         Nagios,
		`{"heartbeat":{},"monitor":{"id":1}}`:                               UptimeKuma,
		`{"alerts":[{"status":"resolved"}],"status":"x"}`:                   Alertmanager,
		`{"AlarmName":"a","NewStateValue":"new"}`:                           SNS(builtin),
		`{"id":1,"status":"unknown"}`:                                       Generic(builtin),
		`{"message":"a","alias":"b","status":"closed"}`:                     Opsgenie,
		`{"groupKey":"a","status":"resolved","truncatedAlerts":"3"}`:        Grafana,
		`{"action":"open","data":{"metric_alert":{"id":1,"title":"a"}}}`:    Sentry,
		`{"event_action":"trigger","payload":{"summary":"a","status":"0"}}`: PagerDuty,
	} {
		require.Equal(t, intake.Firing, only(t, decode, body).Status, body)
	}
}
