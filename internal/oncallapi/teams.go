package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) teamRoutes() []route {
	return []route{
		{get, v0 + "/teams", read, a.listTeams},
		{post, v0 + "/teams", login, a.createTeam},
		{get, v0 + "/teams/{team}", read, a.getTeam},
		{put, v0 + "/teams/{team}", login, a.updateTeam},
		{del, v0 + "/teams/{team}", login, a.deleteTeam},
		{get, v0 + "/teams/{team}/changes", read, a.teamChanges},
		{get, v0 + "/team_users", read, a.listMemberships},
		{get, v0 + "/teams/{team}/users", read, a.listMembers},
		{post, v0 + "/teams/{team}/users", login, a.addMember},
		{del, v0 + "/teams/{team}/users/{user}", login, a.removeMember},
		{get, v0 + "/teams/{team}/admins", read, a.listAdmins},
		{post, v0 + "/teams/{team}/admins", login, a.addAdmin},
		{del, v0 + "/teams/{team}/admins/{user}", login, a.removeAdmin},
		{get, v0 + "/teams/{team}/subscriptions", read, a.listSubscriptions},
		{post, v0 + "/teams/{team}/subscriptions", login, a.subscribe},
		{del, v0 + "/teams/{team}/subscriptions/{other}/{role}", login, a.unsubscribe},
	}
}

// team finds the active team that the path names.
func (a *API) team(r *http.Request) (oncall.Profile, error) {
	return a.activeTeam(r.Context(), param(r, "team"))
}

func (a *API) activeTeam(ctx context.Context, name string) (oncall.Profile, error) {
	t, err := a.Teams.ByName(ctx, name)
	if err == nil && !t.Active {
		err = fault.New(fault.NotFound, "not found")
	}
	return t, err
}

// administered finds the path's team for somebody who may administer it.
func (a *API) administered(r *http.Request) (oncall.Profile, error) {
	t, err := a.team(r)
	if err != nil {
		return t, err
	}
	return t, wire.Actor(r.Context()).MayAdministerTeam(t.ID, t.Name)
}

func (a *API) listTeams(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	active, err := activeParam(q)
	if err != nil {
		return err
	}
	withID, err := queryFlag(q, "get_id", false)
	if err != nil {
		return err
	}
	cs, _ := conditions(q, map[string]kind{"name": words, "id": numbers, "email": words})
	teams, err := a.Teams.Names(r.Context(), active)
	if err != nil {
		return err
	}
	names, pairs := []string{}, [][2]any{}
	for _, t := range teams {
		if !match(cs, values{text: map[string]string{"name": t.Name, "email": t.Email}, num: map[string]int64{"id": t.OncallID}}) {
			continue
		}
		names = append(names, t.Name)
		pairs = append(pairs, [2]any{t.Name, t.OncallID})
	}
	if withID {
		return answer(w, http.StatusOK, pairs)
	}
	return answer(w, http.StatusOK, names)
}

func activeParam(q url.Values) (bool, error) {
	if v, ok := last(q, "active__eq"); ok && !q.Has("active") {
		q = url.Values{"active": {v}}
	}
	return queryFlag(q, "active", true)
}

// settings reads what a body says of a team into s.
func settings(b body, s *oncall.TeamSettings) error {
	for name, at := range map[string]*string{
		"description": &s.Description, "email": &s.Email, "slack_channel": &s.SlackChannel,
		"slack_channel_notifications": &s.SlackNotifications, "iris_plan": &s.IrisPlan, "override_phone_number": &s.OverridePhone,
		"scheduling_timezone": &s.TimeZone,
	} {
		v, err := b.textPtr(name)
		if err != nil {
			return err
		}
		if v != nil {
			*at = strings.TrimSpace(*v)
		}
	}
	if len(s.OverridePhone) > maxName { // any text, as Oncall takes it: teams were imported with notes in it
		return fault.Titled("invalid payload", "override_phone_number is longer than 255 bytes")
	}
	for name, at := range map[string]*bool{"iris_enabled": &s.IrisEnabled, "api_managed_roster": &s.APIManaged} {
		if !b.has(name) {
			continue
		}
		// Unlike elsewhere, numbers are refused, and so is null.
		if err := json.Unmarshal(b.members[name], at); err != nil || !b.given(name) {
			return fault.Titled("invalid payload", name+" must be boolean")
		}
	}
	return nil
}

