package sso

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// ErrNotLinked means that the provider accepts the account, but Iris logs nobody in for it. Administrators see the
// refusal.
var ErrNotLinked = fault.New(fault.Forbidden,
	"your account at the provider is not linked to a person in Iris: ask an administrator to link it")

// ErrInactive means that the person of the account is switched off.
var ErrInactive = fault.New(fault.Forbidden, "the person of this account is switched off in Iris: ask an administrator")

// Store reads and changes what is stored about identities. Apply carries out a decision in one transaction and returns
// the person; it returns a Conflict fault if another log-in was faster. Refused records a listed refusal.
type Store interface {
	Facts(ctx context.Context, id Identity) (Facts, error)
	Apply(ctx context.Context, d Decision) (users.User, error)
	Refused(ctx context.Context, d Decision) error
}

// SignOn logs people in with identities. It is safe for concurrent use.
type SignOn struct {
	store Store
	rules map[string]Rules
	log   *zap.Logger
}

// New returns a SignOn with the rules of each provider, by name.
func New(store Store, rules map[string]Rules, log *zap.Logger) *SignOn {
	return &SignOn{store: store, rules: rules, log: log.Named("sso")}
}

// Admit returns the person who logs in with an identity that the provider has confirmed: the linked person, or a new
// one. Their rights are those of their groups. It returns ErrNotLinked or ErrInactive if it refuses. It logs no name
// and no address.
func (s *SignOn) Admit(ctx context.Context, id Identity) (users.User, error) {
	rules := s.rules[id.Provider]
	if !id.HasGroups && len(rules.Admins)+len(rules.ReadOnly)+len(rules.Teams) > 0 {
		s.log.Warn("log-in without groups: the provider sent no groups, so none of their rights apply; check the groups claim or header", zap.String("provider", id.Provider))
	}
	for try := 1; ; try++ {
		facts, err := s.store.Facts(ctx, id)
		if err != nil {
			return users.User{}, err
		}
		d := Decide(id, facts, rules)
		if d.Kind == Refuse {
			return users.User{}, s.refuse(ctx, d)
		}
		u, err := s.store.Apply(ctx, d)
		if fault.Is(err, fault.Conflict) && try < 3 {
			continue // the facts have changed
		}
		return u, err
	}
}

func (s *SignOn) refuse(ctx context.Context, d Decision) error {
	s.log.Info("log-in refused", zap.String("provider", d.Identity.Provider), zap.String("reason", d.Reason))
	if !d.Listed {
		return ErrInactive
	}
	if err := s.store.Refused(ctx, d); err != nil {
		return err
	}
	return ErrNotLinked
}

// Linked is a stored identity of a person.
type Linked struct {
	ID          int64      `json:"id"`
	Provider    string     `json:"provider"`
	Issuer      string     `json:"issuer"`
	Subject     string     `json:"subject"`
	User        string     `json:"user"`
	CreatedAt   time.Time  `json:"created_at"`
	LastLoginAt *time.Time `json:"last_login_at" doc:"null = never."`
}

// Refusal is a refused log-in that waits for an administrator.
type Refusal struct {
	ID       int64          `json:"id"`
	Provider string         `json:"provider"`
	Issuer   string         `json:"issuer"`
	Subject  string         `json:"subject"`
	Name     operation.Text `json:"name"`
	Email    operation.Text `json:"email"`
	Reason   string         `json:"reason"`
	Attempts int            `json:"attempts"`
	LastAt   time.Time      `json:"last_at"`
}

// Session is a web session that began with an identity.
type Session struct {
	Issuer, Subject string
	Sid             string // the session at the provider; "" = unknown
	IDToken         string // the provider needs it to end its session; "" = none
	// AuthTime is when the person proved to the provider who they are (auth_time). Zero = the provider does not say. It
	// is not stored here.
	AuthTime time.Time
}
