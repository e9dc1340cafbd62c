package tokens

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/api/page"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/tokens"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Services stores service tokens.
type Services interface {
	// Services returns at most so many tokens, newest first, with a smaller number than before. everybody = of every owner.
	Services(ctx context.Context, everybody bool, teams []int64, before tokens.ID, most int) ([]tokens.Service, error)
	Service(ctx context.Context, id tokens.ID) (tokens.Service, error)
	CreateService(ctx context.Context, s tokens.Service, life time.Duration, hash []byte) (tokens.Service, error)
	RevokeService(ctx context.Context, id tokens.ID, actor string) error
}

// Teams finds teams and the memberships of people.
type Teams interface {
	ByName(ctx context.Context, name string) (oncall.Profile, error)
	MembershipsOf(ctx context.Context, id users.ID) ([]oncall.Membership, error)
}

// services are the routes about service tokens. Only people manage service tokens: administrators all, administrators of a team those of the
// team.
func (a routes) services() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/service-tokens", routing.Someone, a.listServices),
		routing.Post("/v1/service-tokens", routing.Write, a.createService),
		routing.Get("/v1/service-tokens/{token}", routing.Someone, a.oneService),
		routing.Delete("/v1/service-tokens/{token}", routing.Write, a.revokeService),
	}
}

// service is a service token on the wire.
type service struct {
	ID         int64         `json:"id"`
	Team       *string       `json:"team"` // null = it belongs to the administrators
	Name       string        `json:"name"`
	Scopes     tokens.Scopes `json:"scopes"`
	CreatedBy  string        `json:"created_by"`
	CreatedAt  *string       `json:"created_at"`
	ExpiresAt  *string       `json:"expires_at"`
	LastUsedAt *string       `json:"last_used_at"`
	Token      string        `json:"token,omitempty"`
}

func showService(s tokens.Service) any { return shownService(s, "") }

func shownService(s tokens.Service, secret string) service {
	out := service{ID: int64(s.ID), Name: s.Name, Scopes: s.Scopes, CreatedBy: s.CreatedBy, CreatedAt: page.Time(s.CreatedAt), ExpiresAt: page.Time(s.ExpiresAt),
		LastUsedAt: page.Time(s.LastUsedAt), Token: secret}
	if s.TeamID != 0 {
		out.Team = &s.Team
	}
	return out
}

// manager returns the teams whose tokens the caller manages; everybody means all tokens.
func (a routes) manager(r *http.Request) (everybody bool, teams []int64, err error) {
	actor := wire.Actor(r.Context())
	if err := actor.MayHoldTokens(); err != nil {
		return false, nil, err
	}
	if actor.MayAdminister() == nil {
		return true, nil, nil
	}
	memberships, err := a.Teams.MembershipsOf(r.Context(), actor.UserID)
	for _, m := range memberships {
		if m.Admin {
			teams = append(teams, m.TeamID)
		}
	}
	return false, teams, err
}

// listServices answers administrators with all tokens, and other people with those of the teams that they administer.
func (a routes) listServices(w http.ResponseWriter, r *http.Request) error {
	q, err := page.Read(r)
	if err != nil {
		return err
	}
	everybody, teams, err := a.manager(r)
	if err != nil {
		return err
	}
	from, err := before(q)
	if err != nil {
		return err
	}
	found, err := a.Services.Services(r.Context(), everybody, teams, from, q.Size+1)
	if err != nil {
		return err
	}
	return page.AnswerFrom(w, q, found, showService, func(s tokens.Service) string { return strconv.FormatInt(int64(s.ID), 10) })
}

func (a routes) createService(w http.ResponseWriter, r *http.Request) error {
	everybody, teams, err := a.manager(r)
	if err != nil {
		return err
	}
	c, team, err := a.content(w, r, true)
	if err != nil {
		return err
	}
	n := tokens.Service{Name: c.Name, Scopes: c.Scopes, CreatedBy: wire.Actor(r.Context()).String()}
	if team != "" {
		t, err := a.Teams.ByName(r.Context(), team)
		if err == nil && !t.Active {
			err = fault.New(fault.NotFound, "")
		}
		if err != nil {
			return fault.When(err, fault.NotFound, fault.Invalidf("team", "there is no active team %.100q", team))
		}
		n.TeamID, n.Team = t.ID, t.Name
	}
	if err := may(everybody, teams, n); err != nil {
		return err
	}
	secret := tokens.Make(tokens.ForService)
	_, hash, err := tokens.Hash(secret)
	if err != nil {
		return err
	}
	made, err := a.Services.CreateService(r.Context(), n, c.Life, hash)
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/service-tokens/%d", made.ID))
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusCreated, shownService(made, secret))
}

func (a routes) oneService(w http.ResponseWriter, r *http.Request) error {
	found, err := a.managed(r)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, showService(found))
}

func (a routes) revokeService(w http.ResponseWriter, r *http.Request) error {
	found, err := a.managed(r)
	if err != nil {
		return err
	}
	if err := a.Services.RevokeService(r.Context(), found.ID, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// managed finds the token of the path for a caller who manages it. Others get the refusal for unknown tokens.
func (a routes) managed(r *http.Request) (tokens.Service, error) {
	everybody, teams, err := a.manager(r)
	if err != nil {
		return tokens.Service{}, err
	}
	id, err := tokenID(r)
	if err != nil {
		return tokens.Service{}, err
	}
	found, err := a.Services.Service(r.Context(), id)
	if err == nil && may(everybody, teams, found) != nil {
		err = errUnknown
	}
	return found, fault.When(err, fault.NotFound, errUnknown)
}

// may allows managing a token: administrators any, administrators of a team those of the team.
func may(everybody bool, teams []int64, s tokens.Service) error {
	switch {
	case everybody || s.TeamID != 0 && slices.Contains(teams, s.TeamID):
		return nil
	case s.TeamID == 0:
		return auth.ErrAdminOnly
	}
	return fault.Newf(fault.Forbidden, "Only administrators and administrators of the team %s may do this", s.Team)
}
