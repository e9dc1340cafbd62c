package apiserver

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
)

func TestPingsOfHeartbeats(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "jobs", Type: "heartbeat", DefaultPlan: "pager"})
	other := s.add(intake.Content{Name: "am", Type: "alertmanager"})
	for _, name := range []string{"default", "night/backup", "nightly"} {
		err := s.senders.AddHeartbeat(t.Context(), "jobs", heartbeats.Content{Name: name, Every: time.Minute}, "")
		require.Equal(t, name == "night/backup", err != nil)
	}
	require.ErrorContains(t, s.senders.AddHeartbeat(t.Context(), "am",
		heartbeats.Content{Name: "x", Every: time.Minute}, ""), "has no heartbeats")
	const path = "/v1/hooks/heartbeat"
	for _, c := range []struct {
		method, path, authorization string
		status                      int
		pinged                      string // the heartbeat
	}{
		{"GET", path + "/" + token, "", 200, "default"},
		{"HEAD", path + "/" + token, "", 200, "default"},
		{"POST", path + "/" + token, "", 200, "default"},
		{"GET", path + "/" + token + "/nightly", "", 200, "nightly"},
		{"PUT", path + "/" + token + "/nightly/", "", 200, "nightly"},
		{"POST", path, "Bearer " + token, 200, "default"},
		{"HEAD", path + "/nightly", "Bearer " + token, 200, "nightly"},
		{"GET", path + "/" + token + "/nightlx", "", 404, ""},
		{"GET", path, "", 401, ""},
		{"GET", path + "/wrong", "", 401, ""},
		{"GET", path + "/" + other, "", 403, ""},
		{"DELETE", path + "/" + token, "", 405, ""},
	} {
		name := c.method + " " + c.path
		s.exec(`update heartbeats set last_ping_at = null`)
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("anything"))
		r.Header.Set("Authorization", c.authorization)
		w := httptest.NewRecorder()
		s.a.parts.Load().ServeHTTP(w, r)
		require.Equal(t, c.status, w.Code, "%s: %s", name, w.Body)
		require.Equal(t, c.pinged, s.one(`select coalesce(string_agg(name, ','), '') from heartbeats where last_ping_at is not null`), name)
	}
	require.Eventually(t, func() bool {
		return s.one(`select coalesce(max(last_refusal), '') || '/' || coalesce(sum(accepted), 0) || '/' || coalesce(sum(refused), 0) from integration_activity a
			join integrations i on i.id = a.integration_id where i.name in ('jobs', 'am')`) == `the path does not take this method: send POST/7/3`
	}, 10*time.Second, 20*time.Millisecond, "the unknown name and the method are refusals, and their payloads say so")
	require.Equal(t, `refused: the integration has no heartbeat named "nightlx",refused: the path does not take this method: send POST`,
		s.one(`select string_agg(p.outcome, ',' order by p.outcome) from integration_payloads p join integrations i on i.id = p.integration_id where i.name = 'jobs'`))
}

