package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/teams"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	pgcatalog "github.com/iris-oncall/iris/internal/catalog/pg"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/opening"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	pagesmessages "github.com/iris-oncall/iris/internal/messages/pages"
	"github.com/iris-oncall/iris/internal/notifications"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/silences"
	silencepages "github.com/iris-oncall/iris/internal/silences/pages"
	"github.com/iris-oncall/iris/internal/silences/pg"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// typed returns the operations in a database, as routes.
func typed(db *postgres.DB, apps *pgcatalog.Applications, acceptor *notifications.Acceptor, wake func(context.Context, buckets.Set), i *integrations.Integrations, opener opening.Opener) []routing.Route {
	store := pg.New(db)
	a := mount.New(func(ctx context.Context) operation.Actor { return wire.Actor(ctx).Caller(auth.Openings{}) })
	plans, templates := pgcatalog.NewPlans(db), pgcatalog.NewTemplates(db)
	authors := catalog.Authors{People: pgusers.NewUsers(db), Teams: pgcatalog.NewOwners(db),
		Teammates: pgusers.NewUsers(db).Teammates}
	pagescatalog.Mount(a, catalog.NewPlans(catalog.PlanDeps{Store: plans, Authors: authors,
		Owners: pgcatalog.NewOwners(db), Syntax: messages.CheckSyntax, MaxLength: 24 * time.Hour}),
		catalog.NewTemplates(catalog.TemplateDeps{Store: templates, Authors: authors, Owners: pgcatalog.NewOwners(db),
			Syntax: messages.CheckSyntax}),
		catalog.NewApplications(catalog.ApplicationDeps{Store: apps, People: authors.People, Teams: authors.Teams,
			Owners: pgcatalog.NewOwners(db), Fallbacks: pgescalation.NewDirectory(db).Applications,
			Statistics: applications.NewRecentStatistics(pgsystem.NewStatistics(db))}))
	silencepages.Mount(a, silences.New(store, silences.NewKeeper(store, silences.NewCurrent(store, nil), nil, wake,
		zap.NewNop())))
	entries := auth.NewAuditLog(pgauth.NewAudit(db).List)
	mount.Mount(a, entries.List)
	mount.Mount(a, entries.Export)
	removals := operator.NewRemovals(db)
	pagesoncall.MountReads(a, teams.New(teams.Deps{Store: pgusers.NewOncallTeams(db, nil), Removals: removals}),
		calendaring.NewOnCall(operator.NewOnCall(db, apps).Who))
	pagesusers.Mount(a, users.NewPeople(users.PeopleDeps{Accounts: operator.NewAccounts(db), Removals: removals}),
		users.NewPreferences(pgusers.NewUsers(db), pgusers.NewSettings(db)))
	in := pgincidents.New(db)
	pagesintake.Mount(a, i, opening.NewOpenIncident(opening.OperationDeps{Opener: opener, Get: in.Get, Wake: wake,
		Caller: func(ctx context.Context) opening.Caller {
			return opening.Caller{Actor: wire.Actor(ctx), Application: wire.Application(ctx)}
		}}))
	pagesincidents.Mount(a, incidents.NewIncidents(incidents.Deps{Store: in, People: authors.People, Wake: wake,
		Responders: notifications.Responders{Store: in, Lookups: pgnotifications.New(db), People: pgusers.NewUsers(db)}}),
		simulation.NewNext(nil, in.Get))
	pagesmessages.Mount(a, messages.NewMessages(messages.Seen{Store: pgincidents.NewMessages(db)}, in.Get),
		notifications.NewNotifications(pgincidents.NewRequests(db), acceptor, apps, wake))
	return a.Routes()
}

type silence struct {
	ID                       int64
	State, Comment, Author   string
	Match, Application, Team *string
	From, To                 time.Time
	NextFrom                 *time.Time `json:"next_from"`
	EndedAt                  *time.Time `json:"ended_at"`
	Hidden                   int        `json:"hidden_incidents"`
}

type silencePage struct {
	Items []silence
	Next  *string
}

const upgrade = `{"match": "title=\"disk full\"", "application": "demo", "for_seconds": 7200, "comment": "upgrade"}`

