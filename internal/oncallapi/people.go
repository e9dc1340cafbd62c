package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) peopleRoutes() []route {
	return []route{
		{get, v0 + "/users", read, a.listUsers},
		{post, v0 + "/users", login, a.createUser},
		{get, v0 + "/users/{user}", read, a.getUser},
		{put, v0 + "/users/{user}", self, a.updateUser},
		{del, v0 + "/users/{user}", login, a.deleteUser},
		{get, v0 + "/users/{user}/teams", read, a.userTeams},
		{get, v0 + "/users/{user}/upcoming", read, a.upcoming},
		{get, v0 + "/users/{user}/pinned_teams", read, a.pinnedTeams},
		{post, v0 + "/users/{user}/pinned_teams", self, a.pinTeam},
		{del, v0 + "/users/{user}/pinned_teams/{team}", self, a.unpinTeam},
		{get, v0 + "/search", read, a.search},
	}
}

var userFields = []string{"id", "name", "full_name", "time_zone", "photo_url", "contacts", "active", "god"}

func (a *API) listUsers(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := fields(q, userFields, errBadFields)
	if err != nil {
		return err
	}
	cs, _ := conditions(q, map[string]kind{"id": numbers, "name": words, "full_name": words})
	wanted, err := queryFlag(q, "active", true)
	if err != nil {
		return err
	}
	people, err := a.People.All(r.Context())
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, u := range people {
		v := values{text: map[string]string{"name": u.Name, "full_name": u.FullName}, num: map[string]int64{"id": u.OncallID}}
		if match(cs, v) && (!q.Has("active") || u.Active == wanted) {
			out = append(out, pick(userObject(u), asked))
		}
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) createUser(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	name, err := namedBody(w, r)
	if err != nil {
		return err
	}
	if err := a.People.Create(r.Context(), name, by(r, nil)); err != nil {
		return when(err, fault.Conflict, integrity(`user name "`+name+`" already exists`))
	}
	return empty(w, http.StatusCreated)
}

// namedBody reads {"name": ...}.
func namedBody(w http.ResponseWriter, r *http.Request) (string, error) {
	b, err := readBody(w, r, "invalid payload")
	if err != nil {
		return "", err
	}
	name, err := b.required("name")
	if err == nil && strings.TrimSpace(name) == "" {
		err = b.missing("name")
	}
	return strings.TrimSpace(name), err
}

func (a *API) getUser(w http.ResponseWriter, r *http.Request) error {
	asked, err := fields(r.URL.Query(), userFields, errBadFields)
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, pick(userObject(u), asked))
}

// person finds the user of the path for somebody who may change their settings.
func (a *API) person(r *http.Request) (oncall.Person, error) {
	return a.personNamed(r.Context(), param(r, "user"))
}

// personNamed finds a user for somebody who may change their settings.
func (a *API) personNamed(ctx context.Context, name string) (oncall.Person, error) {
	u, err := a.People.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if err != nil {
		u.User = users.User{Name: name} // nobody's: only who may edit everybody hears that there is no such user
	}
	var theirs []int64
	if err == nil {
		teams, err := a.People.Teams(ctx, u.ID)
		if err != nil {
			return u, err
		}
		for _, t := range teams {
			if !u.Admin { // who administers a team has no say over those who administer everything
				theirs = append(theirs, t.ID)
			}
		}
	}
	if refused := wire.Actor(ctx).MayEditPerson(u.User, theirs, a.Config.Openings); refused != nil {
		return u, refused
	}
	return u, err
}

func (a *API) updateUser(w http.ResponseWriter, r *http.Request) error {
	u, err := a.person(r)
	if err != nil {
		return when(err, fault.NotFound, fault.Titled("No User Found", "no user exists with given name"))
	}
	b, err := readBody(w, r, "invalid payload")
	if err != nil {
		return err
	}
	c, err := personChange(b)
	if err != nil {
		return err
	}
	actor := wire.Actor(r.Context())
	c.Trusted = actor.Admin || actor.Username == ""
	if c.Name != nil && *c.Name == u.Name {
		c.Name = nil
	}
	if c.Name != nil {
		if err := wire.Actor(r.Context()).MayRename(); err != nil {
			return err
		}
	}
	if err := a.People.Update(r.Context(), u, c); err != nil {
		name := u.Name
		if c.Name != nil {
			name = *c.Name
		}
		return when(err, fault.Conflict, integrity(`user name "`+name+`" already exists`))
	}
	return empty(w, http.StatusNoContent)
}

