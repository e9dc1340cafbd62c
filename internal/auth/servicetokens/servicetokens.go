// Package servicetokens has the operations of people on service tokens: administrators manage all, administrators of a
// team those of the team. The routes of /v1/service-tokens and the page of tokens call it. It does no input or output
// itself.
package servicetokens

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
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

// One names a service token.
type One struct {
	ID tokens.ID `path:"token" json:"id"`
}

// New is a service token that does not exist.
type New struct {
	tokens.New
	Team operation.Text `json:"team" required:"false" doc:"Without it the token belongs to the administrators."`
}

// Made is a new service token with its secret.
type Made struct {
	tokens.Service
	Secret string `json:"token" doc:"The secret. No later answer shows it: store it now."`
}

// Location is the address of the token.
func (m Made) Location() string { return operation.Path(Get.Path, m.ID) }

// The operations on service tokens.
var (
	List = operation.Define[operation.Paging, operation.Page[tokens.Service]](operation.Doc{Name: "service-token.list",
		Method: http.MethodGet, Path: "/v1/service-tokens", Needs: operation.Reader, Rule: operation.Themselves,
		Summary: "Service tokens, newest first; no answer has their secrets",
		Note:    "Administrators get all, other people those of the teams that they administer."})
	Create = operation.Define[New, Made](operation.Doc{Name: "service-token.create", Method: http.MethodPost,
		Path: "/v1/service-tokens", Needs: operation.Member, Rule: operation.OfTeamAdmins, Secret: true,
		Audit:   []audit.Action{audit.ServiceTokenCreated},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Create a service token of a team or of the administrators; only this answer has its secret",
		Note:    "An Idempotency-Key is refused. 409: the owner has 50 tokens, or one with this name."})
	Get = operation.Define[One, tokens.Service](operation.Doc{Name: "service-token.get", Method: http.MethodGet,
		Path: "/v1/service-tokens/{token}", Needs: operation.Reader, Rule: operation.HiddenOfTeam,
		Summary: "A service token"})
	Revoke = operation.Define[One, operation.None](operation.Doc{Name: "service-token.revoke",
		Method: http.MethodDelete, Path: "/v1/service-tokens/{token}", Needs: operation.Member,
		Rule: operation.HiddenOfTeam, Audit: []audit.Action{audit.ServiceTokenRevoked},
		Summary: "Revoke a service token", Note: "Takes effect at once."})
)

// Services are the operations. They are safe for concurrent use.
type Services struct {
	List   operation.Op[operation.Paging, operation.Page[tokens.Service]]
	Create operation.Op[New, Made]
	Get    operation.Op[One, tokens.Service]
	Revoke operation.Op[One, operation.None]
	Most   time.Duration // the longest life of a token

	store  Store
	owners Owners
	teams  Teams
}

// NewServices returns the operations. most is the longest life of a token.
func NewServices(store Store, owners Owners, teams Teams, most time.Duration) *Services {
	s := &Services{store: store, owners: owners, teams: teams, Most: most}
	s.List, s.Create, s.Get, s.Revoke = List.By(s.list), Create.By(s.create), Get.By(s.get), Revoke.By(s.revoke)
	return s
}

var errUnknown = fault.New(fault.NotFound, "there is no such token")

// Managing returns the caller with the teams that the caller administers. Callers who are no person are refused.
func (s *Services) Managing(ctx context.Context, by operation.Actor) (operation.Actor, error) {
	if err := tokens.RequirePerson(by); err != nil || by.Role == operation.Admin {
		return by, err
	}
	memberships, err := s.teams.MembershipsOf(ctx, users.ID(by.Person))
	by.Manages = nil
	for _, m := range memberships {
		if m.Admin {
			by.Manages = append(by.Manages, m.TeamID)
		}
	}
	return by, err
}

// mayManage allows creating, reading and revoking a token: administrators any, other people those of the teams that
// they administer, see Managing.
func mayManage(by operation.Actor, t tokens.Service) error {
	switch {
	case by.Role == operation.Admin || t.TeamID != 0 && slices.Contains(by.Manages, t.TeamID):
		return nil
	case t.TeamID == 0:
		return operation.ErrAdminOnly
	}
	return fault.Newf(fault.Forbidden, "Only administrators and administrators of the team %s may do this", t.Team)
}

func (s *Services) list(ctx context.Context, by operation.Actor, p operation.Paging) (out operation.Page[tokens.Service], err error) {
	if by, err = s.Managing(ctx, by); err != nil {
		return out, err
	}
	before, err := p.Before()
	if err != nil {
		return out, err
	}
	found, err := s.store.Services(ctx, by.Role == operation.Admin, by.Manages, tokens.ID(before), p.Size()+1)
	return operation.PageOf(p, found, func(one tokens.Service) tokens.ID { return one.ID }), err
}

// get refuses callers who do not manage the token as if there was none.
func (s *Services) get(ctx context.Context, by operation.Actor, one One) (tokens.Service, error) {
	by, err := s.Managing(ctx, by)
	if err != nil {
		return tokens.Service{}, err
	}
	found, err := s.store.Service(ctx, one.ID)
	if err == nil && mayManage(by, found) != nil {
		err = errUnknown
	}
	return found, fault.When(err, fault.NotFound, errUnknown)
}

func (s *Services) create(ctx context.Context, by operation.Actor, n New) (out Made, err error) {
	if by, err = s.Managing(ctx, by); err != nil {
		return out, err
	}
	c, err := n.Content(s.Most)
	if err != nil {
		return out, err
	}
	made := tokens.Service{Name: c.Name, Scopes: c.Scopes, CreatedBy: by.Name}
	if n.Team != "" {
		t, err := s.owners.ByName(ctx, string(n.Team))
		if err != nil {
			return out, fault.When(err, fault.NotFound,
				fault.Invalidf("team", "there is no active team %.100q", string(n.Team)))
		}
		made.TeamID, made.Team = t.ID, operation.Text(t.Name)
	}
	if err := mayManage(by, made); err != nil {
		return out, err
	}
	out.Secret = tokens.Make(tokens.ForService)
	_, hash, err := tokens.Hash(out.Secret)
	if err == nil {
		out.Service, err = s.store.CreateService(ctx, made, c.Life, hash)
	}
	return out, err
}

func (s *Services) revoke(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	found, err := s.get(ctx, by, one)
	if err == nil {
		err = s.store.RevokeService(ctx, found.ID, by.Name)
	}
	return none, fault.When(err, fault.NotFound, errUnknown)
}