// withOwner returns a fixture in which ann owns the application.
func withOwner(t *testing.T) *fixture {
	f := newFixture(t)
	f.exec(`insert into application_owners (application_id, user_id) select a.id, u.id from applications a, users u where u.name = 'ann'`)
	return f
}

func TestASilenceIsAddedShownChangedAndEnded(t *testing.T) {
	t.Parallel()
	f := withOwner(t)
	disk, site := f.open("disk full", 0), f.open("site down", 0)
	rec := f.do("ann", "POST", "/v1/silences", upgrade)
	require.Equal(t, http.StatusCreated, rec.Code, rec.Body)
	require.Equal(t, "/v1/silences/1", rec.Header().Get("Location"))
	made := ok[silence](f, 200, "", "GET", "/v1/silences/1", "")
	require.Equal(t, "active", made.State)
	require.Equal(t, "ann", made.Author)
	require.Equal(t, 1, made.Hidden)
	require.Equal(t, 2*time.Hour, made.To.Sub(made.From))
	state := func(id int64) string {
		return ok[incident](f, 200, "", "GET", fmt.Sprintf("/v1/incidents/%d", id), "").State
	}
	require.Equal(t, "silenced", state(disk))
	require.Equal(t, "escalating", state(site))
	require.Equal(t, []incident{{ID: disk}}, ok[pages](f, 200, "", "GET", "/v1/silences/1/incidents", "").Items)

	changed := ok[silence](f, 200, "ann", "PUT", "/v1/silences/1",
		`{"application": "demo", "team": "ops", "from": "2030-01-31T08:00:00Z", "to": "2030-01-31T09:00:00Z", "comment": "later"}`)
	require.Equal(t, "planned", changed.State)
	require.Nil(t, changed.Match)
	require.Equal(t, "ops", *changed.Team)
	require.Equal(t, changed.From, *changed.NextFrom)

	// ends_in_seconds is added to now, by the clock of the database; to the beginning of one that begins later.
	ends := func(body string) time.Duration {
		t.Helper()
		s := ok[silence](f, 200, "ann", "PUT", "/v1/silences/1", body)
		now, err := f.db.Clock(t.Context())
		require.NoError(t, err)
		if s.From.After(now) {
			return s.To.Sub(s.From)
		}
		return s.To.Sub(now).Round(time.Minute)
	}
	running := time.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
	require.Equal(t, 2*time.Hour, ends(`{"application": "demo", "team": "ops", "from": "`+running+
		`", "ends_in_seconds": 7200, "comment": "on"}`))
	require.Equal(t, time.Hour, ends(`{"application": "demo", "team": "ops", "from": "2030-01-31T08:00:00Z", "ends_in_seconds": 3600, "comment": "later"}`))
	require.Zero(t, ends(`{"application": "demo", "team": "ops", "from": "`+running+
		`", "ends_in_seconds": 0, "comment": "until now"}`))

	require.Equal(t, http.StatusNoContent, f.do("ann", "DELETE", "/v1/silences/1", "").Code)
	require.Equal(t, http.StatusConflict, f.do("ann", "DELETE", "/v1/silences/1", "").Code)
	require.Equal(t, http.StatusConflict, f.do("ann", "PUT", "/v1/silences/1", upgrade).Code)
	require.Empty(t, ok[silencePage](f, 200, "", "GET", "/v1/silences", "").Items)
	over := ok[silencePage](f, 200, "", "GET", "/v1/silences?over=true", "").Items
	require.Len(t, over, 1)
	require.Equal(t, "over", over[0].State)
	require.NotNil(t, over[0].EndedAt)
}

// A member that is null is one that is not given.
func TestNullMembersOfASilenceAreNotGiven(t *testing.T) {
	t.Parallel()
	f := withOwner(t)
	made := ok[silence](f, 201, "ann", "POST", "/v1/silences",
		`{"match": null, "application": "demo", "plan": null, "team": null, "from": null, "to": null,
		"for_seconds": null, "ends_in_seconds": 60, "recurrence": null, "zone": null, "comment": "upgrade"}`)
	require.Equal(t, time.Minute, made.To.Sub(made.From))
	foreseen := ok[struct{ Recent int }](f, 200, "ann", "POST", "/v1/silences/preview",
		`{"match": null, "application": "demo", "plan": null}`)
	require.Zero(t, foreseen.Recent)
}

