package oncallapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a members) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/team_users", routing.Read, a.listMemberships),
		routing.Get("/api/v0/teams/{team}/users", routing.Read, a.listMembers),
		routing.Post("/api/v0/teams/{team}/users", routing.Write, a.addMember),
		routing.Delete("/api/v0/teams/{team}/users/{user}", routing.Write, a.removeMember),
		routing.Get("/api/v0/teams/{team}/admins", routing.Read, a.listAdmins),
		routing.Post("/api/v0/teams/{team}/admins", routing.Write, a.addAdmin),
		routing.Delete("/api/v0/teams/{team}/admins/{user}", routing.Write, a.removeAdmin),
		routing.Get("/api/v0/teams/{team}/subscriptions", routing.Read, a.listSubscriptions),
		routing.Post("/api/v0/teams/{team}/subscriptions", routing.Write, a.subscribe),
		routing.Delete("/api/v0/teams/{team}/subscriptions/{other}/{role}", routing.Write, a.unsubscribe),
	}
}

// listMemberships answers with every pair of team and member.
func (a members) listMemberships(w http.ResponseWriter, r *http.Request) error {
	pairs, err := a.Teams.Memberships(r.Context())
	out := make([]map[string]string, len(pairs))
	for i, p := range pairs {
		out[i] = map[string]string{"team": p[0], "user": p[1]}
	}
	return routing.Reply(w, http.StatusOK, out, err)
}

// teamPeople reads the people of the team in the path. It returns none for a team that does not exist, or whose activity is not
// *active; nil = both.
func (a members) teamPeople(r *http.Request, active *bool) ([]oncall.TeamPerson, error) {
	t, err := a.Teams.ByName(r.Context(), routing.Param(r, "team"))
	if fault.Is(err, fault.NotFound) || err == nil && active != nil && t.Active != *active {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.Teams.People(r.Context(), t.ID)
}

// person names the person of the path in the team of the path.
func (a members) person(r *http.Request) rules.OnePerson {
	return rules.OnePerson{OneTeam: users.OneTeam{Team: routing.Param(r, "team")}, User: routing.Param(r, "user")}
}

// namesOf answers with the names of the people for whom shown is true.
func namesOf(w http.ResponseWriter, people []oncall.TeamPerson, err error, shown func(oncall.TeamPerson) bool) error {
	names := []string{}
	for _, p := range people {
		if shown(p) {
			names = append(names, p.Name)
		}
	}
	return routing.Reply(w, http.StatusOK, names, err)
}

// listMembers answers with the names of a team's members; an empty list for an unknown team.
func (a members) listMembers(w http.ResponseWriter, r *http.Request) error {
	var active *bool
	if r.URL.Query().Has("active") {
		v, err := params.Flag(r.URL.Query(), "active", true)
		if err != nil {
			return err
		}
		active = &v
	}
	people, err := a.teamPeople(r, active)
	return namesOf(w, people, err, func(p oncall.TeamPerson) bool { return p.Member })
}

// listAdmins answers with the names of a team's administrators; an empty list for an unknown team.
func (a members) listAdmins(w http.ResponseWriter, r *http.Request) error {
	people, err := a.teamPeople(r, nil)
	return namesOf(w, people, err, func(p oncall.TeamPerson) bool { return p.Admin })
}

// addMember adds a person to a team. Unknown people and members are a 422.
func (a members) addMember(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`team `+routing.Param(r, "team")+` not found`))
	}
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return Integrity("name missing for user")
	}
	u, is, err := a.personIn(r, t, name)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity("user "+name+" not found"))
	}
	if is.Member {
		return Integrity(`user name "` + u.Name + `" is already in team ` + t.Name)
	}
	_, err = a.Rules.AddMember.DoValid(r.Context(), a.Caller(r),
		rules.OnePerson{OneTeam: users.OneTeam{Team: t.Name}, User: u.Name})
	return a.Created(w, r, u, err)
}

