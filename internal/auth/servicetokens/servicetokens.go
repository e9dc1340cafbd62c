// Package servicetokens has the operations of people on service tokens: administrators manage all, administrators of a
// team those of the team. The routes of /v1/service-tokens and the page of tokens call it. It does no input or output
// itself.
package servicetokens

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Store stores service tokens. An unknown number is a NotFound fault.
type Store interface {
	// Services returns at most so many tokens, newest first, with a smaller number than before. everybody = of every
	// owner.
	Services(ctx context.Context, everybody bool, teams []int64, before tokens.ID, most int) ([]tokens.Service, error)
	Service(ctx context.Context, id tokens.ID) (tokens.Service, error)
	// CreateService stores a token. If its owner has too many, or one with the same name, it returns a Conflict fault.
	CreateService(ctx context.Context, s tokens.Service, life time.Duration, hash []byte) (tokens.Service, error)
	RevokeService(ctx context.Context, id tokens.ID, actor string) error
}

// Owners finds active teams. A team that does not exist is a NotFound fault.
type Owners interface {
	ByName(ctx context.Context, name string) (users.OwningTeam, error)
}

// Teams finds the memberships of people.
type Teams interface {
	MembershipsOf(ctx context.Context, id users.ID) ([]users.Membership, error)
}

// Services are the operations of people. They are safe for concurrent use.
type Services struct {
	Store  Store
	Owners Owners
	Teams  Teams
	Most   time.Duration // the longest life of a token
}

var errUnknown = fault.New(fault.NotFound, "there is no such token")

// Managing returns the caller with the teams that the caller administers. Callers who are no person are refused.
func (s Services) Managing(ctx context.Context, actor auth.Actor) (auth.Actor, error) {
	if err := actor.MayHoldTokens(); err != nil || actor.MayAdminister() == nil {
		return actor, err
	}
	memberships, err := s.Teams.MembershipsOf(ctx, actor.UserID)
	actor.TeamAdminOf = nil
	for _, m := range memberships {
		if m.Admin {
			actor.TeamAdminOf = append(actor.TeamAdminOf, m.TeamID)
		}
	}
	return actor, err
}

// Page returns at most so many tokens that the caller manages, newest first, with a smaller number than before; 0 =
// from the newest.
func (s Services) Page(ctx context.Context, actor auth.Actor, before tokens.ID, most int) ([]tokens.Service, error) {
	actor, err := s.Managing(ctx, actor)
	if err != nil {
		return nil, err
	}
	return s.Store.Services(ctx, actor.MayAdminister() == nil, actor.TeamAdminOf, before, most)
}

// ByID returns a token. Callers who do not manage it get the refusal for unknown tokens.
func (s Services) ByID(ctx context.Context, actor auth.Actor, id tokens.ID) (tokens.Service, error) {
	actor, err := s.Managing(ctx, actor)
	if err != nil {
		return tokens.Service{}, err
	}
	found, err := s.Store.Service(ctx, id)
	if err == nil && actor.MayManageServiceToken(found) != nil {
		err = errUnknown
	}
	return found, fault.When(err, fault.NotFound, errUnknown)
}

// Create stores a token of a team, "" = of the administrators. It returns the token and its secret, which no other call
// returns.
func (s Services) Create(ctx context.Context, actor auth.Actor, team string, c tokens.Content) (made tokens.Service, secret string, err error) {
	if actor, err = s.Managing(ctx, actor); err != nil {
		return made, "", err
	}
	if err := c.Check(s.Most); err != nil {
		return made, "", err
	}
	n := tokens.Service{Name: c.Name, Scopes: c.Scopes, CreatedBy: actor.String()}
	if team != "" {
		t, err := s.Owners.ByName(ctx, team)
		if err != nil {
			return made, "", fault.When(err, fault.NotFound,
				fault.Invalidf("team", "there is no active team %.100q", team))
		}
		n.TeamID, n.Team = t.ID, t.Name
	}
	if err := actor.MayManageServiceToken(n); err != nil {
		return made, "", err
	}
	secret = tokens.Make(tokens.ForService)
	_, hash, err := tokens.Hash(secret)
	if err != nil {
		return made, "", err
	}
	made, err = s.Store.CreateService(ctx, n, c.Life, hash)
	return made, secret, err
}

// Revoke ends a token. It is in force at once.
func (s Services) Revoke(ctx context.Context, actor auth.Actor, id tokens.ID) error {
	found, err := s.ByID(ctx, actor, id)
	if err == nil {
		err = s.Store.RevokeService(ctx, found.ID, actor.String())
	}
	return fault.When(err, fault.NotFound, errUnknown)
}
