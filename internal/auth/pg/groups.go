package pg

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

var (
	errNoGroup    = fault.New(fault.NotFound, "there is no such group")
	errGroupNamed = fault.New(fault.Conflict, "there is a group with this displayName")
)

// Groups implements scim.Groups.
func (s *Store) Groups(ctx context.Context, c scim.Connection, f scim.Filter, w scim.Window) (out scim.List, err error) {
	id, possible := number(f, scim.ByID)
	member, known := number(f, scim.ByMember)
	if !possible || !known {
		return out, nil
	}
	p := db.ScimGroupsParams{ConnectionID: c.ID, ID: id, Name: condition(f, scim.ByName),
		ExternalID: condition(f, scim.ByExternalID), Member: member,
		Members: !w.WithoutMembers, Skip: w.Start - 1, Most: w.Count}
	err = s.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		out = scim.List{}
		rows, err := q.ScimGroups(ctx, p)
		if err != nil {
			return err
		}
		for _, r := range rows {
			one := groupOf(db.ScimGroup{ID: r.ID, Name: r.Name, ExternalID: r.ExternalID, Version: r.Version,
				CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt})
			if !w.WithoutMembers {
				one.Document = one.Document.WithMembers(texts(r.Members))
			}
			out.Total, out.Resources = int(r.Total), append(out.Resources, one)
		}
		if len(rows) == 0 && (w.Count == 0 || w.Start > 1) { // the page is empty; count the whole list
			p.Skip, p.Most, p.Members = 0, 1, false
			first, err := q.ScimGroups(ctx, p)
			if err == nil && len(first) > 0 {
				out.Total = int(first[0].Total)
			}
			return err
		}
		return nil
	})
	return out, err
}

// CreateGroup implements scim.Groups. Members who are no people of the connection are left out.
func (s *Store) CreateGroup(ctx context.Context, c scim.Connection, d scim.Document, p scim.Policy) (scim.Resource, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (out scim.Resource, err error) {
		row, err := q.AddScimGroup(ctx, db.AddScimGroupParams{ConnectionID: c.ID, Name: d.Text("displayName"),
			ExternalID: d.Text("externalId")})
		if postgres.SqlState(err) == unique {
			return out, errGroupNamed
		}
		if err != nil {
			return out, err
		}
		return change{q, c, p}.members(ctx, row, d, false)
	})
}

// SaveGroup implements scim.Groups.
func (s *Store) SaveGroup(ctx context.Context, c scim.Connection, r scim.Resource, p scim.Policy) (scim.Resource, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (out scim.Resource, err error) {
		row, err := lockGroup(ctx, q, c, r.ID)
		if err != nil {
			return out, err
		}
		if row.Version != r.Version {
			return out, fault.New(fault.Stale, "the group has changed: read it again")
		}
		renamed := row.Name != r.Document.Text("displayName")
		row, err = q.SetScimGroup(ctx, db.SetScimGroupParams{ID: row.ID, Name: r.Document.Text("displayName"),
			ExternalID: r.Document.Text("externalId")})
		if postgres.SqlState(err) == unique {
			return out, errGroupNamed
		}
		if err != nil {
			return out, err
		}
		return change{q, c, p}.members(ctx, row, r.Document, renamed)
	})
}

func lockGroup(ctx context.Context, q *db.Queries, c scim.Connection, id string) (db.ScimGroup, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return db.ScimGroup{}, errNoGroup
	}
	row, err := q.LockScimGroup(ctx, db.LockScimGroupParams{ID: n, ConnectionID: c.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		err = errNoGroup
	}
	return row, err
}

// members gives a group the members of the document. If the group was renamed, the rights of all members follow the new
// name.
func (t change) members(ctx context.Context, row db.ScimGroup, d scim.Document, renamed bool) (out scim.Resource, err error) {
	had, err := t.q.ScimMembers(ctx, row.ID)
	if err != nil {
		return out, err
	}
	wanted := numbers(d.Members())
	joined, gone := without(wanted, had), without(had, wanted)
	if err := t.q.JoinScimGroup(ctx, db.JoinScimGroupParams{GroupID: row.ID, ConnectionID: t.c.ID, Ids: postgres.NonNil(joined)}); err != nil {
		return out, err
	}
	if err := t.q.LeaveScimGroup(ctx, db.LeaveScimGroupParams{GroupID: row.ID, Ids: postgres.NonNil(gone)}); err != nil {
		return out, err
	}
	affected := append(joined, gone...)
	if renamed {
		affected = append(affected, had...)
	}
	if err := t.rights(ctx, affected); err != nil {
		return out, err
	}
	now, err := t.q.ScimMembers(ctx, row.ID)
	if err != nil {
		return out, err
	}
	slices.Sort(now)
	out = groupOf(row)
	out.Document = out.Document.WithMembers(texts(now))
	return out, nil
}

// DeleteGroup implements scim.Groups.
func (s *Store) DeleteGroup(ctx context.Context, c scim.Connection, id string, p scim.Policy) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, err := lockGroup(ctx, q, c, id)
		if err != nil {
			return err
		}
		had, err := q.ScimMembers(ctx, row.ID)
		if err != nil {
			return err
		}
		if err := q.DeleteScimGroup(ctx, row.ID); err != nil {
			return err
		}
		return change{q, c, p}.rights(ctx, had)
	})
}

// rights makes the roles and memberships of people those that their groups give.
func (t change) rights(ctx context.Context, ids []int64) error {
	if t.c.Provider == "" || len(ids) == 0 {
		return nil
	}
	rows, err := t.q.ScimRights(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range rows {
		u := users.User{ID: r.UserID, Name: r.Name, Admin: r.Admin, ReadOnly: r.ReadOnly, Active: r.Active}
		rights := sso.GroupRights(u, sso.Role(r.GrantedRole), r.Groups, t.p.Rules)
		if err := ApplyRights(ctx, t.q, u, rights, source(t.c), author(t.c)); err != nil {
			return err
		}
		if err := t.q.SetScimRole(ctx, db.SetScimRoleParams{ID: r.ID, GrantedRole: string(rights.Granted)}); err != nil {
			return err
		}
	}
	return nil
}

func groupOf(r db.ScimGroup) scim.Resource {
	d := scim.Document{"displayName": r.Name}
	if r.ExternalID != "" {
		d["externalId"] = r.ExternalID
	}
	return scim.Resource{ID: strconv.FormatInt(r.ID, 10), Document: d, Version: r.Version, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt}
}

// without returns the numbers that are not among others.
func without(ids, others []int64) []int64 {
	drop := make(map[int64]bool, len(others))
	for _, id := range others {
		drop[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return drop[id] })
}

func texts(ids []int64) []string {
	return postgres.Convert(ids, func(id int64) string { return strconv.FormatInt(id, 10) })
}

// numbers returns the ids that are numbers.
func numbers(ids []string) []int64 {
	out := make([]int64, 0, len(ids))
	for _, id := range ids {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}
