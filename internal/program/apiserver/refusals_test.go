package apiserver

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// refusals returns the counter of refused deliveries, over all types and reasons.
func (s *intakeServer) refusals() (n float64) {
	s.Helper()
	families, err := s.a.reg.Gather()
	require.NoError(s, err)
	for _, f := range families {
		if f.GetName() == "iris_intake_refused_total" {
			for _, m := range f.GetMetric() {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// TestEveryRefusalIsCountedAndShown walks all doors of intake: whatever one refuses is counted once, and shown on its
// integration if the sender names one. Both and the log line come from one function.
func TestEveryRefusalIsCountedAndShown(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	routes := sourceRoutes(s)
	beats := s.add(intake.Content{Name: "beats", Type: "heartbeat", DefaultPlan: "pager"})
	require.NoError(t, s.senders.AddHeartbeat(t.Context(), "beats",
		heartbeats.Content{Name: "default", Every: time.Minute}, ""))
	routes = append(routes, sourceRoute{name: "ping", path: "/v1/hooks/heartbeat/" + beats + "/unknown"})
	owner := map[string]string{"events v2": "pagerduty", "events v1": "pagerduty", "alerts": "opsgenie",
		"notes": "opsgenie", "tags": "opsgenie", "ping": "beats"}
	want := map[string]int64{}
	check := func(route sourceRoute, what, body string, known bool) {
		t.Helper()
		before := s.refusals()
		method := http.MethodPost
		if what == "wrong method" {
			method = http.MethodPatch
		}
		code, answer := s.raw(method, route, body)
		require.GreaterOrEqual(t, code, 400, "%s, %s: %s", route.name, what, answer)
		require.InDelta(t, before+1, s.refusals(), 0, "%s, %s: %s", route.name, what, answer)
		name := route.name
		if owner[name] != "" {
			name = owner[name]
		}
		if known {
			want[name]++
		}
	}
	for _, route := range routes {
		check(route, "wrong method", "",
			route.refusal != "pagerduty") // whose token is in the body, which is not read then
		wrong := route
		wrong.authorization = "Bearer wrong"
		if route.name == "ping" {
			check(route, "unknown name", "", true)
			wrong.path = "/v1/hooks/heartbeat/wrong"
			check(wrong, "unknown token", "", false)
			continue
		}
		check(wrong, "unknown token", `{"routing_key":"wrong","service_key":"wrong","event_action":"trigger"}`, false)
		if route.refusal == "pagerduty" {
			check(route, "no token", `{"event_action":"trigger"}`, false)
			check(route, "no JSON", "nonsense", false)
			check(route, "broken JSON", route.good(`{"event_action":`), true)
			check(route, "no action", route.good(`{"x":1}`), true)
			continue
		}
		if route.name == "generic" || route.name == "email" || route.name == "sns" {
			check(route, "empty", "", true)
			continue
		}
		check(route, "broken JSON", `{"a":`, true)
	}
	for name, n := range want {
		require.Eventually(t, func() bool {
			i, _ := s.shown(name)
			return i.Activity.Refused == n && i.Activity.LastRefusal != ""
		}, servertest.Patience, 20*time.Millisecond, "%s: %d refusals are shown", name, n)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// utf16 returns Latin-1 text as UTF-16, little-endian with a byte order mark.
func utf16(text string) string {
	out := "\xff\xfe"
	for _, c := range text {
		out += string([]byte{byte(c), byte(c >> 8)})
	}
	return out
}

// deliver posts a body with headers and returns the status and the answer.
func (s *intakeServer) deliver(path, body string, headers ...string) (int, string) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodPost, path, strings.NewReader(body))
	for k := 0; k < len(headers); k += 2 {
		r.Header.Set(headers[k], headers[k+1])
	}
	w := httptest.NewRecorder()
	s.a.parts.Load().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// The doors whose token is in the body, and mails, decode as the others do.
func TestEveryDoorDecodesItsBody(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	pd := s.add(intake.Content{Name: "pd", Type: "pagerduty", DefaultPlan: "pager", RatePerMinute: 6000})
	genie := "GenieKey " + s.add(intake.Content{Name: "og", Type: "opsgenie", DefaultPlan: "pager",
		RatePerMinute: 6000})
	mails := "/v1/hooks/email/" + s.add(intake.Content{Name: "mails", Type: "email", DefaultPlan: "pager",
		RatePerMinute: 6000})
	v2 := `{"routing_key":"` + pd + `","event_action":"trigger","payload":{"summary":"a é","source":"x","severity":"error"}}`
	v1 := `{"service_key":"` + pd + `","event_type":"trigger","description":"a é"}`
	alert, mail := `{"message":"a é"}`, "From: a@b\nSubject: a é\n\nb é"
	latin := strings.NewReplacer("é", "\xe9")
	typed := "From: a@b\nSubject: =?iso-8859-1?q?a_=E9?=\nContent-Type: text/plain; charset=iso-8859-1\n\nb \xe9"
	for name, c := range map[string]struct {
		path, body string
		headers    []string
		status     int
	}{
		"events v2, gzip":   {"/v2/enqueue", zipped(t, v2), []string{"Content-Encoding", "gzip"}, 202},
		"events v2, BOM":    {"/v2/enqueue", "\xef\xbb\xbf" + v2, nil, 202},
		"events v2, UTF-16": {"/v2/enqueue", utf16(v2), nil, 202},
		"events v2, Latin-1": {"/v2/enqueue", latin.Replace(v2),
			[]string{"Content-Type", "application/json; charset=iso-8859-1"}, 202},
		"events v1, gzip": {"/generic/2010-04-15/create_event.json", zipped(t, v1),
			[]string{"Content-Encoding", "gzip"}, 200},
		"alerts, gzip": {"/v2/alerts", zipped(t, alert),
			[]string{"Authorization", genie, "Content-Encoding", "gzip"}, 202},
		"alerts, Latin-1": {"/v2/alerts", latin.Replace(alert),
			[]string{"Authorization", genie, "Content-Type", "application/json; charset=iso-8859-1"}, 202},
		"mail, Latin-1 of the mail": {mails, typed, []string{"Content-Type", "message/rfc822"}, 200},
		"mail, Latin-1 twice": {mails, typed, []string{"Content-Type", "message/rfc822; charset=iso-8859-1"},
			200},
		"mail, Latin-1": {mails, latin.Replace(mail),
			[]string{"Content-Type", "message/rfc822; charset=iso-8859-1"}, 200},
		"mail, UTF-16": {mails, utf16(mail), nil, 200},
		"mail, UTF-16 twice": {mails,
			utf16("From: a@b\nSubject: a é\nContent-Type: text/plain; charset=utf-16\n\nb é"), []string{"Content-Type",
				"message/rfc822; charset=utf-16"}, 200},
		"mail, gzip": {mails, zipped(t, mail), []string{"Content-Encoding", "gzip"}, 200},
	} {
		code, answer := s.deliver(c.path, c.body, c.headers...)
		require.Equal(t, c.status, code, "%s: %s", name, answer)
		column := `coalesce(context->>'subject', context->'payload'->>'summary', context->>'message', context->>'description')`
		require.Equal(t, "a é", s.one(`select `+column+` from incident_contexts order by incident_id desc limit 1`),
			name)
		if c.path == mails {
			require.Equal(t, "b é", s.one(`select context->>'body' from incident_contexts order by incident_id desc limit 1`), name)
		}
		s.exec(`update incidents set resolved = true, active = false`)
	}
	code, answer := s.deliver("/v2/enqueue", zipped(t, `{"x":"`+strings.Repeat("x", 1<<20)+`"}`), "Content-Encoding",
		"gzip")
	require.Equal(t, http.StatusRequestEntityTooLarge, code, answer)
	code, answer = s.deliver("/v2/enqueue", "\x1f\x8b broken", "Content-Encoding", "gzip")
	require.Equal(t, http.StatusBadRequest, code, answer)
	require.Contains(t, answer, "not valid gzip")
}

// The signature of a delivery covers the bytes that were sent, and not what they unpack to.
func TestASignatureCoversThePackedBody(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "signed", Type: "grafana", DefaultPlan: "pager"})
	of, _ := s.shown("signed")
	require.NoError(t, s.records.SetSecrets(t.Context(), of, []string{"secret"}, "ann"))
	body := zipped(t, alertmanagerGroup)
	for signed, want := range map[string]int{body: 200, alertmanagerGroup: 401} {
		mac := hmac.New(sha256.New, []byte("secret"))
		_, _ = mac.Write([]byte(signed))
		code, answer := s.deliver("/v1/hooks/grafana/"+token, body, "Content-Encoding", "gzip",
			"X-Grafana-Alerting-Signature", hex.EncodeToString(mac.Sum(nil)))
		require.Equal(t, want, code, answer)
	}
	require.Equal(t, "1", s.one(`select count(*)::text from incidents`))
}
