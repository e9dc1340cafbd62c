package irisapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// request is a request that succeeds for callers who may use its route.
type request struct{ method, path, body string }

var (
	reads = []request{
		{get, "/v0/incidents?limit=1", ""}, {get, "/v0/incidents/1", ""}, {get, "/v0/incidents/1/comments", ""},
		{get, "/v0/plans", ""}, {get, "/v0/plans/1", ""}, {get, "/v0/templates", ""}, {get, "/v0/templates/1", ""},
		{get, "/v0/messages?limit=1", ""}, {get, "/v0/messages/1", ""}, {get, "/v0/messages/1/auditlog", ""}, {get,
			"/v0/queues", ""},
	}
	// writes that every known caller may do
	writes = []request{
		{post, "/v0/incidents", `{"plan":"pager","application":"demo","context":{}}`},
		{post, "/v0/incidents/1", `{"owner":null}`}, {post, "/v0/incidents/claim", `{"owner":null,"incident_ids":[1]}`},
		{post, "/v0/incidents/1/resolve", `{"resolved":0}`},
		{post, "/v0/notifications", `{"role":"user","target":"ann","subject":"s","mode":"email","body":"b"}`},
	}
	// writes in the name of ann, or on objects of ann
	anns = []request{
		{post, "/v0/incidents/1", `{"owner":"ann"}`}, {post, "/v0/incidents/claim",
			`{"owner":"ann","incident_ids":[1]}`},
		{post, "/v0/incidents/1/comments", `{"author":"ann","content":"c"}`},
		{post, "/v0/plans", planJSON()}, {post, "/v0/plans/1", `{"active":1}`}, {del, "/v0/plans/unused", ""},
		{post, "/v0/templates", templateBody}, {post, "/v0/templates/1", `{"active":1}`},
	}
)

