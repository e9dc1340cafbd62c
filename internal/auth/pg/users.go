package pg

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// directorySource is the source of people whom SCIM pushes, in the table of directories.
const directorySource = "scim"

var (
	errNoUser   = fault.New(fault.NotFound, "there is no such user")
	errNameUsed = fault.New(fault.Conflict,
		"a person with this userName exists in Iris: an administrator can give the person to this connection")
)

// Users implements scim.Users.
func (s *Store) Users(ctx context.Context, c scim.Connection, f scim.Filter, w scim.Window) (out scim.List, err error) {
	id, possible := number(f, scim.ByID)
	if !possible {
		return out, nil
	}
	p := db.ScimUsersParams{ConnectionID: c.ID, ID: id, UserName: condition(f, scim.ByUserName),
		ExternalID: condition(f, scim.ByExternalID),
		Email:      condition(f, scim.ByEmail), Manager: condition(f, scim.ByManager), Skip: w.Start - 1, Most: w.Count}
	err = s.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		out = scim.List{}
		rows, err := q.ScimUsers(ctx, p)
		if err != nil {
			return err
		}
		for _, r := range rows {
			one, err := userOf(db.ScimUser{ID: r.ID, Attributes: r.Attributes, Version: r.Version,
				CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt})
			if err != nil {
				return err
			}
			out.Total, out.Resources = int(r.Total), append(out.Resources, one)
		}
		if len(rows) == 0 && (w.Count == 0 || w.Start > 1) { // the page is empty; count the whole list
			p.Skip, p.Most = 0, 1
			first, err := q.ScimUsers(ctx, p)
			if err == nil && len(first) > 0 {
				out.Total = int(first[0].Total)
			}
			return err
		}
		return nil
	})
	return out, err
}

// CreateUser implements scim.Users. A person whom the connection deleted before comes back.
func (s *Store) CreateUser(ctx context.Context, c scim.Connection, d scim.Document, p scim.Policy) (scim.Resource, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (out scim.Resource, err error) {
		gone, err := q.DeletedScimUser(ctx, db.DeletedScimUserParams{ConnectionID: c.ID,
			UserName: postgres.Storable(d.Text("userName"))})
		if err == nil {
			return change{q, c, p}.user(ctx, gone, d)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return out, err
		}
		name, err := postgres.CleanName(d.Text("userName"))
		if err == nil {
			err = users.CheckNewName(name)
		}
		if err != nil {
			return out, fault.When(err, fault.Invalid, fault.Invalidf("userName", "userName: %s", fault.Public(err)))
		}
		if _, err := q.UserByCanonicalName(ctx, db.UserByCanonicalNameParams{Name: name, CanonicalName: users.CanonicalName(name)}); !errors.Is(err, pgx.ErrNoRows) {
			if err == nil {
				err = errNameUsed
			}
			return out, err
		}
		full := d.FullName()
		contacts, _ := d.Contacts(p.Region)
		id, err := pgusers.ApplyChange(ctx, q, author(c), directory.Change{Kind: directory.Add, Name: name,
			Source: directorySource, FullName: &full, Contacts: contacts})
		if err != nil {
			return out, err
		}
		return change{q, c, p}.added(ctx, users.User{ID: id, Name: name, Active: true}, d)
	})
}

// change is a change of a connection in a transaction.
type change struct {
	q *db.Queries
	c scim.Connection
	p scim.Policy
}

// added stores the document of a new person of the connection.
func (t change) added(ctx context.Context, u users.User, d scim.Document) (out scim.Resource, err error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return out, err
	}
	row, err := t.q.AddScimUser(ctx, db.AddScimUserParams{ConnectionID: t.c.ID, UserID: u.ID,
		UserName: d.Text("userName"), ExternalID: d.Text("externalId"), Attributes: raw})
	if postgres.SqlState(err) == unique {
		return out, errNameUsed
	}
	if err != nil {
		return out, err
	}
	if !d.Active() && u.Active {
		_, err := pgusers.ApplyChange(ctx, t.q, author(t.c),
			directory.Change{Kind: directory.SwitchOff, ID: u.ID, Name: u.Name, Source: directorySource})
		if err != nil {
			return out, err
		}
	}
	if err := t.link(ctx, u, "", d); err != nil {
		return out, err
	}
	return userOf(row)
}

