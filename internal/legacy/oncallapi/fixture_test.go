package oncallapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/oncallapi"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// caller is the credentials of a request.
type caller struct {
	app, key string
	session  string // name of a logged-in user
	csrf     string // "" = the right one, "-" = none
}

var (
	nobody   = caller{}
	program  = caller{app: "calendar", key: "calendar-key"}
	stranger = caller{app: "stranger", key: "stranger-key"} // without allow_oncall
	ann      = caller{session: "ann"}                       // administers ops
	bob      = caller{session: "bob"}                       // member of ops
	eve      = caller{session: "eve"}                       // in no team
	root     = caller{session: "root"}                      // administrator
	viewer   = caller{session: "viewer"}                    // read-only
)

const userKey = "user"

// seed makes people, two teams, a service and applications. Ann administers the team ops; bob and cat are its members.
// All three are in the roster ops-roster, where cat is not in the rotation. The team empty has no people.
const seed = `
insert into users (name, full_name, admin, read_only) values
	('ann', 'Ann Lee', false, false), ('bob', 'Bob Ray', false, false), ('cat', 'Cat Fox', false, false), ('eve', 'Eve Poe', false, false),
	('root', 'Root', true, false), ('viewer', 'Viewer', false, true);
insert into user_contacts (user_id, mode, destination)
	select id, 'email', name || '@example.com' from users where name in ('ann', 'bob', 'cat');
insert into user_contacts (user_id, mode, destination)
	select id, 'call', '+1555010' || id from users where name in ('ann', 'bob', 'cat');
insert into teams (name, time_zone, email) values ('ops', 'America/New_York', 'ops@example.com'), ('empty', 'UTC', null);
insert into team_members (team_id, user_id, position, admin)
	select t.id, u.id, u.id, u.name = 'ann' from teams t, users u where t.name = 'ops' and u.name in ('ann', 'bob', 'cat');
insert into rosters (team_id, name) select id, 'ops-roster' from teams where name = 'ops';
insert into roster_members (roster_id, user_id, priority, in_rotation)
	select r.id, u.id, row_number() over (order by u.id) - 1, u.name <> 'cat' from rosters r, users u where u.name in ('ann', 'bob', 'cat');
insert into services (name) values ('web'), ('database');
insert into applications (name, allow_oncall) values ('calendar', true), ('stranger', false);
`

// deps are the parts of the two calendar APIs, /api/v0 and the calendar's part of /v1.
type deps struct {
	Requests      requests.Requests
	Authenticator requests.Authenticator
	Teams         oncallapi.TeamsDeps
	People        oncallapi.PeopleDeps
	Events        oncallapi.EventsDeps
	Escalate      oncallapi.EscalateDeps
	Rules         rules.Deps
	CheckPlans    bool // teams may name only plans that exist
	Planning      planning.Deps
	Calendaring   calendaring.Deps
	Contacts      users.ContactStore
	Personal      personal.Deps
}

type fixture struct {
	testing.TB
	db       *postgres.DB
	handler  http.Handler
	sessions *scs.SessionManager
	deps     deps
	mu       sync.Mutex
	woken    buckets.Set
	calendar []routing.Route // of /v1
}

