package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/accounts"
	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	pagesincidents "github.com/iris-oncall/iris/internal/incidents/pages"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/opening"
	pagesintake "github.com/iris-oncall/iris/internal/intake/pages"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	pagesmessages "github.com/iris-oncall/iris/internal/messages/pages"
	"github.com/iris-oncall/iris/internal/notifications"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	pagesoncall "github.com/iris-oncall/iris/internal/oncall/pages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	oncallteams "github.com/iris-oncall/iris/internal/oncall/teams"
	pagessilences "github.com/iris-oncall/iris/internal/silences/pages"
	"github.com/iris-oncall/iris/internal/system"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// world is a small Iris in memory: one incident, one person, one processor.
type world struct {
	incidents.Store // the methods that no page calls
	sessions        fakeSessions
	audited         fakeEntries
	idp             provider
	incident        incidents.Incident
	merged          []incidents.Incident // into incident
	entries         []incidents.Entry
	alerts          []incidents.Alert
	asked           filters.Query
	counted         []filters.Query
	woken           buckets.Set
	ann             users.User
	down            bool // the database is unavailable
	elsewhere       bool // Iris keeps no password
	silences        silences
	factors         factors
	resets          resets
	revoked         int
	invited         invited
}

func (w *world) List(_ context.Context, q filters.Query) ([]incidents.Incident, error) {
	if slices.ContainsFunc(q.Conditions, func(c filters.Condition) bool { return c.Field == "merged_into" }) {
		return w.merged, nil
	}
	w.asked = q
	return []incidents.Incident{w.incident}, nil
}

func (w *world) CountUpTo(_ context.Context, limit int, queries ...filters.Query) ([]int, error) {
	w.counted = queries
	return slices.Repeat([]int{limit}, len(queries)), nil
}

func (w *world) Get(_ context.Context, id incidents.ID) (incidents.Incident, error) {
	if id != w.incident.ID {
		return incidents.Incident{}, fault.New(fault.NotFound, "no such incident")
	}
	return w.incident, nil
}

func (w *world) Timeline(context.Context, incidents.ID) ([]incidents.Entry, error) {
	return w.entries, nil
}

func (w *world) Acknowledge(_ context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error) {
	if w.down {
		return nil, fault.New(fault.Unavailable, "the database cannot be reached")
	}
	if c.AskFirst && w.incident.Owner == "bob" && c.Replace != 2 {
		return []incidents.Acknowledged{{ID: c.IDs[0], Found: true, PreviousOwner: "bob", OwnedBy: 2}}, nil
	}
	w.incident.Active, w.incident.Owner = false, owner.Name
	w.entries = append(w.entries, incidents.Entry{Kind: incidents.EntryAcknowledged, At: time.Now(),
		Text: "acknowledged by " + c.Actor + " on the " + string(c.Via) + " page"})
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: c.IDs[0] == w.incident.ID}}, nil
}

func (w *world) Reopen(_ context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	w.incident.Active, w.incident.Owner = true, ""
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) Resolve(_ context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error) {
	w.incident.Resolved = resolved
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) PageAlso(_ context.Context, c incidents.Change, p incidents.AddedPage) error {
	if w.incident.Resolved {
		return fault.New(fault.Conflict, "the incident is resolved: reopen it first")
	}
	if p.Targets[0].Name == "ana" {
		return fault.Invalidf("targets[0].name", "several people are called ana: choose ana1, ana2")
	}
	w.entries = append(w.entries, incidents.Entry{Kind: incidents.EntryAdded, At: time.Now(), Text: c.Actor +
		" paged also " + p.Targets[0].Name})
	return nil
}

func (w *world) Reassign(_ context.Context, _ incidents.Change, owner string) error {
	w.incident.Owner = owner
	return nil
}

