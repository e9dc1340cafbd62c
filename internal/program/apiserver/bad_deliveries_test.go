package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
)

// sourceRoute is a route that takes deliveries of a source, and how its refusals look.
type sourceRoute struct {
	name, path, authorization string
	good                      func(body string) string // adds the token to a JSON object, where the body has it
	field                     string                   // that the refusal of {} names; "" = the refusal names none
	refusal                   string                   // pagerduty, opsgenie or problem
	noToken                   int                      // the status without a known token
	wrong                     int                      // the status of a body with a wrong field
	limit                     int                      // bytes
}

// fields are the fields that the refusal of an empty object names, by type.
func fields() map[string]string {
	return map[string]string{"alertmanager": "alerts", "grafana": "state", "datadog": "title", "zabbix": "event_id",
		"uptime_kuma": "msg", "nagios": "host",
		"sentry": "data", "sns": "", "generic": "", "email": "", "opsgenie": "message", "pagerduty": "event_action"}
}

// sourceRoutes adds an integration of each type and returns the routes of all sources.
func sourceRoutes(s *intakeServer) (out []sourceRoute) {
	same := func(body string) string { return body }
	for _, kind := range slices.Sorted(maps.Keys(sources.All(recipes.Builtin()))) {
		c := intake.Content{Name: kind, Type: kind, DefaultPlan: "pager", RatePerMinute: 100_000}
		if kind == "sns" {
			c.Settings = json.RawMessage(`{"unsigned":true}`)
		}
		token := s.add(c)
		field, listed := fields()[kind]
		require.True(s, listed, "fields has no entry for %s: add the field that the refusal of {} names", kind)
		out = append(out, sourceRoute{kind, "/v1/hooks/" + kind, "Bearer " + token, same, field, "problem",
			401, 400, 16 << 20})
		switch kind {
		case "pagerduty":
			in := func(name string) func(string) string {
				return func(body string) string { return strings.Replace(body, "{", `{"`+name+`":"`+token+`",`, 1) }
			}
			out = append(out, sourceRoute{"events v2", "/v2/enqueue", "", in("routing_key"), "event_action",
				"pagerduty", 400, 400, 1 << 20},
				sourceRoute{"events v1", "/generic/2010-04-15/create_event.json", "", in("service_key"), "event_type",
					"pagerduty", 400, 400, 1 << 20})
		case "opsgenie":
			out = append(out, sourceRoute{"alerts", "/v2/alerts", "GenieKey " + token, same, "message", "opsgenie",
				401, 422, 16 << 20},
				sourceRoute{"notes", "/v2/alerts/x/notes", "GenieKey " + token, same, "note", "opsgenie", 401, 422,
					1 << 20},
				sourceRoute{"tags", "/v2/alerts/x/tags", "GenieKey " + token, same, "tags", "opsgenie", 401, 422,
					1 << 20})
		}
	}
	return out
}

// TestBadDeliveriesAreRefused sends what no sender should send to the routes of all sources.
func TestBadDeliveriesAreRefused(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	for _, route := range sourceRoutes(s) {
		deep := `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"
		for what, body := range map[string]string{"wrong JSON": `{"title":`, "rest": `{"title":"a"} x`, "deep": route.good(deep), "empty": "", "blank": " \n",
			"a text": `"a`, "lists": `[[]]`} {
			code, answer := s.raw(http.MethodPost, route, body)
			if route.name == "generic" || route.name == "sns" {
				require.Contains(t, []int{200, 400}, code, "%s, %s: %s", route.name, what, answer) // a text is an alert
				continue
			}
			want := 400
			if strings.TrimSpace(body) == "" && (route.name == "notes" || route.name == "tags") {
				want = 422 // these bodies may be empty
			}
			require.Equal(t, want, code, "%s, %s: %s", route.name, what, answer)
			s.refused(route, code, answer, "")
		}
		for what, body := range map[string]string{"no field": `{"x":1}`, "wrong types": `{"x":1,"alerts":7,"state":[],"title":{},"event_id":[],"msg":[],"host":[],
			"data":7,"message":{},"note":[],"tags":7,"event_action":7,"event_type":[],"payload":"x","details":[],"Type":[],"status":[]}`, "unknown action": `{"x":1,
			"event_action":"explode","event_type":"explode"}`} {
			code, answer := s.raw(http.MethodPost, route, route.good(body))
			if slices.Contains([]string{"generic", "sns"}, route.name) || what == "wrong types" && slices.Contains([]string{"alertmanager", "grafana"}, route.name) {
				require.Contains(t, []int{200, 400}, code, "%s, %s: %s", route.name, what,
					answer) // the rest of a group may be an alert
				continue
			}
			require.Equal(t, route.wrong, code, "%s, %s: %s", route.name, what, answer)
			s.refused(route, code, answer, route.field)
		}
		code, answer := s.raw(http.MethodPost, route, route.good(`{"x":"`+strings.Repeat("x", route.limit)+`"}`))
		require.Equal(t, 413, code, "%s: %.200s", route.name, answer)
		s.refused(route, code, answer, "")

		unknown := route
		unknown.authorization = strings.Split(route.authorization, " ")[0] + " 00000000-0000-4000-8000-000000000000"
		code, answer = s.raw(http.MethodPost, unknown,
			`{"routing_key":"no","service_key":"no","event_action":"trigger"}`)
		require.Equal(t, route.noToken, code, "%s: %s", route.name, answer)
		s.refused(route, code, answer, "")
	}
}

