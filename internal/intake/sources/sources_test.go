package sources

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

func request(body string) intake.Request {
	none := func(string) string { return "" }
	return intake.Request{Header: none, Query: none, Body: []byte(body), At: time.Unix(1, 0)}
}

// only returns the only event of a body.
func only(t *testing.T, decode intake.Decoder, body string) intake.Event {
	t.Helper()
	events, err := decode(request(body))
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

const group1 = `{"version":"4","groupKey":"{}:{alertname=\"Disk\"}","truncatedAlerts":0,"status":"firing","receiver":"db","groupLabels":{"alertname":"Disk"},
"commonLabels":{"alertname":"Disk"},"commonAnnotations":{},"externalURL":"https://am.example","alerts":[
{"status":"resolved","labels":{"alertname":"Disk","instance":"db6","severity":"critical"},"annotations":{},"startsAt":"2026-03-04T02:11:30.5Z","endsAt":"2026-03-04T02:12:30Z","fingerprint":"a"},
{"status":"firing","labels":{"alertname":"Disk","instance":"db7","severity":"warning"},"annotations":{"summary":"/var 96% full","runbook_url":"https://wiki.example/disk"},"startsAt":"2026-03-04T02:11:30.5Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"https://p.example/graph","fingerprint":"b"}]}`

func TestAlertmanager(t *testing.T) {
	t.Parallel()
	e := only(t, Alertmanager, group1)
	require.Equal(t, intake.Firing, e.Status)
	require.Equal(t, `{}:{alertname="Disk"}/db`, e.Key)
	require.Equal(t, intake.Warning, e.Severity, "that of the firing alert")
	require.Len(t, e.Alerts, 2)
	require.True(t, e.Alerts[1].Firing)
	require.Equal(t, time.Date(2026, 3, 4, 2, 11, 30, 5e8, time.UTC), e.Alerts[1].StartsAt)
	require.True(t, e.Alerts[1].EndsAt.IsZero(), "the year 1 means that it is not over")
	over := strings.ReplaceAll(group1, `"status":"firing"`, `"status":"resolved"`)
	require.Equal(t, intake.Resolved, only(t, Alertmanager, over).Status)
	require.Equal(t, intake.Firing, only(t, Alertmanager, strings.Replace(over, `"truncatedAlerts":0`,
		`"truncatedAlerts":3`, 1)).Status, "cut alerts may fire")
}

func TestGrafana(t *testing.T) {
	t.Parallel()
	e := only(t, Grafana, strings.Replace(group1, `"version":"4"`, `"version":"1","orgId":7,"title":"[FIRING:1] Disk"`,
		1))
	require.Equal(t, `7/{}:{alertname="Disk"}/db`, e.Key)
	rule := `{"title":"[Alerting] Latency","ruleId":3,"ruleName":"Latency","ruleUrl":"https://g.example/r/3","state":"alerting","message":"slow","orgId":1,"tags":{"severity":"high"}}`
	e = only(t, Grafana, rule)
	require.Equal(t, "rule:1/3", e.Key)
	require.Equal(t, intake.Error, e.Severity)
	require.Equal(t, []intake.Link{{URL: "https://g.example/r/3", Text: "Rule"}}, e.Links)
	require.Equal(t, intake.Resolved, only(t, Grafana, strings.Replace(rule, `"alerting"`, `"ok"`, 1)).Status)
	events, err := Grafana(request(strings.Replace(rule, `"alerting"`, `"paused"`, 1)))
	require.NoError(t, err)
	require.Empty(t, events)
}

func TestPagerDuty(t *testing.T) {
	t.Parallel()
	e := only(t, PagerDuty, `{"routing_key":"x","event_action":"trigger","dedup_key":"disk/db7","payload":{"summary":"Disk 95 %","source":"db7","severity":"critical",
		"timestamp":"2026-11-22T09:13:57.000+0000","custom_details":{"used_pct":95}},"links":[{"href":"https://wiki.example.net/disk","text":"Runbook"},{"href":"nope"}],
		"images":[{"src":"https://i.example/1.png"}],"client":"probe","client_url":"https://probe.example"}`)
	require.Equal(t, "Disk 95 %", e.Title)
	require.Equal(t, map[string]string{"source": "db7"}, e.Labels)
	require.Equal(t, map[string]string{"used_pct": "95"}, e.Annotations)
	require.Equal(t, time.Date(2026, 11, 22, 9, 13, 57, 0, time.UTC), e.StartsAt)
	require.Equal(t, []intake.Link{{URL: "https://wiki.example.net/disk", Text: "Runbook"},
		{URL: "https://probe.example", Text: "probe"}}, e.Links)
	require.Len(t, e.Images, 1)
	e = only(t, PagerDuty, `{"event_action":"trigger","payload":{"summary":"s","custom_details":{"firing":[
		{"status":"firing","labels":{"team":"db","host":"a"},"fingerprint":"1"},{"status":"firing","labels":{"team":"db","host":"b"},"fingerprint":"2"}]}}}`)
	require.Equal(t, map[string]string{"team": "db"}, e.Labels, "those that all alerts have")
	require.Len(t, e.Alerts, 2)
	require.Equal(t, intake.Resolved, only(t, PagerDutyV1,
		`{"service_key":"x","event_type":"resolve","incident_key":"k","event_action":"","payload":null}`).Status)
	for _, c := range []struct {
		decode      intake.Decoder
		body, field string
	}{
		{PagerDuty, `{}`, "event_action"}, {PagerDuty, `{"event_action":"x"}`, "event_action"}, {PagerDuty,
			`{"event_action":"resolve"}`, "dedup_key"},
		{PagerDuty, `{"event_action":"trigger"}`, "payload.summary"}, {PagerDutyV1, `{"event_type":"trigger"}`,
			"description"},
		{PagerDuty, `{"event_action":"resolve","dedup_key":"` + strings.Repeat("k", 256) + `"}`, "dedup_key"},
	} {
		_, err := c.decode(request(c.body))
		var f *fault.Error
		require.ErrorAs(t, err, &f, c.body)
		require.Equal(t, c.field, f.Field, c.body)
	}
}

func TestGeneric(t *testing.T) {
	t.Parallel()
	e := only(t, Generic(builtin), `{"id":17,"title":"Backup failed","message":"exit 2","status":"firing","severity":"high","labels":{"team":"db"},"url":"https://ci.example/17"}`)
	require.Equal(t, "17", e.Key)
	require.Equal(t, "exit 2", e.Summary)
	require.Equal(t, intake.Error, e.Severity)
	require.Equal(t, intake.Resolved, only(t, Generic(builtin), `{"id":"job-17","status":"OK"}`).Status)
	require.Equal(t, only(t, Generic(builtin), `{"title":"a","host":"h"}`).Key,
		only(t, Generic(builtin), `{"host":"h","title":"a","x":1}`).Key)
	require.NotEqual(t, only(t, Generic(builtin), `{"title":"a","host":"h"}`).Key,
		only(t, Generic(builtin), `{"title":"a","host":"g"}`).Key)
	e = only(t, Generic(builtin), "Disk full\non db7")
	require.Equal(t, "Disk full", e.Title)
	require.Equal(t, "on db7", e.Summary)
	events, err := Generic(builtin)(request(`[{"id":1},7,{"id":2}]`))
	require.NoError(t, err)
	require.Len(t, events, 2)
	form := request("id=1&title=x+y")
	form.Header = func(string) string { return "application/x-www-form-urlencoded" }
	events, err = Generic(builtin)(form)
	require.NoError(t, err)
	require.Equal(t, "x y", events[0].Title)
	form.Body = []byte(`{"id": "job-17", "title": "x+y"}`)
	events, err = Generic(builtin)(form)
	require.NoError(t, err)
	require.Equal(t, "x+y", events[0].Title, "curl calls JSON a form")
	require.Equal(t, "job-17", events[0].Key)
	for _, wrong := range []string{"", " ", "[]", "[1]", "[" + strings.Repeat(`{},`, maxEvents) + "{}]"} {
		_, err := Generic(builtin)(request(wrong))
		require.True(t, fault.Is(err, fault.Invalid), wrong)
	}
	for broken, says := range map[string]bool{"{": false, "[prod] disk full": false, "{{x}} is down": false, "{\"title\":\"a\nb\"}": true, `[{"title":1`: true} {
		e := only(t, Generic(builtin), broken)
		title, _, _ := strings.Cut(broken, "\n")
		require.Equal(t, title, e.Title, "what is not JSON is a text")
		require.Equal(t, says, e.FailureText() != "", broken)
	}
}

// swollen returns an object with n members of a few bytes in front of its own, at the top, in its labels and in its
// first alert.
func swollen(body []byte, n int) []byte {
	var many strings.Builder
	for i := range n {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i%10)
	}
	for _, at := range []string{`"alerts":[{`, `"labels":{`, `"payload":{`, `{`} {
		if begin := strings.Index(string(body), at); begin == 0 || begin > 0 && at != "{" {
			begin += len(at)
			body = slices.Concat(body[:begin], []byte(many.String()), body[begin:])
		}
	}
	return body
}