func teamNameProblem(name string) error {
	switch bad := nameProblem(name); {
	case bad != "":
		return fault.Titled("invalid team name", `team name contains invalid character "`+bad+`"`)
	case name == "":
		return fault.Titled("invalid team name", "empty team name")
	case len(name) > maxName:
		return fault.Titled("invalid team name", "team name is longer than 255 bytes")
	}
	return nil
}

func (a *API) createTeam(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "invalid payload")
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
	by := by(r, nil)
	by.Owner = admin.Name
	_, err = a.Teams.Create(r.Context(), s, admin.ID, by)
	if err != nil {
		return when(err, fault.Conflict, integrity(`team name "`+s.Name+`" already exists`))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) newSettings(ctx context.Context, b body) (oncall.TeamSettings, error) {
	var s oncall.TeamSettings
	for _, name := range []string{"name", "scheduling_timezone"} {
		if v, err := b.text(name); err != nil {
			return s, err
		} else if v == "" {
			return s, fault.Titled("", name+" attribute missing from request")
		}
	}
	name, err := b.text("name")
	if err != nil {
		return s, err
	}
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	s.Name = strings.TrimSpace(name)
	if err := teamNameProblem(s.Name); err != nil {
		return s, err
	}
	if err := settings(b, &s); err != nil {
		return s, err
	}
	if s.SlackChannel != "" && s.SlackChannel[0] != '#' {
		return s, fault.Titled("invalid slack channel", "slack channel name needs to start with #")
	}
	if s.SlackNotifications != "" && s.SlackNotifications[0] != '#' {
		return s, fault.Titled("invalid slack notifications channel", "slack channel notifications name needs to start with #")
	}
	if s.TimeZone, err = zoneName(s.TimeZone); err != nil {
		return s, fault.Titled("invalid payload", "requested scheduling_timezone is not a time zone: "+s.TimeZone)
	}
	return s, a.planExists(ctx, s.IrisPlan)
}

// zoneName checks a time zone and returns its proper name: clients also send "utc".
func zoneName(name string) (string, error) {
	if strings.EqualFold(name, "utc") {
		return "UTC", nil
	}
	if name == "" || name == "Local" {
		return name, fault.Invalidf("time_zone", "unknown time zone %q", name)
	}
	_, err := time.LoadLocation(name)
	return name, err
}

func (a *API) planExists(ctx context.Context, plan string) error {
	if plan == "" || a.Config.Escalate == "" {
		return nil
	}
	_, err := a.Plans.ByName(ctx, plan)
	return when(err, fault.NotFound, fault.Titled("invalid iris escalation plan", "no iris plan named "+plan+" exists"))
}

// firstAdmin is the caller, or whom an application names.
func (a *API) firstAdmin(r *http.Request, b body) (oncall.Person, error) {
	name := wire.Actor(r.Context()).Username
	if name == "" {
		var err error
		if name, err = b.text("admin"); err != nil {
			return oncall.Person{}, err
		}
		if name == "" {
			return oncall.Person{}, fault.Titled("invalid admin", "API requests must specify a team admin username in the admin field")
		}
	}
	p, err := a.People.ByName(r.Context(), name)
	return p, when(err, fault.NotFound, fault.Titled("invalid admin", "admin username "+name+" was not found in db"))
}

