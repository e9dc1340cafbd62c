package apiserver

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	pgintake "github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
	"github.com/iris-oncall/iris/internal/users"
)

// intakeServer is an iris-api with the plans "pager" and "night" and the application "demo".
type intakeServer struct {
	*testing.T
	a       *API
	o       *operator.Operator
	senders *operator.Senders
	records *pgintake.Integrations
}

// shown returns an integration and its latest payloads.
func (s *intakeServer) shown(name string) (intake.Integration, []intake.Payload) {
	s.Helper()
	i, err := s.records.ByName(s.Context(), name)
	require.NoError(s, err)
	payloads, err := s.records.Payloads(s.Context(), i.ID)
	require.NoError(s, err)
	return i, payloads
}

func newIntake(t *testing.T) *intakeServer {
	t.Helper()
	a, err := New(config.API{Common: servertest.Common(pgtest.URL(t)),
		HTTP: config.HTTP{Addr: "127.0.0.1:0", SessionTTL: time.Hour}},
		server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	return prepared(t, a)
}

// prepared runs an iris-api and makes its plans and its application.
func prepared(t *testing.T, a *API) *intakeServer {
	t.Helper()
	servertest.Background(t, a.Run)
	require.Eventually(t, func() bool { return a.parts.Load() != nil }, servertest.Patience, 10*time.Millisecond)
	keys := pgtest.Installation(t, a.db).Keys
	s := &intakeServer{T: t, a: a, o: operator.New(a.db, keys), senders: operator.NewSenders(a.db, keys),
		records: pgintake.NewIntegrations(a.db, keys)}
	require.NoError(t, s.o.AddUser(t.Context(), operator.NewUser{Name: "ann",
		Contacts: map[users.Mode]string{users.Email: "ann@example.com"}}))
	_, err := s.o.AddApplication(t.Context(), operator.NewApplication{Name: "demo"})
	require.NoError(t, err)
	for _, name := range []string{"pager", "night"} {
		require.NoError(t, s.o.SavePlan(t.Context(), "ann", escalation.PlanContent{Name: name, Steps: []escalation.Step{{Notifications: []escalation.Notification{
			{Target: &escalation.Target{Role: "user", Name: "ann"}, Priority: "high", Wait: time.Minute},
		}}}}))
	}
	return s
}

// add adds an integration and returns its token.
func (s *intakeServer) add(c intake.Content) string {
	s.Helper()
	c.Enabled = true
	token, err := s.senders.Add(s.Context(), operator.NewIntegration{Content: c, Application: "demo"})
	require.NoError(s, err)
	return token
}

// send posts a body and returns the status and the answer.
func (s *intakeServer) send(path, authorization, body string) (int, map[string]any) {
	s.Helper()
	return s.call(http.MethodPost, path, authorization, body)
}

// call is send with any method.
func (s *intakeServer) call(method, path, authorization, body string) (int, map[string]any) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	s.a.parts.Load().ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Body)
	require.NoError(s, err)
	var out map[string]any
	require.NoError(s, json.Unmarshal(raw, &out), string(raw))
	return w.Code, out
}

// outcome returns the outcome and the incident of the only event of an answer.
func outcome(t *testing.T, answer map[string]any) string {
	t.Helper()
	events, _ := answer["events"].([]any)
	require.Len(t, events, 1, answer)
	e, _ := events[0].(map[string]any)
	return fmt.Sprint(e["outcome"], " ", e["incident"])
}

// one returns the only value of a query as text.
func (s *intakeServer) one(query string, args ...any) (out string) {
	s.Helper()
	require.NoError(s, s.a.db.Pool().QueryRow(s.Context(), query, args...).Scan(&out), query)
	return out
}

const alertmanagerGroup = `{"version":"4","groupKey":"{}:{alertname=\"Disk\"}","truncatedAlerts":0,"status":"firing","receiver":"db","groupLabels":{"alertname":"Disk"},
"commonLabels":{"alertname":"Disk","severity":"warning","team":"db"},"commonAnnotations":{"summary":"/var 96% full"},"externalURL":"https://am.example",
"alerts":[{"status":"firing","labels":{"alertname":"Disk","instance":"db7","severity":"warning","team":"db"},"annotations":{"summary":"/var 96% full"},"startsAt":"2026-03-04T02:11:30.5Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"https://p.example/graph","fingerprint":"9c1f0a77be20d4e3"}]}`