func (w *world) Snooze(_ context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error) {
	w.incident.SnoozedUntil, w.incident.Active = end(time.Now()), false
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) Merge(_ context.Context, c incidents.Change, into incidents.ID, _ string) ([]incidents.Acknowledged, error) {
	if into == w.incident.ID {
		return nil, fault.Invalidf("into", "incident 257 cannot be merged into itself")
	}
	w.incident.MergedInto, w.incident.Active = into, false
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) Unmerge(_ context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	w.incident.MergedInto, w.incident.Active = 0, true
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) Escalate(_ context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return nil, fault.New(fault.Conflict, "step 2 is the last one of the plan: use restart to begin the plan again")
}

func (w *world) Restart(_ context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	w.incident.CurrentStep = 1
	return []incidents.Acknowledged{{ID: c.IDs[0], Found: true}}, nil
}

func (w *world) Alerts(context.Context, incidents.ID, string, int) ([]incidents.Alert, error) {
	return w.alerts, nil
}

func (w *world) AddComment(_ context.Context, _ incidents.ID, author users.User, content string) (int64, error) {
	if strings.Contains(content, "away") {
		return 0, fault.New(fault.Unavailable, "the database cannot be reached")
	}
	w.entries = append(w.entries, incidents.Entry{Kind: incidents.EntryComment, At: time.Now(), Actor: author.Name,
		Text: content})
	return 1, nil
}

func (w *world) Newest(context.Context, incidents.ID, int) ([]messages.Message, error) {
	return []messages.Message{{Target: "ann", Mode: users.SMS, State: messages.Pending, Step: 1,
		Attempts: []messages.Attempt{{Number: 1, Vendor: "twilio", Outcome: messages.OutcomeUnavailable,
			Detail: "503 from vendor"}}}}, nil
}

func (w *world) Authenticate(_ context.Context, name, password string) (users.User, error) {
	if name == "ann" && password == "right" {
		return w.ann, nil
	}
	switch name {
	case "stranger":
		return users.User{}, auth.ErrUnknownPerson
	case "away":
		return users.User{}, &fault.Error{Kind: fault.Unavailable, Message: auth.ErrDirectoryUnavailable.Message,
			Err: errors.Join(auth.ErrDirectoryUnavailable, io.EOF)}
	}
	return users.User{}, fault.New(fault.Unauthenticated, "bad log-in")
}

func (w *world) Credentials(context.Context, string) (users.User, string, error) {
	if w.elsewhere {
		return w.ann, "", nil
	}
	return w.ann, "hash", nil
}

// RevokeAll counts how often it is called.
func (w *world) RevokeAll(context.Context, users.User) (int, error) {
	w.revoked++
	return 2, nil
}

func (w *world) SetPassword(context.Context, users.ID, string) error { return nil }

func (w *world) ByName(_ context.Context, name string) (users.User, error) {
	if w.down {
		return users.User{}, fault.Wrap(fault.Unavailable, errors.New("dial tcp: secret"),
			"the database cannot be reached")
	}
	if name != "ann" {
		return users.User{}, fault.New(fault.NotFound, "no such user")
	}
	return w.ann, nil
}

func (w *world) Shown(context.Context, users.ID) (users.Display, error) {
	return users.Display{PhotoURL: "https://example.com/ann.png", TimeZone: w.ann.TimeZone}, nil
}

func (w *world) Contacts(context.Context, users.ID) (map[users.Mode]string, error) {
	return map[users.Mode]string{users.Email: "ann@example.com"}, nil
}

// noPlans has no plan.
type noPlans struct{ catalog.PlanStore }

func (noPlans) List(context.Context, filters.Query) ([]escalation.Plan, error) { return nil, nil }

func (noPlans) Roles(context.Context) ([]escalation.TargetRole, error) {
	return []escalation.TargetRole{{Name: "user", Kind: "user"}, {Name: "team", Kind: "team"}, {Name: "oncall-primary", Kind: "team"}}, nil
}

// nothingNext cannot simulate.
func nothingNext(context.Context, []incidents.ID) (map[incidents.ID]simulation.Next, error) {
	return nil, fault.New(fault.NotFound, "there is nothing")
}

// noIntegrations has no integration.
type noIntegrations struct{ integrations.Store }

