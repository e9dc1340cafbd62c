package webhooks

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

const (
	// unified is a delivery of Grafana 10; ruled is one of Grafana 7.
	unified = `{"receiver":"iris","status":"firing","orgId":1,"alerts":[{"status":"firing","labels":{"alertname":"Load"},
		"annotations":{},"startsAt":"2026-11-20T10:00:00Z","fingerprint":"c6","values":{"B":7}}],"groupLabels":{"alertname":"Load"},
		"commonLabels":{"alertname":"Load"},"version":"1","groupKey":"{}:{alertname=\"Load\"}","title":"[FIRING:1] Load","state":"alerting","message":"x"}`
	ruled = `{"dashboardId":1,"evalMatches":[{"value":100,"metric":"load","tags":{}}],"message":"load is high","orgId":1,
		"panelId":2,"ruleId":9,"ruleName":"Load","ruleUrl":"http://g/","state":"alerting","tags":{},"title":"[Alerting] Load"}`
	event  = `{"event_id":"ac1:en2","log_entry_id":"1","details":{"target":"t","state":"CRITICAL"},"entity":{},"tenant_id":"5"}`
	ticket = `{"title":"Check down","description":"<b>shop</b> is down","tags":["shop"],"ticket_id":17}`
)

const planned200 = signed + "&plan=db"

func TestGrafanaOpensOneIncidentPerGroupAndResolvesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ burns, over, other string }{
		"unified alerting": {unified, strings.Replace(unified, `"status":"firing","orgId"`,
			`"status":"resolved","orgId"`, 1), strings.Replace(unified, `{}:{`, `{}/x:{`, 1)},
		"single rules": {ruled, strings.Replace(ruled, `"state":"alerting"`, `"state":"ok"`, 1),
			strings.Replace(ruled, `"ruleId":9`, `"ruleId":10`, 1)},
	} {
		f, post := setupAll(t)
		says := func(n string) string { // the older form gets an empty answer
			if name == "single rules" {
				return ""
			}
			return n
		}
		r := post("grafana", planned200, c.burns)
		require.Equal(t, http.StatusCreated, r.StatusCode, name)
		require.Equal(t, says("300"), text(t, r), name)
		require.Equal(t, says("/incidents/300"), r.Header.Get("Location"))
		require.Contains(t, string(f.context), `"title":`, "the whole payload is the context")
		require.Equal(t, says("300"), text(t, post("grafana", planned200, c.burns)), name)
		require.Empty(t, f.updates, name)
		require.Len(t, f.open, 1, name)
		require.Equal(t, says("301"), text(t, post("grafana", planned200, c.other)), "%s: another group", name)
		require.Len(t, f.open, 2, name)
		require.Equal(t, says("300"), text(t, post("grafana", planned200, c.over)), name)
		require.Equal(t, []incidents.ID{300}, f.resolved, name)
		r = post("grafana", planned200, c.over)
		require.Equal(t, http.StatusCreated, r.StatusCode, "%s: nothing open, nothing to do", name)
		require.Equal(t, says("null"), text(t, r), name)
	}
}

func TestGrafanaAcceptsAnyObject(t *testing.T) {
	t.Parallel()
	_, post := setupAll(t)
	require.Equal(t, "300", text(t, post("grafana", planned200, `{"what":"ever"}`)))
	require.Equal(t, "301", text(t, post("grafana", planned200, `{"what":"ever"}`)),
		"nothing says that it is the same problem")
}

func TestEventsAndTicketsOpenAnIncidentEach(t *testing.T) {
	t.Parallel()
	f, post := setupAll(t)
	r := post("rackspace", planned200, event)
	require.Equal(t, http.StatusCreated, r.StatusCode)
	require.Equal(t, "/incidents/300", r.Header.Get("Location"))
	require.Equal(t, "300", text(t, r))
	require.Equal(t, "301", text(t, post("rackspace", planned200, event)))
	r = post("freshping", planned200, ticket)
	require.Equal(t, http.StatusCreated, r.StatusCode)
	require.Empty(t, text(t, r))
	require.Empty(t, r.Header.Get("Location"))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Contains(t, string(f.context), `<b>shop</b>`, "stored as it came")
}