func newFixture(t testing.TB, change ...func(*deps)) *fixture {
	t.Helper()
	f := &fixture{TB: t, db: pgtest.New(t)}
	f.exec(seed)
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	apps := pg.NewApplications(f.db, keys)
	for _, name := range []string{"calendar", "stranger"} {
		app, err := apps.ByName(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, apps.SetKey(t.Context(), app.ID, name+"-key"))
	}
	f.sessions = scs.New()
	f.sessions.Store = pgauth.NewSessions(f.db)
	f.sessions.Cookie.Name = "iris-auth"
	log := testlog.New(t, zap.WarnLevel)
	day := 24 * time.Hour
	teams := pgusers.NewOncallTeams(f.db, []oncall.NoticeSetting{
		{Mode: users.Email, Type: "oncall_reminder", Before: &day, Roles: []string{"primary", "secondary"}},
	})
	rosters, people, names := pgusers.NewRosters(teams), pgusers.NewOncallPeople(f.db), pgoncall.NewRolesAndServices(f.db)
	notices, shifts, schedules := pgnotifications.NewNotices(f.db,
		keys), pgoncall.NewShifts(f.db), pgoncall.NewSchedules(f.db)
	plans, lookups, absent := pg.NewPlans(f.db), pgnotifications.New(f.db), pgoncall.NewRequests(f.db)
	subscriptions := pgoncall.NewSubscriptions(f.db, keys)
	live, modes := pgoncall.NewCalendars(f.db), []users.Mode{users.Email, users.SMS, users.Call, users.Slack}
	problems := wire.NewErrors(log)
	f.deps = deps{
		Requests: requests.Requests{Finder: calendaring.Finder{Teams: teams, People: people, Roles: names, Rosters: rosters,
			Schedules: schedules, Shifts: shifts}, Memberships: teams},
		Authenticator: requests.Authenticator{Applications: apps, Users: pgusers.NewUsers(f.db), Sessions: f.sessions,
			UserKey:     userKey,
			Memberships: teams, Errors: problems},
		Teams: oncallapi.TeamsDeps{Teams: teams, Rosters: rosters,
			Names: names, Previews: schedules, OnCallRoles: calendaring.NewRoles(names), Notices: notices,
			TimeZones: []string{"UTC", "America/New_York", "Europe/Zurich"}, Modes: modes},
		Rules: rules.Deps{People: people, Store: teams, Rosters: rosters, Services: names, Removals: operator.NewRemovals(f.db)},
		People: oncallapi.PeopleDeps{Users: people, Notices: notices,
			Feeds: shifts, Search: calendaring.NewSearch(teams, people.Search)},
		Events: oncallapi.EventsDeps{Calendars: live, Teams: teams, Users: people, Names: names, Notices: notices},
		Escalate: oncallapi.EscalateDeps{Plans: plans, Incidents: pgincidents.New(f.db), Lookups: lookups, Applications: apps, Wake: func(_ context.Context, s buckets.Set) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.woken.Union(s)
		}},
		Planning: planning.Deps{Members: teams, Memberships: teams, Changes: schedules, Calendars: live, Coverage: pgoncall.NewCoverage(f.db),
			Shifts: shifts, Holidays: absent, Absences: absent, Imports: shifts, Subscriptions: subscriptions,
			Subscribed: subscriptions},
		Calendaring: calendaring.Deps{Memberships: teams, Absences: absent, Sealer: keys, Swaps: absent, Imports: shifts,
			Members: teams, Rotations: schedules},
		Contacts: pgusers.NewContacts(f.db, keys, lookups),
		Personal: personal.Deps{Pins: people, Notices: notices, Keys: notices, Modes: modes, People: people},
	}
	for _, c := range change {
		c(&f.deps)
	}
	d := f.deps
	d.Authenticator.Openings = d.Requests.Openings
	p := d.Planning
	p.Finder, p.Teams, p.People, p.Schedules = d.Requests, d.Requests.Teams, d.Requests.People, d.Requests.Schedules
	c := d.Calendaring
	c.Finder, c.Grace, c.Planning = d.Requests.Finder, d.Requests.Grace, planning.New(p)
	planned := mount.New(func(ctx context.Context) operation.Actor {
		return wire.Actor(ctx).CalendarCaller(d.Requests.Openings)
	}).Open()
	d.Personal.Finder, d.Personal.Callers = d.Requests.Finder, requests.Callers{Requests: d.Requests}
	d.People.Personal = personal.New(d.Personal)
	f.deps.People.Personal = d.People.Personal
	made := calendaring.New(c)
	d.Events.Edits = made.Edit
	pages.Mount(planned, c.Planning, made, d.People.Personal, d.Teams.OnCallRoles, d.People.Search)
	d.Rules.Finder, d.Rules.Administrators, d.Teams.Planning = d.Requests, c.Planning, c.Planning
	if d.CheckPlans {
		d.Rules.PlanNamed = func(ctx context.Context, name string) error {
			_, err := plans.ByName(ctx, name)
			return err
		}
	}
	d.Teams.Rules = rules.New(d.Rules)
	pages.MountTeams(planned, d.Teams.Rules)
	pagesusers.MountContacts(planned, users.NewContacts(d.Contacts, d.Personal.Callers, ""))
	f.calendar = planned.Routes()
	own, err := oncallapi.New(oncallapi.Deps{Requests: d.Requests, Authenticator: &d.Authenticator, Teams: d.Teams,
		People: d.People,
		Events: d.Events, Escalate: d.Escalate, Errors: problems})
	require.NoError(t, err)
	r := chi.NewRouter()
	r.Use(wire.SecurityHeaders, wire.TrimSlash, problems.BoundQuery)
	problems.Refuse(r)
	own.Routes(r)
	routing.Mount{Errors: problems, Identify: d.Authenticator.Identified, Admit: d.Requests.Admit,
		Translate: pages.Plain, Options: true}.
		Routes(r, planned.Routes())
	f.handler = r
	return f
}

