package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Owners stores which team owns a plan, a template or an application. It is safe for concurrent use.
type Owners struct{ db *postgres.DB }

// NewOwners returns the adapter over d.
func NewOwners(d *postgres.DB) *Owners { return &Owners{d} }

// ByName returns an active team by name, ignoring case. Unknown: NotFound.
func (o *Owners) ByName(ctx context.Context, name string) (users.OwningTeam, error) {
	return o.team(ctx, postgresdb.OwningTeamParams{Name: postgres.Storable(name)})
}

// ByID returns an active team by its id. Unknown: NotFound.
func (o *Owners) ByID(ctx context.Context, id int64) (users.OwningTeam, error) {
	return o.team(ctx, postgresdb.OwningTeamParams{ID: id})
}

func (o *Owners) team(ctx context.Context, p postgresdb.OwningTeamParams) (users.OwningTeam, error) {
	row, err := postgres.Query(ctx, o.db, (*postgresdb.Queries).OwningTeam, p)
	return owningTeam(row.ID, row.Name, row.Members, row.Managers), postgres.Named(err, "there is no such active team")
}

// Give changes the team that owns a plan, template or application, and adds an entry to the audit log. A zero team =
// none. It returns a Stale fault if from is not the present owner, and NotFound if there is no such object.
func (o *Owners) Give(ctx context.Context, kind, name string, from, to users.OwningTeam, by string) error {
	name = postgres.Storable(name)
	return o.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		s := statements(q, kind, to.ID)
		present, err := s.lock(ctx, name)
		if err != nil {
			return err
		}
		if present != from.ID {
			return fault.Newf(fault.Stale, "somebody else changed the owner of the %s meanwhile", kind)
		}
		if err := s.set(ctx, name); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: given[kind], Object: kind + " " + name,
			Changes: []audit.Change{{Field: "team", Before: from.Name, After: to.Name}}})
	})
}

// given are the actions of the audit log by kind of object.
var given = map[string]audit.Action{"plan": audit.PlanGivenToATeam, "template": audit.TemplateGivenToATeam,
	"application": audit.ApplicationGivenToATeam}

// ownerStatements read and change the owner of one kind of object, by its name.
type ownerStatements struct {
	lock func(ctx context.Context, name string) (int64, error)
	set  func(ctx context.Context, name string) error
}

func statements(q *postgresdb.Queries, kind string, team int64) ownerStatements {
	switch {
	case kind == "application":
		return ownerStatements{q.LockOwnedApplication, func(ctx context.Context, name string) error {
			p := postgresdb.SetApplicationTeamParams{Name: name}
			if team != 0 {
				p.TeamID = &team
			}
			return q.SetApplicationTeam(ctx, p)
		}}
	case kind == "plan" && team == 0:
		return ownerStatements{q.LockOwnedPlan, q.DisownPlan}
	case kind == "plan":
		return ownerStatements{q.LockOwnedPlan, func(ctx context.Context, name string) error {
			return q.OwnPlan(ctx, postgresdb.OwnPlanParams{Name: name, TeamID: team})
		}}
	case team == 0:
		return ownerStatements{q.LockOwnedTemplate, q.DisownTemplate}
	}
	return ownerStatements{q.LockOwnedTemplate, func(ctx context.Context, name string) error {
		return q.OwnTemplate(ctx, postgresdb.OwnTemplateParams{Name: name, TeamID: team})
	}}
}

func owningTeam(id int64, name string, members, managers []int64) users.OwningTeam {
	toID := func(id int64) users.ID { return users.ID(id) }
	return users.OwningTeam{ID: id, Name: name, Members: postgres.Convert(members, toID),
		Admins: postgres.Convert(managers, toID)}
}
