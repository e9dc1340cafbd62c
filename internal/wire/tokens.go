package wire

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/tokens"
)

// Tokens finds personal tokens by their hash. A token that is not valid is tokens.ErrInvalid.
type Tokens interface {
	Use(ctx context.Context, hash []byte) (tokens.Token, error)
}

// HasBearer reports whether a request has a token in its header Authorization.
func HasBearer(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// ByToken returns the actor of a request with a personal token: its person, with the rights that the scopes leave. If the scopes do not
// allow the request, it returns a Forbidden fault.
func ByToken(r *http.Request, known Tokens, people People, apps auth.Applications) (auth.Actor, auth.Application, error) {
	_, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash, err := tokens.Hash(strings.TrimSpace(secret))
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	found, err := known.Use(r.Context(), hash)
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	user, err := people.ByName(r.Context(), found.UserName)
	if fault.Is(err, fault.NotFound) || err == nil && (!user.Active || user.ID != found.User) {
		err = tokens.ErrInvalid
	}
	if err == nil {
		err = found.Scopes.Allow(r.Method, r.URL.Path)
	}
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	app, err := apps.ByName(r.Context(), auth.SessionApplication)
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	actor := auth.Through(app).As(user).Within(found.Scopes)
	actor.Session, actor.Token = true, found.ID
	return actor, app, nil
}
