package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Teams reads teams, their people, and which roles of other teams their calendars also show.
type Teams interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
	Memberships(ctx context.Context) ([][2]string, error)
	Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error)
}

// Rosters reads rosters.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
}

// Names reads services, and which team a service belongs to.
type Names interface {
	Services(ctx context.Context) ([]oncall.Service, error)
	Service(ctx context.Context, name string) (oncall.Service, error)
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
	TeamServices(ctx context.Context, team int64) ([]string, error)
	AllTeamServices(ctx context.Context) ([][2]string, error)
}

// Previews says what a populate would make. A schedule that does not exist is a NotFound fault.
type Previews interface {
	Preview(ctx context.Context, id oncall.ScheduleID, start time.Time, window oncall.Span) (scheduling.Result,
		scheduling.Calendars, error)
}

// Plans finds the escalation plans that requests name.
type Plans interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// TeamsDeps are the parts that the routes work on. All are required.
type TeamsDeps struct {
	Requests
	Teams       Teams
	Rosters     Rosters
	Names       Names
	Previews    Previews
	Planning    *planning.Planning
	OnCallRoles calendaring.OnCallRoles
	Notices     Notices
	// Rules has the operations on teams, rosters and services.
	Rules *rules.Teams
	// TimeZones are the time zones that a team may choose.
	TimeZones []string
	// Modes are the modes in which people may be notified of shifts.
	Modes []users.Mode
}

// Each type serves the routes of one resource.
type (
	teams    struct{ TeamsDeps }
	members  struct{ TeamsDeps }
	roles    struct{ TeamsDeps }
	services struct{ TeamsDeps }
	names    struct{ TeamsDeps }
	rosters  struct{ TeamsDeps }
	weekly   struct{ TeamsDeps }
)

// Routes returns the routes of this package.
func Routes(d TeamsDeps) []routing.Route {
	return slices.Concat(teams{d}.routes(), members{d}.routes(), roles{d}.routes(), services{d}.routes(),
		names{d}.routes(),
		rosters{d}.routes(), weekly{d}.routes())
}

func (a teams) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/teams", routing.Read, a.listTeams),
		routing.Post("/api/v0/teams", routing.Write, a.createTeam),
		routing.Get("/api/v0/teams/{team}", routing.Read, a.getTeam),
		routing.Put("/api/v0/teams/{team}", routing.Write, a.updateTeam),
		routing.Delete("/api/v0/teams/{team}", routing.Write, a.deleteTeam),
		routing.Get("/api/v0/teams/{team}/changes", routing.Read, a.teamChanges),
	}
}

// listTeams answers with the names of teams: of active ones, or of deleted ones with active=0. get_id=1 adds the
// numbers.
func (a teams) listTeams(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	active, err := activeParam(q)
	if err != nil {
		return err
	}
	withID, err := params.Flag(q, "get_id", false)
	if err != nil {
		return err
	}
	cs, _ := params.Conditions(q, map[string]params.Kind{"name": params.Text, "id": params.Number,
		"email": params.Text})
	teams, err := a.Teams.Names(r.Context(), active)
	if err != nil {
		return err
	}
	names, pairs := []string{}, [][2]any{}
	for _, t := range teams {
		if !params.Match(cs, params.Values{Text: map[string]string{"name": t.Name, "email": t.Email}, Num: map[string]int64{"id": t.OncallID}}) {
			continue
		}
		names = append(names, t.Name)
		pairs = append(pairs, [2]any{t.Name, t.OncallID})
	}
	if withID {
		return routing.Answer(w, http.StatusOK, pairs)
	}
	return routing.Answer(w, http.StatusOK, names)
}

// activeParam reads active or active__eq; true when neither is given.
func activeParam(q url.Values) (bool, error) {
	if v, ok := params.Last(q, "active__eq"); ok && !q.Has("active") {
		q = url.Values{"active": {v}}
	}
	return params.Flag(q, "active", true)
}

// settings reads the settings that the body has, except the name and the time zone.
func settings(b jsonbody.Object) (s rules.Settings, err error) {
	for name, at := range map[string]*operation.Optional[operation.Text]{
		"description": &s.Description, "email": &s.Email, "slack_channel": &s.SlackChannel,
		"slack_channel_notifications": &s.SlackNotifications, "iris_plan": &s.Plan, "override_phone_number": &s.OverridePhone,
	} {
		v, err := b.TextPtr(name)
		if err != nil {
			return s, err
		}
		*at = operation.Optional[operation.Text]{Given: v != nil, Value: (*operation.Text)(v)}
	}
	for name, at := range map[string]**bool{"iris_enabled": &s.IrisEnabled, "api_managed_roster": &s.APIManaged} {
		if !b.Has(name) {
			continue
		}
		// Only true and false are accepted here: other routes also accept 0, 1 and null.
		if err := json.Unmarshal(b.Members[name], at); err != nil || !b.Given(name) {
			return s, fault.Titled("invalid payload", name+" must be boolean")
		}
	}
	return s, nil
}

