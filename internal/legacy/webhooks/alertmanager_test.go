package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// firing is a delivery as Alertmanager 0.27 sends it.
const firing = `{"receiver":"iris","status":"firing","alerts":[
 {"status":"firing","labels":{"alertname":"DiskFull","instance":"db1"},"annotations":{"summary":"disk of db1 is full"},
  "startsAt":"2026-11-20T10:00:00.123Z","endsAt":"0001-01-01T00:00:00Z","generatorURL":"http://p/graph","fingerprint":"a1"}],
 "groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","iris_plan":"db"},"commonAnnotations":{},
 "externalURL":"http://am","version":"4","groupKey":"{}:{alertname=\"DiskFull\"}","truncatedAlerts":0}`

type fakes struct {
	open     map[string]incidents.ID
	facts    map[incidents.ID]json.RawMessage
	context  json.RawMessage
	updates  []string
	resolved []incidents.ID
	woken    buckets.Set
	wait     time.Duration
	down     bool
	accepted int // number of incidents that Load accepted for application 7
	opened   incidents.New
	ofPlan   []string // the plans of resolved incidents
	app      auth.Application
}

func (f *fakes) ByName(_ context.Context, name string) (auth.Application, error) {
	if name != "db" {
		return auth.Application{}, fault.New(fault.NotFound, "no such application")
	}
	app := f.app
	app.ID, app.Name, app.Keys = 7, "db", []string{"first", "second"}
	return app, nil
}

func (f *fakes) Open(_ context.Context, n incidents.New) (incidents.Opened, error) {
	if f.down {
		return incidents.Opened{}, fault.New(fault.Unavailable, "database is away")
	}
	if id, ok := f.open[n.DedupKey]; ok && n.DedupKey != "" {
		return incidents.Opened{ID: id, Known: true, Facts: f.facts[id]}, nil
	}
	id := incidents.ID(len(f.facts) + 300)
	f.open[n.DedupKey], f.facts[id], f.context, f.opened = id, n.DedupFacts, n.Context, n
	return incidents.Opened{ID: id, Bucket: int(id) % buckets.Count}, nil
}

func (f *fakes) ByKey(_ context.Context, n incidents.New) (incidents.Opened, bool, error) {
	id, ok := f.open[n.DedupKey]
	return incidents.Opened{ID: id, Known: true, Facts: f.facts[id]}, ok, nil
}

func (f *fakes) Update(_ context.Context, id incidents.ID, d incidents.Delivery) (bool, error) {
	f.facts[id], f.context = d.Facts, d.Context
	f.updates = append(f.updates, d.Text)
	return false, nil
}

func (f *fakes) ResolveByKey(_ context.Context, n incidents.New, plan string, _ incidents.Change) (incidents.ID, bool, error) {
	f.ofPlan = append(f.ofPlan, plan)
	id, ok := f.open[n.DedupKey]
	delete(f.open, n.DedupKey)
	if ok {
		f.resolved = append(f.resolved, id)
	}
	return id, ok, nil
}

func (f *fakes) Recent(_ context.Context, name string) (p escalation.PlanSteps, err error) {
	switch name {
	case "db", "other":
		p.ID, p.Name = 3, name
	case "default":
		p.ID, p.Name = 4, name
	case "last":
		p.ID, p.Name = 5, name
	case "dynamic":
		p.ID, p.Name, p.Steps = 6, name, []escalation.Step{{Notifications: []escalation.Notification{{DynamicIndex: new(int)}}}}
	case "away":
		return p, fault.New(fault.Unavailable, "database is away")
	default:
		return p, fault.New(fault.NotFound, "no such plan")
	}
	return p, nil
}

func (f *fakes) Overloaded(context.Context, auth.Application) (time.Duration, error) {
	return f.wait, nil
}

func (f *fakes) Accepted(application int64, n int) { f.accepted += int(application) * n }

func setup(t *testing.T) (*fakes, func(query, body string) *http.Response) {
	t.Helper()
	f, post := setupAll(t)
	return f, func(query, body string) *http.Response { return post("alertmanager", query, body) }
}

// setupAll serves every format.
func setupAll(t *testing.T) (*fakes, func(name, query, body string) *http.Response) {
	t.Helper()
	f := &fakes{open: map[string]incidents.ID{}, facts: map[incidents.ID]json.RawMessage{}}
	log := testlog.New(t, zap.DebugLevel)
	s, err := New(Deps{Applications: f, Incidents: f, Plans: f, Load: f, Errors: wire.NewErrors(log),
		Wake: func(_ context.Context, b buckets.Set) { f.woken.Union(b) }, Log: log, Enabled: Names()})
	require.NoError(t, err)
	r := chi.NewRouter()
	s.Routes(r)
	return f, func(name, query, body string) *http.Response {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v0/webhooks/"+name+"?"+query,
			strings.NewReader(body)))
		return w.Result()
	}
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(b)
}

