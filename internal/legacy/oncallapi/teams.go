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
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Teams stores teams, their members and admins, and which roles of other teams their calendars also show.
type Teams interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	Create(ctx context.Context, s oncall.TeamSettings, admin users.ID, by oncall.By) (int64, error)
	Update(ctx context.Context, id int64, p oncall.TeamPatch, by oncall.By) error
	Delete(ctx context.Context, team oncall.Profile, by oncall.By) error
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
	Memberships(ctx context.Context) ([][2]string, error)
	Subscriptions(ctx context.Context, team int64) ([]oncall.Subscription, error)
	Subscribe(ctx context.Context, team, other, role int64) error
	Unsubscribe(ctx context.Context, team, other, role int64) error
}

// Rosters stores rosters and who is in them.
type Rosters interface {
	ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error)
	Create(ctx context.Context, team oncall.Profile, name string, members []oncall.RosterMember, by oncall.By) (int64, error)
	Change(ctx context.Context, team oncall.Profile, old oncall.Roster, name string, order []users.ID,
		by oncall.By) error
	AddMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, inRotation bool,
		by oncall.By) error
	SetInRotation(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, in bool,
		by oncall.By) error
	RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error
}

// Names stores on-call roles, services, and which team a service belongs to.
type Names interface {
	Services(ctx context.Context) ([]oncall.Service, error)
	Service(ctx context.Context, name string) (oncall.Service, error)
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
	TeamServices(ctx context.Context, team int64) ([]string, error)
	AllTeamServices(ctx context.Context) ([][2]string, error)
	Claim(ctx context.Context, team, service int64) error
}

