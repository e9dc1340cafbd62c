package people

import (
	"context"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
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
	var out []ListedUser
	rows, err := postgres.Read(ctx, u.db, (*db.Queries).ListUsers)
	out = make([]ListedUser, 0, len(rows))
	for _, r := range rows {
		l := ListedUser{Name: r.Name, FullName: r.FullName, Admin: r.Admin, Active: r.Active, Contacts: map[users.Mode]string{}}
		for i, mode := range r.Modes {
			l.Contacts[users.Mode(mode)] = r.Destinations[i]
		}
		out = append(out, l)
	}
	return out, err
}