// SaveUser implements scim.Users.
func (s *Store) SaveUser(ctx context.Context, c scim.Connection, r scim.Resource, p scim.Policy) (scim.Resource, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (scim.Resource, error) {
		row, err := lockUser(ctx, q, c, r.ID)
		if err != nil {
			return scim.Resource{}, err
		}
		if row.Version != r.Version {
			return scim.Resource{}, fault.New(fault.Stale, "the user has changed: read it again")
		}
		return change{q, c, p}.user(ctx, row, r.Document)
	})
}

func lockUser(ctx context.Context, q *db.Queries, c scim.Connection, id string) (db.ScimUser, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return db.ScimUser{}, errNoUser
	}
	row, err := q.LockScimUser(ctx, db.LockScimUserParams{ID: n, ConnectionID: c.ID})
	if errors.Is(err, pgx.ErrNoRows) {
		err = errNoUser
	}
	return row, err
}

// user stores a new document of a person, and what follows from it for the person.
func (t change) user(ctx context.Context, row db.ScimUser, d scim.Document) (out scim.Resource, err error) {
	before, err := userOf(row)
	if err != nil {
		return out, err
	}
	found, err := t.q.UserByID(ctx, row.UserID)
	if err != nil {
		return out, err
	}
	u := pgusers.UserOf(db.UserByNameRow(found))
	if err := t.person(ctx, u, before.Document, d); err != nil {
		return out, err
	}
	if row.DeletedAt != nil { // the person comes back without the groups of before
		if err := t.leaveGroups(ctx, row.ID); err != nil {
			return out, err
		}
	}
	wasActive := before.Document.Active() && row.DeletedAt == nil
	switch {
	case wasActive && !d.Active():
		err = t.deactivate(ctx, row.ID, u)
	case !wasActive && d.Active():
		err = t.activate(ctx, row.ID, u)
	}
	if err != nil {
		return out, err
	}
	if err := t.link(ctx, u, before.Document.Text("externalId"), d); err != nil {
		return out, err
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return out, err
	}
	saved, err := t.q.SetScimUser(ctx, db.SetScimUserParams{ID: row.ID, UserName: d.Text("userName"),
		ExternalID: d.Text("externalId"), Attributes: raw})
	if postgres.SqlState(err) == unique {
		return out, errNameUsed
	}
	if err != nil {
		return out, err
	}
	return userOf(saved)
}

// person changes what the directory changed since the last document: name, full name and contacts. What a person
// changed by hand stays.
func (t change) person(ctx context.Context, u users.User, before, after scim.Document) error {
	c := directory.Change{Kind: directory.Update, ID: u.ID, Name: u.Name, Source: directorySource,
		Contacts: map[users.Mode]string{}}
	if name := after.Text("userName"); name != before.Text("userName") && before.Text("userName") == u.Name {
		c.Rename = name
	}
	if name := after.FullName(); name != "" && name != before.FullName() {
		c.FullName = &name
	}
	old, _ := before.Contacts(t.p.Region)
	now, unclear := after.Contacts(t.p.Region)
	for _, mode := range users.Modes {
		if old[mode] != now[mode] && !slices.Contains(unclear, mode) {
			c.Contacts[mode] = now[mode]
		}
	}
	if c.Rename == "" && c.FullName == nil && len(c.Contacts) == 0 {
		return nil
	}
	off, err := t.q.DirectorySwitchedOff(ctx, u.ID)
	if err != nil {
		return err
	}
	if _, err := pgusers.ApplyChange(ctx, t.q, author(t.c), c); err != nil {
		if c.Rename != "" && fault.Is(err, fault.Invalid) {
			return errNameUsed
		}
		return err
	}
	if off {
		return t.q.KeepSwitchedOff(ctx, u.ID)
	}
	return nil
}