const signed = "application=db&key=second"

func TestFiringOpensOnceAndResolvedResolves(t *testing.T) {
	t.Parallel()
	f, post := setup(t)
	r := post(signed, firing)
	require.Equal(t, http.StatusCreated, r.StatusCode)
	require.Equal(t, "300", text(t, r))
	require.Equal(t, "/incidents/300", r.Header.Get("Location"))
	require.True(t, f.woken.Has(300%256))
	require.Contains(t, string(f.context), `"alertname":"DiskFull"`, "the whole payload is the context")

	r = post(signed, firing)
	require.Equal(t, http.StatusCreated, r.StatusCode)
	require.Equal(t, "300", text(t, r), "the other half of an HA pair gets the same incident")
	require.Empty(t, f.updates)

	more := strings.Replace(firing, `"alerts":[`,
		`"alerts":[{"status":"firing","labels":{"alertname":"DiskFull","instance":"db2"},"startsAt":"2026-11-20T10:01:00Z","fingerprint":"b2"},`, 1)
	require.Equal(t, "300", text(t, post(signed, more)))
	require.Equal(t, []string{"the alert group changed: 1 new alert (DiskFull)"}, f.updates)

	over := strings.ReplaceAll(firing, `"status":"firing"`, `"status":"resolved"`)
	cut := strings.Replace(over, `"truncatedAlerts":0`, `"truncatedAlerts":2`, 1)
	require.Equal(t, "null", text(t, post(signed, cut)))
	require.Empty(t, f.resolved, "an alert that max_alerts left out may fire")
	require.Equal(t, "300", text(t, post(signed, strings.Replace(firing, `"status":"firing"`, `"status":"resolved"`,
		1))))
	require.Equal(t, []incidents.ID{300}, f.resolved)
	r = post(signed, strings.Replace(firing, `"status":"firing"`, `"status":"resolved"`, 1))
	require.Equal(t, http.StatusCreated, r.StatusCode, "nothing open: nothing to do")
	require.Equal(t, "null", text(t, r))
}

func TestAlertmanagerRefusals(t *testing.T) {
	t.Parallel()
	noPlan := strings.Replace(firing, `,"iris_plan":"db"`, "", 1)
	for name, c := range map[string]struct {
		query, body string
		status      int
		says        string
	}{
		"no application": {"key=first", firing, 400, `The \"application\" parameter is required.`},
		"no key":         {"application=db", firing, 400, `The \"key\" parameter is required.`},
		"unknown app":    {"application=x&key=first", firing, 401, "Unknown application or wrong key"},
		"wrong key":      {"application=db&key=None", firing, 401, "Unknown application or wrong key"},
		"no JSON":        {signed, "{", 400, "Invalid json in post body"},
		"an array":       {signed, "[]", 400, "Invalid json in post body"},
		"no status": {signed, strings.Replace(noPlan, `"status":"firing","alerts"`, `"alerts"`, 1), 400,
			"missing version, status and/or alert attributes"},
		"nothing": {signed, `{}`, 400, "missing version, status and/or alert attributes"},
		"strange status": {signed, strings.Replace(firing, `"status":"firing","alerts"`, `"status":"odd","alerts"`,
			1), 400, `status must be`},
		"wrong types": {signed, strings.Replace(firing, `"groupLabels":{"alertname":"DiskFull"}`,
			`"groupLabels":7`, 1), 400, "groupLabels"},
		"no plan":      {signed, noPlan, 400, "missing iris_plan in group labels"},
		"unknown plan": {signed + "&plan=nope", firing, 404, "there is no active plan named nope"},
		"resolved, no plan": {signed + "&plan=nope", strings.Replace(firing, `"status":"firing"`,
			`"status":"resolved"`, 1), 404, "there is no active plan named nope"},
		"NUL in the plan": {signed + "&plan=%00", firing, 404, "no such plan"},
		"plan not UTF-8":  {signed + "&plan=%ff", firing, 404, "no such plan"},
		"label a number": {signed, strings.Replace(firing, `"groupLabels":{"alertname":"DiskFull"}`,
			`"groupLabels":{"alertname":7}`, 1), 400, `"groupLabels must be an object of strings"`},
		"start a number": {signed, strings.Replace(firing, `"startsAt":"2026-11-20T10:00:00.123Z"`, `"startsAt":7`,
			1), 400, `"alerts.startsAt must be a string"`},
		"alerts an object": {signed, strings.Replace(firing, `"alerts":[`, `"alerts":{},"x":[`, 1), 400,
			`"alerts must be a list"`},
		"an alert a text": {signed, strings.Replace(firing, `"alerts":[`, `"alerts":["x",`, 1), 400,
			`"alerts must be an object"`},
		"longer than ever": {signed, `"` + strings.Repeat("x", 16<<20) + `"`, 413, "larger than the limit"},
	} {
		_, post := setup(t)
		r := post(c.query, c.body)
		require.Equal(t, c.status, r.StatusCode, name)
		require.Contains(t, text(t, r), c.says, name)
	}
	_, post := setup(t)
	require.Equal(t, http.StatusCreated, post(signed+"&plan=other", noPlan).StatusCode,
		"the plan may come from the query")
	require.Equal(t, "301", text(t, post(signed, `{"groupLabels":{"iris_plan":"db"}}`)),
		"the plan is all that must be there")
}