// What a call means must not change when its token moves between header and path.
func TestSignalsOfHeartbeats(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "jobs", Type: "heartbeat", DefaultPlan: "pager"})
	for _, name := range []string{"default", "backup", "log", "7"} {
		require.NoError(t, s.senders.AddHeartbeat(t.Context(), "jobs", heartbeats.Content{Name: name, Every: time.Minute}, ""))
	}
	const path = "/v1/hooks/heartbeat/"
	call := func(method, path, authorization, body string) (int, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		s.a.parts.Load().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const answer = `{"heartbeat":%q,"outcome":"received","signal":%q}`
	for _, c := range []struct{ path, name, signal string }{
		{"start", "default", "start"},
		{"fail", "default", "fail"},
		{"0", "default", "success"},
		{"255", "default", "fail"},
		{"log", "log", "success"}, // heartbeats with such a name keep their addresses
		{"7", "7", "success"},
		{"default/log", "default", "log"},
		{"default/7", "default", "fail"},
		{"log/log", "log", "log"},
		{"7/0", "7", "success"},
		{"backup", "backup", "success"},
		{"backup/start?rid=0E1C8D3A-7E4A-4D43-B0B1-0B1F5C1B3A11", "backup", "start"},
		{"backup/fail", "backup", "fail"},
	} {
		want := fmt.Sprintf(answer, c.name, c.signal)
		for at, authorization := range map[string]string{path + token + "/" + c.path: "", path + c.path: "Bearer " + token} {
			status, body := call("GET", at, authorization, "")
			require.Equal(t, 200, status, "%s: %s", at, body)
			require.JSONEq(t, want, body, at)
		}
		_, body := call("POST", path+token+"/"+c.path, "Basic YTpi", "")
		if strings.Contains(c.path, "/") || c.path == "log" || c.path == "7" || c.name == "default" {
			require.JSONEq(t, want, body, "the header is of a proxy")
		}
	}
	status, _ := call("GET", path+token+"/backup/256", "", "")
	require.Equal(t, 404, status)
	status, body := call("GET", path+token+"/256", "", "")
	require.Equal(t, 404, status)
	require.Contains(t, body, "256")

	s.exec(`delete from heartbeats where name <> 'backup'; delete from heartbeat_runs; delete from heartbeat_texts;
		update heartbeats set last_ping_at = null, missed_at = null, failure = null`)
	status, body = call("GET", path+token+"/start", "", "")
	require.Equal(t, 404, status)
	require.Contains(t, body, `no heartbeat named \"default\"`)
	call("POST", path+token+"/backup/start?rid=A", "", "")
	status, _ = call("POST", path+token+"/backup/3?rid=a", "", "tokens "+token+"\x00 "+strings.Repeat("é", 9000))
	require.Equal(t, 200, status)
	require.Equal(t, `a/true/3`, s.one(`select run || '/' || failed || '/' || exit_code from heartbeat_runs`))
	text := s.one(`select signal || ': ' || body from heartbeat_texts`)
	require.True(t, strings.HasPrefix(text, "fail: tokens [token] éé"), text[:40])
	require.Len(t, text, len("fail: ")+9999, "whole characters")
	require.Equal(t, `the program ended with exit code 3`, s.one(`select failure from heartbeats where missed_at is not null`))
}

func TestOpsgenieHeartbeats(t *testing.T) {
	t.Parallel()
	s := newIntake(t)
	token := s.add(intake.Content{Name: "og", Type: "opsgenie", DefaultPlan: "pager"})
	call := func(method, path, body string) (int, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "GenieKey "+token)
		w := httptest.NewRecorder()
		s.a.parts.Load().ServeHTTP(w, r)
		raw, err := io.ReadAll(w.Body)
		require.NoError(t, err)
		return w.Code, string(raw)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "", `{"name":"job","interval":2,"intervalUnit":"hours","enabled":true,"alertPriority":"P1","ownerTeam":{"name":"ops"},"alertTags":["a"]}`, 201, `"data":{"enabled":true,"expired":false,"name":"job"}`},
		{"POST", "", `{"name":"x"}`, 422, `"errors":{"interval":"is required"}`},
		{"POST", "", `{"name":"x","interval":0}`, 422, `"interval"`},
		{"POST", "", `{"name":"x","interval":1,"intervalUnit":"weeks"}`, 422, `"interval"`},
		{"POST", "", `{`, 400, `"message"`},
		{"GET", "/job", "", 200, `"alertPriority":"P1"`},
		{"GET", "/job", "", 200, `"interval":2,"intervalUnit":"hours","lastPingTime":null`},
		{"PATCH", "/job", `{"description":"nightly","interval":90}`, 200, `"name":"job"`},
		{"GET", "", "", 200, `"heartbeats":[{`},
		{"GET", "/job", "", 200, `"interval":90,"intervalUnit":"minutes"`},
		{"POST", "/nil/enable", "{}", 404, `"message":"there is no heartbeat named`},
		{"GET", "/nil", "", 404, `"message":"there is no heartbeat named`},
		{"POST", "/job/disable", `{}`, 200, `"enabled":false`},
		{"PUT", "/job/enable", ``, 200, `"enabled":true`},
		{"GET", "/job/ping", "", 202, `"result":"PONG - Heartbeat received"`},
		{"PUT", "/job/ping", "", 202, `"requestId":"`},
		{"PATCH", "/unknown/ping", "{}", 202, `"took":`},
		{"DELETE", "/job", "", 200, `"name":"job"`},
		{"GET", "/job", "", 404, `"took":`},
	} {
		status, body := call(c.method, "/v2/heartbeats"+c.path, c.body)
		name := fmt.Sprint(c.method, " ", c.path, " ", c.body, ": ", body)
		require.Equal(t, c.status, status, name)
		require.Contains(t, body, c.want, name)
	}
	good := token
	token = "00000000-0000-4000-8000-000000000000"
	status, _ := call("POST", "/v2/heartbeats/job/ping", "")
	require.Equal(t, 401, status)
	token = good
}

func (s *intakeServer) exec(query string) {
	s.Helper()
	_, err := s.a.db.Pool().Exec(s.Context(), query)
	require.NoError(s, err)
}