// link links the account of a person at the provider, if the connection does that and the externalId is new. The
// account of the externalId before loses its link: it can belong to somebody else.
func (t change) link(ctx context.Context, u users.User, before string, d scim.Document) error {
	id := d.Text("externalId")
	if !t.c.LinksAccounts || t.p.Issuer == "" || id == before {
		return nil
	}
	if before != "" {
		if err := UnlinkAccount(ctx, t.q, u, t.p.Issuer, before, author(t.c)); err != nil {
			return err
		}
	}
	if id == "" {
		return nil
	}
	known, err := t.q.LinkedUser(ctx, db.LinkedUserParams{Issuer: t.p.Issuer, Subject: id})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Link(ctx, t.q, u, sso.Linked{Provider: string(t.c.Provider), Issuer: t.p.Issuer, Subject: id}, author(t.c))
	case err == nil && known.ID != u.ID:
		return fault.New(fault.Conflict, "the account with this externalId is linked to another person")
	}
	return err
}

// DeleteUser implements scim.Users.
func (s *Store) DeleteUser(ctx context.Context, c scim.Connection, id string, p scim.Policy) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		row, err := lockUser(ctx, q, c, id)
		if err != nil {
			return err
		}
		found, err := q.UserByID(ctx, row.UserID)
		if err != nil {
			return err
		}
		t, u := change{q, c, p}, pgusers.UserOf(db.UserByNameRow(found))
		if err := t.deactivate(ctx, row.ID, u); err != nil {
			return err
		}
		held, err := q.DeactivationHeld(ctx, row.ID)
		if err == nil && !held { // a held person keeps roles and teams until an administrator decides
			err = t.leaveGroups(ctx, row.ID)
		}
		if err != nil {
			return err
		}
		if err := q.HideScimUser(ctx, row.ID); err != nil {
			return err
		}
		return scimNote(ctx, q, author(c), audit.SCIMUserDeleted, "user "+u.Name,
			"the directory deleted the person; the history stays")
	})
}

// leaveGroups takes a person out of all groups, with the rights that they gave.
func (t change) leaveGroups(ctx context.Context, id int64) error {
	if err := t.q.LeaveScimGroups(ctx, id); err != nil {
		return err
	}
	return t.rights(ctx, []int64{id})
}

// Give adds a person who exists to a connection, as an administrator wants. A person of a connection is a Conflict
// fault.
func (s *Store) Give(ctx context.Context, c scim.Connection, u users.User, actor string) (scim.Resource, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (out scim.Resource, err error) {
		out, err = change{q: q, c: c}.added(ctx, users.User{ID: u.ID, Name: u.Name},
			scim.Document{"userName": u.Name, "active": u.Active})
		if errors.Is(err, errNameUsed) {
			return out, fault.Newf(fault.Conflict, "%s belongs to a SCIM connection already", u.Name)
		}
		if err != nil {
			return out, err
		}
		return out, scimNote(ctx, q, actor, audit.SCIMUserAdded, "user "+u.Name, "to SCIM connection "+c.Name)
	})
}

func userOf(r db.ScimUser) (scim.Resource, error) {
	out := scim.Resource{ID: strconv.FormatInt(r.ID, 10), Version: r.Version, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt}
	return out, json.Unmarshal(r.Attributes, &out.Document)
}

// condition returns the value of a condition; nil = there is none.
func condition(f scim.Filter, a scim.Attribute) *string {
	value, has := f[a]
	if !has {
		return nil
	}
	value = postgres.Storable(value)
	return &value
}

// number returns the value of a condition on a number. A text that is no number matches nothing: possible is then
// false.
func number(f scim.Filter, a scim.Attribute) (n *int64, possible bool) {
	value, has := f[a]
	if !has {
		return nil, true
	}
	id, err := strconv.ParseInt(value, 10, 64)
	return &id, err == nil
}
