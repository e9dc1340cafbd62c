package teams

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// ServiceRow is a service as lists show it.
type ServiceRow struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Service is a service for which a team answers.
type Service struct {
	ServiceRow
	Team operation.Text `json:"team" doc:"The team that answers for it; null = none."`
}

// Location is the address of a service.
func (s Service) Location() string { return operation.Path(GetService.Path, s.Name) }

// ServiceSettings are what people choose of a service.
type ServiceSettings struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"At most 255 bytes. Each service has its own name." example:"database"`
}

// OneService names a service, ignoring case.
type OneService struct {
	Service string `path:"service" json:"service"`
}

// ServiceEdit renames a service.
type ServiceEdit struct {
	OneService
	Body ServiceSettings `json:"body"`
}

// ServiceOfTeam names a team and a service.
type ServiceOfTeam struct {
	users.OneTeam
	OneService
}

// ServicesOfTeam selects services of a team.
type ServicesOfTeam struct {
	users.OneTeam
	operation.Paging
}

// The operations on services, and on which team answers for them.
var (
	ListServices = operation.Define[operation.Paging, operation.Page[ServiceRow]](operation.Doc{Name: "service.list",
		Method: http.MethodGet, Path: "/v1/services", Needs: operation.Reader, Summary: "Services by name"})
	CreateService = operation.Define[ServiceSettings, Service](operation.Doc{Name: "service.create",
		Method: http.MethodPost, Path: "/v1/services", Needs: operation.Member, Rule: operation.OfOncall,
		Audit: []audit.Action{audit.ServiceSaved}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Make a service"})
	GetService = operation.Define[OneService, Service](operation.Doc{Name: "service.get", Method: http.MethodGet,
		Path: "/v1/services/{service}", Needs: operation.Reader, Summary: "A service, and the team that answers for it"})
	RenameService = operation.Define[ServiceEdit, Service](operation.Doc{Name: "service.rename", Method: http.MethodPut,
		Path: "/v1/services/{service}", Needs: operation.Member, Rule: operation.OfOncall,
		Audit: []audit.Action{audit.ServiceSaved}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Rename a service"})
	DeleteService = operation.Define[OneService, operation.None](operation.Doc{Name: "service.delete",
		Method: http.MethodDelete, Path: "/v1/services/{service}", Needs: operation.Member, Rule: operation.OfOncall,
		Audit: []audit.Action{audit.ServiceDeleted}, Summary: "Delete a service"})
	ListTeamServices = operation.Define[ServicesOfTeam, operation.Page[string]](operation.Doc{Name: "team.services",
		Method: http.MethodGet, Path: "/v1/teams/{team}/services", Needs: operation.Reader,
		Summary: "The names of the services for which a team answers"})
	ClaimService = operation.Define[ServiceOfTeam, operation.None](operation.Doc{Name: "team.add-service",
		Method: http.MethodPut, Path: "/v1/teams/{team}/services/{service}", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfTeam, Audit: []audit.Action{audit.ServiceAddedToATeam},
		Errors: []int{http.StatusConflict}, Summary: "Let a team answer for a service",
		Note: "409: another team answers for it. Remove the service from that team first."})
	UnclaimService = operation.Define[ServiceOfTeam, operation.None](operation.Doc{Name: "team.remove-service",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/services/{service}", Needs: operation.Member,
		Rule: operation.OfTeam, Audit: []audit.Action{audit.ServiceRemovedFromATeam},
		Summary: "Remove a service from a team"})
)

// ServiceKind has what all kinds of objects have.
var ServiceKind = operation.Kind(ListServices, GetService, RenameService, DeleteService, "NAME=name").MadeBy(CreateService.Doc)

// Services stores services, and which teams answer for them.
type Services interface {
	Services(ctx context.Context) ([]oncall.Service, error)
	// Service ignores case. It returns a NotFound fault if there is no such service.
	Service(ctx context.Context, name string) (oncall.Service, error)
	// SaveService renames a service; id 0 = makes one. A name that exists is a Conflict fault.
	SaveService(ctx context.Context, id int64, name string, by oncall.By) error
	DeleteService(ctx context.Context, s oncall.Service, by oncall.By) error
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
	TeamServices(ctx context.Context, team int64) ([]string, error)
	// Claim returns a Conflict fault, whose message is the name of the team, if a team answers for the service.
	Claim(ctx context.Context, team, service int64) error
	// Unclaim returns a NotFound fault if the team does not answer for the service.
	Unclaim(ctx context.Context, team, service int64) error
}

var (
	errNoService = fault.New(fault.NotFound, "there is no such service")
	errNotOurs   = fault.New(fault.NotFound, "the team does not answer for this service")
)

func (t *Teams) services(ctx context.Context, _ operation.Actor, p operation.Paging) (operation.Page[ServiceRow], error) {
	found, err := t.deps.Services.Services(ctx)
	if err != nil {
		return operation.Page[ServiceRow]{}, err
	}
	all := make([]ServiceRow, len(found))
	for i, s := range found {
		all[i] = ServiceRow(s)
	}
	slices.SortFunc(all, func(a, b ServiceRow) int { return strings.Compare(a.Name, b.Name) })
	return operation.PageByName(p, all, func(s ServiceRow) string { return s.Name })
}

func (t *Teams) service(ctx context.Context, _ operation.Actor, one OneService) (Service, error) {
	s, err := t.serviceNamed(ctx, one.Service)
	if err != nil {
		return Service{}, err
	}
	teams, err := t.deps.Services.ServiceTeams(ctx, s.ID)
	out := Service{ServiceRow: ServiceRow(s)}
	for _, team := range teams {
		out.Team = operation.Text(team.Name)
	}
	return out, err
}

func (t *Teams) serviceNamed(ctx context.Context, name string) (oncall.Service, error) {
	s, err := t.deps.Services.Service(ctx, name)
	return s, fault.When(err, fault.NotFound, errNoService)
}

func (t *Teams) createService(ctx context.Context, by operation.Actor, s ServiceSettings) (Service, error) {
	if err := auth.MayManageOncall(by); err != nil {
		return Service{}, err
	}
	return t.saveService(ctx, by, 0, s.Name)
}

func (t *Teams) renameService(ctx context.Context, by operation.Actor, e ServiceEdit) (Service, error) {
	if err := auth.MayManageOncall(by); err != nil {
		return Service{}, err
	}
	s, err := t.serviceNamed(ctx, e.Service)
	if err != nil {
		return Service{}, err
	}
	return t.saveService(ctx, by, s.ID, e.Body.Name)
}

func (t *Teams) saveService(ctx context.Context, by operation.Actor, id int64, name string) (Service, error) {
	name = strings.TrimSpace(name)
	if err := t.deps.Services.SaveService(ctx, id, name, planning.Author(by, nil)); err != nil {
		return Service{}, fault.When(err, fault.Conflict,
			fault.Newf(fault.Conflict, "there is a service %q already: choose another name", name))
	}
	return t.service(ctx, by, OneService{name})
}

func (t *Teams) deleteService(ctx context.Context, by operation.Actor, one OneService) (none operation.None, err error) {
	if err := auth.MayManageOncall(by); err != nil {
		return none, err
	}
	s, err := t.serviceNamed(ctx, one.Service)
	if err != nil {
		return none, err
	}
	return none, t.deps.Services.DeleteService(ctx, s, planning.Author(by, nil))
}

func (t *Teams) teamServices(ctx context.Context, _ operation.Actor, of ServicesOfTeam) (operation.Page[string], error) {
	team, err := t.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return operation.Page[string]{}, err
	}
	names, err := t.deps.Services.TeamServices(ctx, team.ID)
	if err != nil {
		return operation.Page[string]{}, err
	}
	slices.Sort(names)
	return operation.PageByName(of.Paging, names, func(name string) string { return name })
}

// claim adds a service to a team. A service that the team has stays.
func (t *Teams) claim(ctx context.Context, by operation.Actor, one ServiceOfTeam) (none operation.None, err error) {
	team, s, err := t.ownService(ctx, by, one)
	if err != nil {
		return none, err
	}
	err = t.deps.Services.Claim(ctx, team.ID, s.ID)
	if owner := fault.Public(err); fault.Is(err, fault.Conflict) {
		err = nil
		if owner != team.Name {
			err = fault.Newf(fault.Conflict, "team %s answers for %s: remove the service from that team first", owner, s.Name)
		}
	}
	return none, err
}

func (t *Teams) unclaim(ctx context.Context, by operation.Actor, one ServiceOfTeam) (none operation.None, err error) {
	team, s, err := t.ownService(ctx, by, one)
	if err != nil {
		return none, err
	}
	return none, fault.When(t.deps.Services.Unclaim(ctx, team.ID, s.ID), fault.NotFound, errNotOurs)
}

// ownService finds a service and a team whose administrator the caller is.
func (t *Teams) ownService(ctx context.Context, by operation.Actor, one ServiceOfTeam) (oncall.Profile, oncall.Service, error) {
	team, err := t.deps.Administrators.Own(ctx, by, one.Team)
	if err != nil {
		return team, oncall.Service{}, err
	}
	s, err := t.serviceNamed(ctx, one.Service)
	return team, s, err
}
