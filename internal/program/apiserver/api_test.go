package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	pgcatalog "github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/incidents/load"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	intakeopening "github.com/iris-oncall/iris/internal/intake/opening"
	pgintake "github.com/iris-oncall/iris/internal/intake/pg"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/notifications"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/replay"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// builtin are the recipes of the program. Reading them takes a while.
var builtin = recipes.Builtin()

// seed makes two people, a team, an application, a plan of two steps with its template, and three incidents.
const seed = `
insert into users (name, full_name) values ('ann', 'Ann Lee'), ('bob', '');
insert into teams (name, time_zone) values ('ops', 'UTC');
insert into team_members (team_id, user_id, position, admin) select t.id, u.id, u.id, u.name = 'ann' from teams t, users u;
insert into applications (name, allow_authenticating_users, title_variable) values ('demo', true, 'title');
insert into plans (name, description, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
	select 'pager', 'two steps', id, 900, 10, 300, 300 from users where name = 'ann';
insert into plan_active select lower(name), id from plans;
insert into plan_notifications (plan_id, step, position, role, target_id, priority, template, wait_seconds, repeat)
	select p.id, s, 0, 'user', t.target_id, 'high', 'words', 300, 0 from plans p, targets t, generate_series(1, 2) s where t.name = 'bob' and t.kind = 'user';
insert into templates (name, creator_id) select 'words', id from users where name = 'ann';
insert into template_active select lower(name), id from templates;
`

type fixture struct {
	testing.TB
	db      *postgres.DB
	handler http.Handler
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{TB: t, db: pgtest.New(t)}
	f.exec(seed)
	secrets, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	apps := pgcatalog.NewApplications(f.db, secrets)
	app, err := apps.ByName(t.Context(), "demo")
	require.NoError(t, err)
	require.NoError(t, apps.SetKey(t.Context(), app.ID, "demo-key"))
	problems := wire.NewErrors(testlog.New(t, zap.WarnLevel))
	users := pgpeople.NewUsers(f.db)
	directory, idle := pgescalation.NewDirectory(f.db), load.New(pgdelivery.NewQueues(f.db),
		testlog.New(t, zap.DebugLevel))
	wake := func(context.Context, buckets.Set) {}
	in := pgincidents.New(f.db)
	plans := pgcatalog.NewPlans(f.db)
	senders := pgintake.NewIntegrations(f.db, secrets)
	sending := integrations.New(integrations.Deps{Store: senders, Heartbeats: pgintake.New(f.db), Applications: apps,
		Types: []string{"generic", "grafana", "heartbeat", "pagerduty"}, Recipes: builtin, Previewer: receiving.Previewer{
			Chooser: receiving.NewChooser(plans, pgnotifications.New(f.db), "", zap.NewNop()), Applications: apps,
			Decoders: sources.All(builtin), Alerts: senders, Held: in}})
	table := typed(f.db, apps, notifications.New(notifications.Deps{Store: pgnotifications.New(f.db), Directory: directory,
		Resolver: oncall.NewResolver(directory, nil, time.Second), Load: idle}), wake, sending,
		intakeopening.Opener{Incidents: in, Plans: plans, Applications: apps, Lookups: pgnotifications.New(f.db), Load: idle})
	keys := replay.New(postgres.NewIdempotency(f.db), problems, func() {})
	r := chi.NewRouter()
	r.Use(wire.TrimSlash)
	problems.Refuse(r)
	routing.Mount{Errors: problems, Identify: wire.NewAuthenticator(apps, users, nil, "", problems).Middleware,
		Once:  keys.Once,
		Admit: routing.Strict, Options: true}.Routes(r, table)
	f.handler = r
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql, args...)
	require.NoError(f, err)
}