func TestSilencesAreListedInPages(t *testing.T) {
	t.Parallel()
	f := withOwner(t)
	for range 3 {
		require.Equal(t, http.StatusCreated, f.do("ann", "POST", "/v1/silences", upgrade).Code)
	}
	first := ok[silencePage](f, 200, "", "GET", "/v1/silences?limit=2", "")
	require.Equal(t, []int64{3, 2}, []int64{first.Items[0].ID, first.Items[1].ID})
	last := ok[silencePage](f, 200, "", "GET", "/v1/silences?limit=2&cursor="+*first.Next, "")
	require.EqualValues(t, 1, last.Items[0].ID)
	require.Nil(t, last.Next)
}

func TestBadSilencesAreRefusedWithTheirField(t *testing.T) {
	t.Parallel()
	f := withOwner(t)
	for body, want := range map[string]string{
		`{"application": "demo", "comment": "x"}`:                                                  "give exactly one of to, for_seconds and ends_in_seconds",
		`{"application": "demo", "for_seconds": 60, "to": "2030-01-31T08:00:00Z", "comment": "x"}`: "give exactly one of to, for_seconds and ends_in_seconds",
		`{"application": "demo", "for_seconds": 60}`:                                               "comment must not be empty",
		`{"application": "demo", "for_seconds": "60", "comment": "x"}`:                             "for_seconds",
		`{"application": "demo", "to": "tomorrow", "comment": "x"}`:                                "to must be an instant",
		`{"application": "demo", "match": "?", "for_seconds": 60, "comment": "x"}`:                 "must begin with a label",
		`{"application": "demo", "team": "nobody", "for_seconds": 60, "comment": "x"}`:             `there is no team \"nobody\"`,
		`{"application": "demo", "for_seconds": 60, "comment": "x", "recurrence": "often"}`:        "recurrence is no RRULE",
		`{"application": "demo", "for_seconds": 60, "comment": "x", "zone": "Moon"}`:               "is no time zone",
		`{"application": "demo", "for_seconds": 60, "comment": "x", "until": "now"}`:               "until",
	} {
		rec := f.do("ann", "POST", "/v1/silences", body)
		require.Equal(t, http.StatusBadRequest, rec.Code, body)
		require.Contains(t, rec.Body.String(), want, body)
	}
	require.Equal(t, http.StatusForbidden, f.do("bob", "POST", "/v1/silences", upgrade).Code,
		"bob does not own the application")
	require.Equal(t, http.StatusForbidden, f.do("", "POST", "/v1/silences", upgrade).Code, "a program without a person")
	for _, path := range []string{"/v1/silences/7", "/v1/silences/x", "/v1/silences/0", "/v1/silences/7/incidents"} {
		require.Equal(t, http.StatusNotFound, f.do("", "GET", path, "").Code, path)
	}
	require.Equal(t, http.StatusBadRequest, f.do("", "GET", "/v1/silences?over=perhaps", "").Code)
	require.Equal(t, http.StatusBadRequest, f.do("", "GET", "/v1/silences?cursor=no", "").Code)
	require.Empty(t, ok[silencePage](f, 200, "", "GET", "/v1/silences?over=true", "").Items)
}

func TestASilenceWithAKeyIsAddedOnce(t *testing.T) {
	t.Parallel()
	f := withOwner(t)
	disk := f.open("disk full", 0)
	for range 2 {
		rec := f.do("ann", "POST", "/v1/silences", upgrade, "Idempotency-Key", "k1")
		require.Equal(t, http.StatusCreated, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), `"hidden_incidents":1`,
			"what it hides is hidden in the same transaction")
	}
	require.Len(t, ok[silencePage](f, 200, "", "GET", "/v1/silences", "").Items, 1)
	require.Equal(t, "silenced", ok[incident](f, 200, "", "GET", fmt.Sprintf("/v1/incidents/%d", disk), "").State)
}