func TestAlertmanagerIntegration(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "am", Type: "alertmanager", DefaultPlan: "pager",
		Rules: []intake.Rule{{Match: `team=~"db|storage"`, Plan: "night"}}})
	require.Regexp(t, "^iris_in_[0-9a-f]{40}$", token)
	for _, plan := range []string{"pager", "night"} {
		uses, err := pg.NewPlans(s.a.db).UsedBy(t.Context(), plan)
		require.NoError(t, err)
		require.Equal(t, []string{"integration am"}, uses)
	}

	code, answer := s.send("/v1/hooks/alertmanager", "Bearer "+token, alertmanagerGroup)
	require.Equal(t, http.StatusOK, code, answer)
	opened := outcome(t, answer)
	require.Contains(t, opened, "opened ")
	id := strings.TrimPrefix(opened, "opened ")
	require.Equal(t, "night", s.one(`select p.name from incidents i join plans p on p.id = i.plan_id where i.id = $1::text::bigint`, id), "the rule matches")
	require.Equal(t, "warning /var 96% full",
		s.one(`select severity || ' ' || (context->>'title') from incident_contexts where incident_id = $1::text::bigint`, id))

	_, answer = s.send("/v1/hooks/alertmanager/"+token, "", alertmanagerGroup)
	require.Equal(t, "updated "+id, outcome(t, answer), "a repetition")
	require.Equal(t, "1", s.one(`select count(*)::text from timeline_entries where incident_id = $1::text::bigint`,
		id), "brings nothing new")

	worse := strings.ReplaceAll(alertmanagerGroup, `"severity":"warning"`, `"severity":"critical"`)
	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, worse)
	require.Equal(t, "updated "+id, outcome(t, answer))
	require.Contains(t, s.one(`select text from timeline_entries where incident_id = $1::text::bigint and kind = 'updated'`, id), "the severity rose from warning to critical")

	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, alertmanagerGroup)
	require.Equal(t, "updated "+id, outcome(t, answer))
	require.Equal(t, "the severity fell from critical to warning; nobody is paged again",
		s.one(`select text from timeline_entries where incident_id = $1::text::bigint and kind = 'updated' order by id desc limit 1`, id))
	require.Equal(t, "warning warning", s.one(`select severity || ' ' || (context->>'severity') from incident_contexts where incident_id = $1::text::bigint`, id))

	over := strings.ReplaceAll(alertmanagerGroup, `"status":"firing"`, `"status":"resolved"`)
	cut := strings.ReplaceAll(over, `"truncatedAlerts":0`, `"truncatedAlerts":3`)
	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, cut)
	require.Equal(t, "updated "+id, outcome(t, answer), "an alert that max_alerts left out may fire")
	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, over)
	require.Equal(t, "resolved "+id, outcome(t, answer))
	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, over)
	require.Equal(t, "ignored <nil>", outcome(t, answer))
	_, answer = s.send("/v1/hooks/alertmanager", "Bearer "+token, cut)
	require.Equal(t, "recorded <nil>", outcome(t, answer), "no listed alert fires")

	for what, c := range map[string]struct {
		path, authorization, body string
		status                    int
		says                      string
	}{
		"no token":     {"/v1/hooks/alertmanager", "", alertmanagerGroup, 401, "no integration has this token"},
		"wrong token":  {"/v1/hooks/alertmanager", "Bearer x", alertmanagerGroup, 401, "no integration has this token"},
		"wrong type":   {"/v1/hooks/grafana", "Bearer " + token, alertmanagerGroup, 403, "has the type alertmanager"},
		"no JSON":      {"/v1/hooks/alertmanager", "Bearer " + token, "{", 400, "Invalid json"},
		"other JSON":   {"/v1/hooks/alertmanager", "Bearer " + token, `{"a":1}`, 400, "alerts is missing"},
		"unknown type": {"/v1/hooks/nope", "Bearer " + token, `{"a":1}`, 403, "has the type alertmanager"},
	} {
		code, answer = s.send(c.path, c.authorization, c.body)
		require.Equal(t, c.status, code, what)
		require.Contains(t, fmt.Sprint(answer), c.says, what)
	}

	require.Eventually(t, func() bool {
		i, payloads := s.shown("AM")
		return i.Activity.Accepted == 8 && i.Activity.Refused == 4 && i.Activity.LastRefusal != "" &&
			len(payloads) == 12 &&
			len(i.Tokens) == 1 && !i.Tokens[0].LastUsedAt.IsZero()
	}, servertest.Patience, 20*time.Millisecond, "the deliveries are recorded")
}

func TestPagerDutyIntegration(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	key := s.add(intake.Content{Name: "pd", Type: "pagerduty", DefaultPlan: "pager"})
	require.Regexp(t, "^[0-9a-f]{32}$", key)
	trigger := `{"routing_key":"` + key + `","event_action":"trigger","dedup_key":"disk/db7","payload":{"summary":"Disk 95 % on db7","source":"db7","severity":"critical","timestamp":"2026-11-22T09:13:57.000+0000"}}`
	code, answer := s.send("/v2/enqueue", "", trigger)
	require.Equal(t, http.StatusAccepted, code, answer)
	require.Equal(t, map[string]any{"status": "success", "message": "Event processed", "dedup_key": "disk/db7"}, answer)
	require.Equal(t, "critical true", s.one(`select c.severity || ' ' || i.active from incidents i join incident_contexts c on c.incident_id = i.id`))
	require.NotContains(t, s.one(`select context::text from incident_contexts`), key, "the token is not stored")

	code, _ = s.send("/v2/enqueue", "", `{"routing_key":"`+key+`","event_action":"acknowledge","dedup_key":"disk/db7"}`)
	require.Equal(t, http.StatusAccepted, code)
	require.Equal(t, "false true", s.one(`select active || ' ' || source_acknowledged from incidents`))
	code, answer = s.send("/v2/enqueue", "", `{"routing_key":"`+key+
		`","event_action":"resolve","dedup_key":"disk/db7"}`)
	require.Equal(t, http.StatusAccepted, code)
	require.Equal(t, "disk/db7", answer["dedup_key"])
	require.Equal(t, "true", s.one(`select resolved::text from incidents`))
	_, answer = s.send("/v2/enqueue", "", strings.Replace(trigger, `"dedup_key":"disk/db7",`, "", 1))
	require.NotEmpty(t, answer["dedup_key"], "a trigger without a key gets one")

	code, answer = s.send("/generic/2010-04-15/create_event.json", "", `{"service_key":"`+key+
		`","event_type":"trigger","incident_key":"v1","description":"Disk 95 %","event_action":"","payload":null,"details":{"num_firing":1}}`)
	require.Equal(t, http.StatusOK, code, answer)
	require.Equal(t, "v1", answer["incident_key"])
	code, answer = s.send("/v2/change/enqueue", "", `{"routing_key":"`+key+
		`","payload":{"summary":"api 4.2 rolled out"}}`)
	require.Equal(t, http.StatusAccepted, code, answer)
	require.Equal(t, "3", s.one(`select count(*)::text from incidents`))

	code, answer = s.send("/v2/enqueue", "", `{"routing_key":"short","payload":{}}`)
	require.Equal(t, http.StatusBadRequest, code)
	require.Equal(t, []any{"routing_key is unknown"}, answer["errors"])
	code, answer = s.send("/v2/enqueue", "", `{"routing_key":"`+key+`","payload":{}}`)
	require.Equal(t, http.StatusBadRequest, code)
	require.Equal(t, []any{"event_action is missing"}, answer["errors"])
}