// personIn finds a person by name, and their part in a team.
func (a members) personIn(r *http.Request, t oncall.Profile, name string) (u oncall.Person, is oncall.TeamPerson, err error) {
	if u, err = a.People.ByName(r.Context(), name); err != nil {
		return u, is, err
	}
	people, err := a.Teams.People(r.Context(), t.ID)
	if i := slices.IndexFunc(people, func(p oncall.TeamPerson) bool { return p.ID == u.ID }); i >= 0 {
		is = people[i]
	}
	return u, is, err
}

// removeMember removes a person from a team.
func (a members) removeMember(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Rules.RemoveMember.Do(r.Context(), a.Caller(r), a.person(r))
	return routing.Done(w, http.StatusOK, err)
}

// addAdmin makes a person an administrator of a team. Unknown people and administrators of the team are a 422.
func (a members) addAdmin(w http.ResponseWriter, r *http.Request) error {
	const invalid = "invalid team or user"
	t, err := a.Administered(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(invalid))
	}
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return errNoName
	}
	u, is, err := a.personIn(r, t, name)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(invalid))
	}
	if is.Admin {
		return Integrity(`user name "` + u.Name + `" is already an admin of team ` + t.Name)
	}
	_, err = a.Rules.AddAdmin.DoValid(r.Context(), a.Caller(r),
		rules.OnePerson{OneTeam: users.OneTeam{Team: t.Name}, User: u.Name})
	return a.Created(w, r, u, err)
}

// removeAdmin takes the administration of a team away from a person.
func (a members) removeAdmin(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Rules.RemoveAdmin.Do(r.Context(), a.Caller(r), a.person(r))
	return routing.Done(w, http.StatusOK, err)
}

// listSubscriptions answers with the teams and roles that a team's calendar also shows; an empty list for an unknown
// team.
func (a members) listSubscriptions(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	out := []map[string]string{}
	if err == nil {
		found, err := a.Teams.Subscriptions(r.Context(), t.ID)
		if err != nil {
			return err
		}
		for _, s := range found {
			out = append(out, map[string]string{"subscription": s.Team, "role": s.Role})
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// subscribe adds a role of another team to a team's calendar. An unknown team or role and an existing subscription are
// a 422.
func (a members) subscribe(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid subscription"
	t, b, err := WithBody(w, r, title, a.Administered)
	if err != nil {
		return err
	}
	other, err := b.Text("subscription")
	role := jsonbody.Next(&err, b.Text, "role")
	if err != nil {
		return err
	}
	if other == "" || role == "" {
		return fault.Titled(title, "Missing subscription name or role name")
	}
	one := rules.OneSubscription{OneTeam: users.OneTeam{Team: t.Name}, Other: other, Role: role}
	exists, err := a.subscribed(r.Context(), t, one)
	if err != nil {
		return err
	}
	if exists {
		return Integrity("Subscription already exists")
	}
	_, err = a.Rules.Subscribe.DoValid(r.Context(), a.Caller(r), one)
	err = fault.When(err, fault.Invalid, fault.Titled(title, "Subscription team must be different from subscribing team"))
	switch fault.FieldOf(err) {
	case "other":
		err = Integrity(`Team "` + other + `" not found`)
	case "role":
		err = Integrity(`Role "` + role + `" not found`)
	}
	return routing.Done(w, http.StatusCreated, err)
}

// subscribed reports whether a team has a subscription.
func (a members) subscribed(ctx context.Context, t oncall.Profile, one rules.OneSubscription) (bool, error) {
	other, err := a.ActiveTeam(ctx, one.Other)
	var role oncall.RoleInfo
	if err == nil {
		role, err = a.Role(ctx, one.Role)
	}
	if err != nil {
		return false, fault.When(err, fault.NotFound, nil)
	}
	found, err := a.Teams.Subscriptions(ctx, t.ID)
	return slices.Contains(found, oncall.Subscription{TeamID: other.ID, Team: other.Name, Role: role.Name}), err
}

// unsubscribe removes a role of another team from a team's calendar.
func (a members) unsubscribe(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Rules.Unsubscribe.DoValid(r.Context(), a.Caller(r), rules.OneSubscription{
		OneTeam: users.OneTeam{Team: routing.Param(r, "team")}, Other: routing.Param(r, "other"), Role: routing.Param(r, "role")})
	return routing.Done(w, http.StatusOK, err)
}
