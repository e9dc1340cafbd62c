package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// bounded counts incidents for the limit of fallback plans.
type bounded int64

func (b bounded) Recent(context.Context, int64, string, int64, time.Duration, int) (active, recent int64, err error) {
	return 0, int64(b), nil
}

// catching serves every format with a catch-all plan, one incident a minute, and the application's default plan.
func catching(t *testing.T, ofApp, catchAll string, recent bounded) (*fakes, *Webhooks, *observer.ObservedLogs, func(format, query, body string) *httptest.ResponseRecorder) {
	t.Helper()
	core, logged := observer.New(zap.WarnLevel)
	f := &fakes{open: map[string]incidents.ID{}, facts: map[incidents.ID]json.RawMessage{}}
	f.app.DefaultPlan = ofApp
	s, err := New(Deps{Applications: f, Incidents: f, Plans: f, Load: f, Errors: wire.NewErrors(zap.New(core)),
		Wake: func(context.Context, buckets.Set) {},
		Log:  zap.New(core), Enabled: Names(), CatchAll: catchAll, FallbackRates: load.NewRates(recent, 10, 1,
			time.Minute, nil)})
	require.NoError(t, err)
	r := chi.NewRouter()
	s.Routes(r)
	return f, s, logged, func(format, query, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/webhooks/"+format+"?"+query,
			strings.NewReader(body)))
		return w
	}
}

func TestAlertWithoutAUsablePlanUsesAFallbackPlan(t *testing.T) {
	t.Parallel()
	noPlan := strings.Replace(firing, `,"iris_plan":"db"`, "", 1)
	for name, c := range map[string]struct {
		format, query, body, ofApp, catchAll string
		plan                                 int64
		of                                   planOwner
	}{
		"named, and usable":           {"alertmanager", signed, firing, "default", "last", 3, deliveryPlan},
		"no plan, the application's":  {"alertmanager", signed, noPlan, "default", "last", 4, applicationPlan},
		"no plan, the installation's": {"alertmanager", signed, noPlan, "", "last", 5, catchAllPlan},
		"an unknown plan": {"alertmanager", signed + "&plan=nope", firing, "default", "last", 4,
			applicationPlan},
		"a plan that needs targets": {"alertmanager", signed + "&plan=dynamic", firing, "default", "last", 4,
			applicationPlan},
		"the default is gone": {"alertmanager", signed, noPlan, "nope", "last", 5, catchAllPlan},
		"an unreadable name": {"alertmanager", signed + "&plan=%ff", firing, "default", "", 4,
			applicationPlan},
		"Grafana without a plan": {"grafana", signed, unified, "default", "", 4, applicationPlan},
		"Rackspace with an unknown plan": {"rackspace", signed + "&plan=nope", event, "default", "", 4,
			applicationPlan},
		"Freshping without a plan": {"freshping", signed, ticket, "default", "", 4, applicationPlan},
		"a body without version and status": {"alertmanager", signed, `{"groupKey":"x"}`, "default", "", 4,
			applicationPlan},
	} {
		f, s, logged, post := catching(t, c.ofApp, c.catchAll, 0)
		w := post(c.format, c.query, c.body)
		require.Equal(t, http.StatusCreated, w.Code, name)
		require.Equal(t, c.plan, f.opened.PlanID, name)
		want := 0.0
		if c.of != deliveryPlan {
			want = 1
			require.InDelta(t, 1, testutil.ToFloat64(s.metrics.fallbacks.WithLabelValues(string(c.of))), 0, name)
		}
		require.Equal(t, int(want), logged.FilterMessage("alert without a usable plan").Len(), name)
	}
}

func TestFallbackPlansNeedFiringAlertsAndCredentials(t *testing.T) {
	t.Parallel()
	noPlan := strings.Replace(firing, `,"iris_plan":"db"`, "", 1)
	f, s, logged, post := catching(t, "default", "last", 1)
	require.Equal(t, http.StatusUnauthorized, post("alertmanager", "application=db&key=x", noPlan).Code,
		"no credentials")
	w := post("alertmanager", signed, noPlan)
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "one a minute was opened")
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), "send it again")
	require.InDelta(t, 1, testutil.ToFloat64(s.metrics.refusals.WithLabelValues("alertmanager", "later")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(s.metrics.refusals.WithLabelValues("alertmanager", "credentials")), 0)
	require.Empty(t, f.open)
	require.Equal(t, http.StatusCreated, post("alertmanager", signed, firing).Code, "a usable plan has no such limit")
	f.open[`{}:{alertname="DiskFull"}`] = 77
	f.facts[77] = f.opened.DedupFacts
	require.Equal(t, "77", post("alertmanager", signed, noPlan).Body.String(), "neither has a repeat")

	over := strings.Replace(noPlan, `"status":"firing"`, `"status":"resolved"`, 1)
	f.ofPlan = nil
	require.Equal(t, "77", post("alertmanager", signed, over).Body.String(), "it resolves where it was opened")
	require.Equal(t, "null", post("alertmanager", signed, over).Body.String(), "a resolve opens nothing")
	require.Equal(t, []string{"default", "default", "last"}, f.ofPlan)
	require.Equal(t, http.StatusServiceUnavailable, post("alertmanager", signed+"&plan=away", firing).Code,
		"what could not be read is not unusable")
	require.Equal(t, 2, logged.FilterMessage("request failed").FilterField(zap.Int("status", 503)).Len(),
		"every refusal is logged")
}

