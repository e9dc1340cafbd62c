package oncallapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a rosters) routes() []routing.Route {
	const rosters = "/api/v0/teams/{team}/rosters"
	return []routing.Route{
		routing.Get(rosters, routing.Read, a.listRosters),
		routing.Post(rosters, routing.Write, a.createRoster),
		routing.Get(rosters+"/{roster}", routing.Read, a.getRoster),
		routing.Put(rosters+"/{roster}", routing.Write, a.updateRoster),
		routing.Delete(rosters+"/{roster}", routing.Write, a.deleteRoster),
		routing.Get(rosters+"/{roster}/users", routing.Read, a.listRosterUsers),
		routing.Post(rosters+"/{roster}/users", routing.Write, a.addRosterUser),
		routing.Put(rosters+"/{roster}/users/{user}", routing.Write, a.updateRosterUser),
		routing.Delete(rosters+"/{roster}/users/{user}", routing.Write, a.removeRosterUser),
		routing.Get(rosters+"/{roster}/{role}/suggest", routing.Read, a.suggest),
	}
}

// roster finds the team's roster that the path names, ignoring case. It returns a NotFound fault if there is none.
func (a TeamsDeps) roster(r *http.Request, t oncall.Profile) (oncall.Roster, error) {
	return a.RosterNamed(r.Context(), t, routing.Param(r, "roster"))
}

// managed finds the roster of the path. It refuses callers who may not administer its team.
func (a TeamsDeps) managed(r *http.Request) (oncall.Profile, oncall.Roster, error) {
	t, err := a.Administered(r)
	if err != nil {
		return t, oncall.Roster{}, err
	}
	ro, err := a.roster(r, t)
	return t, ro, err
}

// rosterObjects returns a team's rosters by name, each with the schedules that use it.
func (a rosters) rosterObjects(ctx context.Context, t oncall.Profile, cs []params.Condition) (map[string]any, error) {
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
		if !params.Match(cs, params.Values{Text: map[string]string{"name": ro.Name}, Num: map[string]int64{"id": ro.ID}}) {
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

// schedulesOf returns the weekly schedules of a roster. /v1 serves rotations.
func schedulesOf(schedules []scheduling.StoredSchedule, roster int64) []map[string]any {
	out := []map[string]any{}
	for _, s := range schedules {
		if s.RosterID == roster && s.Algorithm != scheduling.ByRotation {
			out = append(out, scheduleObject(s))
		}
	}
	return out
}

// listRosters answers with a team's rosters by name. An unknown team is a 422.
func (a rosters) listRosters(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`team "`+routing.Param(r, "team")+`" not found`))
	}
	cs, _ := params.Conditions(r.URL.Query(), map[string]params.Kind{"name": params.Text, "id": params.Number})
	out, err := a.rosterObjects(r.Context(), t, cs)
	return routing.Reply(w, http.StatusOK, out, err)
}

// errNoName has the same text as title and description: clients read either one.
var errNoName = fault.Titled("name attribute missing from request", "name attribute missing from request")

// createRoster creates an empty roster.
func (a rosters) createRoster(w http.ResponseWriter, r *http.Request) error {
	t, missing := a.Administered(r)
	if missing != nil && !fault.Is(missing, fault.NotFound) {
		return missing
	}
	b, err := jsonbody.Read(w, r, "invalid roster name")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	if name = strings.TrimSpace(name); name == "" {
		return errNoName
	}
	if missing != nil { // Oncall's clients expect the text of a duplicate name for an unknown team, too
		return Integrity(`roster name "` + name + `" already exists for team ` + routing.Param(r, "team"))
	}
	_, err = a.Rules.CreateRoster.DoValid(r.Context(), a.CallerOf(r, b), rules.NewRoster{
		OneTeam: users.OneTeam{Team: t.Name}, Body: rules.RosterSettings{Name: name}})
	err = fault.When(err, fault.Conflict, Integrity(`roster name "`+name+`" already exists for team `+t.Name))
	return routing.Done(w, http.StatusCreated, titled(badRoster, err))
}

// getRoster answers with the members and weekly schedules of a roster.
func (a rosters) getRoster(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
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
		members = append(members, map[string]any{"name": m.Name, "in_rotation": Bool01(m.InRotation),
			"roster_priority": m.Priority})
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"users": members,
		"schedules": schedulesOf(schedules, ro.ID)})
}

