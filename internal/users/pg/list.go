package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// ListedUser is a person as `iris user list` shows them.
type ListedUser struct {
	Name     string
	FullName string
	Admin    bool
	Active   bool
	Contacts map[users.Mode]string
}

// List returns all people by name, inactive ones included.
func (u *Users) List(ctx context.Context) ([]ListedUser, error) {
	rows, err := postgres.Read(ctx, u.db, (*db.Queries).ListUsers)
	return postgres.Convert(rows, func(r db.ListUsersRow) ListedUser {
		return ListedUser{Name: r.Name, FullName: r.FullName, Admin: r.Admin, Active: r.Active,
			Contacts: postgres.Zip[users.Mode, string](r.Modes, r.Destinations)}
	}), err
}