// Alertmanager up to 0.29 and Grafana name their alerts in a text. A new alert pages again after the plan is exhausted.
func TestANewAlertInATextStartsTheEscalationAgain(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	key := s.add(intake.Content{Name: "pd", Type: "pagerduty", DefaultPlan: "pager"})
	trigger := func(instances ...string) {
		var text string
		for _, i := range instances {
			text += `Labels:\n - alertname = Disk\n - instance = ` + i + `\nAnnotations:\nSource: https://p.example/\n`
		}
		code, answer := s.send("/v2/enqueue", "", `{"routing_key":"`+key+
			`","event_action":"trigger","dedup_key":"g","payload":{"summary":"Disk","source":"am","severity":"error","custom_details":{"firing":"`+text+`"}}}`)
		require.Equal(t, http.StatusAccepted, code, answer)
	}
	state := func() string {
		return s.one(`select i.active || ' ' || (select string_agg(a.labels->>'instance', ' ' order by a.labels->>'instance') from incident_alerts a) from incidents i`)
	}
	trigger("db7")
	require.Equal(t, "true db7", state())
	s.exec(`update incidents set active = false, due_at = null, exhausted_at = clock_timestamp() - interval '10 minutes'`)
	trigger("db7")
	require.Equal(t, "false db7", state(), "no news")
	trigger("db7", "db8")
	require.Equal(t, "true db7 db8", state())
}

func TestRateOfAnIntegration(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "slow", Type: "generic", DefaultPlan: "pager", RatePerMinute: 1})
	code := http.StatusOK
	for range 25 {
		if code, _ = s.send("/v1/hooks/generic/"+token, "", `{"id":"job-17","title":"Backup failed"}`); code != http.StatusOK {
			break
		}
	}
	require.Equal(t, http.StatusTooManyRequests, code)
	require.Equal(t, "1", s.one(`select count(*)::text from incidents`))
}

func TestOpsgenieIntegration(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	key := s.add(intake.Content{Name: "og", Type: "opsgenie", DefaultPlan: "pager"})
	require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", key)
	genie := "GenieKey " + key
	status := func(id any) map[string]any { return s.alert(genie, fmt.Sprint("requests/", id)) }
	code, answer := s.send("/v2/alerts", genie,
		`{"message":"Disk 95 % on db7","alias":"disk/db7","details":{"host":"db7"},"tags":["env:prod"],"priority":"P1"}`)
	require.Equal(t, http.StatusAccepted, code, answer)
	require.Equal(t, "Request will be processed", answer["result"])
	made := status(answer["requestId"])
	require.Equal(t, []any{true, "Create", "disk/db7"}, []any{made["isSuccess"], made["action"], made["alias"]})
	require.Equal(t, "critical prod", s.one(`select severity || ' ' || (context->'labels'->>'env') from incident_contexts`))
	_, _ = s.send("/v2/alerts", genie, `{"message":"Disk 96 % on db7","alias":"disk/db7","priority":"P1"}`)
	require.Equal(t, "1", s.one(`select count(*)::text from incidents`), "the alias is known")

	code, _ = s.send("/v2/alerts/disk%2Fdb7/acknowledge?identifierType=alias", genie, `{}`)
	require.Equal(t, http.StatusAccepted, code)
	require.Equal(t, "true", s.one(`select source_acknowledged::text from incidents`))
	code, answer = s.send("/v2/alerts/disk/db7/close?identifierType=alias", genie, `{"source":"probe"}`)
	require.Equal(t, http.StatusAccepted, code, "the slash need not be escaped")
	require.Equal(t, "Closed alert", status(answer["requestId"])["status"])
	require.Equal(t, "true", s.one(`select resolved::text from incidents`))
	code, answer = s.send("/v2/alerts/nope/close?identifierType=alias", genie, `{}`)
	require.Equal(t, http.StatusAccepted, code)
	require.Equal(t, "Alert does not exist", status(answer["requestId"])["status"])

	for what, c := range map[string]struct {
		path, key, body string
		status          int
	}{
		"no message":     {"/v2/alerts", genie, `{"alias":"x"}`, 422},
		"no JSON":        {"/v2/alerts", genie, `{`, 400},
		"wrong key":      {"/v2/alerts", "GenieKey x", `{"message":"m"}`, 401},
		"unknown action": {"/v2/alerts/a/explode", genie, `{}`, 422},
	} {
		code, answer = s.send(c.path, c.key, c.body)
		require.Equal(t, c.status, code, what)
		require.NotEmpty(t, answer["message"], what)
		require.NotEmpty(t, answer["requestId"], what)
	}
}

// alert reads something below /v2/alerts/.
func (s *intakeServer) alert(genie, path string) map[string]any {
	s.Helper()
	code, answer := s.call(http.MethodGet, "/v2/alerts/"+path, genie, "")
	require.Equal(s, http.StatusOK, code, answer)
	data, ok := answer["data"].(map[string]any)
	require.True(s, ok, answer)
	return data
}