func (noIntegrations) List(context.Context, intake.Query) ([]intake.Integration, error) {
	return nil, nil
}

// noSettings has no rule of a person.
type noSettings struct{ users.PreferenceStore }

func (noSettings) NotificationRules(context.Context, users.ID) ([]users.NotificationRule, error) {
	return nil, nil
}

// noApplications has no application.
type noApplications struct{ catalog.ApplicationStore }

func (noApplications) List(context.Context, filters.Query) ([]applications.Application, error) {
	return nil, nil
}

// noTeams has no team.
type noTeams struct{ oncallteams.Store }

func (noTeams) Rows(context.Context) ([]oncallteams.TeamRow, error) { return nil, nil }

// noAccounts has nobody; a search for le finds ann.
type noAccounts struct{ users.Accounts }

func (noAccounts) Account(context.Context, string) (users.Account, error) {
	return users.Account{}, fault.New(fault.NotFound, "nobody")
}

func (noAccounts) Page(_ context.Context, by users.AccountQuery) ([]users.Account, error) {
	if by.Keyword == "le" {
		return []users.Account{{User: users.User{Name: "ann", FullName: "Ann <Lee>", Active: true}}}, nil
	}
	return nil, nil
}

// noTemplates has no template.
type noTemplates struct{ catalog.TemplateStore }

func (noTemplates) List(context.Context, filters.Query) ([]messages.TemplateVersion, error) {
	return nil, nil
}

// noSystem cannot read the vendors.
type noSystem struct{ system.Seen }

func (noSystem) Vendors(context.Context, time.Time) ([]system.Vendor, error) {
	return nil, fault.New(fault.NotFound, "there are none")
}

type browser struct {
	*http.Client
	base string
	t    *testing.T
	at   *url.URL // of the last page
}

// irisApplication has the application of people with a session.
type irisApplication struct{ auth.Applications }

func (irisApplication) ByName(_ context.Context, name string) (auth.Application, error) {
	return auth.Application{ID: 1, Name: name}, nil
}

// noReviews is a store without reviews.
type noReviews struct{ reviews.Store }

func (noReviews) Review(context.Context, incidents.ID) (reviews.Review, error) {
	return reviews.Review{}, fault.New(fault.NotFound, "no review")
}

