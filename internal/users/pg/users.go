package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Users stores people, their passwords and contacts. It is safe for concurrent use.
type Users struct{ db *postgres.DB }

// NewUsers returns the adapter over d.
func NewUsers(d *postgres.DB) *Users { return &Users{db: d} }

// NewUser is a person that Create stores.
type NewUser struct {
	Name     string
	FullName string
	TimeZone string // "" = UTC
	Admin    bool
	ReadOnly bool
	Contacts map[users.Mode]string
	// PasswordHash is a result of auth.Passwords.Hash; "" = cannot log in with a password.
	PasswordHash string
}

// Create adds a person with their contacts. A name that exists, ignoring case, is a Conflict.
func (u *Users) Create(ctx context.Context, n NewUser) (users.User, error) {
	return postgres.GetInTx(ctx, u.db, func(ctx context.Context, q *postgresdb.Queries) (users.User, error) {
		return CreateUser(ctx, q, n, true)
	})
}

// CreateUser is Create in a transaction. The contacts count as verified if that is set and nobody else has them.
func CreateUser(ctx context.Context, q *postgresdb.Queries, n NewUser, verified bool) (out users.User, err error) {
	name, err := newUserName(n.Name)
	if err != nil {
		return out, err
	}
	if n.TimeZone == "" {
		n.TimeZone = "UTC"
	}
	if _, err := time.LoadLocation(n.TimeZone); err != nil {
		return out, fault.Invalidf("time_zone", "unknown time zone %q", n.TimeZone)
	}
	row, err := q.CreateUser(ctx, postgresdb.CreateUserParams{
		Name: name, CanonicalName: users.CanonicalName(name), FullName: n.FullName, TimeZone: n.TimeZone, Admin: n.Admin, ReadOnly: n.ReadOnly,
		PasswordHash: n.PasswordHash,
	})
	if postgres.SqlState(err) == "23505" {
		return out, fault.Wrap(fault.Conflict, err, "a user named "+name+" exists already")
	}
	if err != nil {
		return out, err
	}
	out = UserOf(postgresdb.UserByNameRow(row))
	for mode, destination := range n.Contacts {
		if err := setContact(ctx, q, out.ID, mode, destination, verified); err != nil {
			return out, err
		}
	}
	return out, auditlog.Created(ctx, q, auditlog.User(out.ID), audit.Entry{Action: audit.UserCreated})
}

// ByName finds a person by name, ignoring case; a NotFound fault when there is none. Inactive people are found too.
func (u *Users) ByName(ctx context.Context, name string) (users.User, error) {
	row, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).UserByName, postgres.Storable(name))
	return UserOf(row), err
}

// ByID finds a person by internal id; a NotFound fault when there is none.
func (u *Users) ByID(ctx context.Context, id users.ID) (users.User, error) {
	row, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).UserByID, id)
	return UserOf(postgresdb.UserByNameRow(row)), err
}

// Credentials returns a person and the hash of their password ("" = none), for the log-in; a NotFound fault when there
// is no such name.
func (u *Users) Credentials(ctx context.Context, name string) (users.User, string, error) {
	r, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).UserCredentials, postgres.Storable(name))
	out := UserOf(postgresdb.UserByNameRow{
		ID: r.ID, TargetID: r.TargetID, OncallID: r.OncallID, Name: r.Name, FullName: r.FullName, TimeZone: r.TimeZone,
		Admin: r.Admin, ReadOnly: r.ReadOnly, Active: r.Active, LoginEpoch: r.LoginEpoch,
	})
	return out, r.PasswordHash, err
}

// Teammates reports whether two people belong to the same active team.
func (u *Users) Teammates(ctx context.Context, one, other users.ID) (bool, error) {
	return postgres.Query(ctx, u.db, (*postgresdb.Queries).AreTeammates,
		postgresdb.AreTeammatesParams{One: one, Other: other})
}

// SetPassword stores a result of auth.Passwords.Hash; "" deletes the password. Both end the person's sessions.
func (u *Users) SetPassword(ctx context.Context, id users.ID, hash string) error {
	p, action := postgresdb.SetPasswordParams{ID: id}, audit.PasswordRemoved
	if hash != "" {
		p.PasswordHash, action = &hash, audit.PasswordSet
	}
	return u.change(ctx, id, action, func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.SetPassword(ctx, p) })
}