// refusedTeam gives the refusal of the operation, for a team of a name, the text that clients of Oncall know.
func refusedTeam(err error, name string, s rules.Settings) error {
	if !fault.Is(err, fault.Invalid) {
		return err
	}
	switch fault.FieldOf(err) {
	case "name":
		if oncall.CheckTeamName(name) != nil { // not a rule of Oncall
			return err
		}
		return titled(badTeam, err)
	case "override_phone_number":
		return titled("invalid payload", err)
	case "slack_channel":
		return fault.Titled("invalid slack channel", "slack channel name needs to start with #")
	case "slack_channel_notifications":
		return fault.Titled("invalid slack notifications channel",
			"slack channel notifications name needs to start with #")
	case "plan":
		return fault.Titled("invalid iris escalation plan",
			"no iris plan named "+strings.TrimSpace(string(*s.Plan.Value))+" exists")
	}
	return err
}

// titled returns the fault of a rule under the title that clients of Oncall expect; nil stays nil.
func titled(title string, err error) error {
	if !fault.Is(err, fault.Invalid) {
		return err
	}
	return fault.Titled(title, fault.Public(err))
}

// The titles of names that teams and rosters may not have.
const (
	badTeam   = "invalid team name"
	badRoster = "invalid roster name"
)

// createTeam creates a team with one administrator, for every authenticated caller who is not read-only.
func (a teams) createTeam(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, "invalid payload")
	if err != nil {
		return err
	}
	for _, name := range []string{"name", "scheduling_timezone"} {
		if v, err := b.Text(name); err != nil {
			return err
		} else if v == "" {
			return fault.Titled("", name+" attribute missing from request")
		}
	}
	n := rules.NewTeam{}
	n.Name, err = b.Text("name")
	n.TimeZone = jsonbody.Next(&err, b.Text, "scheduling_timezone")
	if err == nil {
		n.Settings, err = settings(b)
	}
	if err != nil {
		return err
	}
	if plain, err := url.QueryUnescape(n.Name); err == nil {
		n.Name = plain
	}
	n.Name = strings.TrimSpace(n.Name)
	if n.Admin, err = firstAdmin(r, b); err != nil {
		return err
	}
	by := a.Caller(r)
	by.Name = n.Admin // as in Oncall, where the log names the person whom an application names
	_, err = a.Rules.Create.DoValid(r.Context(), by, n)
	switch field := fault.FieldOf(err); {
	case field == "admin":
		err = fault.Titled("invalid admin", "admin username "+n.Admin+" was not found in db")
	case field == "time_zone":
		err = fault.Titled("invalid payload", "requested scheduling_timezone is not a time zone: "+strings.TrimSpace(n.TimeZone))
	case fault.Is(err, fault.Conflict):
		err = Integrity(`team name "` + n.Name + `" already exists`)
	}
	return routing.Done(w, http.StatusCreated, refusedTeam(err, n.Name, n.Settings))
}

// firstAdmin returns the name of the administrator of a new team: the caller, or the person whom an application names.
func firstAdmin(r *http.Request, b jsonbody.Object) (string, error) {
	if name := wire.Actor(r.Context()).Username; name != "" {
		return name, nil
	}
	name, err := b.Text("admin")
	if err == nil && name == "" {
		err = fault.Titled("invalid admin", "API requests must specify a team admin username in the admin field")
	}
	return name, err
}

// teamObject is a team as the wire shows it.
func teamObject(t oncall.Profile) map[string]any {
	return map[string]any{
		"id": t.OncallID, "name": t.Name, "email": operation.OrNull(t.Email), "slack_channel": operation.OrNull(t.SlackChannel),
		"slack_channel_notifications": operation.OrNull(t.SlackNotifications), "scheduling_timezone": t.TimeZone, "iris_plan": operation.OrNull(t.IrisPlan),
		"iris_enabled": Bool01(t.IrisEnabled), "override_phone_number": operation.OrNull(t.OverridePhone),
		"api_managed_roster": Bool01(t.APIManaged), "description": operation.OrNull(t.Description),
	}
}