func setup(t *testing.T) (*world, *browser) {
	t.Helper()
	w := &world{
		ann: users.User{ID: 1, OncallID: 21, Name: "ann", FullName: "Ann Lee", TimeZone: "UTC", Active: true},
		incident: incidents.Incident{ID: 257, Plan: "db-plan", Application: "db", Active: true, CurrentStep: 1,
			CreatedAt: time.Now().Add(-time.Minute),
			Context:   json.RawMessage(`{"title":"<script>alert(1)</script> disk full"}`), TitleVariable: "title"},
		entries: []incidents.Entry{{Kind: incidents.EntryOpened, At: time.Now(), Text: "opened by application db"}},
	}
	plans := catalog.NewPlans(catalog.PlanDeps{Store: noPlans{}})
	sent := messages.NewMessages(messages.Seen{}, w.Get)
	manager := scs.New()
	manager.Cookie.Secure = false
	invited := accounts.Invitations{InvitationStore: &w.invited, Links: &w.invited, Mail: &w.resets,
		Mails: w.resets.can, Keys: plainKeys{}, Passwords: &w.resets, PublicURL: "https://iris.test"}
	known := catalog.NewApplications(catalog.ApplicationDeps{Store: noApplications{}})
	sending := integrations.New(integrations.Deps{Store: noIntegrations{}, Recipes: recipes.Builtin()})
	site, err := New(Deps{
		Incidents: pagesincidents.Deps{Incidents: w, Messages: w, Plans: plans, Applications: known,
			Changes: incidents.NewIncidents(incidents.Deps{Store: w, Responders: w, People: w,
				Wake: func(_ context.Context, s buckets.Set) { w.woken.Union(s) }}),
			People: users.NewPeople(users.PeopleDeps{Accounts: noAccounts{}}),
			Open:   opening.NewOpenIncident(opening.OperationDeps{}),
			Next:   nothingNext,
			Steps:  func(context.Context, int64) int { return 2 },
			AlertCounts: func(context.Context, []incidents.ID) (map[incidents.ID]incidents.AlertCount, error) {
				return nil, nil
			},
			Version: func(context.Context, incidents.ID) (string, error) {
				return fmt.Sprint(w.incident, len(w.entries)), nil
			},
			Told: func(_ *http.Request, id incidents.ID) (pagesnotifications.Told, error) {
				return pagesnotifications.Told{ID: id}, nil
			},
			Reviews: reviews.New(noReviews{}, w)},
		Sections: Sections{
			Catalog: pagescatalog.Deps{Plans: plans,
				Templates:    catalog.NewTemplates(catalog.TemplateDeps{Store: noTemplates{}}),
				Applications: known, Incidents: incidents.NewIncidents(incidents.Deps{Store: w}),
				Notifications: notifications.NewNotifications(nil, nil, nil, nil), Integrations: sending,
				Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}}), People: users.NewPeople(users.PeopleDeps{Accounts: noAccounts{}})},
			System: pagessystem.Deps{System: system.New(system.Deps{Seen: noSystem{}}), Plans: plans,
				Incidents:    incidents.NewIncidents(incidents.Deps{Store: w}),
				Integrations: sending,
				Applications: known,
				Messages:     sent, Preferences: users.NewPreferences(w, noSettings{}),
				Contacts: users.NewContacts(nil, nil, ""), People: users.NewPeople(users.PeopleDeps{}), Personal: personal.New(personal.Deps{}),
				OnCall: calendaring.NewOnCall(nil)},
			People: pagesusers.Deps{People: users.NewPeople(users.PeopleDeps{}), Preferences: users.NewPreferences(w, noSettings{}),
				Contacts: users.NewContacts(nil, nil, ""), Held: scim.NewConnections(nil, nil, nil),
				Accounts: accounts.NewAdministration(w, invited, accounts.Resets{}, nil), OnCallRoles: calendaring.NewRoles(nil),
				Personal: personal.New(personal.Deps{}), Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}}),
				Messages: sent, Applications: known,
				Categories: func(context.Context, filters.Query) ([]applications.Category, error) { return nil, nil }},
			Messages: pagesmessages.Deps{Messages: sent, Resend: system.New(system.Deps{}).Resend},
			Reviews:  pagesincidents.ReviewDeps{Reviews: reviews.New(noReviews{}, w), Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}})},
			Updates: pagesnotifications.Deps{Updates: updates.New(updates.Deps{}), Applications: known, Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}}),
				Contacts: users.NewContacts(nil, nil, "")},
			Silences: pagessilences.Deps{Silences: w.silences.operations(), Incidents: w, Applications: known,
				Plans: plans, Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}})},
			Integrations: pagesintake.Deps{Integrations: sending, Plans: plans, Applications: known,
				PublicURL: "https://iris.example.com"}, PublicURL: "https://iris.example.com",
			OnCall: pagesoncall.Deps{Found: teams{}, Teams: oncallteams.New(oncallteams.Deps{Store: noTeams{}}),
				Search: calendaring.NewSearch(nil, nil), Calendaring: calendaring.New(calendaring.Deps{}),
				Planning: planning.New(planning.Deps{}), People: users.NewPeople(users.PeopleDeps{})}, Sessions: auth.NewSessions(&w.sessions, w, func(context.Context) string { return "" }),
			Tokens: pagesauth.TokenDeps{Tokens: tokens.NewTokens(noTokens{}, noTokens{}, nil, time.Hour), Grants: noTokens{},
				Services: servicetokens.NewServices(noTokens{}, noTokens{}, noTokens{}, time.Hour)},
			Audit: pagesauth.AuditLogDeps{Log: auth.NewAuditLog(w.audited.list)},
		},
		Account: pagesauth.Deps{Passwords: accounts.Passwords{Store: w, Hasher: &w.resets},
			Factors: accounts.NewFactors(&w.factors, plainKeys{}, accounts.Admins, "Iris"),
			Resets: accounts.Resets{Store: &w.resets, Mail: &w.resets, Keys: plainKeys{}, Passwords: &w.resets,
				PublicURL: "https://iris.test"},
			Invitations:    invited,
			Administration: accounts.NewAdministration(w, invited, accounts.Resets{}, nil),
			Mails:          w.resets.can, Tokens: w},
		People: w, Applications: irisApplication{}, Sessions: manager, UserKey: "user", RecentLogin: time.Hour, Log: testlog.New(t, zap.DebugLevel),
		SignOn: signon.Deps{Choices: []signon.Choice{{Name: "corp", Label: "Corp", Issuer: idpIssuer,
			Provider: &w.idp}}, Admit: w.admit, Sessions: &w.idp,
			Keys: plainKeys{}, PublicURL: "http://iris.test", Proxy: signon.Proxy{Name: "proxy", Subject: "X-Subject",
				User: "X-User", LogoutURL: "/bye"}},
	})
	require.NoError(t, err)
	r := chi.NewRouter()
	wire.NewErrors(zap.NewNop()).Refuse(r)
	site.Routes(r)
	site.Refuse(r)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		named := wire.ProxyAccount{Subject: req.Header.Get("X-Subject")}
		r.ServeHTTP(rw, req.WithContext(wire.WithProxyAccount(req.Context(), named)))
	}))
	t.Cleanup(srv.Close)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return w, &browser{Client: &http.Client{Jar: jar}, base: srv.URL, t: t}
}