func TestRefusalsHaveReasonsAndAreCounted(t *testing.T) {
	t.Parallel()
	noPlan := strings.Replace(firing, `,"iris_plan":"db"`, "", 1)
	_, s, logged, post := catching(t, "nope", "dynamic", 0)
	for _, c := range []struct {
		query, body, reason string
		status              int
	}{
		{signed, noPlan, "plan", 400},
		{signed + "&plan=gone", firing, "plan", 404},
		{signed + "&plan=dynamic", firing, "plan", 400},
		{signed, "{", "body", 400},
		{signed, `{"alerts":"` + strings.Repeat("x", 16<<20) + `"}`, "too_large", 413},
		{"application=db&key=x", firing, "credentials", 401},
		{"application=db", firing, "credentials", 400},
	} {
		before := testutil.ToFloat64(s.metrics.refusals.WithLabelValues("alertmanager", c.reason))
		lines := logged.FilterMessage("alert refused").Len()
		w := post("alertmanager", c.query, c.body)
		require.Equal(t, c.status, w.Code, c.reason)
		var says struct{ Title string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &says))
		require.NotEmpty(t, says.Title, c.reason)
		require.InDelta(t, before+1, testutil.ToFloat64(s.metrics.refusals.WithLabelValues("alertmanager", c.reason)),
			0, c.reason)
		require.Equal(t, lines+1, logged.FilterMessage("alert refused").Len(), c.reason)
	}
	require.Equal(t, 2+len(Names())*6, testutil.CollectAndCount(s.metrics.refusals)+
		testutil.CollectAndCount(s.metrics.fallbacks), "they begin at 0")
}

func TestLargeGroupsLoseWholeAlerts(t *testing.T) {
	t.Parallel()
	var alerts []string
	for i := range 20_000 {
		status := "firing"
		if i%2 == 0 {
			status = "resolved"
		}
		alerts = append(alerts, fmt.Sprintf(`{"status":%q,"labels":{"alertname":"Disk","n":"%d"},"annotations":{"summary":%q},"startsAt":"2026-03-04T02:11:30Z","fingerprint":"f%d"}`,
			status, i, strings.Repeat("é", 300), i))
	}
	body := `{"version":"4","status":"firing","groupKey":"big","alerts":[` + strings.Join(alerts, ",") +
		`],"groupLabels":{"iris_plan":"db"},"truncatedAlerts":5,"externalURL":"http://am/"}`
	require.Greater(t, len(body), 8<<20)
	f, _, _, post := catching(t, "", "", 0)
	w := post("alertmanager", signed, body)
	require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
	require.Len(t, f.opened.Alerts, 20_000, "every alert is stored")
	require.JSONEq(t, `{"alertname":"Disk","n":"1"}`, string(f.opened.Alerts[1].Labels))
	require.LessOrEqual(t, incidents.JSONSize(f.context), incidents.MaxContext)
	require.Greater(t, incidents.JSONSize(f.context), incidents.MaxContext-2500, "as much as fits")
	var c struct {
		Alerts    []struct{ Status, Fingerprint string }
		Truncated int `json:"truncatedAlerts"`
	}
	require.NoError(t, json.Unmarshal(f.context, &c))
	require.Equal(t, 20_005, len(c.Alerts)+c.Truncated)
	for i, a := range c.Alerts {
		require.Equal(t, "firing", a.Status, "those that fire come first")
		require.Equal(t, fmt.Sprintf("f%d", 2*i+1), a.Fingerprint, "in the sender's order")
	}
	require.Regexp(t, `^\{"version":"4","status":"firing","groupKey":"big","alerts":\[`, string(f.context),
		"members keep their order")
}

func TestAPayloadWithoutAlertsLosesWholeMembers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 66_000)
	for format, body := range map[string]string{
		"alertmanager": strings.Replace(firing, "http://am", long, 1),
		"grafana":      `{"title":"a","dump":"` + long + `"}`,
		"rackspace":    strings.Replace(event, `"CRITICAL"`, `"`+long+`"`, 1),
		"freshping":    strings.Replace(ticket, "<b>shop</b>", long, 1),
	} {
		f, _, _, post := catching(t, "", "", 0)
		w := post(format, planned200, body)
		require.Equal(t, http.StatusCreated, w.Code, format)
		require.Less(t, len(f.context), 2000, format)
		var c map[string]any
		require.NoError(t, json.Unmarshal(f.context, &c), format)
		require.Len(t, c["truncatedMembers"], 1, format)
	}
	one, err := intake.LimitedContext([]byte(`{"alerts":[{"status":"firing","x":"` + long + `"}],"a":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"alerts":[],"a":1,"truncatedAlerts":1}`, string(one))
	two, err := intake.LimitedContext([]byte(`{"alerts":"` + long + `","a":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1,"truncatedMembers":["alerts"]}`, string(two))
}
