package pages

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// services are the routes about service tokens. Only people manage service tokens.
func (a tokenRoutes) services() []routing.Route {
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
	out := service{ID: int64(s.ID), Name: s.Name, Scopes: s.Scopes, CreatedBy: s.CreatedBy,
		CreatedAt: listing.Time(s.CreatedAt), ExpiresAt: listing.Time(s.ExpiresAt),
		LastUsedAt: listing.Time(s.LastUsedAt), Token: secret}
	if s.TeamID != 0 {
		out.Team = &s.Team
	}
	return out
}

// listServices answers administrators with all tokens, and other people with those of the teams that they administer.
func (a tokenRoutes) listServices(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	from, err := before(q)
	if err != nil {
		return err
	}
	found, err := a.Services.Page(r.Context(), wire.Actor(r.Context()), from, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, showService,
		func(s tokens.Service) string { return strconv.FormatInt(int64(s.ID), 10) })
}

func (a tokenRoutes) createService(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayHoldTokens(); err != nil {
		return err
	}
	c, team, err := a.content(w, r, true)
	if err != nil {
		return err
	}
	made, secret, err := a.Services.Create(r.Context(), actor, team, c)
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/service-tokens/%d", made.ID))
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusCreated, shownService(made, secret))
}

func (a tokenRoutes) oneService(w http.ResponseWriter, r *http.Request) error {
	id, err := tokenID(r)
	if err != nil {
		return err
	}
	found, err := a.Services.ByID(r.Context(), wire.Actor(r.Context()), id)
	return routing.Reply(w, http.StatusOK, showService(found), err)
}

func (a tokenRoutes) revokeService(w http.ResponseWriter, r *http.Request) error {
	id, err := tokenID(r)
	if err == nil {
		err = a.Services.Revoke(r.Context(), wire.Actor(r.Context()), id)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
