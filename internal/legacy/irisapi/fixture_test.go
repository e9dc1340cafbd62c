package irisapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/golden"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/load"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/irisapi"
	texts "github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/replay"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// caller is the credentials of a request.
type caller struct {
	app, key string
	user     string // X-IRIS-USERNAME
	session  string // name of a logged-in user
	origin   string // Origin header, as a browser sends it
}

var (
	nobody  = caller{}
	demo    = caller{app: "demo", key: "demo-key"}
	power   = caller{app: "power", key: "power-key"}
	asAnn   = caller{app: "power", key: "power-key", user: "ann"}
	asRoot  = caller{app: "power", key: "power-key", user: "root"}
	annHere = caller{session: "ann"}
	viewer  = caller{session: "viewer"}
)

// fixture is the API over its own database, which has people, teams, applications, a template and a plan.
type fixture struct {
	testing.TB
	db       *postgres.DB
	handler  http.Handler
	sessions *scs.SessionManager
	mu       sync.Mutex
	woken    buckets.Set
}

// seed makes: ann and bob (with contacts), root (admin), viewer (only reads), lone (no contact), gone (not active);
// the team ops of ann and bob, the team empty; the applications demo, other (no templates), power (may act for people
// and applications); the template words, with content for demo; the plan pager.
const seed = `
insert into users (name, admin, read_only, active) values
	('ann', false, false, true), ('bob', false, false, true), ('root', true, false, true), ('viewer', false, true, true),
	('lone', false, false, true), ('gone', false, false, false);
insert into user_contacts (user_id, mode, destination)
	select id, 'email', name || '@example.com' from users where name in ('ann', 'bob', 'root');
insert into user_contacts (user_id, mode, destination) select id, 'sms', '+15005550006' from users where name = 'ann';
insert into teams (name) values ('ops'), ('empty');
insert into team_members (team_id, user_id, position)
	select t.id, u.id, u.id from teams t, users u where t.name = 'ops' and u.name in ('ann', 'bob');
insert into applications (name, title_variable) values ('demo', 'host'), ('other', null);
insert into applications (name, allow_authenticating_users, allow_other_app_incidents) values ('power', true, true);
insert into application_modes (application_id, mode)
	select a.id, m.name from applications a, modes m where a.name in ('demo', 'other', 'power') and m.name <> 'drop';
insert into application_variables (application_id, name, required)
	select id, v, false from applications, unnest(array['host', 'message']) v where name = 'demo';
insert into templates (name, creator_id, created_at) select 'words', id, to_timestamp(1000000000) from users where name = 'ann';
insert into template_active select 'words', id from templates;
insert into template_contents (template_id, application_id, mode, subject, body)
	select t.id, a.id, 'email', 'S {{ host }}', 'B' from templates t, applications a where a.name = 'demo';
insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window, aggregation_reset, created_at)
	select 'pager', id, 'a plan', 900, 10, 300, 300, to_timestamp(1000000000) from users where name = 'ann';
insert into plan_active select 'pager', id from plans;
insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
	select p.id, 1, 0, 'high', 'user', u.target_id, 'words', 60, 1, false from plans p, users u where u.name = 'ann';
insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
	select p.id, 2, 0, 'urgent', 'team', t.target_id, 'words', 0, 0, false from plans p, teams t where t.name = 'ops';
`

const userKey = "user"

// config is the configuration of the API that tests change.
type config struct {
	Openings             auth.Openings
	MaxPlanLength        time.Duration
	HealthcheckFile      string
	ListLimit            int
	Tags                 []string
	InternalApplications []string
	DummyRoles           bool
	TimeZones            []string
	Mobile               bool
	DeviceApplications   []string
}

// parts are the parts of the API that tests change.
type parts struct {
	Config        config
	Authenticator *wire.Authenticator
	Counts        *pgincidents.Incidents // what Rates counts
	Incidents     opening.Incidents      // nil = Counts
	People        users.Finder
	Statistics    applications.StatisticsStore
	Resolver      *oncall.Resolver
	Load          *load.Load
	Rates         opening.Rates
	SlackID       func(context.Context, string) (string, error)
	Ping          func(context.Context) error
	Wake          func(context.Context, buckets.Set)
	Registerer    prometheus.Registerer
}

