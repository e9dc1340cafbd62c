package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
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

// Create adds a roster with members; a Conflict fault when the team has one of that name.
func (r *Rosters) Create(ctx context.Context, team oncall.Profile, name string, members []oncall.RosterMember, by oncall.By) (int64, error) {
	return postgres.GetInTx(ctx, r.teams.db, func(ctx context.Context, q *db.Queries) (id int64, err error) {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return id, err
		}
		if id, err = q.CreateRoster(ctx, db.CreateRosterParams{TeamID: team.ID, Name: name}); err != nil {
			return id, err
		}
		err = auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_created",
			map[string]any{"roster_id": id, "request_body": by.Body})
		for i := 0; err == nil && i < len(members); i++ {
			err = r.add(ctx, q, team, oncall.Roster{ID: id, Name: name}, members[i], asked(by, members[i]))
		}
		return id, err
	})
}

// change renames a roster and stores the order of its members, in a transaction that has locked the team. A nil order
// changes nothing.
func change(ctx context.Context, q *db.Queries, team oncall.Profile, old oncall.Roster, name string, order []users.ID, by oncall.By) error {
	if order != nil {
		if err := q.OrderRoster(ctx, db.OrderRosterParams{RosterID: old.ID, UserIds: postgres.Numbers(order)}); err != nil {
			return err
		}
		if err := teamChanged(ctx, q, by, audit.RosterOrderChanged, team, "roster "+old.Name); err != nil {
			return err
		}
	}
	if name == old.Name {
		return nil
	}
	if err := postgres.RequireRow(q.RenameRoster(ctx, db.RenameRosterParams{ID: old.ID, Name: name})); err != nil {
		return err
	}
	return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_edited",
		map[string]any{"old_name": old.Name, "new_name": name})
}

// Replace locks the team and gives a roster another name and other members. It writes an entry of the audit log for
// each part that changes. It returns a NotFound fault if the team has no such roster, etag.ErrStale if the roster is in
// none of the states that may be changed, and a Conflict fault for a name that another one has.
func (r *Rosters) Replace(ctx context.Context, team oncall.Profile, id int64, e oncall.RosterEdit, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		all, err := rostersOf(ctx, q, team.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(one oncall.Roster) bool { return one.ID == id })
		if i < 0 {
			return fault.New(fault.NotFound, "not found")
		}
		old := all[i]
		if err := etag.Match(e.IfMatch, old.Tag()); err != nil {
			return err
		}
		left, err := r.replaceMembers(ctx, q, team, old, e.Members, by)
		if err != nil {
			return err
		}
		order := postgres.Convert(e.Members, func(m oncall.RosterMember) users.ID { return m.User })
		if slices.Equal(left, order) {
			order = nil
		}
		return change(ctx, q, team, old, e.Name, order, by)
	})
}

// replaceMembers removes, changes and adds members. It returns them in the order in which they are then.
func (r *Rosters) replaceMembers(ctx context.Context, q *db.Queries, team oncall.Profile, old oncall.Roster,
	members []oncall.RosterMember, by oncall.By,
) (left []users.ID, err error) {
	wanted := map[users.ID]oncall.RosterMember{}
	for _, m := range members {
		wanted[m.User] = m
	}
	for _, m := range old.Members {
		now, stays := wanted[m.User]
		switch {
		case !stays:
			err = r.remove(ctx, q, team, old, m, by)
		case now.InRotation != m.InRotation:
			err = setInRotation(ctx, q, team, old, now, asked(by, now))
		}
		if err != nil {
			return left, err
		}
		if stays {
			left = append(left, m.User)
		}
		delete(wanted, m.User)
	}
	for _, m := range members {
		if _, added := wanted[m.User]; added {
			if err := r.add(ctx, q, team, old, m, asked(by, m)); err != nil {
				return left, err
			}
			left = append(left, m.User)
		}
	}
	return left, nil
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

// asked leaves what concerns one member of the body of a request about a whole roster.
func asked(by oncall.By, m oncall.RosterMember) oncall.By {
	by.Body = fmt.Appendf(nil, `{"in_rotation":%t}`, m.InRotation)
	return by
}

// SetMember puts a person at the end of a roster and of the orders of its schedules, and makes them a member of the
// team. If they are in the roster, it changes whether they are in the rotation.
func (r *Rosters) SetMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, m oncall.RosterMember, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		err := r.add(ctx, q, team, roster, m, by)
		if fault.Is(err, fault.Conflict) {
			err = setInRotation(ctx, q, team, roster, m, by)
		}
		return err
	})
}

// add adds a member in a transaction that has locked the team.
func (r *Rosters) add(ctx context.Context, q *db.Queries, team oncall.Profile, roster oncall.Roster, m oncall.RosterMember, by oncall.By) error {
	n, err := q.AddRosterMember(ctx, db.AddRosterMemberParams{RosterID: roster.ID, UserID: m.User, InRotation: m.InRotation})
	if err := postgres.RequireNew(n, err); err != nil {
		return err
	}
	if err := q.AppendToOrders(ctx, db.AppendToOrdersParams{RosterID: roster.ID, UserID: m.User}); err != nil {
		return err
	}
	if _, err := q.JoinTeam(ctx, db.JoinTeamParams{TeamID: team.ID, UserID: m.User}); err != nil {
		return err
	}
	if err := r.teams.subscribe(ctx, q, team.ID, m.User); err != nil {
		return err
	}
	return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_added",
		map[string]any{"roster": roster.Name, "user": m.Name, "request_body": by.Body})
}

func setInRotation(ctx context.Context, q *db.Queries, team oncall.Profile, roster oncall.Roster, m oncall.RosterMember, by oncall.By) error {
	n, err := q.SetInRotation(ctx, db.SetInRotationParams{RosterID: roster.ID, UserID: m.User, InRotation: m.InRotation})
	if err != nil || n == 0 {
		return err
	}
	return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_edited",
		map[string]any{"user": m.Name, "roster": roster.Name, "request_body": by.Body})
}

// RemoveMember removes a person from a roster and from the orders of its schedules; a NotFound fault if they are not in
// it. A person who is in no other roster of the team and does not administer it leaves the team.
func (r *Rosters) RemoveMember(ctx context.Context, team oncall.Profile, roster oncall.Roster, user oncall.Person, by oncall.By) error {
	return r.teams.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if _, err := q.LockTeam(ctx, team.ID); err != nil {
			return err
		}
		return r.remove(ctx, q, team, roster, oncall.RosterMember{User: user.ID, Name: user.Name}, by)
	})
}

// remove removes a member in a transaction that has locked the team.
func (r *Rosters) remove(ctx context.Context, q *db.Queries, team oncall.Profile, roster oncall.Roster, m oncall.RosterMember, by oncall.By) error {
	err := postgres.RequireRow(q.RemoveRosterMember(ctx, db.RemoveRosterMemberParams{RosterID: roster.ID, UserID: m.User}))
	if err != nil {
		return err
	}
	if err := q.RemoveFromOrders(ctx, db.RemoveFromOrdersParams{RosterID: roster.ID, UserID: m.User}); err != nil {
		return err
	}
	if err := leaveIfNothing(ctx, q, team.ID, int64(m.User)); err != nil {
		return err
	}
	return auditlog.WriteOncall(ctx, q, by.Owner, team.Name, "roster_user_deleted",
		map[string]any{"roster": roster.Name, "user": m.Name})
}
