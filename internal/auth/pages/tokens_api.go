// This file serves the routes of /v1 about personal tokens and service tokens. Only the answer that creates a token has
// its secret.

package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/servicetokens"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// TokenTokensTokens stores tokens.
type TokenTokensTokens interface {
	// Page returns at most so many tokens, newest first, with a smaller number than before. user 0 = of everybody.
	Page(ctx context.Context, user users.ID, before tokens.ID, most int) ([]tokens.Token, error)
	// Create stores a token. If the person has too many, it returns a Conflict fault.
	Create(ctx context.Context, u users.User, c tokens.Content, hash []byte) (tokens.Token, error)
	// Revoke deletes a token of owner; owner 0 = of anybody. An unknown token is a NotFound fault.
	Revoke(ctx context.Context, id tokens.ID, owner users.ID, actor string) error
}

// TokenServices are the operations on service tokens.
type TokenServices = servicetokens.Services

// TokenAPIDeps are the parts that the routes work on.
type TokenAPIDeps struct {
	Tokens   TokenTokensTokens
	Services TokenServices
	Grants   TokenGrants
	Most     time.Duration // the longest life of a personal token
}

type tokenRoutes struct{ TokenAPIDeps }

// TokenRoutes returns the routes.
func TokenRoutes(d TokenAPIDeps) []routing.Route {
	a := tokenRoutes{d}
	return append(a.services(),
		routing.Get("/v1/tokens", routing.Someone, a.list),
		routing.Post("/v1/tokens", routing.Write, a.create),
		routing.Post("/v1/tokens/exchange", routing.Public, a.exchange),
		routing.Get("/v1/tokens/current", routing.Someone, a.current),
		routing.Delete("/v1/tokens/current", routing.Self, a.revokeCurrent),
		routing.Delete("/v1/tokens/{token}", routing.Write, a.revoke),
	)
}

// tokenToken is a token on the wire.
type tokenToken struct {
	ID         int64         `json:"id"`
	User       string        `json:"user"`
	Name       string        `json:"name"`
	Scopes     tokens.Scopes `json:"scopes"`
	CreatedAt  *string       `json:"created_at"`
	ExpiresAt  *string       `json:"expires_at"`
	LastUsedAt *string       `json:"last_used_at"`
	Token      string        `json:"token,omitempty"`
}

func tokenShow(t tokens.Token) any { return tokenShown(t, "") }

func tokenShown(t tokens.Token, secret string) tokenToken {
	return tokenToken{ID: int64(t.ID), User: t.UserName, Name: t.Name, Scopes: t.Scopes,
		CreatedAt: listing.Time(t.CreatedAt), ExpiresAt: listing.Time(t.ExpiresAt),
		LastUsedAt: listing.Time(t.LastUsedAt), Token: secret}
}

// list answers with the caller's tokens, newest first; with ?all=true it answers administrators with those of
// everybody.
func (a tokenRoutes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "all")
	if err != nil {
		return err
	}
	all, err := q.Flag("all", false)
	if err != nil {
		return err
	}
	actor := wire.Actor(r.Context())
	user := actor.UserID
	if all {
		user, err = 0, actor.MayAdminister()
	} else {
		err = actor.MayHoldTokens()
	}
	if err != nil {
		return err
	}
	from, err := before(q)
	if err != nil {
		return err
	}
	found, err := a.Tokens.Page(r.Context(), user, from, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, tokenShow,
		func(t tokens.Token) string { return strconv.FormatInt(int64(t.ID), 10) })
}

func (a tokenRoutes) create(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayHoldTokens(); err != nil {
		return err
	}
	c, _, err := a.content(w, r, false)
	if err != nil {
		return err
	}
	made, secret, err := a.make(r, users.User{ID: actor.UserID, Name: actor.Username}, c)
	if err != nil {
		return err
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/tokens/%d", made.ID))
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusCreated, tokenShown(made, secret))
}

// make stores a new token of a person. It returns the token and its secret.
func (a tokenRoutes) make(r *http.Request, u users.User, c tokens.Content) (made tokens.Token, secret string, err error) {
	secret = tokens.Make(tokens.Personal)
	_, hash, err := tokens.Hash(secret)
	if err != nil {
		return made, "", err
	}
	made, err = a.Tokens.Create(r.Context(), u, c, hash)
	return made, secret, err
}

// revoke deletes a token of the caller. Administrators may revoke any.
func (a tokenRoutes) revoke(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	owner, err := tokenOwner(actor)
	if err != nil {
		return err
	}
	id, err := tokenID(r)
	if err != nil {
		return err
	}
	if err := a.Tokens.Revoke(r.Context(), id, owner, actor.String()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// tokenOwner returns whose tokens the actor may revoke; 0 = everybody's.
func tokenOwner(actor auth.Actor) (users.ID, error) {
	if actor.MayAdminister() == nil {
		return 0, nil
	}
	return actor.UserID, actor.MayHoldTokens()
}

// errUnknown is the refusal of a number without a token.
var errUnknown = fault.New(fault.NotFound, "there is no such token")

// tokenID returns the number of the token of the path; errUnknown if it cannot be one.
func tokenID(r *http.Request) (tokens.ID, error) {
	id, err := strconv.ParseInt(wire.Param(r, "token"), 10, 64)
	if err != nil || id <= 0 {
		return 0, errUnknown
	}
	return tokens.ID(id), nil
}

// before returns the number at which a page of a list of tokens begins; 0 = from the newest.
func before(q listing.Query) (tokens.ID, error) {
	if q.AfterName() == "" {
		return 0, nil
	}
	before, err := strconv.ParseInt(q.AfterName(), 10, 64)
	if err != nil || before <= 0 {
		return 0, listing.BadCursor()
	}
	return tokens.ID(before), nil
}

// content reads the body of a request that creates a token: name, scopes and expires_in_seconds; of a service token
// also the team, "" = the administrators. It refuses an Idempotency-Key, because the secret would be stored with the
// answer.
func (a tokenRoutes) content(w http.ResponseWriter, r *http.Request, service bool) (c tokens.Content, team string, err error) {
	if r.Header.Get("Idempotency-Key") != "" {
		return c, "", fault.Invalidf("Idempotency-Key",
			"a token cannot be created with an Idempotency-Key: its secret would be stored with the answer")
	}
	known, most := []string{"name", "scopes", "expires_in_seconds"}, a.Most
	if service {
		known, most = append(known, "team"), a.Services.Most
	}
	b, err := jsonbody.ReadKnown(w, r, known...)
	if err != nil {
		return c, "", err
	}
	c.Name, team = jsonbody.Next(&err, b.Required, "name"), jsonbody.Next(&err, b.Text, "team")
	if err != nil {
		return c, "", err
	}
	names, _, err := b.Texts("scopes")
	if err != nil {
		return c, "", err
	}
	if c.Scopes, err = tokens.ParseScopes(names); err != nil {
		return c, "", err
	}
	seconds, err := b.Whole("expires_in_seconds", int64(tokens.MaxLife/time.Second),
		int64(tokens.UsualLife(most)/time.Second))
	if err != nil {
		return c, "", err
	}
	c.Life = time.Duration(seconds) * time.Second
	return c, team, c.Check(most)
}
