package oncallapi

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	rules "github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a services) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/services", routing.Read, a.listServices),
		routing.Post("/api/v0/services", routing.Write, a.createService),
		routing.Get("/api/v0/services/{service}", routing.Read, a.getService),
		routing.Put("/api/v0/services/{service}", routing.Write, a.renameService),
		routing.Delete("/api/v0/services/{service}", routing.Write, a.deleteService),
		routing.Get("/api/v0/services/{service}/teams", routing.Read, a.serviceTeams),
		routing.Get("/api/v0/team_services", routing.Read, a.listTeamServices),
		routing.Get("/api/v0/teams/{team}/services", routing.Read, a.teamServices),
		routing.Post("/api/v0/teams/{team}/services", routing.Write, a.claimService),
		routing.Delete("/api/v0/teams/{team}/services/{service}", routing.Write, a.unclaimService),
	}
}

func (a roles) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/roles", routing.Read, a.listRoles),
		routing.Post("/api/v0/roles", routing.Write, a.createRole),
		routing.Delete("/api/v0/roles/{role}", routing.Write, a.deleteRole),
	}
}

// listRoles answers with the on-call roles that match the query.
func (a roles) listRoles(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := params.Fields(q, []string{"id", "name", "display_order"}, params.ErrFields)
	if err != nil {
		return err
	}
	cs, _ := params.Conditions(q, map[string]params.Kind{"id": params.Number, "name": params.Text})
	roles, err := a.OnCallRoles.List.Do(r.Context(), a.Caller(r), operation.None{})
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, role := range roles.Items {
		if params.Match(cs, params.Values{Text: map[string]string{"name": role.Name}, Num: map[string]int64{"id": role.ID}}) {
			out = append(out, params.Pick(map[string]any{"id": role.ID, "name": role.Name,
				"display_order": role.DisplayOrder}, asked))
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// createRole creates a role.
func (a roles) createRole(w http.ResponseWriter, r *http.Request) error {
	if err := auth.MayManageOncall(a.Caller(r)); err != nil {
		return err
	}
	name, err := jsonbody.ReadName(w, r)
	if err != nil {
		return err
	}
	_, err = a.OnCallRoles.Add.DoValid(r.Context(), a.Caller(r), calendaring.NewRole{Name: name})
	return routing.Done(w, http.StatusCreated, fault.When(err, fault.Conflict, Integrity(fault.Public(err))))
}

// deleteRole deletes a role, with the schedules and shifts that use it, as Oncall does.
func (a roles) deleteRole(w http.ResponseWriter, r *http.Request) error {
	_, err := a.OnCallRoles.Remove.Do(r.Context(), a.Caller(r), calendaring.RoleRemoval{Role: routing.Param(r, "role"), Force: true})
	return routing.Done(w, http.StatusOK, err)
}

// listServices answers with the names of the services that match the query.
func (a services) listServices(w http.ResponseWriter, r *http.Request) error {
	cs, _ := params.Conditions(r.URL.Query(), map[string]params.Kind{"id": params.Number, "name": params.Text})
	services, err := a.Names.Services(r.Context())
	if err != nil {
		return err
	}
	names := []string{}
	for _, s := range services {
		if params.Match(cs, params.Values{Text: map[string]string{"name": s.Name}, Num: map[string]int64{"id": s.ID}}) {
			names = append(names, s.Name)
		}
	}
	return routing.Answer(w, http.StatusOK, names)
}

// createService creates a service. Only administrators of Iris and applications of the on-call API may do this.
func (a services) createService(w http.ResponseWriter, r *http.Request) error {
	if err := auth.MayManageOncall(a.Caller(r)); err != nil {
		return err
	}
	name, err := jsonbody.ReadName(w, r)
	if err != nil {
		return err
	}
	_, err = a.Rules.CreateService.DoValid(r.Context(), a.Caller(r), rules.ServiceSettings{Name: name})
	return routing.Done(w, http.StatusCreated, serviceTaken(name, err))
}

// renameService changes the name of a service. Only administrators of Iris and applications of the on-call API may do
// this. An unknown service is refused before the body is read.
func (a services) renameService(w http.ResponseWriter, r *http.Request) error {
	if err := auth.MayManageOncall(a.Caller(r)); err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), routing.Param(r, "service"))
	if err != nil {
		return err
	}
	name, err := jsonbody.ReadName(w, r)
	if err != nil {
		return err
	}
	_, err = a.Rules.RenameService.DoValid(r.Context(), a.Caller(r), rules.ServiceEdit{
		OneService: rules.OneService{Service: s.Name}, Body: rules.ServiceSettings{Name: name}})
	return routing.Done(w, http.StatusOK, serviceTaken(name, err))
}

func serviceTaken(name string, err error) error {
	return fault.When(err, fault.Conflict, Integrity(`service name "`+name+`" already exists`))
}

// getService answers with the number and name of a service.
func (a services) getService(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Names.Service(r.Context(), routing.Param(r, "service"))
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"id": s.ID, "name": s.Name})
}

