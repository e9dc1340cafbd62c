package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Teams stores teams and their members. It is safe for concurrent use.
type Teams struct{ db *postgres.DB }

// NewTeams returns the adapter over d.
func NewTeams(d *postgres.DB) *Teams { return &Teams{db: d} }

// NewTeam is a team that Create stores.
type NewTeam struct {
	Name        string
	Description string
	TimeZone    string     // "" = UTC
	ManagerID   users.ID   // 0 = none
	DirectorID  users.ID   // 0 = none
	Members     []users.ID // in the order in which they are on call until there is a calendar
}

// Create adds a team with its members. A name that exists, ignoring case, is a Conflict.
func (t *Teams) Create(ctx context.Context, n NewTeam) (oncall.Team, error) {
	name, err := postgres.CleanName(n.Name)
	if err == nil {
		err = oncall.CheckTeamName(name)
	}
	if err != nil {
		return oncall.Team{}, err
	}
	if n.TimeZone == "" {
		n.TimeZone = "UTC"
	}
	return postgres.GetInTx(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (out oncall.Team, err error) {
		row, err := q.CreateTeam(ctx, postgresdb.CreateTeamParams{
			Name: name, Description: n.Description, TimeZone: n.TimeZone, ManagerID: postgres.NullID(n.ManagerID),
			DirectorID: postgres.NullID(n.DirectorID),
		})
		if postgres.SqlState(err) == "23505" {
			return out, fault.Wrap(fault.Conflict, err, "a team named "+name+" exists already")
		}
		if err != nil {
			return out, err
		}
		for _, member := range n.Members {
			if err := q.AddTeamMember(ctx, postgresdb.AddTeamMemberParams{TeamID: row.ID, UserID: member}); err != nil {
				return out, err
			}
		}
		out = oncall.Team{
			ID: row.ID, TargetID: row.TargetID, OncallID: row.OncallID, Name: name, TimeZone: n.TimeZone, Active: true,
			ManagerID: n.ManagerID, DirectorID: n.DirectorID, Members: n.Members,
		}
		return out, auditlog.Write(ctx, q, audit.Entry{Action: audit.TeamAdded, Object: "team " + name})
	})
}

// ByName finds a team by name, ignoring case; a NotFound fault when there is none.
func (t *Teams) ByName(ctx context.Context, name string) (oncall.Team, error) {
	var out oncall.Team
	r, err := postgres.Query(ctx, t.db, (*postgresdb.Queries).TeamByName, postgres.Storable(name))
	out = oncall.Team{
		ID: r.ID, TargetID: r.TargetID, OncallID: r.OncallID, Name: r.Name, TimeZone: r.TimeZone, Active: r.Active,
		ManagerID: users.ID(r.ManagerID), DirectorID: users.ID(r.DirectorID),
	}
	for _, id := range r.Members {
		out.Members = append(out.Members, users.ID(id))
	}
	return out, err
}

// AddMember puts a person at the end of a team's order, or changes whether they administer it.
func (t *Teams) AddMember(ctx context.Context, team int64, user users.ID, admin bool) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockTeam(ctx, team); err != nil { // concurrent calls would get the same position
			return err
		}
		return q.AddTeamMember(ctx, postgresdb.AddTeamMemberParams{TeamID: team, UserID: user, Admin: admin})
	})
}
