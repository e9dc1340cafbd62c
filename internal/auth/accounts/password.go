package accounts

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// PasswordStore stores the passwords that Iris keeps, hashed.
type PasswordStore interface {
	// Credentials returns the person with the name, and the hash of the password; "" = Iris keeps none.
	Credentials(ctx context.Context, name string) (users.User, string, error)
	// SetPassword stores a hash and ends the person's sessions.
	SetPassword(ctx context.Context, id users.ID, hash string) error
}

// Passwords lets people change the password that Iris keeps for them. It is safe for concurrent use.
type Passwords struct {
	Store  PasswordStore
	Hasher Hasher
}

// Kept reports whether Iris keeps a password for the person. If not, a directory or an identity provider does.
func (p Passwords) Kept(ctx context.Context, u users.User) (bool, error) {
	_, hash, err := p.Store.Credentials(ctx, u.Name)
	return hash != "", err
}

// Change stores a new password, and returns the person with the LoginEpoch of sessions that begin now; earlier ones
// end. Personal tokens and the second factor stay. A password that breaks the rules is an Invalid fault, a person
// without a password of Iris a Conflict fault. The caller has checked the old password.
func (p Passwords) Change(ctx context.Context, u users.User, password string) (users.User, error) {
	kept, err := p.Kept(ctx, u)
	if err != nil {
		return u, err
	}
	if !kept {
		return u, fault.New(fault.Conflict, "Iris keeps no password for you: change it where you log in")
	}
	hash, err := p.Hasher.HashNew(ctx, password)
	if err != nil {
		return u, err
	}
	if err := p.Store.SetPassword(ctx, u.ID, hash); err != nil {
		return u, err
	}
	u, _, err = p.Store.Credentials(ctx, u.Name)
	return u, err
}