// deleteService deletes a service. Only administrators of Iris and applications of the on-call API may do this.
func (a services) deleteService(w http.ResponseWriter, r *http.Request) error {
	if err := auth.MayManageOncall(a.Caller(r)); err != nil {
		return err
	}
	_, err := a.Rules.DeleteService.Do(r.Context(), a.Caller(r), rules.OneService{Service: routing.Param(r, "service")})
	return routing.Done(w, http.StatusOK, err)
}

// serviceTeams answers with the names of a service's teams; an empty list for an unknown service.
func (a services) serviceTeams(w http.ResponseWriter, r *http.Request) error {
	names := []string{}
	s, err := a.Names.Service(r.Context(), routing.Param(r, "service"))
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, names)
	}
	if err != nil {
		return err
	}
	teams, err := a.Names.ServiceTeams(r.Context(), s.ID)
	for _, t := range teams {
		names = append(names, t.Name)
	}
	return routing.Reply(w, http.StatusOK, names, err)
}

// listTeamServices answers with every pair of team and service.
func (a services) listTeamServices(w http.ResponseWriter, r *http.Request) error {
	pairs, err := a.Names.AllTeamServices(r.Context())
	if err != nil {
		return err
	}
	out := make([]map[string]string, len(pairs))
	for i, p := range pairs {
		out[i] = map[string]string{"team": p[0], "service": p[1]}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// teamServices answers with the names of a team's services; an empty list for an unknown team.
func (a services) teamServices(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []string{})
	}
	if err != nil {
		return err
	}
	names, err := a.Names.TeamServices(r.Context(), t.ID)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(names))
}

// claimService adds a service to a team. A service of another team is a 422 that names that team.
func (a services) claimService(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`team "`+routing.Param(r, "team")+`" not found`))
	}
	name, err := jsonbody.ReadName(w, r)
	if err != nil {
		return err
	}
	s, err := a.Names.Service(r.Context(), name)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`service "`+name+`" not found`))
	}
	owners, err := a.Names.ServiceTeams(r.Context(), s.ID)
	if err != nil {
		return err
	}
	if len(owners) > 0 {
		return Integrity(`service "` + s.Name + `" already claimed by team "` + owners[0].Name + `"`)
	}
	_, err = a.Rules.Claim.DoValid(r.Context(), a.Caller(r), rules.ServiceOfTeam{
		OneTeam: users.OneTeam{Team: t.Name}, OneService: rules.OneService{Service: s.Name}})
	return routing.Done(w, http.StatusCreated, err)
}

// unclaimService removes a service from a team.
func (a services) unclaimService(w http.ResponseWriter, r *http.Request) error {
	_, err := a.Rules.Unclaim.Do(r.Context(), a.Caller(r), rules.ServiceOfTeam{
		OneTeam:    users.OneTeam{Team: routing.Param(r, "team")},
		OneService: rules.OneService{Service: routing.Param(r, "service")}})
	return routing.Done(w, http.StatusOK, err)
}

// foreignModes are the modes of Oncall that clients expect in the list although Iris cannot send in them.
var foreignModes = []users.Mode{"teams_messenger"}

func (a names) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/modes", routing.Read, a.listModes),
		routing.Get("/api/v0/timezones", routing.Read, a.listTimeZones),
	}
}

// listModes answers with the modes in which people may be notified of shifts.
func (a names) listModes(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, append(slices.Clone(a.Modes), foreignModes...))
}

// listTimeZones answers with the time zones that a team may choose.
func (a names) listTimeZones(w http.ResponseWriter, _ *http.Request) error {
	return routing.Answer(w, http.StatusOK, routing.OrEmpty(a.TimeZones))
}