// TestPermissionsOfRoutes sends every request as every kind of caller.
func TestPermissionsOfRoutes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		as                 caller
		reads, writes, ann bool
		strangerStatus     int // of writes that are refused
	}{
		"nobody":                  {nobody, false, false, false, 401},
		"application":             {demo, true, true, false, 0},
		"application with powers": {power, true, true, true, 0},
		"ann through it":          {asAnn, true, true, true, 0},
		"bob through it":          {caller{app: "power", key: "power-key", user: "bob"}, true, true, false, 0},
		"admin through it":        {asRoot, true, true, true, 0},
		"session of ann":          {annHere, true, true, true, 0},
		"session of bob":          {caller{session: "bob"}, true, true, false, 0},
		"session of an admin":     {caller{session: "root"}, true, true, true, 0},
		"session of a reader":     {viewer, true, false, false, 403},
		"session of nobody":       {caller{session: "gone"}, false, false, false, 401},
		"wrong key":               {caller{app: "demo", key: "wrong"}, false, false, false, 401},
		"unknown application":     {caller{app: "none", key: "x"}, false, false, false, 401},
		"user without the power":  {caller{app: "demo", key: "demo-key", user: "ann"}, false, false, false, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.ok(power, post, "/v0/incidents", `{"plan":"pager","application":"demo","context":{}}`)
			f.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
				values ('unused', 1, 0, 0, 0, 0); insert into plan_active select 'unused', id from plans where name = 'unused'`)
			f.exec(`insert into notification_requests (application_id) values (1);
				insert into messages (bucket, request_id, application_id, recipient, target, class, mode) values (1, 1, 1, 'literal:x', 'x', 2, 'email')`)
			ask := func(list []request, allowed bool) {
				for _, rq := range list {
					rec := f.do(tc.as, rq.method, rq.path, rq.body)
					if rq.path == "/v0/incidents" && tc.as == demo {
						rec = f.do(tc.as, rq.method, rq.path, strings.Replace(rq.body, `"application":"demo",`, "", 1))
					}
					if rq.path == "/v0/incidents" && tc.as.session != "" && allowed {
						f.exec("insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = $1", tc.as.session)
						rec = f.do(tc.as, rq.method, rq.path, rq.body)
						f.exec("delete from application_owners")
					}
					switch {
					case allowed:
						require.Less(t, rec.Code, 300, "%s %s: %s", rq.method, rq.path, rec.Body)
					case tc.strangerStatus != 0:
						require.Equal(t, tc.strangerStatus, rec.Code, "%s %s: %s", rq.method, rq.path, rec.Body)
					default:
						require.Contains(t, []int{401, 403}, rec.Code, "%s %s: %s", rq.method, rq.path, rec.Body)
					}
				}
			}
			if tc.reads {
				ask(reads, true)
			} else {
				for _, rq := range reads {
					require.Equal(t, 401, f.do(tc.as, rq.method, rq.path, "").Code, rq.path)
				}
			}
			ask(writes, tc.writes)
			ask(anns, tc.ann)
		})
	}
}

func TestAuthenticationFailures(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(401, describe("Authentication failure", "Malformed/missing HMAC authorization header"), nobody, get,
		"/v0/plans", "")
	f.want(401, describe("Authentication failure", "HMAC failed validation. Check API key/clock skew"),
		caller{app: "demo", key: "x"}, get, "/v0/plans", "")
	f.want(401, describe("Authentication failure", "HMAC failed validation. Check API key/clock skew"),
		caller{app: "none", key: "x"}, get, "/v0/plans", "")
	f.want(401, `{"title":"This application does not have the power to authenticate usernames","description":""}`,
		caller{app: "demo", key: "demo-key", user: "ann"}, get, "/v0/plans", "")
	rec := f.do(nobody, get, "/v0/plans", "", "Authorization", "Basic eDp5")
	require.Equal(t, 401, rec.Code)
	require.Empty(t, rec.Header().Get("WWW-Authenticate"))
	f.want(401, `{"title":"Authentication failure","description":""}`, nobody, get, "/v0/plans", "", "Authorization",
		"hmac nocolon")
}

func TestSignatureCoversTheBodyAndThePathAsSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, path := range []string{"/v0/plans/a%20b", "/v0/plans/pager/", "/v0/plans?name=a%20b"} {
		rec := f.do(demo, get, path, "")
		require.NotEqual(t, 401, rec.Code, path)
	}
	r := httptest.NewRequest(post, "/v0/incidents", strings.NewReader(`{"plan":"pager","context":{"host":"evil"}}`))
	signed := f.do(demo, get, "/v0/plans/1", "") // any request, to be sure that the key is right
	require.Equal(t, 200, signed.Code)
	r.Header.Set("Authorization", "hmac demo:AAAA")
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	require.Equal(t, 401, rec.Code)
}

func TestPagesOfOtherSitesCannotUseASession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	evil := annHere
	evil.origin = "https://evil.example"
	f.want(403, title("This request was sent by a page of another site"), evil, post, "/v0/notifications", `{}`)
	require.Equal(t, 200, f.do(evil, get, "/v0/plans", "").Code, "reading is the browser's to refuse")
	signed := power
	signed.origin = "https://evil.example"
	require.Equal(t, 400, f.do(signed, post, "/v0/notifications", `{}`).Code, "a signature is no cookie")
}

func TestAnonymousReadsMustBeSwitchedOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.Openings = auth.Openings{AnonymousReads: true} })
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	for _, rq := range reads {
		if strings.HasPrefix(rq.path, "/v0/messages/1") {
			continue // there is none
		}
		if rq.path == "/v0/queues" {
			require.Equal(t, 401, f.do(nobody, rq.method, rq.path, "").Code, "the predecessor has no such route")
			continue
		}
		require.Equal(t, 200, f.do(nobody, rq.method, rq.path, "").Code, rq.path)
	}
	require.Equal(t, 401, f.do(nobody, post, "/v0/notifications", `{}`).Code)
}

func TestSessionsActForAnyoneMustBeSwitchedOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.Openings = auth.Openings{SessionsActForAnyone: true} })
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	f.ok(annHere, post, "/v0/incidents/1", `{"owner":"bob"}`)
}

func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, path := range []string{"/v0/none", "/v0", "/v0/incidents/1/none", "/v0/queues/1"} {
		rec := f.want(404, "", demo, get, path, "")
		require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
		require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
	}
	rec := f.want(405, "", demo, http.MethodPut, "/v0/plans/1", "")
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	require.Equal(t, "GET, HEAD, POST, DELETE", rec.Header().Get("Allow"))
	f.want(405, "", demo, del, "/v0/incidents", "")
	f.want(405, "", demo, get, "/v0/notifications/", "")
	require.Equal(t, 404, f.do(nobody, get, "/else", "").Code)
	require.Equal(t, "application/problem+json", f.do(nobody, get, "/else", "").Header().Get("Content-Type"))
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.want(200, "GOOD", nobody, get, "/healthcheck", "")
	require.Equal(t, "text/plain", rec.Header().Get("Content-Type"))
	f.want(200, "GOOD", nobody, get, "/healthcheck/", "")
	down := newFixture(t, func(d *parts) { d.Ping = unavailable })
	silent := newFixture(t, func(d *parts) {
		d.Ping = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	})
	silent.want(503, "Could not connect to database", nobody, get, "/healthcheck", "")
	down.want(503, "Could not connect to database", nobody, get, "/healthcheck", "")
}

func TestHealthcheckFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "health")
	f := newFixture(t, func(d *parts) { d.Config.HealthcheckFile = path })
	require.Equal(t, 404, f.do(nobody, get, "/healthcheck", "").Code)
	require.NoError(t, os.WriteFile(path, []byte("IN SERVICE\r\nsecond line"), 0o600))
	rec := f.want(200, "IN SERVICE", nobody, get, "/healthcheck", "")
	require.Equal(t, "text/plain", rec.Header().Get("Content-Type"))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	f.want(200, "", nobody, get, "/healthcheck", "")
	require.NoError(t, os.Remove(path))
	require.Equal(t, 404, f.do(nobody, get, "/healthcheck", "").Code)
	down := newFixture(t, func(d *parts) { d.Config.HealthcheckFile, d.Ping = path, unavailable })
	require.NoError(t, os.WriteFile(path, []byte("UP"), 0o600))
	down.want(503, "Could not connect to database", nobody, get, "/healthcheck", "")
}

func TestAuthenticationSwitchedOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) {
		d.Authenticator = d.Authenticator.WithoutVerification()
		d.Config.Openings.NoCredentials = true
	})
	f.exec(`insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'ann'`)
	const path = "/v0/applications/demo/key"
	f.want(200, `{"key":"demo-key"}`, nobody, get, path, "", "X-IRIS-USERNAME", "ann")
	f.want(403, title("You don't have permissions to view this app's key."), nobody, get, path, "", "X-IRIS-USERNAME",
		"bob")
	f.want(401, title("You must be a logged in user to view this app's key"), nobody, get, path, "")
	require.Equal(t, 200, f.do(nobody, get, "/v0/plans", "").Code)
	require.Equal(t, 200, f.do(nobody, get, "/v0/queues", "").Code)
	f.want(201, "1", nobody, post, "/v0/incidents", `{"plan":"pager","context":{}}`, "Authorization",
		"hmac demo:nonsense")
	f.want(201, "2", nobody, post, "/v0/incidents", `{"plan":"pager","context":{},"application":"demo"}`,
		"X-IRIS-USERNAME", "bob")
	f.want(200, `{"incident_id":1,"owner":"bob","active":false}`, nobody, post, "/v0/incidents/1", `{"owner":"bob"}`,
		"X-IRIS-USERNAME", "bob")
	f.want(401, title("Invalid claimer for this app/user"), nobody, post, "/v0/incidents/1", `{"owner":"ann"}`)
	f.want(401, describe("Authentication failure", "Application not found"), nobody, get, "/v0/plans", "",
		"Authorization", "hmac nope:x")
	f.want(400, title("No plan template actions exist for this app"), nobody, post, "/v0/incidents",
		`{"plan":"pager","context":{}}`)
	f.want(400, title("Invalid app specified for this notification category"), nobody, post, "/v0/notifications",
		`{"role":"user","target":"ann","subject":"s","body":"b","category":"news"}`)
	f.want(403, title("This request was sent by a page of another site"), caller{origin: "https://evil.example"}, post,
		"/v0/incidents",
		`{"plan":"pager","context":{}}`, "X-IRIS-USERNAME", "root")
}

// TestAnonymousReadsOpenTheRoutesOfIris: the switch opens the routes that Iris serves without credentials, and no
// others.
func TestAnonymousReadsOpenTheRoutesOfIris(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) { d.Config.Openings = auth.Openings{AnonymousReads: true} })
	open := map[string]bool{"/v0/plans": true, "/v0/plans/{plan}": true, "/v0/incidents": true,
		"/v0/incidents/{id}":          true,
		"/v0/incidents/{id}/comments": true, "/v0/messages": true, "/v0/messages/{id}": true, "/v0/messages/{id}/auditlog": true,
		"/v0/target_roles": true, "/v0/templates": true, "/v0/templates/{template}": true, "/v0/timezones": true,
		"/v0/users/{username}/slackid": true, "/v0/applications": true, "/v0/applications/{app}": true,
		"/v0/applications/{app}/quota": true, "/v0/applications/{app}/stats": true, "/v0/applications/{app}/plans": true,
		"/v0/categories": true, "/v0/categories/{app}": true, "/v0/stats": true, "/v0/singlestats/{name}": true,
		"/v0/internal/plan_aggregation_settings": true, "/v0/internal/priority_mode_map": true, "/v0/allowed_metadata_tags": true,
		"/healthcheck": true}
	routes, ok := f.handler.(chi.Routes)
	require.True(t, ok)
	parameter := regexp.MustCompile(`\{[a-z_]+\}`)
	asked := 0
	require.NoError(t, chi.Walk(routes, func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		rec := f.do(nobody, method, parameter.ReplaceAllString(path, "1"), "")
		if method == get && open[path] || method == http.MethodHead && open[path] {
			require.NotEqual(t, 401, rec.Code, "%s %s", method, path)
			asked++
		} else if rec.Code != 405 {
			require.Equal(t, 401, rec.Code, "%s %s", method, path)
		}
		return nil
	}))
	require.Greater(t, asked, 20)
}

func TestPagesOfAllowedSites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const site = "https://portal.example.com"
	f.handler = wire.CORS([]string{site})(f.handler)
	from := func(origin string) caller { return caller{session: "ann", origin: origin} }
	rec := f.do(from(site), post, "/v0/notifications", `{}`)
	require.Equal(t, 400, rec.Code, rec.Body)
	require.Equal(t, site, rec.Header().Get("Access-Control-Allow-Origin"))
	require.Equal(t, "true", rec.Header().Get("Access-Control-Allow-Credentials"))
	rec = f.want(403, title("This request was sent by a page of another site"), from("https://evil.example"), post,
		"/v0/notifications", `{}`)
	require.Empty(t, rec.Header().Get("Access-Control-Allow-Origin"))
	require.Contains(t, rec.Header().Values("Vary"), "Origin")
	rec = f.do(caller{origin: site}, http.MethodOptions, "/v0/incidents/1", "", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "content-type")
	require.Equal(t, 204, rec.Code)
	require.Equal(t, "GET, HEAD, POST, PUT, DELETE", rec.Header().Get("Access-Control-Allow-Methods"))
	require.Equal(t, "content-type", rec.Header().Get("Access-Control-Allow-Headers"))
	rec = f.do(caller{origin: "https://evil.example"}, http.MethodOptions, "/v0/incidents/1", "",
		"Access-Control-Request-Method", "POST")
	require.Equal(t, 405, rec.Code)
	require.Empty(t, rec.Header().Get("Access-Control-Allow-Origin"))
	require.Empty(t, f.do(caller{origin: site}, get, "/healthcheck", "").Header().Get("Access-Control-Allow-Origin"))
}

func TestEndedSessionsCannotUseTheAPI(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failure := describe("Authentication failure", "Malformed/missing HMAC authorization header")
	for what, sql := range map[string]string{
		"a new password": `update users set password_hash = 'new' where name = 'ann'`,
		"switched off":   `update users set active = false where name = 'bob'`,
	} {
		name := map[bool]string{true: "ann", false: "bob"}[what == "a new password"]
		cookie := "iris-auth=" + f.login(name)
		f.want(200, `[]`, nobody, get, "/v0/incidents?limit=1", "", "Cookie", cookie)
		f.exec(sql)
		f.want(401, failure, nobody, get, "/v0/incidents?limit=1", "", "Cookie", cookie)
		f.want(401, failure, nobody, post, "/v0/incidents", `{"plan":"pager","context":{}}`, "Cookie", cookie)
		f.exec(`update users set active = true`)
		f.want(401, failure, nobody, get, "/v0/incidents?limit=1", "", "Cookie", cookie)
	}
}

func TestApplicationsCannotActForInactivePeople(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(401, title("The user gone is not active"), caller{app: "power", key: "power-key", user: "GONE"}, get,
		"/v0/plans?limit=1", "")
	f.want(200, `[]`, caller{app: "power", key: "power-key", user: "stranger"}, get, "/v0/plans?limit=0&name=x", "")
	viewing := caller{app: "power", key: "power-key", user: "viewer"}
	f.want(403, title("This user may only read"), viewing, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
}

// TestTwoSwitchesLetAnybodyChangePlans: with both switches on, requests without credentials change plans and templates.
func TestTwoSwitchesLetAnybodyChangePlans(t *testing.T) {
	t.Parallel()
	for open, status := range map[bool]int{true: 200, false: 403} {
		f := newFixture(t, func(d *parts) {
			d.Authenticator = d.Authenticator.WithoutVerification()
			d.Config.Openings = auth.Openings{NoCredentials: true, ChangeAnyPlan: open}
		})
		for _, path := range []string{"/v0/plans/1", "/v0/templates/1"} {
			require.Equal(t, status, f.do(nobody, post, path, `{"active":0}`).Code, path)
			require.Equal(t, status, f.do(nobody, post, path, `{"active":1}`).Code, path)
		}
		require.Equal(t, status, f.do(nobody, del, "/v0/plans/pager", "").Code)
	}
}