func newFixture(t testing.TB, change ...func(*parts)) *fixture {
	t.Helper()
	f := &fixture{TB: t, db: pgtest.New(t)}
	_, err := f.db.Pool().Exec(t.Context(), seed)
	require.NoError(t, err)
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	apps := pg.NewApplications(f.db, keys)
	for name, key := range map[string]string{"demo": "demo-key", "other": "other-key", "power": "power-key"} {
		app, err := apps.ByName(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, apps.SetKey(t.Context(), app.ID, key))
	}
	f.sessions = scs.New()
	f.sessions.Store = pgauth.NewSessions(f.db)
	f.sessions.Cookie.Name = "iris-auth"
	level := zap.NewAtomicLevelAt(zap.WarnLevel)
	t.Cleanup(func() { level.SetLevel(zap.FatalLevel) }) // repeated errors are counted on a timer, which may end after the test
	log := testlog.New(t, level)
	errs, people, dir, queues := wire.NewErrors(log), pgusers.NewUsers(f.db), pgescalation.NewDirectory(f.db), pgdelivery.NewQueues(f.db)
	simulator, err := simulation.NewSimulator(simulation.SimulatorDeps{Reader: dir, Rules: dir,
		Names: pg.NewNames(f.db, apps), Clock: f.db,
		Resolver: func() *oncall.Resolver { return oncall.NewResolver(dir, nil, time.Hour) }})
	require.NoError(t, err)
	p := parts{
		Authenticator: wire.NewAuthenticator(apps, people, f.sessions, userKey,
			errs), People: people, Counts: pgincidents.New(f.db),
		Statistics: pgsystem.NewStatistics(f.db), Resolver: oncall.NewResolver(dir, nil,
			time.Second), Load: load.New(queues, log),
		Ping: f.db.Ping, Registerer: prometheus.NewRegistry(),
		Wake: func(_ context.Context, s buckets.Set) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.woken.Union(s)
		},
	}
	for _, c := range change {
		c(&p)
	}
	api, err := irisapi.New(f.parts(p, apps, errs))
	require.NoError(t, err)
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, errs.BoundQuery)
	errs.Refuse(r)
	api.Routes(r)
	// The simulation of /v1 is tested with the plans of this fixture.
	strict := wire.NewAuthenticator(apps, people, f.sessions, userKey, errs)
	typed := mount.New(func(ctx context.Context) operation.Actor { return wire.Actor(ctx).Caller(auth.Openings{}) })
	mount.Mount(typed, catalog.NewPlans(catalog.PlanDeps{Simulator: simulator}).Simulate)
	routing.Mount{Errors: errs, Identify: strict.Middleware, Admit: routing.Strict}.Routes(r, typed.Routes())
	f.handler = r
	return f
}

// parts returns the parts of the API.
func (f *fixture) parts(p parts, apps *pg.Applications, errs *wire.Errors) irisapi.Deps {
	dir, c, keys := pgescalation.NewDirectory(f.db), p.Config, replay.New(postgres.NewIdempotency(f.db), errs,
		func() {})
	c.Openings.ReachEverything = true // the contract of Iris; test/contract has the rule without it
	acceptor := notifications.New(notifications.Deps{Store: pgnotifications.New(f.db), Directory: dir,
		Resolver: p.Resolver, Load: p.Load,
		DummyRoles: c.DummyRoles})
	requests, err := wire.NewRequests(p.Registerer)
	require.NoError(f, err)
	statistics := applications.NewRecentStatistics(p.Statistics)
	in, plans, templates := pgincidents.New(f.db), pg.NewPlans(f.db), pg.NewTemplates(f.db)
	opened, settings, messages := p.Incidents, pgusers.NewSettings(f.db), pgincidents.NewMessages(f.db)
	if opened == nil {
		opened = in
	}
	tags := irisapi.Tags{Names: c.Tags, Store: pg.NewTags(f.db)}
	authors := catalog.Authors{People: p.People, Teams: pg.NewOwners(f.db), Teammates: pgusers.NewUsers(f.db).Teammates}
	return irisapi.Deps{
		Mount: routing.Mount{Errors: errs, Identify: p.Authenticator.Middleware, Recent: p.Authenticator.Recent,
			Once: keys.Once, Observe: requests.Observe},
		Applications: irisapi.ApplicationsDeps{Applications: apps, Operations: catalog.NewApplications(catalog.ApplicationDeps{Store: apps, People: p.People}),
			Statistics: statistics, Tags: tags},
		Catalog: irisapi.CatalogDeps{Plans: plans, Templates: templates, Openings: c.Openings, Tags: tags, Authors: authors,
			PlanOperations: catalog.NewPlans(catalog.PlanDeps{Store: plans, Authors: authors,
				Syntax: texts.CheckSyntax, MaxLength: c.MaxPlanLength, ListLimit: c.ListLimit}),
			TemplateOperations: catalog.NewTemplates(catalog.TemplateDeps{Store: templates, Authors: authors,
				Syntax: texts.CheckSyntax})},
		Incidents: irisapi.IncidentsDeps{Incidents: in, Messages: messages,
			Operations: incidents.NewIncidents(incidents.Deps{Store: in, People: p.People, Wake: p.Wake}),
			People:     p.People, Tags: tags, Openings: c.Openings, InternalApplications: c.InternalApplications},
		Messages: irisapi.MessagesDeps{Messages: messages, Queues: pgdelivery.NewQueues(f.db), Acceptor: acceptor,
			Wake: p.Wake},
		Opening: irisapi.OpeningDeps{Texts: plans, Wake: p.Wake,
			Opener: opening.Opener{Incidents: opened, Plans: plans, Applications: apps,
				Lookups: pgnotifications.New(f.db), Load: p.Load, Rates: p.Rates}},
		People: irisapi.PeopleDeps{People: p.People, Settings: settings, Preferences: users.NewPreferences(p.People, settings), Acceptor: acceptor, SlackID: p.SlackID, TimeZones: c.TimeZones, Mobile: c.Mobile,
			DeviceApplications: c.DeviceApplications, InternalApplications: c.InternalApplications},
		Vocabulary: irisapi.VocabularyDeps{Targets: pg.NewTargets(f.db), Categories: apps,
			Tags:      tags,
			TimeZones: c.TimeZones, InternalApplications: c.InternalApplications},
		Health: irisapi.Health{File: c.HealthcheckFile, Ping: p.Ping}, Registerer: p.Registerer,
	}
}