// updateRoster changes the name of a roster, the order of its members, or both.
func (a rosters) updateRoster(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "invalid roster update")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	names, ordered, err := b.Texts("roster_order")
	if err != nil {
		return err
	}
	if name = strings.TrimSpace(name); name == "" && !ordered {
		return fault.Titled("invalid roster update", "missing roster name or order")
	}
	for range 5 {
		e := rules.RosterEdit{OneRoster: oneRoster(t, ro), State: operation.In(ro.Tag())}
		e.Body.Name = cmp.Or(name, ro.Name)
		if e.Body.Members, err = rosterOrder(ro, names, ordered); err != nil {
			return err
		}
		if _, err = a.Rules.ReplaceRoster.DoValid(r.Context(), a.CallerOf(r, b), e); !fault.Is(err, fault.Stale) {
			break
		}
		// Somebody changed the roster meanwhile.
		if ro, err = a.roster(r, t); err != nil {
			return err
		}
	}
	err = fault.When(err, fault.Conflict, Integrity("roster '"+name+"' already existed for team '"+t.Name+"'"))
	return routing.Done(w, http.StatusOK, titled(badRoster, err))
}

// oneRoster names a roster.
func oneRoster(t oncall.Profile, ro oncall.Roster) rules.OneRoster {
	return rules.OneRoster{OneTeam: users.OneTeam{Team: t.Name}, Roster: ro.Name}
}

// rosterOrder returns the members of a roster, in the order of names if ordered is true. names must then have each member
// once.
func rosterOrder(ro oncall.Roster, names []string, ordered bool) ([]rules.RosterMember, error) {
	const title = "Invalid roster order"
	left, out := map[string]rules.RosterMember{}, make([]rules.RosterMember, len(ro.Members))
	for i, m := range ro.Members {
		out[i] = rules.RosterMember{User: m.Name, RosterPlace: rules.RosterPlace{InRotation: &m.InRotation}}
		left[users.CanonicalName(m.Name)] = out[i]
	}
	if !ordered {
		return out, nil
	}
	out = out[:0]
	for _, n := range names {
		m, ok := left[users.CanonicalName(n)]
		if !ok {
			return nil, fault.Titled(title, "All users in provided order must be part of the roster")
		}
		delete(left, users.CanonicalName(n))
		out = append(out, m)
	}
	if len(left) > 0 {
		return nil, fault.Titled(title, "Roster order must include all roster members")
	}
	return out, nil
}

// deleteRoster deletes a roster and its schedules.
func (a rosters) deleteRoster(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Rules.DeleteRoster.Do(r.Context(), a.Caller(r), rules.OneRoster{
		OneTeam: users.OneTeam{Team: routing.Param(r, "team")}, Roster: routing.Param(r, "roster")})
	return routing.Done(w, http.StatusOK, err)
}

// listRosterUsers answers with the names of a roster's members; an empty list for an unknown team or roster.
func (a rosters) listRosterUsers(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	in, err := params.Flag(q, "in_rotation", true)
	if err != nil {
		return err
	}
	names := []string{}
	t, err := a.Team(r)
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
	return routing.Answer(w, http.StatusOK, names)
}

// addRosterUser adds a person to a roster. An unknown team, roster or person and a member of the roster are a 422.
func (a rosters) addRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	switch {
	case fault.Is(err, fault.NotFound) && t.ID == 0:
		return Integrity("invalid team or user")
	case fault.Is(err, fault.NotFound):
		return Integrity(`roster "` + routing.Param(r, "roster") + `" not found`)
	case err != nil:
		return err
	}
	b, err := jsonbody.Read(w, r, "incomplete data")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return fault.Titled("incomplete data", `missing field "name"`)
	}
	in, given, err := b.Flag("in_rotation")
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity("invalid team or user"))
	}
	if slices.ContainsFunc(ro.Members, func(m oncall.RosterMember) bool { return m.User == u.ID }) {
		return Integrity(`user "` + u.Name + `" is already in the roster`)
	}
	in = in || !given
	_, err = a.Rules.SetRosterMember.DoValid(r.Context(), a.CallerOf(r, b), rules.RosterMemberEdit{
		OneRosterMember: rules.OneRosterMember{OneRoster: oneRoster(t, ro), User: u.Name}, Body: rules.RosterPlace{InRotation: &in}})
	return a.Created(w, r, u, err)
}

