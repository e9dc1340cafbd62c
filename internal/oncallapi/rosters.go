package oncallapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/users"
)

func (a *API) rosterRoutes() []route {
	const rosters = v0 + "/teams/{team}/rosters"
	return []route{
		{get, rosters, read, a.listRosters},
		{post, rosters, login, a.createRoster},
		{get, rosters + "/{roster}", read, a.getRoster},
		{put, rosters + "/{roster}", login, a.updateRoster},
		{del, rosters + "/{roster}", login, a.deleteRoster},
		{get, rosters + "/{roster}/users", read, a.listRosterUsers},
		{post, rosters + "/{roster}/users", login, a.addRosterUser},
		{put, rosters + "/{roster}/users/{user}", login, a.updateRosterUser},
		{del, rosters + "/{roster}/users/{user}", login, a.removeRosterUser},
		{get, rosters + "/{roster}/{role}/suggest", read, a.suggest},
	}
}

// roster finds the roster that the path names, ignoring case; a NotFound fault when the team has none.
func (a *API) roster(r *http.Request, t oncall.Profile) (oncall.Roster, error) {
	return a.rosterNamed(r.Context(), t, param(r, "roster"))
}

func (a *API) rosterNamed(ctx context.Context, t oncall.Profile, name string) (oncall.Roster, error) {
	rosters, err := a.Rosters.ByTeam(ctx, t.ID)
	if err != nil {
		return oncall.Roster{}, err
	}
	for _, ro := range rosters {
		if equalFold(ro.Name, name) {
			return ro, nil
		}
	}
	return oncall.Roster{}, fault.New(fault.NotFound, "not found")
}

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

// managed finds the path's roster for somebody who may administer its team.
func (a *API) managed(r *http.Request) (oncall.Profile, oncall.Roster, error) {
	t, err := a.administered(r)
	if err != nil {
		return t, oncall.Roster{}, err
	}
	ro, err := a.roster(r, t)
	return t, ro, err
}