func TestOpsgenieActions(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	genie := "GenieKey " + s.add(intake.Content{Name: "og", Type: "opsgenie", DefaultPlan: "pager",
		RatePerMinute: 6000})
	status := func(want string, method, path, body string) {
		t.Helper()
		code, answer := s.call(method, "/v2/alerts"+path, genie, body)
		require.Equal(t, http.StatusAccepted, code, answer)
		data := s.alert(genie, fmt.Sprint("requests/", answer["requestId"]))
		require.Equal(t, want, data["status"])
		require.NotEmpty(t, data["action"])
	}
	status("Created alert", "POST", "", `{"message":"Disk","alias":"disk/db7","description":"95 %","tags":["env:prod"," old"],"details":{"host":"db7"},
		"responders":[{"type":"team","name":"night"}],"priority":"P3","note":"seen before","user":"probe"}`)
	require.Equal(t, "night", s.one(`select p.name from incidents i join plans p on p.id = i.plan_id`),
		"the responders name the plan")
	made := s.alert(genie, "disk%2Fdb7?identifierType=alias")
	id := fmt.Sprint(made["id"])
	require.Equal(t, made, s.alert(genie, id))
	require.Equal(t, made, s.alert(genie, fmt.Sprint(made["tinyId"], "?identifierType=tiny")))
	require.Equal(t, made, s.alert(genie, "disk/db7?identifierType=alias"), "the slash need not be escaped")
	for name, want := range map[string]any{"alias": "disk/db7", "message": "Disk", "status": "open", "acknowledged": false, "priority": "P3",
		"tags": []any{"env:prod", "old"}, "details": map[string]any{"host": "db7"}, "owner": "", "description": "95 %"} {
		require.Equal(t, want, made[name], name)
	}

	status("Added tags", "POST", "/disk%2Fdb7/tags?identifierType=alias", `{"tags":["team:db","env:prod"]}`)
	status("Removed tags", "DELETE", "/"+id+"/tags?tags=old,none", "")
	status("Added details", "POST", "/"+id+"/details", `{"details":{"disk":"sda"},"note":"from the rack"}`)
	status("Removed details", "DELETE", "/"+id+"/details?keys=host", "")
	status("Updated message", "PUT", "/"+id+"/message", `{"message":"Disk full"}`)
	status("Updated description", "PUT", "/"+id+"/description", `{}`)
	status("Updated priority", "PUT", "/"+id+"/priority", `{"priority":"P1"}`)
	status("Updated priority", "PUT", "/"+id+"/priority", `{"priority":"P1"}`)
	now := s.alert(genie, id)
	for name, want := range map[string]any{"message": "Disk full", "description": "", "priority": "P1", "tags": []any{"env:prod", "team:db"}, "details": map[string]any{"disk": "sda"}} {
		require.Equal(t, want, now[name], name)
	}
	require.Equal(t, "critical Disk full db sda",
		s.one(`select severity || ' ' || (context->>'title') || ' ' || (context->'labels'->>'team') || ' ' || (context->'labels'->>'disk') from incident_contexts`),
		"templates and matchers see the new facts")
	require.Equal(t, "tags added: team:db|tags removed: old|details set: disk|details removed: host|message changed|description changed|priority changed from P3 to P1",
		s.one(`select string_agg(text, '|' order by id) from timeline_entries where kind = 'updated'`))

	read := func(part, of string) (out []any) {
		t.Helper()
		code, answer := s.call(http.MethodGet, "/v2/alerts/"+part, genie, "")
		require.Equal(t, http.StatusOK, code, answer)
		for _, item := range answer["data"].([]any) {
			out = append(out, item.(map[string]any)[of])
		}
		return out
	}
	require.Equal(t, []any{map[string]any{"type": "team", "id": "night", "name": "night"}}, now["responders"],
		"clients need the id")
	require.Equal(t, []any{"from the rack", "probe: seen before"}, read(id+"/notes", "note"))
	require.Equal(t, []any{"probe: seen before"}, read("disk/db7/notes?identifierType=alias&order=asc&limit=1", "note"),
		"the slash need not be escaped")
	require.Contains(t, read(id+"/logs", "log"), "priority changed from P3 to P1")
	s.exec(`insert into messages (bucket, incident_id, application_id, recipient, user_id, target, class, mode)
		select i.bucket, i.id, i.application_id, 'user:' || u.id, u.id, u.name, 1, 'sms' from incidents i, users u where u.name = 'ann'`)
	require.Equal(t, []any{map[string]any{"id": "ann", "username": "ann"}}, read(id+"/recipients", "user"))

	status("Alert is not acknowledged", "POST", "/"+id+"/unacknowledge", "{}")
	status("Acknowledged alert", "POST", "/"+id+"/acknowledge", `{"note":"on it","user":"bo"}`)
	require.Equal(t, true, s.alert(genie, id)["acknowledged"])
	status("Unacknowledged alert", "POST", "/"+id+"/unacknowledge", "")
	require.Equal(t, "true", s.one(`select active::text from incidents`), "it escalates again")
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
	status("Snoozed alert", "POST", "/"+id+"/snooze", `{"endTime":"`+end+`","note":"vendor case"}`)
	require.Equal(t, []any{true, end}, []any{s.alert(genie, id)["snoozed"], s.alert(genie, id)["snoozedUntil"]})
	require.Equal(t, "false", s.one(`select active::text from incidents`))
	bare := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second).Format("2006-01-02T15:04:05")
	status("Snoozed alert", "POST", "/"+id+"/snooze", `{"endTime":"`+bare+`.000"}`)
	require.Equal(t, bare+"Z", s.alert(genie, id)["snoozedUntil"], "a time without zone is in UTC")
	for _, wrong := range []string{"2999", "2020"} {
		code, answer := s.send("/v2/alerts/"+id+"/snooze", genie, `{"endTime":"`+wrong+`-01-01T00:00:00Z"}`)
		require.Equal(t, http.StatusUnprocessableEntity, code,
			"a snooze has a longest time, and does not end in the past")
		require.Contains(t, answer["errors"], "endTime")
	}
	status("User does not exist", "POST", "/"+id+"/assign", `{"owner":{"username":"nobody@example.com"}}`)
	status("Assigned alert", "POST", "/"+id+"/assign", `{"owner":{"username":"ann@example.com"}}`)
	require.Equal(t, []any{"ann", true}, []any{s.alert(genie, id)["owner"], s.alert(genie, id)["acknowledged"]})
	require.Equal(t, "1", s.one(`select count(*)::text from added_pages`), "the owner is paged")
	status("Assigned alert", "POST", "/"+id+"/assign", `{"owner":{"username":"ann"}}`)
	status("Added responder", "POST", "/"+id+"/responders",
		`{"responder":{"type":"user","username":"ann@example.com"}}`)
	status("User does not exist", "POST", "/"+id+"/responders", `{"responder":{"type":"user","username":"nobody"}}`)
	status("Team does not exist", "POST", "/"+id+"/teams", `{"team":{"name":"none"}}`)
	require.Equal(t, "2", s.one(`select count(*)::text from added_pages`))
	status("Added note", "POST", "/"+id+"/notes", `{"note":"replaced"}`)
	require.Equal(t, "probe: seen before|from the rack|bo: on it|vendor case|replaced",
		s.one(`select string_agg(content, '|' order by id) from comments where source = 'integration og'`))

	status("Closed alert", "POST", "/"+fmt.Sprint(made["tinyId"])+"/close?identifierType=tiny", `{}`)
	status("Alert is already closed", "POST", "/"+id+"/close", `{}`)
	status("Created alert", "POST", "", `{"message":"Again","alias":"disk/db7"}`)
	status("Alert is already closed", "POST", "/"+id+"/close", `{}`)
	require.NotEqual(t, id, s.alert(genie, "disk%2Fdb7?identifierType=alias")["id"],
		"the alias is that of the open alert")
	status("Alert does not exist", "DELETE", "/none?identifierType=alias", "")
	status("Deleted alert", "DELETE", "/disk/db7?identifierType=alias", "")
	require.Equal(t, "2", s.one(`select count(*)::text from incidents where resolved`))

	status("Created alert", "POST", "", `{"message":"Without alias"}`)
	for query, want := range map[string]int{"": 3, "?query=status%3Aopen": 1, "?query=status:closed+AND+alias:disk/db7": 2, "?query=acknowledged:true": 1,
		"?query=tag:env:prod": 1, "?query=tag:env:prod+AND+tag:none": 0, "?query=priority%3DP1": 1, "?query=priority:P3": 2,
		"?query=createdAt%3E2020-01-01+AND+status:open": 1, "?query=createdAt%3C2020-01-01": 0} {
		require.EqualValues(t, want, s.alert(genie, "count"+query)["count"], query)
		_, answer := s.call(http.MethodGet, "/v2/alerts"+query, genie, "")
		require.Len(t, answer["data"], want, query)
	}
	_, answer := s.call(http.MethodGet, "/v2/alerts?limit=1", genie, "")
	newest, _ := answer["data"].([]any)[0].(map[string]any)
	require.Equal(t, newest["id"], newest["alias"], "without an alias, the alias is the id")
	require.Equal(t, newest, s.alert(genie, fmt.Sprint(newest["alias"], "?identifierType=alias")))

	other := "GenieKey " + s.add(intake.Content{Name: "other", Type: "opsgenie", DefaultPlan: "pager"})
	code, _ := s.call(http.MethodGet, "/v2/alerts/"+id, other, "")
	require.Equal(t, http.StatusNotFound, code, "an integration sees its own alerts")
	for what, c := range map[string]struct{ method, path, body, field string }{
		"no note": {"POST", "/x/notes", `{}`, "note"}, "no tags": {"POST", "/x/tags", `{"tags":7}`,
			"tags"}, "no parameter": {"DELETE", "/x/tags", "", "tags"},
		"no details": {"POST", "/x/details", `{"details":{"a":1}}`, "details"}, "no keys": {"DELETE", "/x/details", "",
			"keys"},
		"no owner": {"POST", "/x/assign", `{}`, "owner"}, "no time": {"POST", "/x/snooze", `{"endTime":"soon"}`,
			"endTime"}, "no responder": {"POST", "/x/responders", `{"responder":{"name":"x"}}`, "responder"},
		"no team": {"POST", "/x/teams", `{"team":"x"}`, "team"}, "no priority": {"PUT", "/x/priority",
			`{"priority":"P9"}`, "priority"},
		"no message": {"PUT", "/x/message", `{"message":" "}`, "message"}, "kind": {"POST",
			"/x/close?identifierType=name", `{}`, "identifierType"},
		"tiny": {"POST", "/x/close?identifierType=tiny", `{}`, "identifier"}, "action": {"PUT", "/x/explode", `{}`,
			"action"},
		"search": {"GET", "?query=who:ann", "", "query"}, "sort": {"GET", "?sort=owner", "", "sort"}, "limit": {"GET",
			"?limit=x", "", "limit"},
	} {
		code, answer := s.call(c.method, "/v2/alerts"+c.path, genie, c.body)
		require.Equal(t, http.StatusUnprocessableEntity, code, "%s %v", what, answer)
		require.Contains(t, answer["errors"], c.field, what)
	}
}