// decodeDeadline is far above what any body of the largest size needs. A decoder whose time is not linear in the size
// exceeds it.
const decodeDeadline = 20 * time.Second

// FuzzDecoders checks what the packages behind the decoders rely on, for every body, and that no body keeps a decoder
// busy.
func FuzzDecoders(f *testing.F) {
	for _, s := range []string{group1, `{"state":"ok"}`, `{"alerts":[null],"labels":7}`, `[{"title":"a"}]`, `{"Message":"{\"AlarmName\":\"a\\u0000\"}"}`} {
		f.Add([]byte(s), 0)
	}
	for _, body := range samples(f) {
		f.Add(body, 0)
		f.Add(body, 5000)
	}
	f.Fuzz(func(t *testing.T, body []byte, members int) {
		body = swollen(body, max(0, min(members, 50_000)))
		all := All(builtin)
		all["v1"] = PagerDutyV1
		for name, decode := range all {
			deadline := time.AfterFunc(decodeDeadline,
				func() { panic(name + " is still decoding " + humanize.Shorten(string(body), 2000)) })
			events, err := decode(request(string(body)))
			for _, e := range events[:min(len(events), 20)] {
				if context, err := intake.ContextOf(e, "i", e.Severity); err == nil {
					require.LessOrEqual(t, incidents.JSONSize(context), incidents.MaxContext, name)
				}
			}
			deadline.Stop()
			if err != nil {
				require.Equal(t, fault.Invalid, fault.KindOf(err), "%s: a sender's mistake is never ours", name)
			}
			for _, e := range events {
				require.LessOrEqual(t, len(e.Key), intake.MaxKey, name)
				require.Contains(t, []intake.Status{intake.Firing, intake.Acknowledged, intake.Resolved}, e.Status,
					name)
				require.True(t, len(e.Context) == 0 || json.Valid(e.Context), name)
				for _, l := range e.Links {
					require.True(t, absolute(l.URL), "%s: %s", name, l.URL)
				}
				for _, i := range e.Images {
					require.True(t, absolute(i.URL) && (i.Link == "" || absolute(i.Link)), name)
				}
				for label, v := range e.Labels {
					require.NotContains(t, v, "\x00", "%s: %s", name, label)
				}
			}
		}
	})
}

