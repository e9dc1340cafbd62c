package auth

import (
	"context"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// ErrLogin says the same for an unknown name, a wrong password and a person without one.
var ErrLogin = fault.New(fault.Unauthenticated, "wrong name or password")

// Credentials finds a person by name, ignoring case, with the hash of their password ("" = none). An unknown name is a
// NotFound fault.
type Credentials interface {
	Credentials(ctx context.Context, name string) (users.User, string, error)
}

// Accounts logs people in with name and password. It is safe for concurrent use.
type Accounts struct {
	people    Credentials
	passwords *Passwords
	// anyPassword will do.
	anyPassword bool
}

// NewAccounts returns a log-in over the people.
func NewAccounts(people Credentials, passwords *Passwords) *Accounts {
	return &Accounts{people: people, passwords: passwords}
}

// Believing returns a log-in that takes any password of a person who exists. Only a server on a loopback address that was told
// to switch authentication off may use it.
func (a *Accounts) Believing() *Accounts {
	return &Accounts{people: a.people, passwords: a.passwords, anyPassword: true}
}

// Authenticate returns the active person whose name and password these are, and ErrLogin otherwise. It takes the same
// time whether or not the name exists.
func (a *Accounts) Authenticate(ctx context.Context, name, password string) (users.User, error) {
	user, hash, err := a.people.Credentials(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return users.User{}, err
	}
	if err == nil && user.Active && a.anyPassword {
		return user, nil
	}
	if err != nil || !user.Active {
		hash = ""
	}
	ok, err := a.passwords.Check(ctx, hash, password)
	if err != nil {
		return users.User{}, err
	}
	if !ok {
		return users.User{}, ErrLogin
	}
	return user, nil
}