// TestSignedDeliveries checks that a secret of an integration requires its signature, and that nothing has the secret.
func TestSignedDeliveries(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "gr", Type: "grafana", DefaultPlan: "pager"})
	gr, _ := s.shown("gr")
	require.NoError(t, s.records.SetSecrets(t.Context(), gr, []string{"the old secret", "the new secret"}, "ann"))
	sign := func(secret string) (int, string) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(alertmanagerGroup))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/hooks/grafana/"+token,
			strings.NewReader(alertmanagerGroup))
		r.Header.Set("X-Grafana-Alerting-Signature", hex.EncodeToString(mac.Sum(nil)))
		w := httptest.NewRecorder()
		s.a.parts.Load().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for secret, want := range map[string]int{"the old secret": 200, "the new secret": 200, "a wrong secret": 401} {
		code, body := sign(secret)
		require.Equal(t, want, code, body)
		require.NotContains(t, body, secret, "the refusal has no secret")
	}
	require.NotContains(t, s.one(`select string_agg(encode(sealed, 'escape'), '') from integration_secrets`),
		"old secret", "secrets are encrypted")
	require.NoError(t, s.records.SetSecrets(t.Context(), gr, nil, "ann"))
	code, _ := sign("a wrong secret")
	require.Equal(t, 200, code, "without a secret, signatures are not checked")
	require.Eventually(t, func() bool {
		i, payloads := s.shown("gr")
		return i.Activity.Refused == 1 && strings.Contains(i.Activity.LastRefusal, "is wrong") && len(payloads) == 4
	}, servertest.Patience, 20*time.Millisecond, "the refusal is visible")

	token = s.add(intake.Content{Name: "topic", Type: "sns", DefaultPlan: "pager"})
	code, answer := s.send("/v1/hooks/sns/"+token, "",
		`{"Type":"Notification","Message":"m","Signature":"eA==","SigningCertURL":"https://evil.example/a.pem"}`)
	require.Equal(t, 401, code)
	require.Contains(t, fmt.Sprint(answer), "SigningCertURL")
	token = s.add(intake.Content{Name: "raw", Type: "sns", DefaultPlan: "pager",
		Settings: json.RawMessage(`{"unsigned":true}`)})
	code, answer = s.send("/v1/hooks/sns/"+token, "",
		`{"Type":"Notification","MessageId":"1","Message":"disk is full"}`)
	require.Equal(t, 200, code, answer)
	require.Contains(t, outcome(t, answer), "opened")
}