func personChange(b body) (oncall.PersonChange, error) {
	var c oncall.PersonChange
	var err error
	for name, at := range map[string]**string{"name": &c.Name, "full_name": &c.FullName, "time_zone": &c.TimeZone, "photo_url": &c.PhotoURL} {
		if *at, err = b.textPtr(name); err != nil {
			return c, err
		}
	}
	active, given, err := b.flag("active")
	if err != nil {
		return c, err
	}
	if given {
		c.Active = &active
	}
	if !b.given("contacts") {
		return c, nil
	}
	var contacts map[string]*string
	if json.Unmarshal(b.members["contacts"], &contacts) != nil {
		return c, b.fault("contacts", "contacts must be an object of mode and destination")
	}
	c.Contacts = map[users.Mode]string{}
	for mode, destination := range contacts {
		if !contactMode(users.Mode(mode)) {
			return c, b.fault("contacts", "%q is no contact mode", mode)
		}
		if destination == nil || strings.TrimSpace(*destination) == "" {
			c.Contacts[users.Mode(mode)] = ""
			continue
		}
		to := strings.TrimSpace(*destination)
		if err := users.CheckContact(users.Mode(mode), to); err != nil {
			return c, b.fault("contacts", "%s", fault.Public(err))
		}
		c.Contacts[users.Mode(mode)] = to
	}
	return c, nil
}

func contactMode(m users.Mode) bool {
	for _, known := range users.Modes {
		if m == known && m != users.Drop {
			return true
		}
	}
	return false
}

func (a *API) deleteUser(w http.ResponseWriter, r *http.Request) error {
	u, err := a.person(r)
	if fault.Is(err, fault.NotFound) {
		return empty(w, http.StatusOK)
	}
	if err != nil {
		return err
	}
	entirely := wire.Actor(r.Context()).MayManageOncall() == nil
	if _, err := a.People.Remove(r.Context(), u, entirely, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) userTeams(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err != nil {
		return err
	}
	teams, err := a.People.Teams(r.Context(), u.ID)
	if err != nil {
		return err
	}
	names := []string{}
	for _, t := range teams {
		names = append(names, t.Name)
	}
	return answer(w, http.StatusOK, names)
}

// maxAhead bounds how many future shifts of a person are looked through.
const maxAhead = 2000

func (a *API) upcoming(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	limit, _, err := queryNumber(q, "limit")
	if err != nil {
		return err
	}
	u, err := a.People.ByName(ctx, param(r, "user"))
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	after := now.Unix() + 1
	query := oncall.ShiftQuery{Users: []users.ID{u.ID}, Start: oncall.Range{Min: &after}, Limit: maxAhead}
	if role, ok := last(q, "role"); ok {
		query.Roles = []string{role}
	}
	rows, err := a.Shifts.Find(ctx, query)
	if err != nil {
		return err
	}
	shifts, byID := make([]oncall.Shift, len(rows)), map[oncall.ShiftID]oncall.ShiftRow{}
	for i, row := range rows {
		shifts[i], byID[row.ID] = row.Shift, row
	}
	out := []map[string]any{}
	for _, up := range oncall.Upcoming(shifts, now, int(max(limit, 0))) {
		e := eventObject(byID[up.ID])
		if up.Linked > 0 {
			e["num_events"] = up.Linked
		}
		out = append(out, e)
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) pinnedTeams(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, []string{})
	}
	if err != nil {
		return err
	}
	names, err := a.People.Pinned(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, list(names))
}

func (a *API) pinTeam(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid team pin"
	u, err := a.person(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(`user "`+param(r, "user")+`" not found`))
	}
	b, err := readBody(w, r, title)
	if err != nil {
		return err
	}
	team, err := b.text("team")
	if err != nil {
		return err
	}
	if team == "" {
		return fault.Titled(title, "Missing team parameter")
	}
	t, err := a.activeTeam(r.Context(), team)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team "`+team+`" not found`))
	}
	if err := a.People.Pin(r.Context(), u.ID, t.ID); err != nil {
		return when(err, fault.Conflict, fault.Titled(title, "Team already pinned for this user"))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) unpinTeam(w http.ResponseWriter, r *http.Request) error {
	u, err := a.person(r)
	if err != nil {
		return err
	}
	t, err := a.Teams.ByName(r.Context(), param(r, "team"))
	if err != nil {
		return err
	}
	if err := a.People.Unpin(r.Context(), u.ID, t.ID); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) search(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	keyword, ok := last(q, "keyword")
	if !ok {
		return missingParameter("keyword")
	}
	asked := q["fields"]
	if len(asked) == 0 {
		asked = []string{"teams", "services", "users"}
	}
	members := has(asked, "team_users")
	var team int64
	if members {
		name, ok := last(q, "team")
		if !ok {
			return missingParameter("team")
		}
		t, err := a.activeTeam(r.Context(), name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		team = -1 // of a team that does not exist nobody is found
		if err == nil {
			team = t.ID
		}
	}
	found, err := a.People.Search(r.Context(), keyword, team)
	if err != nil {
		return err
	}
	out := map[string]any{}
	if has(asked, "teams") {
		out["teams"] = list(found.Teams)
	}
	if has(asked, "services") {
		out["services"] = found.Services
	}
	if members || has(asked, "users") {
		people := []map[string]any{}
		for _, u := range found.Users {
			people = append(people, map[string]any{"full_name": orNull(u.FullName), "name": u.Name})
		}
		out["users"] = people
	}
	return answer(w, http.StatusOK, out)
}
