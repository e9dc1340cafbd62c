package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Rosters stores rosters. Every change is one transaction with its entry in the audit log (that of a new order is in
// the log of the installation), and keeps the rule that members of a roster belong to its team. It is safe for
// concurrent use.
type Rosters struct{ teams *OncallTeams }

// NewRosters returns the adapter. People who are added to a roster join its team and get the default notice settings of
// t.
func NewRosters(t *OncallTeams) *Rosters { return &Rosters{teams: t} }

// ByTeam returns a team's rosters with their members.
func (r *Rosters) ByTeam(ctx context.Context, team int64) ([]oncall.Roster, error) {
	return postgres.Get(ctx, r.teams.db, func(ctx context.Context, q *db.Queries) ([]oncall.Roster, error) {
		return rostersOf(ctx, q, team)
	})
}

func rostersOf(ctx context.Context, q *db.Queries, team int64) ([]oncall.Roster, error) {
	rows, err := q.TeamRosters(ctx, team)
	if err != nil {
		return nil, err
	}
	out, ids, place := make([]oncall.Roster, len(rows)), make([]int64, len(rows)), map[int64]int{}
	for i, row := range rows {
		out[i] = oncall.Roster{ID: row.ID, Name: row.Name}
		ids[i], place[row.ID] = row.ID, i
	}
	people, err := q.RosterPeople(ctx, ids)
	for _, p := range people {
		at := &out[place[p.RosterID]]
		at.Members = append(at.Members, oncall.RosterMember{
			User: p.UserID, Name: p.Name, Active: p.Active, InRotation: p.InRotation, Priority: p.Priority,
		})
	}
	return out, err
}

// Create adds a roster; a Conflict fault when the team has one of that name.
func (r *Rosters) Create(ctx context.Context, team oncall.Profile, name string, by oncall.By) (int64, error) {
	return postgres.GetInTx(ctx, r.teams.db, func(ctx context.Context, q *db.Queries) (id int64, err error) {
		if id, err = q.CreateRoster(ctx, db.CreateRosterParams{TeamID: team.ID, Name: name}); err != nil {
			return id, err
		}
		return id, auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_created",
			map[string]any{"roster_id": id, "request_body": by.Body})
	})
}

// Change renames a roster and stores the order of its members. An empty name and a nil order change nothing. The caller
// has checked that order names each member once.
func (r *Rosters) Change(ctx context.Context, team oncall.Profile, old oncall.Roster, name string, order []users.ID, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if order != nil {
			if err := q.OrderRoster(ctx, db.OrderRosterParams{RosterID: old.ID, UserIds: postgres.Numbers(order)}); err != nil {
				return err
			}
			if err := teamChanged(ctx, q, by, audit.RosterOrderChanged, team, "roster "+old.Name); err != nil {
				return err
			}
		}
		if name == "" || name == old.Name {
			return nil
		}
		if err := postgres.RequireRow(q.RenameRoster(ctx, db.RenameRosterParams{ID: old.ID, Name: name})); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_edited",
			map[string]any{"old_name": old.Name, "new_name": name})
	})
}

// Delete removes a roster with its schedules. Members who are in no other roster of the team and do not administer it
// leave the team.
func (r *Rosters) Delete(ctx context.Context, team oncall.Profile, roster oncall.Roster, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		people, err := q.RosterPeople(ctx, []int64{roster.ID})
		if err != nil {
			return err
		}
		if err := postgres.RequireRow(q.DeleteRoster(ctx, roster.ID)); err != nil {
			return err
		}
		ids := postgres.Convert(people, func(p db.RosterPeopleRow) int64 { return int64(p.UserID) })
		if err := leaveIfNothing(ctx, q, team.ID, ids...); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_deleted", map[string]any{"name": roster.Name})
	})
}

// AddMember puts a person at the end of a roster and of the orders of its schedules, and makes them a member of the
// team; a Conflict fault when they are in the roster.
func (r *Rosters) AddMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, inRotation bool, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		n, err := q.AddRosterMember(ctx, db.AddRosterMemberParams{RosterID: roster.ID, UserID: user.ID,
			InRotation: inRotation})
		if err := postgres.RequireNew(n, err); err != nil {
			return err
		}
		if err := q.AppendToOrders(ctx, db.AppendToOrdersParams{RosterID: roster.ID, UserID: user.ID}); err != nil {
			return err
		}
		if _, err := q.JoinTeam(ctx, db.JoinTeamParams{TeamID: team.ID, UserID: user.ID}); err != nil {
			return err
		}
		if err := r.teams.subscribe(ctx, q, team.ID, user.ID); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_added",
			map[string]any{"roster": roster.Name, "user": user.Name, "request_body": by.Body})
	})
}

// SetInRotation adds a person to the rotation or removes them; it does nothing for people who are not in the roster.
func (r *Rosters) SetInRotation(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, in bool, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		n, err := q.SetInRotation(ctx, db.SetInRotationParams{RosterID: roster.ID, UserID: user.ID, InRotation: in})
		if err != nil || n == 0 {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_edited",
			map[string]any{"user": user.Name, "roster": roster.Name, "request_body": by.Body})
	})
}

// RemoveMember removes a person from a roster and from the orders of its schedules. A person who is in no other roster
// of the team and does not administer it leaves the team.
func (r *Rosters) RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		n, err := q.RemoveRosterMember(ctx, db.RemoveRosterMemberParams{RosterID: roster.ID, UserID: user.ID})
		if err != nil || n == 0 {
			return err
		}
		if err := q.RemoveFromOrders(ctx, db.RemoveFromOrdersParams{RosterID: roster.ID, UserID: user.ID}); err != nil {
			return err
		}
		if err := leaveIfNothing(ctx, q, team.ID, int64(user.ID)); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_deleted",
			map[string]any{"roster": roster.Name, "user": user.Name})
	})
}