func (b *browser) get(path string, header ...string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	require.NoError(b.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return b.do(req)
}

func (b *browser) post(path string, form url.Values, header ...string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path,
		strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return b.do(req)
}

func (b *browser) do(req *http.Request) (int, string) {
	b.t.Helper()
	resp, err := b.Do(req)
	require.NoError(b.t, err)
	defer func() { _ = resp.Body.Close() }()
	b.at = resp.Request.URL
	body, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp.StatusCode, string(body)
}

func (b *browser) login() {
	b.t.Helper()
	status, body := b.post("/login/", url.Values{"username": {"ann"}, "password": {"right"}})
	require.Equal(b.t, http.StatusOK, status)
	require.Contains(b.t, body, "Escalating")
}

func TestPagesNeedALogin(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	for _, path := range []string{"/", "/incidents", "/incidents/257", "/silences"} {
		status, body := b.get(path)
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, `name="password"`, path)
	}
	status, body := b.post("/login/", url.Values{"username": {"ann"}, "password": {"wrong"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "password is wrong")
	b.login()
}

func TestLogInRedirectsOnlyToThisServer(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "incidents"} {
		require.False(t, signon.LocalPath(next), next)
	}
	require.True(t, signon.LocalPath("/incidents?show=all"))
	_, b := setup(t)
	status, _ := b.post("/login/?next=//evil.example", url.Values{"username": {"ann"}, "password": {"right"}})
	require.Equal(t, http.StatusBadRequest, status)
}

func TestIncidentIsShownEscapedAndAcknowledged(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, body := b.get("/incidents/257")
	require.Equal(t, http.StatusOK, status)
	require.NotContains(t, body, "<script>alert")
	require.Contains(t, body, "&lt;script&gt;alert(1)&lt;/script&gt; disk full")
	require.Contains(t, body, "escalating, step 1")
	require.Contains(t, body, "waiting")
	require.Contains(t, body, "503 from vendor")

	status, _ = b.post("/incidents/257/acknowledge", nil, "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status, "another site may not acknowledge")
	require.True(t, w.incident.Active)

	status, body = b.post("/incidents/257/acknowledge", nil, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "acknowledged by <bdi>ann</bdi>")
	require.True(t, w.woken.Has(1), "the bucket's owner is notified")
}

func TestLivePartIsSentOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/incidents/257")
	seen := regexp.MustCompile(`X-Seen":"([0-9a-f]+)`).FindStringSubmatch(body)
	require.Len(t, seen, 2)
	status, _ := b.get("/incidents/257", "HX-Request", "true", "X-Seen", seen[1])
	require.Equal(t, http.StatusNoContent, status)
	w.entries = append(w.entries, incidents.Entry{Kind: incidents.EntryStep, At: time.Now(),
		Text: "step 2: paging bob"})
	status, body = b.get("/incidents/257", "HX-Request", "true", "X-Seen", seen[1])
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "step 2: paging bob")
	require.NotContains(t, body, "<html", "only the part")
}

