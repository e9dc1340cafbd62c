package operator

import (
	"context"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Accounts reads, adds and changes the accounts of people, for /v1.
type Accounts struct {
	*pgusers.Users
	uses *pg.Uses
}

// NewAccounts returns accounts on the database.
func NewAccounts(db *postgres.DB) Accounts {
	return Accounts{Users: pgusers.NewUsers(db), uses: pg.NewUses(db)}
}

// Add adds a person without a password. It returns a Conflict fault if the name exists.
func (a Accounts) Add(ctx context.Context, n users.NewAccount) error {
	n.Name = strings.TrimSpace(n.Name)
	if err := checkName(n.Name); err != nil {
		return err
	}
	if err := users.CheckRole(n.Admin, n.ReadOnly); err != nil {
		return err
	}
	contacts := map[users.Mode]string{}
	for mode, to := range n.Contacts {
		contacts[mode] = string(to)
	}
	_, err := a.Create(ctx, pgusers.NewUser{Name: n.Name, FullName: string(n.FullName), TimeZone: string(n.TimeZone),
		Admin: n.Admin, ReadOnly: n.ReadOnly, Contacts: contacts})
	return err
}

// Change changes an account. It returns a Conflict fault that names the uses of a person who would be switched off,
// unless force is set.
func (a Accounts) Change(ctx context.Context, u users.User, c users.AccountChange, force bool, by string) error {
	if c.Active != nil && !*c.Active && u.Active && !force {
		u, err := a.ByID(ctx, u.ID)
		if err != nil {
			return err
		}
		uses, err := a.uses.OfPerson(ctx, u)
		if err != nil {
			return err
		}
		if err := catalog.RefuseInUse("user", u.Name, uses, false); err != nil {
			return err
		}
	}
	return a.Users.Change(ctx, u.ID, c, by)
}

// checkName refuses the name of a new user that commands and addresses could not name.
func checkName(name string) error {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '/' }) {
		return fault.Invalidf("name", "user name %.100q must not contain spaces or slashes: the full name has a field of its own", name)
	}
	return nil
}