// TestSamplesOfOtherSources posts what the senders send: a firing alert twice, which is one incident, and its recovery.
func TestSamplesOfOtherSources(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	for _, c := range []struct{ kind, firing, over string }{
		{"datadog", "triggered", "recovered"}, {"sentry", "event", "resolved"}, {"uptime_kuma", "down",
			"up"}, {"zabbix", "problem", "recovery"},
	} {
		token := s.add(intake.Content{Name: c.kind, Type: c.kind, DefaultPlan: "pager"})
		for k, want := range []string{"opened", "updated", "resolved"} {
			body, err := os.ReadFile("../../intake/sources/testdata/" + c.kind + "-" +
				[]string{c.firing, c.firing, c.over}[k] + ".json")
			require.NoError(t, err)
			status, answer := s.send("/v1/hooks/"+c.kind+"/"+token, "", string(body))
			require.Equal(t, http.StatusOK, status, answer)
			require.Contains(t, outcome(t, answer), want+" ", c.kind)
		}
	}
}

// TestAFiringAfterItsResolveIsHeldAtEveryHook posts the recovery before the problem.
func TestAFiringAfterItsResolveIsHeldAtEveryHook(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	read := func(name string) string {
		body, err := os.ReadFile("../../intake/sources/testdata/" + name + ".json")
		require.NoError(t, err)
		return string(body)
	}
	for kind, c := range map[string]struct{ over, firing string }{
		"alertmanager": {strings.ReplaceAll(alertmanagerGroup, `"status":"firing"`, `"status":"resolved"`), alertmanagerGroup},
		"datadog":      {read("datadog-recovered"), read("datadog-triggered")},
		"generic":      {`{"id":"job","status":"resolved"}`, `{"id":"job","status":"firing"}`},
		"pagerduty": {`{"routing_key":"TOKEN","event_action":"resolve","dedup_key":"k"}`,
			`{"routing_key":"TOKEN","event_action":"trigger","dedup_key":"k","payload":{"summary":"s","source":"h","severity":"error"}}`},
		"sentry":      {read("sentry-resolved"), read("sentry-event")},
		"uptime_kuma": {read("uptime_kuma-up"), read("uptime_kuma-down")},
		"zabbix":      {read("zabbix-recovery"), read("zabbix-problem")},
	} {
		token := s.add(intake.Content{Name: kind, Type: kind, DefaultPlan: "pager"})
		path := "/v1/hooks/" + kind + "/" + token
		if kind == "pagerduty" {
			path = "/v2/enqueue"
		}
		for _, body := range []string{c.over, c.firing, c.firing} {
			status, answer := s.send(path, "", strings.ReplaceAll(body, "TOKEN", token))
			require.Less(t, status, 300, "%s: %v", kind, answer)
		}
		require.Equal(t, "1 true late firing", s.one(`select count(*) || ' ' || bool_and(i.resolved) || ' ' || min(t.reason)
			from incidents i join integrations g on g.id = i.integration_id left join incident_timers t on t.incident_id = i.id
			where g.name = $1`, kind), kind)
	}
}