// TestStrangeDeliveriesDoNoHarm sends bodies that some routes accept and others refuse.
func TestStrangeDeliveriesDoNoHarm(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	routes := sourceRoutes(s)
	for _, route := range routes {
		for what, body := range map[string]string{"NUL": "{\"title\":\"a\x00\",\"message\":\"a\\u0000\",\"note\":\"\x00\",\"tags\":[\"\\u0000\"]}", "no UTF-8": "{\"title\":\"\xff\",\"message\":\"\xfe\",\"note\":\"\xff\"}",
			"surrogate": `{"title":"\ud800","message":"\udfff","note":"\ud800"}`, "number": `{"title":1e999,"message":1e999,"note":1e999}`, "null": `null`, "7": `7`, "a list": `[{},null,7]`,
			"NUL alone": "\x00", "a name": "{\"\\u0000\":{\"a\\u0000\":1},\"message\":\"m\",\"details\":{\"\\u0000\":\"x\"},\"labels\":{\"\\u0000\":\"x\"}}"} {
			code, answer := s.raw(http.MethodPost, route, route.good(body))
			require.Less(t, code, 500, "%s, %s: %s", route.name, what, answer)
			require.True(t, json.Valid([]byte(answer)), "%s, %s: %s", route.name, what, answer)
		}
		for _, method := range []string{http.MethodPatch, "BREW"} {
			code, answer := s.raw(method, route, "{}")
			require.Equal(t, 405, code, "%s %s: %s", method, route.name, answer)
		}
		xml := route
		xml.name = "application/xml"
		code, answer := s.raw(http.MethodPost, xml, route.good(`{"title":"a","message":"m","note":"n","tags":["t"]}`))
		require.Less(t, code, 500, "%s: %s", route.name, answer)
	}
	s.one(`with off as (update integrations set enabled = false returning 1) select count(*)::text from off`)
	for _, route := range routes {
		code, answer := s.raw(http.MethodPost, route, route.good(`{"title":"a","message":"m","note":"n","tags":["t"]}`))
		want := 403
		if route.refusal == "pagerduty" {
			want = 400
		}
		require.Equal(t, want, code, "%s: %s", route.name, answer)
		require.Contains(t, answer, "is switched off", route.name)
		s.refused(route, code, answer, "")
	}
}

// raw sends a body to a route. A route named application/xml has this content type.
func (s *intakeServer) raw(method string, route sourceRoute, body string) (int, string) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, route.path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if route.name == "application/xml" {
		r.Header.Set("Content-Type", route.name)
	}
	if route.authorization != "" {
		r.Header.Set("Authorization", route.authorization)
	}
	w := httptest.NewRecorder()
	s.a.parts.Load().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// refused checks the shape of a refusal, and that it names a field.
func (s *intakeServer) refused(route sourceRoute, code int, answer, field string) {
	s.Helper()
	var out map[string]any
	require.NoError(s, json.Unmarshal([]byte(answer), &out), answer)
	var reason string
	switch route.refusal {
	case "pagerduty":
		reasons, _ := out["errors"].([]any)
		require.Len(s, reasons, 1, answer)
		require.Equal(s, "invalid event", out["status"], answer)
		require.NotEmpty(s, out["message"], answer)
		reason = fmt.Sprint(reasons)
	case "opsgenie":
		require.Regexp(s, "^[0-9a-f-]{36}$", out["requestId"], answer)
		require.NotNil(s, out["took"], answer)
		reason = fmt.Sprint(out["message"])
		if field != "" {
			require.Contains(s, out["errors"], field, answer)
		}
	default:
		require.EqualValues(s, code, out["status"], answer)
		reason = fmt.Sprint(out["detail"])
	}
	require.NotEmpty(s, strings.Trim(reason, "[]"), answer)
	require.NotContains(s, reason, "<nil>", answer)
	if field != "" {
		require.Contains(s, reason, field, answer)
	}
}