// teamObject is a team as the wire shows it.
func teamObject(t oncall.Profile) map[string]any {
	return map[string]any{
		"id": t.OncallID, "name": t.Name, "email": orNull(t.Email), "slack_channel": orNull(t.SlackChannel),
		"slack_channel_notifications": orNull(t.SlackNotifications), "scheduling_timezone": t.TimeZone, "iris_plan": orNull(t.IrisPlan),
		"iris_enabled": bool01(t.IrisEnabled), "override_phone_number": orNull(t.OverridePhone),
		"api_managed_roster": bool01(t.APIManaged), "description": orNull(t.Description),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func bool01(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (a *API) getTeam(w http.ResponseWriter, r *http.Request) error {
	q, ctx := r.URL.Query(), r.Context()
	active, err := activeParam(q)
	if err != nil {
		return err
	}
	t, err := a.Teams.ByName(ctx, param(r, "team"))
	if err == nil && t.Active != active {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	asked, err := fields(q, []string{"users", "admins", "services", "rosters"}, nil)
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
		object["services"] = list(services)
	}
	if slices.Contains(asked, "rosters") {
		if object["rosters"], err = a.rosterObjects(ctx, t, nil); err != nil {
			return err
		}
	}
	return answer(w, http.StatusOK, object)
}

func (a *API) addPeople(ctx context.Context, t oncall.Profile, asked []string, object map[string]any) error {
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
	known, err := a.People.ByID(ctx, idsOf(members))
	for _, u := range known {
		users[u.Name] = userObject(u)
	}
	object["users"] = users
	return err
}

func (a *API) updateTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "invalid payload")
	if err != nil {
		return err
	}
	after := t.TeamSettings
	if err := a.changeSettings(b, &after); err != nil {
		return err
	}
	if b.has("iris_plan") {
		if err := a.planExists(r.Context(), after.IrisPlan); err != nil {
			return err
		}
	}
	// Again on what is stored by then: of two who change different things at once both have their way.
	change := func(s *oncall.TeamSettings) error { return a.changeSettings(b, s) }
	if err := a.Teams.Update(r.Context(), t.ID, change, by(r, b.raw)); err != nil {
		return when(err, fault.Conflict, integrity("A team named '"+after.Name+"' already exists"))
	}
	return empty(w, http.StatusOK)
}

// changeSettings makes the changes that a body asks for.
func (a *API) changeSettings(b body, s *oncall.TeamSettings) error {
	before := s.TimeZone
	name, err := b.textPtr("name")
	if err != nil {
		return err
	}
	if name != nil {
		s.Name = strings.TrimSpace(*name)
		if err := teamNameProblem(s.Name); err != nil {
			return err
		}
	}
	if err := settings(b, s); err != nil {
		return err
	}
	if b.has("scheduling_timezone") && s.TimeZone != before {
		zone, err := zoneName(s.TimeZone)
		if len(a.Config.TimeZones) > 0 && !slices.Contains(a.Config.TimeZones, zone) || err != nil {
			return fault.Titled("invalid payload", "requested scheduling_timezone is not supported. Supported timezones: "+quoted(a.Config.TimeZones))
		}
		s.TimeZone = zone
	}
	return nil
}

func quoted(names []string) string {
	return "['" + strings.Join(names, "', '") + "']"
}

func (a *API) deleteTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	if err := a.Teams.Delete(r.Context(), t, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// teamChanges serves a team's part of the audit log. Oncall read a table that did not exist.
func (a *API) teamChanges(w http.ResponseWriter, r *http.Request) error {
	entries, err := a.Notices.Audit(r.Context(), oncall.AuditQuery{Teams: []string{param(r, "team")}})
	if err != nil {
		return err
	}
	out := make([]map[string]any, len(entries))
	for i, e := range entries {
		out[i] = map[string]any{"description": string(e.Context), "timestamp": e.At.Unix(), "owner_name": e.Owner, "action_name": e.Action}
	}
	return answer(w, http.StatusOK, out)
}