// getTeam answers with a team. fields selects its users, admins, services and rosters; without it the answer has all of
// them.
func (a teams) getTeam(w http.ResponseWriter, r *http.Request) error {
	q, ctx := r.URL.Query(), r.Context()
	active, err := activeParam(q)
	if err != nil {
		return err
	}
	t, err := a.Teams.ByName(ctx, routing.Param(r, "team"))
	if err == nil && t.Active != active {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	asked, err := params.Fields(q, []string{"users", "admins", "services", "rosters"}, nil)
	if err != nil {
		return err
	}
	object := teamObject(t)
	if err := a.addPeople(ctx, t, asked, object); err != nil {
		return err
	}
	if slices.Contains(asked, "services") {
		services, err := a.Names.TeamServices(ctx, t.ID)
		if err != nil {
			return err
		}
		object["services"] = routing.OrEmpty(services)
	}
	if slices.Contains(asked, "rosters") {
		if object["rosters"], err = rosters(a).rosterObjects(ctx, t, nil); err != nil {
			return err
		}
	}
	return routing.Answer(w, http.StatusOK, object)
}

// addPeople adds the administrators and members of the team to object, if asked names them.
func (a teams) addPeople(ctx context.Context, t oncall.Profile, asked []string, object map[string]any) error {
	withUsers, withAdmins := slices.Contains(asked, "users"), slices.Contains(asked, "admins")
	if !withUsers && !withAdmins {
		return nil
	}
	people, err := a.Teams.People(ctx, t.ID)
	if err != nil {
		return err
	}
	admins, members := []map[string]string{}, []oncall.TeamPerson{}
	for _, p := range people {
		if p.Admin {
			admins = append(admins, map[string]string{"name": p.Name})
		}
		if p.Member {
			members = append(members, p)
		}
	}
	if withAdmins {
		object["admins"] = admins
	}
	if !withUsers {
		return nil
	}
	users := map[string]any{}
	known, err := a.People.ByID(ctx, IDsOf(members))
	if err != nil {
		return err
	}
	objects, err := a.UserObjects(ctx, known...)
	for i, u := range objects {
		users[known[i].Name] = u
	}
	object["users"] = users
	return err
}

// updateTeam changes the settings that the body has.
func (a teams) updateTeam(w http.ResponseWriter, r *http.Request) error {
	t, b, err := WithBody(w, r, "invalid payload", a.Administered)
	if err != nil {
		return err
	}
	e := rules.TeamEdit{OneTeam: users.OneTeam{Team: t.Name}, AnyChannel: true}
	e.Body.Name, err = b.TextPtr("name")
	e.Body.TimeZone = jsonbody.Next(&err, b.TextPtr, "scheduling_timezone")
	if err == nil {
		e.Body.Settings, err = settings(b)
	}
	if err != nil {
		return err
	}
	if zone := e.Body.TimeZone; zone != nil && strings.TrimSpace(*zone) != t.TimeZone {
		if _, err := rules.Zone(strings.TrimSpace(*zone), a.TimeZones); err != nil {
			return fault.Titled("invalid payload",
				"requested scheduling_timezone is not supported. Supported timezones: "+quoted(a.TimeZones))
		}
	}
	name := t.Name
	if e.Body.Name != nil {
		name = strings.TrimSpace(*e.Body.Name)
	}
	_, err = a.Rules.Change.DoValid(r.Context(), a.CallerOf(r, b), e)
	err = fault.When(err, fault.Conflict, Integrity("A team named '"+name+"' already exists"))
	return routing.Done(w, http.StatusOK, refusedTeam(err, name, e.Body.Settings))
}

// quoted formats names as a Python list, as Oncall's texts have it.
func quoted(names []string) string {
	return "['" + strings.Join(names, "', '") + "']"
}

// deleteTeam deletes a team, even if plans or services use it.
func (a teams) deleteTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	_, err = a.Rules.Delete.DoValid(r.Context(), a.Caller(r), rules.TeamRemoval{OneTeam: users.OneTeam{Team: t.Name}, Force: true})
	return routing.Done(w, http.StatusOK, err)
}

// teamChanges answers with the entries of the audit log about a team. In Oncall this route always failed.
func (a teams) teamChanges(w http.ResponseWriter, r *http.Request) error {
	entries, err := a.Notices.Audit(r.Context(), oncall.AuditQuery{Teams: []string{routing.Param(r, "team")}})
	if err != nil {
		return err
	}
	out := make([]map[string]any, len(entries))
	for i, e := range entries {
		out[i] = map[string]any{"description": string(e.Context), "timestamp": e.At.Unix(), "owner_name": e.Owner,
			"action_name": e.Action}
	}
	return routing.Answer(w, http.StatusOK, out)
}