// rosterObjects are a team's rosters by name, with the schedules that use each.
func (a *API) rosterObjects(ctx context.Context, t oncall.Profile, cs []condition) (map[string]any, error) {
	rosters, err := a.Rosters.ByTeam(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	schedules, err := a.Schedules.ByTeam(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, ro := range rosters {
		if !match(cs, values{text: map[string]string{"name": ro.Name}, num: map[string]int64{"id": ro.ID}}) {
			continue
		}
		members := []map[string]any{}
		for _, m := range ro.Members {
			members = append(members, map[string]any{"name": m.Name, "in_rotation": m.InRotation})
		}
		out[ro.Name] = map[string]any{"users": members, "schedules": schedulesOf(schedules, ro.ID), "id": ro.ID}
	}
	return out, nil
}

// schedulesOf are the wire's schedules of a roster; rotations have routes of their own.
func schedulesOf(stored []schedules.StoredSchedule, roster int64) []map[string]any {
	out := []map[string]any{}
	for _, s := range stored {
		if s.RosterID == roster && s.Algorithm != schedules.ByRotation {
			out = append(out, scheduleObject(s))
		}
	}
	return out
}

func (a *API) listRosters(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team "`+param(r, "team")+`" not found`))
	}
	cs, _ := conditions(r.URL.Query(), map[string]kind{"name": words, "id": numbers})
	out, err := a.rosterObjects(r.Context(), t, cs)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

func rosterNameProblem(name string) error {
	switch bad := nameProblem(name); {
	case bad != "":
		return fault.Titled("invalid roster name", `roster name contains invalid character "`+bad+`"`)
	case len(name) > maxName:
		return fault.Titled("invalid roster name", "roster name is longer than 255 bytes")
	}
	return nil
}

// errNoName says the same in its title and its description: clients look at either.
var errNoName = fault.Titled("name attribute missing from request", "name attribute missing from request")

func (a *API) createRoster(w http.ResponseWriter, r *http.Request) error {
	t, missing := a.administered(r)
	if missing != nil && !fault.Is(missing, fault.NotFound) {
		return missing
	}
	b, err := readBody(w, r, "invalid roster name")
	if err != nil {
		return err
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	if name = strings.TrimSpace(name); name == "" {
		return errNoName
	}
	if err := rosterNameProblem(name); err != nil {
		return err
	}
	if missing != nil { // the wire gives the same answer for a team that does not exist
		return integrity(`roster name "` + name + `" already exists for team ` + param(r, "team"))
	}
	if _, err := a.Rosters.Create(r.Context(), t, name, by(r, b.raw)); err != nil {
		return when(err, fault.Conflict, integrity(`roster name "`+name+`" already exists for team `+t.Name))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) getRoster(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return err
	}
	ro, err := a.roster(r, t)
	if err != nil {
		return err
	}
	schedules, err := a.Schedules.ByTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	members := []map[string]any{}
	for _, m := range ro.Members {
		members = append(members, map[string]any{"name": m.Name, "in_rotation": bool01(m.InRotation), "roster_priority": m.Priority})
	}
	return answer(w, http.StatusOK, map[string]any{"users": members, "schedules": schedulesOf(schedules, ro.ID)})
}

func (a *API) updateRoster(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "invalid roster update")
	if err != nil {
		return err
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	names, ordered, err := b.texts("roster_order")
	if err != nil {
		return err
	}
	if name = strings.TrimSpace(name); name == "" && !ordered {
		return fault.Titled("invalid roster update", "missing roster name or order")
	}
	var order []users.ID
	if ordered {
		if order, err = rosterOrder(ro, names); err != nil {
			return err
		}
	}
	if err := rosterNameProblem(name); err != nil {
		return err
	}
	if err := a.Rosters.Change(r.Context(), t, ro, name, order, by(r, b.raw)); err != nil {
		return when(err, fault.Conflict, integrity("roster '"+name+"' already existed for team '"+t.Name+"'"))
	}
	return empty(w, http.StatusOK)
}

// rosterOrder reads names as a permutation of a roster's members.
func rosterOrder(ro oncall.Roster, names []string) ([]users.ID, error) {
	const title = "Invalid roster order"
	left := map[string]users.ID{}
	for _, m := range ro.Members {
		left[strings.ToLower(m.Name)] = m.User
	}
	order := make([]users.ID, 0, len(names))
	for _, n := range names {
		id, ok := left[strings.ToLower(n)]
		if !ok {
			return nil, fault.Titled(title, "All users in provided order must be part of the roster")
		}
		delete(left, strings.ToLower(n))
		order = append(order, id)
	}
	if len(left) > 0 {
		return nil, fault.Titled(title, "Roster order must include all roster members")
	}
	return order, nil
}

func (a *API) deleteRoster(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	if err := a.Rosters.Delete(r.Context(), t, ro, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) listRosterUsers(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	in, err := queryFlag(q, "in_rotation", true)
	if err != nil {
		return err
	}
	names := []string{}
	t, err := a.team(r)
	var ro oncall.Roster
	if err == nil {
		ro, err = a.roster(r, t)
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	for _, m := range ro.Members {
		if !q.Has("in_rotation") || m.InRotation == in {
			names = append(names, m.Name)
		}
	}
	return answer(w, http.StatusOK, names)
}

func (a *API) addRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	switch {
	case fault.Is(err, fault.NotFound) && t.ID == 0:
		return integrity("invalid team or user")
	case fault.Is(err, fault.NotFound):
		return integrity(`roster "` + param(r, "roster") + `" not found`)
	case err != nil:
		return err
	}
	b, err := readBody(w, r, "incomplete data")
	if err != nil {
		return err
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return fault.Titled("incomplete data", `missing field "name"`)
	}
	in, given, err := b.flag("in_rotation")
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return when(err, fault.NotFound, integrity("invalid team or user"))
	}
	if err := a.Rosters.AddMember(r.Context(), t, ro, u, in || !given, by(r, b.raw)); err != nil {
		return when(err, fault.Conflict, integrity(`user "`+u.Name+`" is already in the roster`))
	}
	return answer(w, http.StatusCreated, userObject(u))
}

func (a *API) updateRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "incomplete data")
	if err != nil {
		return err
	}
	in, given, err := b.flag("in_rotation")
	if err != nil {
		return err
	}
	if !given {
		return fault.Titled("incomplete data", `missing field "in_rotation"`)
	}
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err == nil {
		err = a.Rosters.SetInRotation(r.Context(), t, ro, u, in, by(r, b.raw))
	}
	if err != nil && !fault.Is(err, fault.NotFound) { // an unknown user is no error here
		return err
	}
	return answer(w, http.StatusOK, []string{})
}

func (a *API) removeRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err == nil {
		err = a.Rosters.RemoveMember(r.Context(), t, ro, u, by(r, nil))
	}
	if err != nil && !fault.Is(err, fault.NotFound) { // an unknown user is no error here
		return err
	}
	return answer(w, http.StatusOK, []string{})
}

// suggest says who of a roster is free for a shift and has the most rest around it.
func (a *API) suggest(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	for _, name := range []string{"start", "end"} {
		if !q.Has(name) {
			return missingParameter(name)
		}
	}
	start, _, err := queryAt(q, "start")
	if err != nil {
		return err
	}
	end, _, err := queryAt(q, "end")
	if err != nil {
		return err
	}
	role, err := a.role(ctx, param(r, "role"))
	if err != nil {
		return when(err, fault.NotFound, fault.Titled("Invalid role", `role "`+param(r, "role")+`" not found`))
	}
	badRoster := fault.Titled("Invalid roster", `roster "`+param(r, "roster")+`" not found in team "`+param(r, "team")+`"`)
	t, err := a.team(r)
	if err != nil {
		return when(err, fault.NotFound, badRoster)
	}
	ro, err := a.roster(r, t)
	if err != nil {
		return when(err, fault.NotFound, badRoster)
	}
	members := make([]schedules.Member, len(ro.Members))
	names := map[users.ID]string{}
	for i, m := range ro.Members {
		members[i] = schedules.Member{User: m.User, InRotation: m.InRotation, Active: m.Active}
		names[m.User] = m.Name
	}
	horizon := int64(len(members)) * 7 * 86400
	from, until := start.Unix()-horizon, max(end.Unix(), start.Unix()+horizon)
	rows, err := a.Shifts.Find(ctx, oncall.ShiftQuery{Teams: []int64{t.ID}, End: oncall.Range{Min: &from}, Start: oncall.Range{Max: &until}})
	if err != nil {
		return err
	}
	shifts := make([]oncall.Shift, len(rows))
	for i, row := range rows {
		shifts[i] = row.Shift
	}
	return answer(w, http.StatusOK, suggestion(schedules.Suggest(t.ID, role.Name, members, shifts, start, end), names))
}

func suggestion(s schedules.Suggestion, names map[users.ID]string) map[string]any {
	data := map[string]any{}
	for id, distance := range s.Distance {
		if distance == schedules.Forever {
			data[names[id]] = "infinity"
		} else {
			data[names[id]] = int64(distance.Seconds())
		}
	}
	return map[string]any{"user": orNull(names[s.User]), "data": data}
}
