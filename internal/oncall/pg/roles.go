package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
)

// RolesAndServices stores on-call roles and services. It is safe for concurrent use.
type RolesAndServices struct{ db *postgres.DB }

// NewRolesAndServices returns the adapter over d.
func NewRolesAndServices(d *postgres.DB) *RolesAndServices { return &RolesAndServices{db: d} }

// Roles lists the roles in their order of display.
func (n *RolesAndServices) Roles(ctx context.Context) ([]oncall.RoleInfo, error) {
	rows, err := postgres.Read(ctx, n.db, (*postgresdb.Queries).OncallRoles)
	return postgres.Convert(rows, func(r postgresdb.OncallRole) oncall.RoleInfo { return oncall.RoleInfo(r) }), err
}

// CreateRole adds a role; a Conflict fault when there is one of that name.
func (n *RolesAndServices) CreateRole(ctx context.Context, name string, by oncall.By) error {
	name, err := postgres.CleanName(name)
	if err != nil {
		return err
	}
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.CreateOncallRole(ctx, name)
		if err := postgres.RequireNew(rows, err); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.OnCallRoleCreated, Object: "role " +
			name})
	})
}

// DeleteRole removes a role with its schedules and shifts; a NotFound fault when there is none.
func (n *RolesAndServices) DeleteRole(ctx context.Context, name string, force bool, by oncall.By) error {
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		used, err := q.OncallRoleUsed(ctx, postgres.Storable(name))
		if err != nil {
			return err
		}
		if used && !force {
			return fault.Newf(fault.Conflict, "schedules or shifts use the role %q", name)
		}
		if err := postgres.RequireRow(q.DeleteOncallRole(ctx, postgres.Storable(name))); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.OnCallRoleDeleted, Object: "role " +
			name})
	})
}

// Services lists all services.
func (n *RolesAndServices) Services(ctx context.Context) ([]oncall.Service, error) {
	rows, err := postgres.Read(ctx, n.db, (*postgresdb.Queries).Services)
	return postgres.Convert(rows, func(r postgresdb.Service) oncall.Service { return oncall.Service(r) }), err
}

// Service finds a service, ignoring case; a NotFound fault when there is none.
func (n *RolesAndServices) Service(ctx context.Context, name string) (oncall.Service, error) {
	r, err := postgres.Query(ctx, n.db, (*postgresdb.Queries).ServiceByName, postgres.Storable(name))
	return oncall.Service(r), err
}

// SaveService adds a service, or renames that with the id; a Conflict fault when the name is taken.
func (n *RolesAndServices) SaveService(ctx context.Context, id int64, name string, by oncall.By) error {
	name, err := postgres.CleanName(name)
	if err != nil {
		return err
	}
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if id == 0 {
			rows, err := q.CreateService(ctx, name)
			if err := postgres.RequireNew(rows, err); err != nil {
				return err
			}
		} else if err := postgres.RequireRow(q.RenameService(ctx, postgresdb.RenameServiceParams{ID: id, Name: name})); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.ServiceSaved, Object: "service " +
			name})
	})
}

// DeleteService removes a service.
func (n *RolesAndServices) DeleteService(ctx context.Context, s oncall.Service, by oncall.By) error {
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := postgres.RequireRow(q.DeleteService(ctx, s.ID)); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by.Owner, Action: audit.ServiceDeleted, Object: "service " +
			s.Name})
	})
}

// ServiceTeams lists the active teams that are responsible for a service.
func (n *RolesAndServices) ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error) {
	rows, err := postgres.Query(ctx, n.db, (*postgresdb.Queries).ServiceTeams, service)
	return postgres.Convert(rows, func(r postgresdb.ServiceTeamsRow) oncall.TeamName {
		return oncall.TeamName{ID: r.ID, Name: r.Name, Active: true}
	}), err
}

// TeamServices lists the names of a team's services.
func (n *RolesAndServices) TeamServices(ctx context.Context, team int64) ([]string, error) {
	return postgres.Query(ctx, n.db, (*postgresdb.Queries).TeamServices, team)
}

// AllTeamServices lists pairs of team and service.
func (n *RolesAndServices) AllTeamServices(ctx context.Context) ([][2]string, error) {
	rows, err := postgres.Read(ctx, n.db, (*postgresdb.Queries).AllTeamServices)
	return postgres.Convert(rows, func(r postgresdb.AllTeamServicesRow) [2]string {
		return [2]string{r.Team, r.Service}
	}), err
}

// Claim makes a team responsible for a service. If an active team is responsible, Claim returns a Conflict fault whose
// message is the name of that team.
func (n *RolesAndServices) Claim(ctx context.Context, team, service int64) error {
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockService(ctx, service); err != nil {
			return err
		}
		owners, err := q.ServiceTeams(ctx, service)
		if err != nil {
			return err
		}
		if len(owners) > 0 {
			return fault.New(fault.Conflict, owners[0].Name)
		}
		if _, err = q.ClaimService(ctx, postgresdb.ClaimServiceParams{TeamID: team, ServiceID: service}); err != nil {
			return err
		}
		return serviceOfTeam(ctx, q, audit.ServiceAddedToATeam, team, service)
	})
}

// Unclaim is the reverse; a NotFound fault when the team is not responsible for the service.
func (n *RolesAndServices) Unclaim(ctx context.Context, team, service int64) error {
	return n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := postgres.RequireRow(q.UnclaimService(ctx, postgresdb.UnclaimServiceParams{TeamID: team, ServiceID: service})); err != nil {
			return err
		}
		return serviceOfTeam(ctx, q, audit.ServiceRemovedFromATeam, team, service)
	})
}

// serviceOfTeam adds an entry to the audit log.
func serviceOfTeam(ctx context.Context, q *postgresdb.Queries, action audit.Action, team, service int64) error {
	t, err := q.OncallTeamByID(ctx, team)
	if err != nil {
		return err
	}
	name, err := q.LockService(ctx, service)
	if err != nil {
		return err
	}
	return auditlog.Write(ctx, q, audit.Entry{Action: action, Object: "team " + t.Name, Detail: "service " + name})
}