// PagerDuty counts characters. What is too long to be stored is hashed, alike for the trigger and the resolve.
func TestKeysOfPagerDutyAreLimitedInCharacters(t *testing.T) {
	t.Parallel()
	decode := func(action, key string) (string, error) {
		body := `{"event_action":"` + action + `","dedup_key":"` + key +
			`","payload":{"summary":"s","source":"h","severity":"error"}}`
		events, err := PagerDuty(intake.Request{Body: []byte(body)})
		if err != nil {
			return "", err
		}
		return events[0].Key, nil
	}
	for _, length := range []int{1, 85, 86, 255} {
		key := strings.Repeat("あ", length)
		trigger, err := decode("trigger", key)
		require.NoError(t, err, length)
		require.LessOrEqual(t, len(trigger), intake.MaxKey)
		require.Equal(t, length <= 85, trigger == key, length)
		resolve, err := decode("resolve", key)
		require.NoError(t, err)
		require.Equal(t, trigger, resolve)
		answered, err := decode("resolve", trigger)
		require.NoError(t, err)
		require.Equal(t, trigger, answered, "the answer's key can be sent too")
	}
	_, err := decode("trigger", strings.Repeat("あ", 256))
	require.ErrorContains(t, err, "dedup_key has more than 255 characters")
}

// The largest body has 16 MiB. A decoder needs time in proportion to the size.
func BenchmarkDecoders(b *testing.B) {
	for kind, sample := range map[string]string{
		"generic": `{"title":"a","labels":{"a":"b"}}`, "alertmanager": group1, "pagerduty": `{"event_action":"trigger","dedup_key":"k","payload":{"summary":"s","source":"h","severity":"error"}}`,
		"opsgenie": `{"message":"m"}`, "sns": `{"Message":"m"}`, "zabbix": `{"event_id":"1"}`,
	} {
		for _, size := range []int{1, 16} {
			body := swollen([]byte(sample), size*70_000/max(1, strings.Count(sample, "{")/2))
			b.Run(fmt.Sprintf("%s/%dMiB", kind, size), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					events, err := All(builtin)[kind](request(string(intake.Bounded(body))))
					if err != nil {
						b.Fatal(err)
					}
					for _, e := range events {
						if _, err := intake.ContextOf(e, "i", e.Severity); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