// open makes an incident that was opened `ago` minutes ago, and returns its number.
func (f *fixture) open(title string, ago int) (id int64) {
	f.Helper()
	require.NoError(f, f.db.Pool().QueryRow(f.Context(), `with i as (
			insert into incidents (plan_id, application_id, due_at, created_at, updated_at)
			select p.id, a.id, clock_timestamp(), clock_timestamp() - make_interval(mins => $1), clock_timestamp() - make_interval(mins => $1)
			from plans p, applications a where a.name = 'demo' returning id),
		c as (insert into incident_contexts (incident_id, context) select id, json_build_object('title', $2::text) from i)
		select id from i`, ago, title).Scan(&id))
	return id
}

// do sends a request of the application, in the name of a person if as is not empty.
func (f *fixture) do(as, method, path, body string, header ...string) *httptest.ResponseRecorder {
	f.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if as != "nobody" {
		if as != "" {
			r.Header.Set(wire.UsernameHeader, as)
		}
		r.Header.Set("Authorization", auth.Sign("demo", "demo-key", auth.SignedRequest{Method: method, Path: r.URL.Path,
			RawQuery: r.URL.RawQuery, Body: []byte(body), Username: as}, time.Now()))
	}
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	return rec
}

// ok sends a request, requires the status and decodes the answer.
func ok[T any](f *fixture, status int, as, method, path, body string) (out T) {
	f.Helper()
	rec := f.do(as, method, path, body)
	require.Equal(f, status, rec.Code, "%s %s: %s", method, path, rec.Body)
	require.NoError(f, json.Unmarshal(rec.Body.Bytes(), &out), rec.Body)
	return out
}

type incident struct {
	ID    int64
	State string
	Title string
	Owner *string
	Step  int
}

type pages struct {
	Items []incident
	Next  *string
}

func TestIncidentsAreListedInPagesNewestFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 5 {
		f.open(fmt.Sprint("number ", i), i/2) // several incidents of one instant, all within a minute
	}
	var seen []int64
	next := ""
	for range 5 {
		page := ok[pages](f, 200, "", "GET", "/v1/incidents?limit=2"+next, "")
		for _, i := range page.Items {
			seen = append(seen, i.ID)
		}
		if page.Next == nil {
			break
		}
		next = "&cursor=" + *page.Next
	}
	require.ElementsMatch(t, []int64{1, 2, 3, 4, 5}, seen)
	require.Equal(t, []int64{2, 1}, seen[:2])
	require.Empty(t, ok[pages](f, 200, "", "GET", "/v1/incidents?state=resolved", "").Items)
	require.Len(t, ok[pages](f, 200, "", "GET", "/v1/incidents?state=escalating&plan=pager&application=demo",
		"").Items, 5)
	require.Equal(t, "number 0", ok[incident](f, 200, "", "GET", "/v1/incidents/1", "").Title)
}

func TestIncidentActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	act := func(what, body string) incident {
		return ok[incident](f, 200, "ann", "POST", "/v1/incidents/1/"+what, body)
	}
	got := act("acknowledge", "")
	require.Equal(t, "acknowledged", got.State)
	require.Equal(t, "ann", *got.Owner)
	require.Equal(t, 401, f.do("ann", "POST", "/v1/incidents/1/acknowledge", `{"owner":"bob"}`).Code)
	require.Equal(t, "bob", *ok[incident](f, 200, "", "POST", "/v1/incidents/1/acknowledge", `{"owner":"bob"}`).Owner)

	got = act("escalate", "")
	require.Equal(t, incident{ID: 1, State: "escalating", Title: "disk", Step: 1}, got)
	require.Equal(t, 2, act("escalate", "").Step)
	require.Equal(t, 409, f.do("ann", "POST", "/v1/incidents/1/escalate", "").Code)
	require.Equal(t, incident{ID: 1, State: "escalating", Title: "disk"}, act("restart", ""))

	require.Equal(t, "escalating", act("page",
		`{"targets":[{"role":"team","name":"ops"},{"role":"user","name":"bob"}],"priority":"urgent"}`).State)
	require.Equal(t, 409, f.do("ann", "POST", "/v1/incidents/1/reassign", `{"owner":"bob"}`).Code, "nobody owns it")
	act("acknowledge", "")
	require.Equal(t, "bob", *act("reassign", `{"owner":"bob"}`).Owner)
	require.Equal(t, "acknowledged", act("page", `{"targets":[{"role":"user","name":"ann"}],"template":"words"}`).State)
	require.Equal(t, "escalating", act("restart", "").State)

	require.Equal(t, "snoozed", act("snooze", `{"for":"2h"}`).State)
	require.Len(t, ok[pages](f, 200, "", "GET", "/v1/incidents?state=snoozed", "").Items, 1)
	require.Len(t, ok[pages](f, 200, "", "GET", "/v1/incidents?state=open", "").Items, 1)
	require.Empty(t, ok[pages](f, 200, "", "GET", "/v1/incidents?state=exhausted", "").Items)
	require.Equal(t, "snoozed", act("snooze", `{"until":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`).State)
	require.Equal(t, "escalating", act("unsnooze", "").State)
	require.Equal(t, 409, f.do("ann", "POST", "/v1/incidents/1/unsnooze", "").Code)

	require.Equal(t, "resolved", act("resolve", "").State)
	for call, body := range map[string]string{"page": `{"targets":[{"role":"user","name":"ann"}]}`, "reassign": `{"owner":"bob"}`} {
		rec := f.do("ann", "POST", "/v1/incidents/1/"+call, body)
		require.Equal(t, 409, rec.Code)
		require.Contains(t, rec.Body.String(), "the incident is resolved: reopen it first")
	}
	for _, refused := range []string{"escalate", "restart", "snooze"} {
		body := map[string]string{"snooze": `{"for":"1h"}`}[refused]
		rec := f.do("ann", "POST", "/v1/incidents/1/"+refused, body)
		require.Equal(t, 409, rec.Code)
		require.Contains(t, rec.Body.String(), "the incident is resolved: reopen it first")
	}
	require.Equal(t, "escalating", act("reopen", "").State)

	require.Equal(t, 201, f.do("ann", "POST", "/v1/incidents/1/comments", `{"content":"looking"}`).Code)
	comments := ok[struct {
		Items []struct{ Author, Content string }
	}](f, 200, "", "GET", "/v1/incidents/1/comments", "")
	require.Equal(t, []struct{ Author, Content string }{{"ann", "looking"}}, comments.Items)
}

func TestIncidentsOfOneSeverityOrIntegration(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	f.open("net", 0)
	f.exec(`insert into integrations (id, application_id, name, type, rate_per_minute, created_by) select 7, id, 'prom', 'generic', 60, 'ann' from applications where name = 'demo';
		update incidents set integration_id = 7 where id = 2; update incident_contexts set severity = 'critical' where incident_id = 2`)
	for _, query := range []string{"integration=PROM", "severity=critical", "state=open&severity=critical&integration=prom"} {
		got := ok[struct {
			Items []struct {
				ID                    int
				Integration, Severity string
			}
		}](f, 200, "", "GET", "/v1/incidents?"+query, "")
		require.Len(t, got.Items, 1, query)
		require.Equal(t, "2 prom critical", fmt.Sprint(got.Items[0].ID, " ", got.Items[0].Integration, " ",
			got.Items[0].Severity))
	}
	for _, query := range []string{"integration=none", "severity=info"} {
		require.Empty(t, ok[pages](f, 200, "", "GET", "/v1/incidents?"+query, "").Items)
	}
}