func TestDeliveriesWithAnyCharactersAreAccepted(t *testing.T) {
	t.Parallel()
	f, post := setup(t)
	odd := strings.NewReplacer(`"a1"`, `"a\u0000"`, `"groupKey":"`, `"groupKey":"\u0000`, `disk of`,
		`\ud800\u0000`).Replace(firing)
	r := post(signed, odd)
	require.Equal(t, http.StatusCreated, r.StatusCode, "a page is not lost over a character")
	require.NotContains(t, string(f.context)+string(f.facts[300]), `\u0000`)
	require.Equal(t, 7, f.accepted)
	require.Equal(t, "300", text(t, post(signed, odd)))
	require.Equal(t, 7, f.accepted, "only what was opened waits")
}

func TestRefusedAlertsAreLoggedWithTheReason(t *testing.T) {
	t.Parallel()
	f := &fakes{open: map[string]incidents.ID{}, facts: map[incidents.ID]json.RawMessage{}}
	core, logged := observer.New(zap.WarnLevel)
	s, err := New(Deps{Applications: f, Incidents: f, Plans: f, Load: f, Errors: wire.NewErrors(zap.NewNop()),
		Wake: func(context.Context, buckets.Set) {}, Log: zap.New(core)})
	require.NoError(t, err)
	r := chi.NewRouter()
	s.Routes(r)
	for query, reason := range map[string]string{
		signed + "&plan=nope": "there is no active plan named nope", "application=db&key=hush": "Authentication failure: Unknown application or wrong key",
	} {
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost,
			"/v0/webhooks/alertmanager?"+query, strings.NewReader(firing)))
		entries := logged.TakeAll()
		require.Len(t, entries, 1)
		require.Equal(t, "alert refused", entries[0].Message)
		require.Equal(t, "db", entries[0].ContextMap()["application"])
		require.Equal(t, reason, entries[0].ContextMap()["reason"])
		require.NotContains(t, fmt.Sprint(entries[0].ContextMap()), "hush", "keys stay out of the log")
	}
}

func TestOverloadIsAlways503(t *testing.T) {
	t.Parallel()
	f, post := setup(t)
	f.wait = 7 * time.Second
	r := post(signed, firing)
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.Equal(t, "7", r.Header.Get("Retry-After"))
	f.wait, f.down = 0, true
	r = post(signed, firing)
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.NotEmpty(t, r.Header.Get("Retry-After"))
}

// A delivery for an open incident is accepted even during a flood, because it opens no new incident.
func TestKnownGroupsAreAcceptedDuringAFlood(t *testing.T) {
	t.Parallel()
	f, post := setupAll(t)
	require.Equal(t, "300", text(t, post("alertmanager", signed, firing)))
	f.wait = 7 * time.Second
	r := post("alertmanager", signed, strings.Replace(firing, `"status":"firing"`, `"status":"firing","x":1`, 1))
	require.Equal(t, http.StatusCreated, r.StatusCode)
	require.Equal(t, "300", text(t, r))
	require.Equal(t, 7, f.accepted, "only the first")
	require.Equal(t, http.StatusServiceUnavailable, post("grafana", planned200, unified).StatusCode, "another group")
	require.Equal(t, http.StatusServiceUnavailable, post("rackspace", planned200, event).StatusCode,
		"events have no group")
}

func FuzzAlertmanager(f *testing.F) {
	f.Add([]byte(firing))
	f.Add([]byte(`{"version":"4","status":"firing","alerts":[null],"groupLabels":null}`))
	f.Add([]byte(`{"version":4,"status":"firing","alerts":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := format(alertmanager).parse(body, "db")
		if err != nil {
			require.Equal(t, fault.Invalid, fault.KindOf(err), "a sender's mistake is never ours")
			return
		}
		require.True(t, json.Valid(d.context))
		require.Empty(t, intake.News(intake.Stored(d.facts), d.facts), "the same delivery brings nothing new")
	})
}