// ScheduleChanges stores schedules and fills calendars from them. A schedule that does not exist is a NotFound fault.
type ScheduleChanges interface {
	Create(ctx context.Context, d scheduling.ScheduleDraft, by oncall.By) (oncall.ScheduleID, error)
	Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error
	Delete(ctx context.Context, old scheduling.StoredSchedule, by oncall.By) error
	Populate(ctx context.Context, id oncall.ScheduleID, start time.Time, by oncall.By) (scheduling.Result, error)
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
	Teams           Teams
	Rosters         Rosters
	Names           Names
	ScheduleChanges ScheduleChanges
	OnCallRoles     calendaring.OnCallRoles
	Notices         Notices
	// Rules has the operations and the rules of teams and rosters.
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

// settings reads the settings that the body has, except the name.
func (a teams) settings(b jsonbody.Object) (p oncall.TeamPatch, err error) {
	for name, at := range map[string]**string{
		"description": &p.Description, "email": &p.Email, "slack_channel": &p.SlackChannel,
		"slack_channel_notifications": &p.SlackNotifications, "iris_plan": &p.IrisPlan, "override_phone_number": &p.OverridePhone,
		"scheduling_timezone": &p.TimeZone,
	} {
		v, err := b.TextPtr(name)
		if err != nil {
			return p, err
		}
		if v != nil {
			trimmed := strings.TrimSpace(*v)
			*at = &trimmed
		}
	}
	if p.OverridePhone != nil {
		number, err := a.Rules.OverridePhone(*p.OverridePhone)
		if err != nil {
			return p, titled("invalid payload", err)
		}
		p.OverridePhone = &number
	}
	for name, at := range map[string]**bool{"iris_enabled": &p.IrisEnabled, "api_managed_roster": &p.APIManaged} {
		if !b.Has(name) {
			continue
		}
		// Only true and false are accepted here: other routes also accept 0, 1 and null.
		if err := json.Unmarshal(b.Members[name], at); err != nil || !b.Given(name) {
			return p, fault.Titled("invalid payload", name+" must be boolean")
		}
	}
	return p, nil
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
	s, err := a.newSettings(r.Context(), b)
	if err != nil {
		return err
	}
	admin, err := a.firstAdmin(r, b)
	if err != nil {
		return err
	}
	by := By(r, nil)
	by.Owner = admin.Name
	_, err = a.Teams.Create(r.Context(), s, admin.ID, by)
	return routing.Done(w, http.StatusCreated, fault.When(err, fault.Conflict,
		Integrity(`team name "`+s.Name+`" already exists`)))
}

// newSettings reads the settings of a new team, which must have a name and a time zone.
func (a teams) newSettings(ctx context.Context, b jsonbody.Object) (oncall.TeamSettings, error) {
	var s oncall.TeamSettings
	for _, name := range []string{"name", "scheduling_timezone"} {
		if v, err := b.Text(name); err != nil {
			return s, err
		} else if v == "" {
			return s, fault.Titled("", name+" attribute missing from request")
		}
	}
	name, err := b.Text("name")
	if err != nil {
		return s, err
	}
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	s.Name = strings.TrimSpace(name)
	if err := rules.CheckName(s.Name); err != nil {
		return s, titled(badTeam, err)
	}
	p, err := a.settings(b)
	if err != nil {
		return s, err
	}
	s = p.Apply(s)
	if rules.CheckChannel("", s.SlackChannel) != nil {
		return s, fault.Titled("invalid slack channel", "slack channel name needs to start with #")
	}
	if rules.CheckChannel("", s.SlackNotifications) != nil {
		return s, fault.Titled("invalid slack notifications channel",
			"slack channel notifications name needs to start with #")
	}
	if s.TimeZone, err = rules.Zone(s.TimeZone, nil); err != nil {
		return s, fault.Titled("invalid payload", "requested scheduling_timezone is not a time zone: "+s.TimeZone)
	}
	return s, a.planExists(ctx, s.IrisPlan)
}

// planExists refuses an escalation plan that a team may not name.
func (a teams) planExists(ctx context.Context, plan string) error {
	return fault.When(a.Rules.CheckPlan(ctx, plan), fault.Invalid,
		fault.Titled("invalid iris escalation plan", "no iris plan named "+plan+" exists"))
}

// firstAdmin returns the administrator of a new team: the caller, or the person whom an application names.
func (a teams) firstAdmin(r *http.Request, b jsonbody.Object) (oncall.Person, error) {
	name := wire.Actor(r.Context()).Username
	if name == "" {
		var err error
		if name, err = b.Text("admin"); err != nil {
			return oncall.Person{}, err
		}
		if name == "" {
			return oncall.Person{}, fault.Titled("invalid admin",
				"API requests must specify a team admin username in the admin field")
		}
	}
	p, err := a.People.ByName(r.Context(), name)
	return p, fault.When(err, fault.NotFound, fault.Titled("invalid admin", "admin username "+name+
		" was not found in db"))
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
	p, err := a.patch(b, t.TeamSettings)
	if err != nil {
		return err
	}
	after := p.Apply(t.TeamSettings)
	if b.Has("iris_plan") {
		if err := a.planExists(r.Context(), after.IrisPlan); err != nil {
			return err
		}
	}
	err = a.Teams.Update(r.Context(), t.ID, p, By(r, b.Raw))
	return routing.Done(w, http.StatusOK, fault.When(err, fault.Conflict,
		Integrity("A team named '"+after.Name+"' already exists")))
}

// patch reads the changes of a team's settings.
func (a teams) patch(b jsonbody.Object, is oncall.TeamSettings) (oncall.TeamPatch, error) {
	name, err := b.TextPtr("name")
	if err != nil {
		return oncall.TeamPatch{}, err
	}
	if name != nil {
		*name = strings.TrimSpace(*name)
		if err := rules.CheckName(*name); err != nil {
			return oncall.TeamPatch{}, titled(badTeam, err)
		}
	}
	p, err := a.settings(b)
	if err != nil {
		return p, err
	}
	p.Name = name
	if p.TimeZone != nil && *p.TimeZone != is.TimeZone {
		zone, err := rules.Zone(*p.TimeZone, a.TimeZones)
		if err != nil {
			return p, fault.Titled("invalid payload",
				"requested scheduling_timezone is not supported. Supported timezones: "+quoted(a.TimeZones))
		}
		p.TimeZone = &zone
	}
	return p, nil
}

// quoted formats names as a Python list, as Oncall's texts have it.
func quoted(names []string) string {
	return "['" + strings.Join(names, "', '") + "']"
}

// deleteTeam deletes a team. Unlike /v1 it does not check whether plans or services use the team.
func (a teams) deleteTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Teams.Delete(r.Context(), t, By(r, nil)))
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