func TestMergeOverHTTP(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	f.open("disk again", 0)
	type merged struct {
		State      string
		MergedInto *int `json:"merged_into"`
	}
	got := ok[merged](f, 200, "ann", "POST", "/v1/incidents/2/merge", `{"into":1,"comment":"same disk"}`)
	require.Equal(t, "merged", got.State)
	require.Equal(t, 1, *got.MergedInto)
	require.EqualValues(t, 2, ok[pages](f, 200, "", "GET", "/v1/incidents?merged_into=1", "").Items[0].ID)
	require.Empty(t, ok[pages](f, 200, "", "GET", "/v1/incidents?merged_into=2", "").Items)
	require.Equal(t, 409, f.do("ann", "POST", "/v1/incidents/2/snooze", `{"for":"1h"}`).Code)
	ok[merged](f, 200, "ann", "POST", "/v1/incidents/1/resolve", "")
	require.Equal(t, "resolved", ok[merged](f, 200, "", "GET", "/v1/incidents/2", "").State)
	rec := f.do("ann", "POST", "/v1/incidents/2/reopen", "")
	require.Equal(t, 409, rec.Code)
	require.Contains(t, rec.Body.String(), "reopen that one first")
	require.Equal(t, "escalating", ok[merged](f, 200, "ann", "POST", "/v1/incidents/1/reopen", "").State)
	require.Equal(t, merged{State: "escalating"}, ok[merged](f, 200, "ann", "POST", "/v1/incidents/2/unmerge", ""))
	require.Equal(t, 409, f.do("ann", "POST", "/v1/incidents/2/unmerge", "").Code)
}

func TestActionWithAnIdempotencyKeyActsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	for range 2 {
		rec := f.do("ann", "POST", "/v1/incidents/1/escalate", "", "Idempotency-Key", "once")
		require.Equal(t, 200, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), `"step":1`)
	}
	require.Equal(t, 1, ok[incident](f, 200, "", "GET", "/v1/incidents/1", "").Step)
}

func TestErrorsPointToTheField(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.open("disk", 0)
	type part struct{ Pointer, Parameter, Detail string }
	for request, want := range map[string]struct {
		status int
		parts  []part
	}{
		"GET /v1/incidents?state=new": {400,
			[]part{{"", "state", "state must be one of \"open, escalating, exhausted, acknowledged, snoozed, silenced, merged, resolved, closed\""}}},
		"GET /v1/incidents?limit=0": {400,
			[]part{{"", "limit", "limit must be at least 1"}}},
		"GET /v1/incidents?cursor=x": {400,
			[]part{{"", "cursor", "cursor must be the value of next in an earlier answer"}}},
		"GET /v1/incidents?created_after=today": {400,
			[]part{{"", "created_after", "created_after must be a time like 2026-11-22T09:30:00Z"}}},
		"GET /v1/users?activ=true": {400,
			[]part{{"", "activ", `there is no parameter "activ"`}}},
		"GET /v1/incidents/99": {404, nil},
		"GET /v1/plans/none":   {404, nil},
		`POST /v1/incidents/1/comments {"content":""}`: {400,
			[]part{{"#/content", "", "content must not be empty"}}},
		`POST /v1/incidents/1/page {"targets":[]}`: {400,
			[]part{{"#/targets", "", "name at least one target"}}},
		`POST /v1/incidents/1/page {"targets":[{"role":"user","name":"eve"}]}`: {400,
			[]part{{"#/targets/0/name", "", "there is no such target"}}},
		`POST /v1/incidents/1/page {"targets":[{"role":"user","name":"ann"}],"priority":"loud"}`: {400,
			[]part{{"#/priority", "", `there is no priority "loud"`}}},
		`POST /v1/incidents/1/page {"targets":[{"role":"user","name":"ann"}],"template":"none"}`: {400,
			[]part{{"#/template", "", `there is no active template "none"`}}},
		`POST /v1/incidents/1/snooze {}`: {400,
			[]part{{"#/until", "", "either until or for is required"}}},
		`POST /v1/incidents/1/snooze {"for":"soon"}`: {400,
			[]part{{"#/for", "", "for must be a duration such as 90m or 24h, at most 30 days"}}},
		`POST /v1/incidents/1/snooze {"until":"2020-01-01T00:00:00Z"}`: {400,
			[]part{{"#/until", "", "until must be in the future"}}},
		`POST /v1/incidents/1/snooze {"until":"tomorrow"}`: {400,
			[]part{{"#/until", "", "until must be an instant such as 2026-01-31T08:00:00Z"}}},
		`POST /v1/incidents/1/merge {"into":1}`: {400,
			[]part{{"#/into", "", "incident 1 cannot be merged into itself"}}},
		`POST /v1/incidents/1/merge {"into":9}`: {404, nil},
		`POST /v1/incidents/1/merge {"into":"9x"}`: {400,
			[]part{{"#/into", "", "into must be a whole number"}}},
		`POST /v1/incidents/1/merge {}`: {400,
			[]part{{"#/into", "", "into is missing"}}},
		"GET /v1/incidents?severity=loud": {400,
			[]part{{"", "severity", "severity must be one of \"critical, error, warning, info\""}}},
		"GET /v1/incidents?merged_into=x": {400,
			[]part{{"", "merged_into", "merged_into must be a whole number"}}},
		`POST /v1/incidents/1/reassign {"owner":"eve"}`: {400,
			[]part{{"#/owner", "", `there is no active user "eve"`}}},
		`POST /v1/incidents/1/comments {"text":"x"}`: {400,
			[]part{{"#/content", "", "content is missing"}, {"#/text", "", "text is not known here"}}},
		`POST /v1/incidents/1/acknowledge {"owner":1}`: {400,
			[]part{{"#/owner", "", "owner must be a string"}}},
		`POST /v1/incidents/1/acknowledge`: {400,
			[]part{{"#/owner", "", "owner is required: the caller is no person"}}},
		`POST /v1/incidents/1/resolve {"resolved":true}`: {400,
			[]part{{"#/resolved", "", `there is no member "resolved"`}}},
	} {
		method, rest, _ := strings.Cut(request, " ")
		path, body, _ := strings.Cut(rest, " ")
		rec := f.do("", method, path, body)
		require.Equal(t, want.status, rec.Code, "%s: %s", request, rec.Body)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"), request)
		var problem struct {
			Title  string
			Errors []part
		}
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &problem))
		require.NotEmpty(t, problem.Title, request)
		require.Equal(t, want.parts, problem.Errors, request)
	}
	require.Equal(t, 401, f.do("nobody", "GET", "/v1/incidents", "").Code)
}

