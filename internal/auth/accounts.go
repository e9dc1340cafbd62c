package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// ErrLogin is the error for an unknown name, a wrong password and a person without a password.
var ErrLogin = fault.New(fault.Unauthenticated, "wrong name or password")

// Credentials finds a person by name, ignoring case, with the hash of their password ("" = none). An unknown name is a
// NotFound fault.
type Credentials interface {
	Credentials(ctx context.Context, name string) (users.User, string, error)
}

// ErrStranger is the error when the directory accepts the name and password, and Iris has no such person.
var ErrStranger = fault.New(fault.NotFound, "you are known to the directory, but not to Iris: ask an administrator to add you")

// ErrMixedUp is the error when the log-in name belongs to one person in the directory and to another one in Iris.
var ErrMixedUp = fault.New(fault.Forbidden, "your log-in name is somebody else's in Iris: ask an administrator to rename them")

// ErrAway is in the chain of the error of Authenticate while no directory answers.
var ErrAway = fault.New(fault.Unavailable, "the directory that knows the passwords cannot be reached; try again in a moment")

// Directory checks passwords that Iris does not keep. A wrong name or password is an Unauthenticated fault; any other error
// means that it did not answer. It must be safe for concurrent use.
type Directory interface {
	Check(ctx context.Context, name, password string) (directory.Entry, error)
}

// Newcomers stores the directory's data of a person who logs in: as a new person, or as an update. ErrMixedUp: the name belongs
// to another person.
type Newcomers interface {
	Arrive(ctx context.Context, e directory.Entry) error
}

// Accounts logs people in with name and password. It is safe for concurrent use.
type Accounts struct {
	people    Credentials
	passwords *Passwords
	directory Directory // nil = every password is kept here
	newcomers Newcomers // nil = only who is here already logs in
	// anyPassword will do.
	anyPassword bool
}

// NewAccounts returns a log-in over the people.
func NewAccounts(people Credentials, passwords *Passwords) *Accounts {
	return &Accounts{people: people, passwords: passwords}
}

// Believing returns a log-in that accepts any password of an existing person. Only servers on loopback addresses with
// authentication switched off may use it.
func (a *Accounts) Believing() *Accounts {
	return &Accounts{people: a.people, passwords: a.passwords, directory: a.directory, newcomers: a.newcomers, anyPassword: true}
}

// WithDirectory returns a log-in that asks d about passwords that Iris itself does not accept. newcomers, unless nil, stores
// the people whom d accepts.
func (a *Accounts) WithDirectory(d Directory, newcomers Newcomers) *Accounts {
	return &Accounts{people: a.people, passwords: a.passwords, anyPassword: a.anyPassword, directory: d, newcomers: newcomers}
}

// Authenticate returns the active person whose name and password these are, and ErrLogin otherwise. It takes the same
// time whether or not the name exists: the directory is asked about every name. A password that is kept here comes first, so
// that it works while the directory is away and the directory never sees it.
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
	return a.ask(ctx, name, password)
}

// ask leaves the decision to the directory. Who somebody is, is decided by the directory's spelling of the name: its idea of
// which names are the same is not ours.
func (a *Accounts) ask(ctx context.Context, name, password string) (users.User, error) {
	e, err := a.directory.Check(ctx, name, password)
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return users.User{}, ErrLogin
	case err != nil:
		return users.User{}, &fault.Error{Kind: ErrAway.Kind, Message: ErrAway.Message, RetryAfter: ErrAway.RetryAfter, Err: errors.Join(ErrAway, err)}
	}
	if a.newcomers != nil {
		if err := a.newcomers.Arrive(ctx, e); err != nil {
			return users.User{}, err
		}
	}
	user, _, err := a.people.Credentials(ctx, strings.TrimSpace(e.Name))
	switch {
	case fault.Is(err, fault.NotFound):
		return users.User{}, ErrStranger
	case err != nil:
		return users.User{}, err
	case !user.Active:
		return users.User{}, ErrLogin
	}
	return user, nil
}
