package oncallapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func (a *API) listMemberships(w http.ResponseWriter, r *http.Request) error {
	pairs, err := a.Teams.Memberships(r.Context())
	out := make([]map[string]string, len(pairs))
	for i, p := range pairs {
		out[i] = map[string]string{"team": p[0], "user": p[1]}
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// teamPeople reads the people of the path's team; none where there is no such team.
func (a *API) teamPeople(r *http.Request, active *bool) ([]oncall.TeamPerson, error) {
	t, err := a.Teams.ByName(r.Context(), param(r, "team"))
	if fault.Is(err, fault.NotFound) || err == nil && active != nil && t.Active != *active {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return a.Teams.People(r.Context(), t.ID)
}

func (a *API) listMembers(w http.ResponseWriter, r *http.Request) error {
	var active *bool
	if r.URL.Query().Has("active") {
		v, err := queryFlag(r.URL.Query(), "active", true)
		if err != nil {
			return err
		}
		active = &v
	}
	people, err := a.teamPeople(r, active)
	if err != nil {
		return err
	}
	names := []string{}
	for _, p := range people {
		if p.Member {
			names = append(names, p.Name)
		}
	}
	return answer(w, http.StatusOK, names)
}

func (a *API) listAdmins(w http.ResponseWriter, r *http.Request) error {
	people, err := a.teamPeople(r, nil)
	if err != nil {
		return err
	}
	names := []string{}
	for _, p := range people {
		if p.Admin {
			names = append(names, p.Name)
		}
	}
	return answer(w, http.StatusOK, names)
}

func (a *API) addMember(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team `+param(r, "team")+` not found`))
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return integrity("name missing for user")
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return when(err, fault.NotFound, integrity("user "+name+" not found"))
	}
	if err := a.Teams.AddMember(r.Context(), t.ID, u.ID); err != nil {
		return when(err, fault.Conflict, integrity(`user name "`+u.Name+`" is already in team `+t.Name))
	}
	return answer(w, http.StatusCreated, userObject(u))
}

func (a *API) removeMember(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err != nil {
		return err
	}
	if err := a.Teams.RemoveMember(r.Context(), t.ID, u.ID); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) addAdmin(w http.ResponseWriter, r *http.Request) error {
	const invalid = "invalid team or user"
	t, err := a.administered(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(invalid))
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	if name == "" {
		return errNoName
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return when(err, fault.NotFound, integrity(invalid))
	}
	if err := a.Teams.AddAdmin(r.Context(), t, u, by(r, nil)); err != nil {
		return when(err, fault.Conflict, integrity(`user name "`+u.Name+`" is already an admin of team `+t.Name))
	}
	return answer(w, http.StatusCreated, userObject(u))
}

func (a *API) removeAdmin(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if err != nil {
		return err
	}
	if err := a.Teams.RemoveAdmin(r.Context(), t, u, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) listSubscriptions(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
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
	return answer(w, http.StatusOK, out)
}

func (a *API) subscribe(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid subscription"
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, title)
	if err != nil {
		return err
	}
	other, err := b.text("subscription")
	if err != nil {
		return err
	}
	role, err := b.text("role")
	if err != nil {
		return err
	}
	if other == "" || role == "" {
		return fault.Titled(title, "Missing subscription name or role name")
	}
	sub, err := a.activeTeam(r.Context(), other)
	if err != nil {
		return when(err, fault.NotFound, integrity(`Team "`+other+`" not found`))
	}
	if sub.ID == t.ID {
		return fault.Titled(title, "Subscription team must be different from subscribing team")
	}
	known, err := a.role(r.Context(), role)
	if err != nil {
		return when(err, fault.NotFound, integrity(`Role "`+role+`" not found`))
	}
	if err := a.Teams.Subscribe(r.Context(), t.ID, sub.ID, known.ID); err != nil {
		return when(err, fault.Conflict, integrity("Subscription already exists"))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) unsubscribe(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	other, err := a.Teams.ByName(r.Context(), param(r, "other"))
	if err != nil {
		return err
	}
	role, err := a.role(r.Context(), param(r, "role"))
	if err != nil {
		return err
	}
	if err := a.Teams.Unsubscribe(r.Context(), t.ID, other.ID, role.ID); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func idsOf(people []oncall.TeamPerson) []users.ID {
	out := make([]users.ID, len(people))
	for i, p := range people {
		out[i] = p.ID
	}
	return out
}

// userObject is a user as the wire shows it.
func userObject(u oncall.Person) map[string]any {
	contacts := map[string]string{}
	for mode, destination := range u.Contacts {
		contacts[string(mode)] = destination
	}
	zone := orNull(u.TimeZone)
	if u.NoTimeZone {
		zone = nil
	}
	return map[string]any{
		"id": u.OncallID, "name": u.Name, "full_name": orNull(u.FullName), "time_zone": zone, "photo_url": orNull(u.PhotoURL),
		"active": bool01(u.Active), "god": bool01(u.Admin), "contacts": contacts,
	}
}

// role finds an on-call role, ignoring case.
func (a *API) role(ctx context.Context, name string) (oncall.RoleInfo, error) {
	roles, err := a.Names.Roles(ctx)
	if err != nil {
		return oncall.RoleInfo{}, err
	}
	for _, r := range roles {
		if equalFold(r.Name, name) {
			return r, nil
		}
	}
	return oncall.RoleInfo{}, fault.Newf(fault.NotFound, "there is no role %q", name)
}
