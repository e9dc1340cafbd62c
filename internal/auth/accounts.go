package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	usersdirectory "github.com/iris-oncall/iris/internal/users/directory"
)

// ErrLogin means an unknown name, a wrong password, or a person who is inactive or has no password.
var ErrLogin = fault.New(fault.Unauthenticated, "wrong name or password")

// Credentials finds a person by name, ignoring case, with the hash of the person's password; "" = no password. For an
// unknown name it returns a NotFound fault.
type Credentials interface {
	Credentials(ctx context.Context, name string) (users.User, string, error)
}

// ErrUnknownPerson means that the directory accepts the name and password, but Iris has no such person.
var ErrUnknownPerson = fault.New(fault.NotFound,
	"you are known to the directory, but not to Iris: ask an administrator to add you")

// ErrNameConflict means that the log-in name belongs to one person in the directory and to another person in Iris.
var ErrNameConflict = fault.New(fault.Forbidden,
	"your log-in name belongs to another person in Iris: ask an administrator to rename that person")

// ErrDirectoryUnavailable is in the chain of the error of Authenticate if no directory server answers.
var ErrDirectoryUnavailable = fault.New(fault.Unavailable,
	"the directory that checks passwords cannot be reached; try again in a moment")

// Directory checks passwords that Iris does not keep. For a wrong name or password it returns an Unauthenticated fault.
// Any other error means that it did not answer. It must be safe for concurrent use.
type Directory interface {
	Check(ctx context.Context, name, password string) (usersdirectory.Entry, error)
}

// Entries stores the directory's entry of a person who logs in: as a new person, or as an update. It returns
// ErrNameConflict if the name belongs to another person.
type Entries interface {
	Store(ctx context.Context, e usersdirectory.Entry) error
}

// Accounts logs people in with name and password. It is safe for concurrent use.
type Accounts struct {
	people    Credentials
	passwords *Passwords
	directory Directory // nil = Iris keeps all passwords
	entries   Entries   // nil = entries are not stored
	// anyPassword: every password of an active person is accepted.
	anyPassword bool
}

// NewAccounts returns a log-in with the passwords that Iris keeps.
func NewAccounts(people Credentials, passwords *Passwords) *Accounts {
	return &Accounts{people: people, passwords: passwords}
}

// WithAnyPassword returns a log-in that accepts any password of an active person. Only servers on loopback addresses
// with authentication switched off may use it.
func (a *Accounts) WithAnyPassword() *Accounts {
	changed := *a
	changed.anyPassword = true
	return &changed
}

// WithDirectory returns a log-in that asks d about passwords that Iris itself does not accept. entries, unless nil,
// stores the entries of the people whom d accepts.
func (a *Accounts) WithDirectory(d Directory, entries Entries) *Accounts {
	changed := *a
	changed.directory, changed.entries = d, entries
	return &changed
}

// Authenticate returns the active person with the name and password. Other errors than ErrLogin are the Err values
// above, ErrBusy and those of storage. It checks the password that Iris keeps first, so that local log-ins work without
// the directory, and the directory does not get local passwords. It treats unknown and known names alike, so that its
// time does not reveal whether a name exists.
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
	switch {
	case err != nil:
		return users.User{}, err
	case ok:
		return user, nil
	case a.directory == nil || password == "" || len(password) > maxPassword:
		return users.User{}, ErrLogin
	}
	return a.authenticateWithDirectory(ctx, name, password)
}

// authenticateWithDirectory asks the directory. It then finds the person by the directory's spelling of the name,
// because directories compare names in another way than Iris.
func (a *Accounts) authenticateWithDirectory(ctx context.Context, name, password string) (users.User, error) {
	e, err := a.directory.Check(ctx, name, password)
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return users.User{}, ErrLogin
	case err != nil:
		return users.User{}, &fault.Error{Kind: ErrDirectoryUnavailable.Kind, Message: ErrDirectoryUnavailable.Message,
			RetryAfter: ErrDirectoryUnavailable.RetryAfter, Err: errors.Join(ErrDirectoryUnavailable, err)}
	}
	if a.entries != nil {
		if err := a.entries.Store(ctx, e); err != nil {
			return users.User{}, err
		}
	}
	user, _, err := a.people.Credentials(ctx, strings.TrimSpace(e.Name))
	switch {
	case fault.Is(err, fault.NotFound):
		return users.User{}, ErrUnknownPerson
	case err != nil:
		return users.User{}, err
	case !user.Active:
		return users.User{}, ErrLogin
	}
	return user, nil
}
