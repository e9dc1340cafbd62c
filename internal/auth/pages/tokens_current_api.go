package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// TokenGrants has the tokens that people allowed to a command line.
type TokenGrants interface {
	// Take deletes the grant with the hash of a code and returns it. A code that is not valid is tokens.ErrGrant.
	Take(ctx context.Context, hash []byte) (tokens.Grant, error)
}

// exchanged is the answer to the exchange of a code.
type exchanged struct {
	Token     string        `json:"token"`
	ID        int64         `json:"id"`
	Name      string        `json:"name"`
	Scopes    tokens.Scopes `json:"scopes"`
	ExpiresAt *string       `json:"expires_at"`
	Username  string        `json:"username"`
}

// exchange answers a code of a log-in from the command line, and its verifier, with a token. A code is used up by the
// first request, even if the verifier is wrong. The code is the credential of the request.
func (a tokenRoutes) exchange(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "code", "verifier")
	if err != nil {
		return err
	}
	code, err := b.Required("code")
	if err != nil {
		return err
	}
	verifier, err := b.Required("verifier")
	if err != nil {
		return err
	}
	g, err := a.Grants.Take(r.Context(), tokens.HashCode(code))
	if err == nil {
		err = g.Confirm(verifier)
	}
	if err != nil {
		return err
	}
	c := tokens.Content{Name: g.Name, Scopes: g.Scopes, Life: tokens.UsualLife(a.Most)}
	made, secret, err := a.make(r, users.User{ID: g.User, Name: g.UserName}, c)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusCreated, exchanged{Token: secret, ID: int64(made.ID), Name: made.Name,
		Scopes:    made.Scopes,
		ExpiresAt: listing.Time(made.ExpiresAt), Username: made.UserName})
}

// current is the token of a request on the wire.
type current struct {
	ID        int64         `json:"id"`
	Kind      string        `json:"kind"`
	Name      string        `json:"name"`
	Scopes    tokens.Scopes `json:"scopes"`
	ExpiresAt *string       `json:"expires_at"`
	Username  string        `json:"username,omitempty"`
	Team      string        `json:"team,omitempty"`
}

var errNoToken = fault.New(fault.Forbidden, "This request has no token")

// current answers with the token of the request.
func (a tokenRoutes) current(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if actor.Token == 0 {
		return errNoToken
	}
	if actor.Service != "" {
		s, err := a.Services.Store.Service(r.Context(), actor.Token)
		if err != nil {
			return fault.When(err, fault.NotFound, tokens.ErrInvalid)
		}
		return routing.Answer(w, http.StatusOK, current{ID: int64(s.ID), Kind: "service", Name: s.Name,
			Scopes: s.Scopes, ExpiresAt: listing.Time(s.ExpiresAt),
			Team: s.Team})
	}
	found, err := a.Tokens.Page(r.Context(), actor.UserID, actor.Token+1, 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].ID != actor.Token {
		return tokens.ErrInvalid // it was revoked during the request
	}
	t := found[0]
	return routing.Answer(w, http.StatusOK, current{ID: int64(t.ID), Kind: "personal", Name: t.Name, Scopes: t.Scopes,
		ExpiresAt: listing.Time(t.ExpiresAt),
		Username:  t.UserName})
}

// revokeCurrent revokes the token of the request. Every token may, whatever its scopes are.
func (a tokenRoutes) revokeCurrent(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if actor.Token == 0 {
		return errNoToken
	}
	var err error
	if actor.Service != "" {
		err = a.Services.Store.RevokeService(r.Context(), actor.Token, actor.String())
	} else {
		err = a.Tokens.Revoke(r.Context(), actor.Token, actor.UserID, actor.String())
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
