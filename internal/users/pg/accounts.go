package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Page returns at most so many accounts, ordered by the bytes of their names.
func (u *Users) Page(ctx context.Context, by users.AccountQuery) ([]users.Account, error) {
	return u.accounts(ctx, db.PeoplePageParams{Active: by.Active, After: postgres.Storable(by.After),
		Keyword: postgres.Storable(by.Keyword), Role: by.Role,
		Team: postgres.Storable(by.Team), Without: by.Without, Most: by.Most})
}

// Account finds an account with its teams by name, ignoring case; a NotFound fault when there is none.
func (u *Users) Account(ctx context.Context, name string) (users.Account, error) {
	if name = postgres.Storable(name); name == "" {
		return users.Account{}, fault.New(fault.NotFound, "there is no such user")
	}
	found, err := postgres.First(u.accounts(ctx, db.PeoplePageParams{Name: name, Most: 1}))
	if err == nil {
		found.Teams, err = postgres.Query(ctx, u.db, (*db.Queries).TeamsOfUser, found.ID)
	}
	return found, err
}

func (u *Users) accounts(ctx context.Context, p db.PeoplePageParams) ([]users.Account, error) {
	rows, err := postgres.Query(ctx, u.db, (*db.Queries).PeoplePage, p)
	return postgres.Convert(rows, func(r db.PeoplePageRow) users.Account {
		a := users.Account{User: users.User{ID: r.ID, Name: r.Name, FullName: r.FullName, TimeZone: r.TimeZone,
			Admin: r.Admin, ReadOnly: r.ReadOnly,
			Active: r.Active}, ManagedBy: r.ManagedBy,
			Reached: postgres.Convert(r.Modes, func(m string) users.Mode { return users.Mode(m) })}
		if r.LoggedInAt.Unix() > 0 {
			a.LoggedInAt = r.LoggedInAt
		}
		return a
	}), err
}

// Reachability counts who can be reached: everybody first, then the members of each team by its name.
func (u *Users) Reachability(ctx context.Context) ([]users.Reachability, error) {
	rows, err := postgres.Read(ctx, u.db, (*db.Queries).Reachability)
	return postgres.Convert(rows, func(r db.ReachabilityRow) users.Reachability {
		return users.Reachability{Team: operation.Text(r.Team), People: r.People, WithoutPhone: r.WithoutPhone,
			WithoutContact: r.WithoutContact,
			Modes: map[users.Mode]int{users.Email: r.Email, users.SMS: r.Sms, users.Call: r.Call, users.Slack: r.Slack,
				users.Push: r.Push, users.Webhook: r.Webhook}}
	}), err
}

// Change changes an account. A change that leaves no active administrator is a Conflict fault. A full name or a state
// that a directory manages is a Conflict fault, too. Switching a person off ends their sessions.
func (u *Users) Change(ctx context.Context, id users.ID, c users.AccountChange, by string) error {
	return u.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.LockAdmins(ctx); err != nil {
			return err
		}
		row, err := q.UserByID(ctx, id)
		if err != nil {
			return err
		}
		before := UserOf(db.UserByNameRow(row))
		after, err := c.Apply(before)
		if err != nil {
			return err
		}
		if before.Admin && before.Active && !(after.Admin && after.Active) {
			if last, err := LastAdmin(ctx, q, before); err != nil || last {
				return orConflict(err, "%s is the last active administrator: make somebody else an administrator first", before.Name)
			}
		}
		if after.FullName != before.FullName || after.Active != before.Active {
			if source, err := q.ManagedBy(ctx, id); err != nil || source != "" {
				return orConflict(err, "a directory (%s) manages the name and the state of %s: change them there",
					source, before.Name)
			}
		}
		action := audit.UserChanged
		switch {
		case after.Active != before.Active && after.Active:
			action = audit.UserSwitchedOn
		case after.Active != before.Active:
			action = audit.UserSwitchedOff
		case after.Admin != before.Admin || after.ReadOnly != before.ReadOnly:
			action = audit.RoleChanged
		}
		return auditlog.Changing(ctx, q, auditlog.User(id), audit.Entry{Actor: by, Action: action}, func() error {
			return postgres.RequireRow(q.UpdateUser(ctx, db.UpdateUserParams{ID: id,
				FullName: postgres.Storable(after.FullName), TimeZone: after.TimeZone,
				Admin: after.Admin, ReadOnly: after.ReadOnly, Active: after.Active}))
		})
	})
}

// orConflict returns err, or a Conflict fault if err is nil.
func orConflict(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fault.Newf(fault.Conflict, format, args...)
}

// LastAdmin reports whether no other active person is an administrator. Until the transaction ends, no other
// administrator loses the role.
func LastAdmin(ctx context.Context, q *db.Queries, u users.User) (bool, error) {
	if err := q.LockAdmins(ctx); err != nil {
		return false, err
	}
	others, err := q.OtherAdmins(ctx, u.ID)
	return others == 0, err
}

// clockSetting is the name of the setting.
const clockSetting = "clock"

// Display returns how pages show times to a person.
func (s *Settings) Display(ctx context.Context, id users.ID) (users.Display, error) {
	return NewUsers(s.db).Shown(ctx, id)
}

// SetDisplay stores how pages show times to a person. d must have passed its Check. The photo stays.
func (s *Settings) SetDisplay(ctx context.Context, u users.User, d users.Display, by string) error {
	return s.changing(ctx, u, by, audit.TimesSet, func(ctx context.Context, q *db.Queries) error {
		if err := postgres.RequireRow(q.UpdateOncallUser(ctx, db.UpdateOncallUserParams{ID: u.ID, TimeZone: &d.TimeZone})); err != nil {
			return err
		}
		if d.Clock == "" {
			return q.RemoveUserSetting(ctx, db.RemoveUserSettingParams{UserID: u.ID, Name: clockSetting})
		}
		return q.SetUserSetting(ctx, db.SetUserSettingParams{UserID: u.ID, Name: clockSetting, Value: d.Clock})
	})
}