// updateRosterUser puts a member into the rotation or takes the member out of it. It ignores people who are not in the
// roster.
func (a rosters) updateRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "incomplete data")
	if err != nil {
		return err
	}
	in, given, err := b.Flag("in_rotation")
	if err != nil {
		return err
	}
	if !given {
		return fault.Titled("incomplete data", `missing field "in_rotation"`)
	}
	user := routing.Param(r, "user")
	if slices.ContainsFunc(ro.Members, func(m oncall.RosterMember) bool { return users.SameName(m.Name, user) }) {
		_, err = a.Rules.SetRosterMember.DoValid(r.Context(), a.CallerOf(r, b), rules.RosterMemberEdit{
			OneRosterMember: rules.OneRosterMember{OneRoster: oneRoster(t, ro), User: user}, Body: rules.RosterPlace{InRotation: &in}})
	}
	return routing.Reply(w, http.StatusOK, []string{}, err)
}

// removeRosterUser removes a person from a roster. It ignores people who are not in the roster.
func (a rosters) removeRosterUser(w http.ResponseWriter, r *http.Request) error {
	t, ro, err := a.managed(r)
	if err != nil {
		return err
	}
	_, err = a.Rules.RemoveRosterMember.DoValid(r.Context(), a.Caller(r),
		rules.OneRosterMember{OneRoster: oneRoster(t, ro), User: routing.Param(r, "user")})
	return routing.Reply(w, http.StatusOK, []string{}, fault.When(err, fault.NotFound, nil))
}

// suggest answers with the member of a roster who is free for a shift and whose nearest other shift is the farthest
// away.
func (a rosters) suggest(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	for _, name := range []string{"start", "end"} {
		if !q.Has(name) {
			return params.Missing(name)
		}
	}
	start, _, err := params.Time(q, "start")
	if err != nil {
		return err
	}
	end, _, err := params.Time(q, "end")
	if err != nil {
		return err
	}
	role, err := a.Role(ctx, routing.Param(r, "role"))
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Titled("Invalid role", `role "`+routing.Param(r, "role")+
			`" not found`))
	}
	badRoster := fault.Titled("Invalid roster", `roster "`+routing.Param(r, "roster")+`" not found in team "`+
		routing.Param(r, "team")+`"`)
	t, err := a.Team(r)
	if err != nil {
		return fault.When(err, fault.NotFound, badRoster)
	}
	ro, err := a.roster(r, t)
	if err != nil {
		return fault.When(err, fault.NotFound, badRoster)
	}
	members := make([]scheduling.Member, len(ro.Members))
	names := map[users.ID]string{}
	for i, m := range ro.Members {
		members[i] = scheduling.Member{User: m.User, InRotation: m.InRotation, Active: m.Active}
		names[m.User] = m.Name
	}
	horizon := int64(len(members)) * 7 * 86400
	from, until := start.Unix()-horizon, max(end.Unix(), start.Unix()+horizon)
	rows, err := a.Shifts.Find(ctx, oncall.ShiftQuery{Teams: []int64{t.ID}, End: oncall.Range{Min: &from},
		Start: oncall.Range{Max: &until}})
	if err != nil {
		return err
	}
	shifts := make([]oncall.Shift, len(rows))
	for i, row := range rows {
		shifts[i] = row.Shift
	}
	return routing.Answer(w, http.StatusOK,
		suggestion(scheduling.Suggest(t.ID, role.Name, members, shifts, start, end), names))
}

// suggestion returns the suggested person, and the distance of each person's nearest shift in seconds, on the wire.
func suggestion(s scheduling.Suggestion, names map[users.ID]string) map[string]any {
	data := map[string]any{}
	for id, distance := range s.Distance {
		if distance == scheduling.Forever {
			data[names[id]] = "infinity"
		} else {
			data[names[id]] = int64(distance.Seconds())
		}
	}
	return map[string]any{"user": operation.OrNull(names[s.User]), "data": data}
}
