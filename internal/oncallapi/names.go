package oncallapi

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) nameRoutes() []route {
	return []route{
		{get, v0 + "/roles", read, a.listRoles},
		{post, v0 + "/roles", login, a.createRole},
		{del, v0 + "/roles/{role}", login, a.deleteRole},
		{get, v0 + "/services", read, a.listServices},
		{post, v0 + "/services", login, a.createService},
		{get, v0 + "/services/{service}", read, a.getService},
		{put, v0 + "/services/{service}", login, a.renameService},
		{del, v0 + "/services/{service}", login, a.deleteService},
		{get, v0 + "/services/{service}/teams", read, a.serviceTeams},
		{get, v0 + "/team_services", read, a.listTeamServices},
		{get, v0 + "/teams/{team}/services", read, a.teamServices},
		{post, v0 + "/teams/{team}/services", login, a.claimService},
		{del, v0 + "/teams/{team}/services/{service}", login, a.unclaimService},
		{get, v0 + "/modes", read, a.listModes},
		{get, v0 + "/timezones", read, a.listTimeZones},
	}
}

func (a *API) listRoles(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := fields(q, []string{"id", "name", "display_order"}, errBadFields)
	if err != nil {
		return err
	}
	cs, _ := conditions(q, map[string]kind{"id": numbers, "name": words})
	roles, err := a.Names.Roles(r.Context())
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, role := range roles {
		if match(cs, values{text: map[string]string{"name": role.Name}, num: map[string]int64{"id": role.ID}}) {
			out = append(out, pick(map[string]any{"id": role.ID, "name": role.Name, "display_order": role.DisplayOrder}, asked))
		}
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) createRole(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	name, err := namedBody(w, r)
	if err != nil {
		return err
	}
	if err := a.Names.CreateRole(r.Context(), name, by(r, nil)); err != nil {
		return when(err, fault.Conflict, integrity(`role "`+name+`" already existed`))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) deleteRole(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	if err := a.Names.DeleteRole(r.Context(), param(r, "role"), by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) listServices(w http.ResponseWriter, r *http.Request) error {
	cs, _ := conditions(r.URL.Query(), map[string]kind{"id": numbers, "name": words})
	services, err := a.Names.Services(r.Context())
	if err != nil {
		return err
	}
	names := []string{}
	for _, s := range services {
		if match(cs, values{text: map[string]string{"name": s.Name}, num: map[string]int64{"id": s.ID}}) {
			names = append(names, s.Name)
		}
	}
	return answer(w, http.StatusOK, names)
}

func (a *API) createService(w http.ResponseWriter, r *http.Request) error {
	return a.saveService(w, r, 0)
}

func (a *API) renameService(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), param(r, "service"))
	if err != nil {
		return err
	}
	return a.saveService(w, r, s.ID)
}

func (a *API) saveService(w http.ResponseWriter, r *http.Request, id int64) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	name, err := namedBody(w, r)
	if err != nil {
		return err
	}
	if err := a.Names.SaveService(r.Context(), id, name, by(r, nil)); err != nil {
		return when(err, fault.Conflict, integrity(`service name "`+name+`" already exists`))
	}
	if id == 0 {
		return empty(w, http.StatusCreated)
	}
	return empty(w, http.StatusOK)
}

func (a *API) getService(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Names.Service(r.Context(), param(r, "service"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"id": s.ID, "name": s.Name})
}

func (a *API) deleteService(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayManageOncall(); err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), param(r, "service"))
	if err != nil {
		return err
	}
	if err := a.Names.DeleteService(r.Context(), s, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) serviceTeams(w http.ResponseWriter, r *http.Request) error {
	names := []string{}
	s, err := a.Names.Service(r.Context(), param(r, "service"))
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, names)
	}
	if err != nil {
		return err
	}
	teams, err := a.Names.ServiceTeams(r.Context(), s.ID)
	for _, t := range teams {
		names = append(names, t.Name)
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, names)
}

func (a *API) listTeamServices(w http.ResponseWriter, r *http.Request) error {
	pairs, err := a.Names.AllTeamServices(r.Context())
	if err != nil {
		return err
	}
	out := make([]map[string]string, len(pairs))
	for i, p := range pairs {
		out[i] = map[string]string{"team": p[0], "service": p[1]}
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) teamServices(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, []string{})
	}
	if err != nil {
		return err
	}
	names, err := a.Names.TeamServices(r.Context(), t.ID)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, list(names))
}

func (a *API) claimService(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team "`+param(r, "team")+`" not found`))
	}
	name, err := namedBody(w, r)
	if err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), name)
	if err != nil {
		return when(err, fault.NotFound, integrity(`service "`+name+`" not found`))
	}
	if err := a.Names.Claim(r.Context(), t.ID, s.ID); err != nil {
		return when(err, fault.Conflict, integrity(`service "`+s.Name+`" already claimed by team "`+fault.Public(err)+`"`))
	}
	return empty(w, http.StatusCreated)
}

func (a *API) unclaimService(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), param(r, "service"))
	if err != nil {
		return err
	}
	if err := a.Names.Unclaim(r.Context(), t.ID, s.ID); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// foreignModes are those of Oncall that Iris lists for its clients and cannot send in.
var foreignModes = []users.Mode{"teams_messenger"}

func (a *API) listModes(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, append(slices.Clone(a.Config.Modes), foreignModes...))
}

func (a *API) listTimeZones(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, list(a.Config.TimeZones))
}