// TestExpressionsOfAGenericIntegration posts a payload of another shape.
func TestExpressionsOfAGenericIntegration(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "ci", Type: "generic", DefaultPlan: "pager", Settings: json.RawMessage(
		`{"key": "{{ check.id }}", "title": "{{ check.name }} failed", "status": "{{ 'ok' if check.passed else 'firing' }}", "labels": {"team": "{{ check.team }}"}}`)})
	_, answer := s.send("/v1/hooks/generic/"+token, "", `{"check":{"id":7,"name":"build","passed":false,"team":"web"}}`)
	opened := outcome(t, answer)
	require.Contains(t, opened, "opened ")
	require.Equal(t, "build failed web",
		s.one(`select (context->>'title') || ' ' || (context->'labels'->>'team') from incident_contexts where incident_id = $1::text::bigint`,
			strings.TrimPrefix(opened, "opened ")))
	_, answer = s.send("/v1/hooks/generic/"+token, "", `{"check":{"id":7,"passed":true}}`)
	require.Contains(t, outcome(t, answer), "resolved ")
	_, err := s.senders.Add(t.Context(),
		operator.NewIntegration{Content: intake.Content{Name: "am", Type: "alertmanager",
			Settings: json.RawMessage(`{"key":"x"}`)}, Application: "demo"})
	require.ErrorContains(t, err, "have no settings")
}

func TestARuleGivesTheTargetsOfDynamicSteps(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	index := 0
	require.NoError(t, s.o.SavePlan(t.Context(), "ann", escalation.PlanContent{Name: "dynamic", Steps: []escalation.Step{{Notifications: []escalation.Notification{
		{DynamicIndex: &index, Priority: "high", Wait: time.Minute},
	}}}}))
	content := func(plan string, targets ...intake.Target) intake.Content {
		return intake.Content{Name: "ge", Type: intake.Generic, DefaultPlan: "pager",
			Rules: []intake.Rule{{Match: "team=db", Plan: plan, Targets: targets}}}
	}
	for want, wrong := range map[string]intake.Content{
		"rule 1: plan dynamic needs targets": content("dynamic"),
		"rule 1: plan dynamic needs 1 targets": content("dynamic",
			intake.Target{Role: "user", Name: "ann"}, intake.Target{Role: "user", Name: "ann"}),
		"rule 1: there is no target with the role user and the name x": content("dynamic",
			intake.Target{Role: "user", Name: "x"}),
		"rule 1: plan pager has no dynamic steps": content("pager",
			intake.Target{Role: "user", Name: "ann"}),
	} {
		_, err := s.senders.Add(t.Context(), operator.NewIntegration{Content: wrong, Application: "demo"})
		require.ErrorContains(t, err, want)
	}
	token := s.add(content("dynamic", intake.Target{Role: "user", Name: "ann"}))
	status, answer := s.send("/v1/hooks/generic/"+token, "", `{"title":"full","id":"1","labels":{"team":"db"}}`)
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, "dynamic user 0", s.one(`select p.name || ' ' || d.role || ' ' || d.dynamic_index from incidents i join plans p on p.id = i.plan_id
		join incident_dynamic_targets d on d.incident_id = i.id`))
}

// The source of a merged incident resolves it, so that it is resolved and pages nobody when the merge is undone.
func TestASourceResolvesAMergedIncident(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	stored := pgincidents.New(s.a.db)
	for kind, c := range map[string]struct{ path, fire, over, resolve string }{
		"pagerduty": {"/v2/enqueue", `{"routing_key":"T","event_action":"trigger","dedup_key":"k","payload":{"summary":"Disk","source":"db7","severity":"critical"}}`,
			"/v2/enqueue", `{"routing_key":"T","event_action":"resolve","dedup_key":"k"}`},
		"opsgenie": {"/v2/alerts", `{"message":"Disk","alias":"k"}`, "/v2/alerts/k/close?identifierType=alias", `{}`},
		"generic": {"/v1/hooks/generic/T", `{"id":"k","title":"Disk"}`, "/v1/hooks/generic/T",
			`{"id":"k","title":"Disk","status":"resolved"}`},
		"nagios": {"/v1/hooks/nagios/T", `{"host":"db7","state":"DOWN","type":"PROBLEM"}`, "/v1/hooks/nagios/T",
			`{"host":"db7","state":"UP","type":"RECOVERY"}`},
	} {
		token := s.add(intake.Content{Name: kind, Type: kind, DefaultPlan: "pager"})
		deliver := func(path, body string) {
			code, answer := s.send(strings.Replace(path, "T", token, 1), "GenieKey "+token,
				strings.Replace(body, `"T"`, `"`+token+`"`, 1))
			require.Less(t, code, 300, "%s: %v", kind, answer)
		}
		newest := func() incidents.ID {
			id, err := strconv.ParseInt(s.one(`select max(id)::text from incidents`), 10, 64)
			require.NoError(t, err)
			return incidents.ID(id)
		}
		states := func(id incidents.ID) (incidents.State, bool) {
			i, err := stored.Get(t.Context(), id)
			require.NoError(t, err)
			alerts, err := stored.Alerts(t.Context(), id, "", 10)
			require.NoError(t, err)
			require.Len(t, alerts, 1, kind)
			return i.State(), alerts[0].Firing
		}

		deliver(c.path, c.fire)
		first := newest()
		deliver(c.over, c.resolve)
		state, firing := states(first)
		require.Equal(t, incidents.StateResolved, state, kind)
		require.False(t, firing, "%s: the alert of a resolved incident", kind)

		deliver(c.path, c.fire)
		child := newest()
		require.NotEqual(t, first, child)
		_, _ = s.send("/v1/hooks/generic/"+
			s.add(intake.Content{Name: kind + " parent", Type: "generic",
				DefaultPlan: "pager"}), "", `{"title":"Storage"}`)
		parent := newest()
		by := incidents.Change{IDs: []incidents.ID{child}, Actor: "ann"}
		_, err := stored.Merge(t.Context(), by, parent, "")
		require.NoError(t, err)
		deliver(c.over, c.resolve)
		state, firing = states(child)
		require.Equal(t, incidents.StateMerged, state, kind)
		require.False(t, firing, kind)
		_, err = stored.Unmerge(t.Context(), by)
		require.NoError(t, err)
		state, _ = states(child)
		require.Equal(t, incidents.StateResolved, state, kind)
	}
}