// SetActive switches a person on or off; a NotFound fault when there is no such id. Switching off ends their sessions.
func (u *Users) SetActive(ctx context.Context, id users.ID, active bool) error {
	action := audit.UserSwitchedOff
	if active {
		action = audit.UserSwitchedOn
	}
	return u.change(ctx, id, action, func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
		return q.SetActive(ctx, postgresdb.SetActiveParams{ID: id, Active: active})
	})
}

// change changes the row of a person and adds an entry to the audit log.
func (u *Users) change(ctx context.Context, id users.ID, action audit.Action, set func(context.Context, *postgresdb.Queries) (int64, error)) error {
	return auditlog.Change(ctx, u.db, auditlog.User(id), audit.Entry{Action: action}, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(set(ctx, q))
	})
}

// Update stores all fields of a person except the name; a NotFound fault when there is no such id. Switching a person
// off ends their sessions.
func (u *Users) Update(ctx context.Context, user users.User) error {
	return u.change(ctx, user.ID, audit.UserChanged, func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
		return q.UpdateUser(ctx, postgresdb.UpdateUserParams{ID: user.ID, FullName: user.FullName,
			TimeZone: user.TimeZone, Admin: user.Admin,
			ReadOnly: user.ReadOnly, Active: user.Active})
	})
}

// SetContact stores the contact of a person in a mode, set by an administrator; "" removes it. It counts as verified
// unless another person has it.
func (u *Users) SetContact(ctx context.Context, id users.ID, mode users.Mode, destination string) error {
	return auditlog.Change(ctx, u.db, auditlog.User(id), audit.Entry{Action: audit.ContactSet}, func(ctx context.Context, q *postgresdb.Queries) error {
		return setContact(ctx, q, id, mode, destination, true)
	})
}

// SetMode stores the mode that a person chose for a priority.
func (u *Users) SetMode(ctx context.Context, id users.ID, priority users.Priority, mode users.Mode) error {
	return auditlog.Change(ctx, u.db, auditlog.User(id), audit.Entry{Action: audit.ModesSet}, func(ctx context.Context, q *postgresdb.Queries) error {
		return q.SetUserMode(ctx, postgresdb.SetUserModeParams{UserID: id, Priority: priority, Mode: mode})
	})
}

// Contacts returns the contacts of a person by mode.
func (u *Users) Contacts(ctx context.Context, id users.ID) (map[users.Mode]string, error) {
	out := map[users.Mode]string{}
	rows, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).Contacts, id)
	for _, r := range rows {
		out[r.Mode] = r.Destination
	}
	return out, err
}

// Shown returns the picture of a person, and how times are shown to the person.
func (u *Users) Shown(ctx context.Context, id users.ID) (users.Display, error) {
	row, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).ShownOfUser, id)
	return users.Display{PhotoURL: row.PhotoUrl, TimeZone: row.TimeZone, Clock: row.Clock}, err
}

// newUserName trims and checks the name of a user who is created or renamed.
func newUserName(name string) (string, error) {
	name, err := postgres.CleanName(name)
	if err != nil {
		return "", err
	}
	return name, users.CheckNewName(name)
}

// FillCanonicalNames computes the canonical names that are missing. conflicts are names whose canonical form another
// user has: both names stay valid, and an administrator has to rename one of the two.
func (u *Users) FillCanonicalNames(ctx context.Context) (filled int64, conflicts []string, err error) {
	err = u.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		filled, conflicts, err = FillCanonicalNames(ctx, q)
		return err
	})
	return filled, conflicts, err
}

// UserOf returns the user of a row.
func UserOf(r postgresdb.UserByNameRow) users.User { return users.User(r) }

// PriorityModes returns the default mode of every priority.
func PriorityModes(ctx context.Context, d *postgres.DB) (map[users.Priority]users.Mode, error) {
	rows, err := postgres.Read(ctx, d, (*postgresdb.Queries).PriorityModes)
	out := make(map[users.Priority]users.Mode, len(rows))
	for _, row := range rows {
		out[row.Name] = row.DefaultMode
	}
	return out, err
}