func TestRefusalsOfFormats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		format, query, body string
		status              int
		says                string // the whole body
	}{
		"grafana, no plan": {"grafana", signed, ruled, 400,
			`{"title":"Missing parameter","description":"The \"plan\" parameter is required."}`},
		"grafana, unknown plan": {"grafana", signed + "&plan=nope", ruled, 400,
			`{"title":"plan does not exist or is not active"}`},
		"grafana, odd plan": {"grafana", signed + "&plan=%00", ruled, 400,
			`{"title":"plan does not exist or is not active"}`},
		"grafana, over, no plan": {"grafana", signed + "&plan=nope", `{"ruleName":"a","state":"ok"}`, 400,
			`{"title":"plan does not exist or is not active"}`},
		"grafana, half a rule": {"grafana", planned200, `{"ruleName":"a"}`, 400,
			`{"title":"missing ruleName and/of state attributes"}`},
		"grafana, no name": {"grafana", planned200, `{"ruleName":"","state":"ok"}`, 400,
			`{"title":"missing ruleName and/of state attributes"}`},
		"grafana, wrong type": {"grafana", planned200, `{"alerts":7}`, 400,
			`{"title":"Invalid grafana payload","description":"alerts must be a list"}`},
		"grafana, rule of objects": {"grafana", planned200, `{"ruleName":{},"state":"ok"}`, 400,
			`{"title":"Invalid grafana payload","description":"ruleName must be a string"}`},
		"rackspace, no plan": {"rackspace", signed, event, 400,
			`{"title":"missing plan in rackspace webhook url parameters"}`},
		"rackspace, nothing": {"rackspace", planned200, `{"event_id":1}`, 400,
			`{"title":"missing event_id and/or details attributes"}`},
		"rackspace, unknown plan": {"rackspace", signed + "&plan=nope", event, 404,
			`{"title":"there is no active plan named nope"}`},
		"rackspace, odd plan": {"rackspace", signed + "&plan=%ff", event, 404, `{"title":"no such plan"}`},
		"freshping, no plan": {"freshping", signed, ticket, 400,
			`{"title":"Missing parameter","description":"The \"plan\" parameter is required."}`},
		"freshping, nothing": {"freshping", planned200, `{"title":"a"}`, 400,
			`{"title":"missing channel name attributes"}`},
		"freshping, unknown plan": {"freshping", signed + "&plan=nope", ticket, 400,
			`{"title":"plan does not exist or is not active"}`},
		"unknown application": {"rackspace", "application=x&key=first&plan=db", event, 401,
			`{"title":"Authentication failure","description":"Unknown application or wrong key"}`},
		"wrong key": {"grafana", "application=db&key=x&plan=db", ruled, 401,
			`{"title":"Authentication failure","description":"Unknown application or wrong key"}`},
		"no key": {"freshping", "application=db&plan=db", ticket, 400,
			`{"title":"Missing parameter","description":"The \"key\" parameter is required."}`},
	} {
		f, post := setupAll(t)
		r := post(c.format, c.query, c.body)
		require.Equal(t, c.status, r.StatusCode, name)
		require.Equal(t, c.says, strings.TrimSpace(text(t, r)), name)
		require.Zero(t, f.accepted, name)
	}
	for _, format := range []string{"grafana", "rackspace", "freshping"} {
		_, post := setupAll(t)
		require.Equal(t, http.StatusBadRequest, post(format, planned200, `[]`).StatusCode, format)
	}
}

func TestOnlyEnabledFormatsAreServed(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zap.WarnLevel)
	f, log := &fakes{}, testlog.New(t, zap.DebugLevel)
	d := Deps{Applications: f, Incidents: f, Plans: f, Load: f, Errors: wire.NewErrors(log),
		Wake: func(context.Context, buckets.Set) {}, Log: zap.New(core)}
	s, err := New(d)
	require.NoError(t, err)
	r := chi.NewRouter()
	s.Routes(r)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/webhooks/rackspace?"+planned200,
		strings.NewReader(ruled)))
	require.Equal(t, http.StatusNotFound, w.Code)
	require.JSONEq(t, `{"title":"the setting webhooks does not list rackspace"}`, w.Body.String())
	require.Equal(t, 1, logged.FilterField(zap.String("reason", "the setting webhooks does not list rackspace")).Len(),
		"the operator is notified")
	w = httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/webhooks/alertmanager", nil))
	require.Equal(t, http.StatusBadRequest, w.Code)
	w = httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/webhooks/grafana", nil))
	require.Equal(t, http.StatusBadRequest, w.Code, "on by default")
	d.Enabled = []string{"nagios"}
	_, err = New(d)
	require.ErrorContains(t, err, "nagios")
}

func FuzzFormats(f *testing.F) {
	for _, s := range []string{unified, ruled, event, ticket, `{"alerts":[null]}`, `{"ruleName":"\u0000","state":"x","ruleId":1e400}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, f := range formats() {
			d, err := f.parse(body, "db")
			if err != nil {
				require.Equal(t, fault.Invalid, fault.KindOf(err), "%s: a sender's mistake is never ours", name)
				continue
			}
			require.True(t, json.Valid(d.context), name)
			require.Empty(t, intake.News(intake.Stored(d.facts), d.facts), "%s: the same delivery brings nothing new",
				name)
			require.False(t, d.resolved && d.key == "", "%s: only a known group can be over", name)
		}
	})
}