func TestHomeFollowsChanges(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	_, body := b.get("/")
	seen := regexp.MustCompile(`X-Seen":"([0-9a-f]+)`).FindStringSubmatch(body)
	require.Len(t, seen, 2)
	require.Contains(t, body, `<tr id="incident-257">`)
	status, _ := b.get("/", "HX-Request", "true", "X-Seen", seen[1])
	require.Equal(t, http.StatusNoContent, status)
	w.incident.ID = 258
	status, body = b.get("/", "HX-Request", "true", "X-Seen", seen[1])
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `<tr id="incident-258">`)
	require.Contains(t, body, "On call now")
	require.NotContains(t, body, "<html", "only the part")
}

func TestListFiltersAndCluster(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, _ := b.get("/incidents?show=escalating&application=db&after=1700000000000000.900")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []filters.Condition{
		{Field: "active", Op: filters.Eq, Values: []any{true}},
		{Field: "application", Op: filters.Contains, Values: []any{"db"}},
	}, w.asked.Conditions)
	status, body := b.get("/incidents?show=all&integration=prom&severity=critical")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "<option selected>critical</option>")
	require.Equal(t, []filters.Condition{
		{Field: "integration", Op: filters.Contains, Values: []any{"prom"}},
		{Field: "critical", Op: filters.Eq, Values: []any{true}},
	}, w.asked.Conditions)
	require.Contains(t, body, "remove this filter")
	_, body = b.get("/incidents?show=all&severity=loud")
	require.Empty(t, w.asked.Conditions)
	require.NotContains(t, body, "remove this filter")
	_, body = b.get("/incidents?show=mine")
	require.Contains(t, w.asked.Conditions, filters.Condition{Field: "owner", Op: filters.Eq,
		Values: []any{w.ann.Name}})
	require.Contains(t, body, `show=mine" aria-current="page">Mine <span class="count">1,000&#43;</span></a>`)
	require.Len(t, w.counted, 4, "resolved incidents are not counted")
}

func TestUnknownIncidentAndEmptyComment(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	for _, path := range []string{"/incidents/1", "/incidents/x", "/incidents/99999999999999999999"} {
		status, body := b.get(path)
		require.Equal(t, http.StatusNotFound, status)
		require.Contains(t, body, "This page or object does not exist")
	}
	status, body := b.post("/incidents/257/comments", url.Values{"content": {" "}})
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "content must not be empty")
}

func TestAssetsAreNamedByTheirContent(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	_, body := b.get("/login")
	for _, m := range regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(body, -1) {
		status, _ := b.get(m[1])
		require.Equal(t, http.StatusOK, status, m[1])
	}
	status, _ := b.get("/static/console.css")
	require.Equal(t, http.StatusNotFound, status)
}

func TestTheThemeIsKeptInTheBrowser(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	b.login()
	_, body := b.get("/incidents")
	require.NotContains(t, body, "data-theme")
	for theme, want := range map[string]string{"dark": `<html lang="en" data-theme="dark">`, "system": `<html lang="en">`} {
		_, body = b.post("/theme", url.Values{"theme": {theme}, "back": {"/incidents"}})
		require.Equal(t, "/incidents", b.at.Path)
		require.Contains(t, body, want)
	}
	_, _ = b.post("/theme", url.Values{"theme": {"dark"}, "back": {"//elsewhere.example/incidents"}})
	require.Equal(t, "/", b.at.Path)
}