// do sends a request. Header pairs come as name, value, name, value.
func (f *fixture) do(as caller, method, path, body string, header ...string) *httptest.ResponseRecorder {
	f.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if as.user != "" {
		r.Header.Set(wire.UsernameHeader, as.user)
	}
	if as.app != "" {
		r.Header.Set("Authorization", auth.Sign(as.app, as.key, auth.SignedRequest{Username: as.user, Method: method,
			Path: r.URL.Path, RawQuery: r.URL.RawQuery, Body: []byte(body)}, time.Now()))
	}
	if as.session != "" {
		r.AddCookie(&http.Cookie{Name: "iris-auth", Value: f.login(as.session)})
	}
	if as.origin != "" {
		r.Header.Set("Origin", as.origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	return rec
}

func (f *fixture) login(user string) string {
	f.Helper()
	ctx, err := f.sessions.Load(f.Context(), "")
	require.NoError(f, err)
	u, err := pgusers.NewUsers(f.db).ByName(ctx, user)
	require.NoError(f, err)
	_, err = wire.BeginSession(ctx, f.sessions, userKey, u, "password", time.Now())
	require.NoError(f, err)
	token, _, err := f.sessions.Commit(ctx)
	require.NoError(f, err)
	return token
}

// want sends a request and compares status and whole body.
func (f *fixture) want(status int, answer string, as caller, method, path, body string, header ...string) *httptest.ResponseRecorder {
	f.Helper()
	rec := f.do(as, method, path, body, header...)
	require.Equal(f, answer, rec.Body.String(), "%s %s %s", method, path, body)
	require.Equal(f, status, rec.Code, "%s %s %s", method, path, body)
	return rec
}

// ok sends a request that must succeed and returns its body.
func (f *fixture) ok(as caller, method, path, body string) string {
	f.Helper()
	rec := f.do(as, method, path, body)
	require.Less(f, rec.Code, 300, "%s %s: %s", method, path, rec.Body)
	return rec.Body.String()
}

func (f *fixture) exec(sql string, args ...any) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql, args...)
	require.NoError(f, err)
}

func (f *fixture) count(sql string, args ...any) (n int) {
	f.Helper()
	require.NoError(f, f.db.Pool().QueryRow(f.Context(), sql, args...).Scan(&n))
	return n
}

// title is the body of an error of /v0 without a description.
func title(text string) string { return describe(text, "") }

func describe(text, description string) string {
	m := struct {
		Title       string `json:"title"`
		Description string `json:"description,omitempty"`
	}{text, description}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err)
	}
	return strings.TrimSpace(buf.String())
}

// recent matches current Unix seconds, which golden files replace by 0.
var recent = regexp.MustCompile(`:(1[6-9]|2[0-9])[0-9]{8}\b`)

func (f *fixture) golden(name, body string) {
	f.Helper()
	var buf bytes.Buffer
	require.NoError(f, json.Indent(&buf, recent.ReplaceAll([]byte(body), []byte(":0")), "", "  "), body)
	buf.WriteByte('\n')
	golden.Equal(f, filepath.Join("testdata", name+".json"), buf.String())
}

// unavailable is the Ping of a database that does not answer.
func unavailable(context.Context) error { return context.DeadlineExceeded }
