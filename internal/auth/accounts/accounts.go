package accounts

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Policy says who must have a second factor to log in with a password. Log-ins at identity providers need none here:
// the provider asks for it.
type Policy string

// The policies.
const (
	Optional  Policy = "optional"
	Admins    Policy = "admins"
	Everybody Policy = "everybody"
)

// Requires reports whether the policy requires a second factor of the person.
func (p Policy) Requires(u users.User) bool {
	return p == Everybody || p == Admins && u.Admin
}

// The refusals.
var (
	ErrCode     = fault.New(fault.Unauthenticated, "the code is wrong, or was used already")
	ErrRequired = fault.New(fault.Forbidden,
		"the policy of this installation requires a second factor: replace it instead of removing it")
	ErrNoFactor = fault.New(fault.NotFound, "this account has no second factor")
)

// Keys encrypts secrets and hashes codes.
type Keys interface {
	Seal(plain []byte, about string) []byte
	Unseal(sealed []byte, about string) ([]byte, error)
	HashCode(code, purpose string) []byte
}

// Factor is the second factor of a person.
type Factor struct {
	Secret    []byte   // sealed
	LastStep  int64    // the newest step whose code was used; older codes are refused
	Recovery  [][]byte // hashes of the recovery codes that are left
	Failures  int      // wrong codes since the last right one
	RetryAt   time.Time
	CreatedAt time.Time
}

// Tried is what an attempt leaves behind.
type Tried struct {
	Right        bool
	LastStep     int64
	UsedRecovery []byte // hash of the recovery code that was used; nil = none
	Failures     int
	RetryAt      time.Time
}

// FactorStore stores second factors. Save and Remove write entries to the audit log; by is the author. Without a
// factor, all methods except Save return a NotFound fault.
type FactorStore interface {
	Factor(ctx context.Context, user users.ID) (Factor, error)
	// Save stores a factor and replaces one that exists.
	Save(ctx context.Context, user users.User, f Factor, by string) error
	// Try locks the factor, asks judge, and stores its answer. It may ask more than once.
	Try(ctx context.Context, user users.ID, judge func(Factor) (Tried, error)) (Tried, error)
	// SetRecovery replaces the recovery codes.
	SetRecovery(ctx context.Context, user users.User, hashes [][]byte, by string) error
	Remove(ctx context.Context, user users.User, by string) error
}