// Senders and the proxies before them add parameters to the address. No door of alerts refuses one for that.
func TestHooksTakeUnknownParameters(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	for kind, body := range map[string]string{
		"generic": `{"title":"a"}`, "alertmanager": `{"version":"4","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"a"}}]}`,
	} {
		token := s.add(intake.Content{Name: kind, Type: kind, DefaultPlan: "pager"})
		code, answer := s.send("/v1/hooks/"+kind+"?x=1&rid=%F0%9F", "Bearer "+token, body)
		require.Equal(t, http.StatusOK, code, "%s: %v", kind, answer)
		code, answer = s.send("/v1/hooks/"+kind+"/"+token+"?a=b", "", body)
		require.Equal(t, http.StatusOK, code, "%s: %v", kind, answer)
	}
	token := s.add(intake.Content{Name: "beats", Type: "heartbeat", DefaultPlan: "pager"})
	require.NoError(t, s.senders.AddHeartbeat(t.Context(), "beats",
		heartbeats.Content{Name: "default", Every: time.Minute}, ""))
	code, answer := s.call(http.MethodGet, "/v1/hooks/heartbeat?status=up&msg=OK&ping=9", "Bearer "+token, "")
	require.Equal(t, http.StatusOK, code, "%v", answer)
	code, _ = s.call(http.MethodGet, "/v1/hooks/heartbeat/"+token+"?rid=7f", "", "")
	require.Equal(t, http.StatusOK, code)
}

// Whatever a generic integration gets, it pages.
func TestAGenericIntegrationTakesAnyEncoding(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "any", Type: "generic", DefaultPlan: "pager"})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(`{"title":"a é","id":"gzip"}`))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	utf16 := func(text string) string {
		out := "\xff\xfe"
		for _, c := range text {
			out += string([]byte{byte(c), byte(c >> 8)})
		}
		return out
	}
	for name, c := range map[string]struct{ kind, encoding, body, title string }{
		"BOM":          {"application/json", "", "\xef\xbb\xbf" + `{"title":"a é"}`, "a é"},
		"gzip":         {"application/json", "gzip", zipped.String(), "a é"},
		"not zipped":   {"application/json", "gzip", `{"title":"a é","id":"plain"}`, "a é"},
		"UTF-16":       {"application/json", "", utf16(`{"title":"a é","id":"16"}`), "a é"},
		"UTF-16 named": {"application/json; charset=utf-16", "", utf16(`{"title":"a é","id":"16n"}`), "a é"},
		"Latin-1":      {"application/json; charset=iso-8859-1", "", "{\"title\":\"a \xe9\",\"id\":\"l1\"}", "a é"},
		"unknown":      {"text/plain; charset=klingon", "", "a é", "a é"},
		"brackets":     {"text/plain", "", "[prod] disk full", "[prod] disk full"},
		"curl":         {"application/x-www-form-urlencoded", "", "[prod] disk full", "[prod] disk full"},
		"braces":       {"text/plain", "", "{{x}} is down", "{{x}} is down"},
		"multipart form": {"multipart/form-data; boundary=B", "",
			"--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na é\r\n--B--\r\n", "a é"},
		"a line break": {"application/json", "", "{\"title\":\"a\nb\",\"id\":\"lf\"}", "a\nb"},
		"nests too deep": {"application/json", "", `{"title":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) +
			"}", `{"title":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"},
		"not JSON": {"application/json", "", `{"title":"a`, `{"title":"a`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/hooks/generic/"+token,
			strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		w := httptest.NewRecorder()
		s.a.parts.Load().ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, "%s: %s", name, w.Body)
		require.Equal(t, c.title, s.one(`select context->>'title' from incident_contexts order by incident_id desc limit 1`), name)
		s.exec(`update incidents set resolved = true, active = false`)
	}
	require.Eventually(t, func() bool {
		_, payloads := s.shown("any")
		return slices.ContainsFunc(payloads,
			func(p intake.Payload) bool { return strings.Contains(p.Outcome, "it pages as text") })
	}, servertest.Patience, 20*time.Millisecond, "the integration shows what was not understood")

	require.Equal(t, "1", s.one(`select count(*) from incidents where dedup_key = 'lf'`),
		"the key of JSON with a line break is read too")
	require.Equal(t, "2", s.one(`select count(*) from timeline_entries where text like '%it pages as text%'`),
		"so does the timeline of the incident")

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/hooks/generic/"+token,
		strings.NewReader("\x1f\x8b broken"))
	r.Header.Set("Content-Encoding", "gzip")
	w := httptest.NewRecorder()
	s.a.parts.Load().ServeHTTP(w, r)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "not valid gzip")
}