func TestListsOfConfiguration(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for path, want := range map[string]string{
		"/v1/plans":             `"name":"pager"`,
		"/v1/plans/pager":       `"steps":[[{"target":{"role":"user","name":"bob"},"dynamic_index":null,"priority":"high","template":"words","wait_seconds":300`,
		"/v1/plans/1":           `"threshold_window_seconds":900`,
		"/v1/templates":         `"name":"words"`,
		"/v1/templates/words":   `"plans":["pager"]`,
		"/v1/applications":      `"title_variable":"title"`,
		"/v1/applications/demo": `"name":"demo"`,
		"/v1/users?limit=1":     `"next":"`,
		"/v1/users/ann":         `"teams":["ops"]`,
		"/v1/teams":             `"name":"ops"`,
		"/v1/teams/ops":         `"members":["ann","bob"],"managed_members":[],"admins":["ann"]`,
		"/v1/messages":          `{"items":[],"next":null}`,
		"/v1/notifications":     `{"items":[],"next":null}`,
	} {
		rec := f.do("", "GET", path, "")
		require.Equal(t, 200, rec.Code, "%s: %s", path, rec.Body)
		require.Contains(t, rec.Body.String(), want, path)
	}
	require.Equal(t, `"1"`, f.do("", "GET", "/v1/plans/pager", "").Header().Get("ETag"))
	second := ok[struct {
		Items []struct{ Name string }
		Next  *string
	}](f, 200, "", "GET", "/v1/users?limit=1&cursor=YW5u", "")
	require.Equal(t, "bob", second.Items[0].Name)
	require.Nil(t, second.Next)
}