// do sends a request. Header pairs come as name, value, name, value.
func (f *fixture) do(as caller, method, path, body string, header ...string) *httptest.ResponseRecorder {
	f.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if as.app != "" {
		r.Header.Set("Authorization", auth.Sign(as.app, as.key, auth.SignedRequest{Method: method, Path: r.URL.Path,
			RawQuery: r.URL.RawQuery, Body: []byte(body)}, time.Now()))
	}
	if as.session != "" {
		token, csrf := f.login(as.session)
		r.AddCookie(&http.Cookie{Name: "iris-auth", Value: token})
		switch as.csrf {
		case "":
			r.Header.Set("X-CSRF-TOKEN", csrf)
		case "-":
		default:
			r.Header.Set("X-CSRF-TOKEN", as.csrf)
		}
	}
	rec := httptest.NewRecorder()
	f.handler.ServeHTTP(rec, r)
	return rec
}

func (f *fixture) login(user string) (token, csrf string) {
	f.Helper()
	ctx, err := f.sessions.Load(f.Context(), "")
	require.NoError(f, err)
	u, err := pgusers.NewUsers(f.db).ByName(ctx, user)
	require.NoError(f, err)
	csrf, err = wire.BeginSession(ctx, f.sessions, userKey, u, "password", time.Now())
	require.NoError(f, err)
	token, _, err = f.sessions.Commit(ctx)
	require.NoError(f, err)
	return token, csrf
}

// want sends a request and compares status and whole body.
func (f *fixture) want(status int, answer string, as caller, method, path, body string) {
	f.Helper()
	rec := f.do(as, method, path, body)
	require.Equal(f, answer, rec.Body.String(), "%s %s %s", method, path, body)
	require.Equal(f, status, rec.Code, "%s %s %s", method, path, body)
}

// ok sends a request that must succeed and returns its body.
func (f *fixture) ok(as caller, method, path, body string) string {
	f.Helper()
	rec := f.do(as, method, path, body)
	require.Less(f, rec.Code, 300, "%s %s: %s", method, path, rec.Body)
	return rec.Body.String()
}

// decode sends a request that must succeed and decodes its body.
func decode[T any](f *fixture, as caller, method, path, body string) (out T) {
	f.Helper()
	raw := f.ok(as, method, path, body)
	require.NoError(f, json.Unmarshal([]byte(raw), &out), raw)
	return out
}

// itemsOf reads the items of a list of /v1.
func itemsOf[T any](f *fixture, as caller, method, path, body string) []T {
	f.Helper()
	return decode[struct{ Items []T }](f, as, method, path, body).Items
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

// event adds a shift of ops that begins in `in` hours and lasts hours.
func (f *fixture) event(user, role string, in, hours int) (id int64) {
	f.Helper()
	start := f.hour(in)
	body := fmt.Sprintf(`{"team":"ops","user":%q,"role":%q,"start":%d,"end":%d}`, user, role, start, start+
		int64(hours)*3600)
	require.NoError(f, json.Unmarshal([]byte(f.ok(root, "POST", "/api/v0/events", body)), &id))
	return id
}

// hour returns the beginning of the hour that begins in `in` hours, in Unix seconds.
func (f *fixture) hour(in int) int64 {
	return time.Now().Truncate(time.Hour).Add(time.Duration(in) * time.Hour).Unix()
}

// between selects a time of a calendar of /v1, in hours from now.
func (f *fixture) between(from, until int) string {
	return "start=" + f.at(from) + "&end=" + f.at(until)
}

// at is hour as /v1 has it.
func (f *fixture) at(in int) string { return time.Unix(f.hour(in), 0).UTC().Format(time.RFC3339) }

// handOff is the second of the week of the tests' hand-offs: about three days from now, so that no test asks about a
// time with a hand-off.
func handOff() int {
	const day = 86400
	return int(time.Now().UTC().Weekday()+3)%7*day + 36000
}

// says returns the body of an error answer of /api/v0.
func says(title, description string) string {
	m := struct {
		Title       string `json:"title"`
		Description string `json:"description,omitempty"`
	}{title, description}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		panic(err)
	}
	return strings.TrimSpace(buf.String())
}
