package wire

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Tokens finds tokens by their hash, and records their use. A token that is not valid is tokens.ErrInvalid.
type Tokens interface {
	Use(ctx context.Context, hash []byte) (tokens.Token, error)
	UseService(ctx context.Context, hash []byte) (tokens.Service, error)
}

// HasBearer reports whether a request has a token in its header Authorization.
func HasBearer(r *http.Request) bool {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer")
}

// ByToken returns the actor of a request with a token: the person of a personal token, or the service token itself,
// with the rights that the scopes leave. If the scopes do not allow the request, it returns a Forbidden fault.
func ByToken(r *http.Request, known Tokens, people users.Finder, apps auth.Applications) (auth.Actor, auth.Application, error) {
	_, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	kind, hash, err := tokens.Hash(strings.TrimSpace(secret))
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	app, err := apps.ByName(r.Context(), auth.SessionApplication)
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	var actor auth.Actor
	var scopes tokens.Scopes
	switch kind {
	case tokens.ForService:
		found, invalid := known.UseService(r.Context(), hash)
		actor, scopes, err = auth.ByService(app, found), found.Scopes, invalid
	case tokens.Personal:
		actor, scopes, err = ofPerson(r.Context(), known, people, app, hash)
	default:
		err = tokens.ErrInvalid
	}
	if err == nil {
		err = scopes.Allow(r.Method, r.URL.Path)
	}
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	return actor, app, nil
}

// ofPerson returns the actor and the scopes of a personal token.
func ofPerson(ctx context.Context, known Tokens, people users.Finder, app auth.Application, hash []byte) (auth.Actor, tokens.Scopes, error) {
	found, err := known.Use(ctx, hash)
	if err != nil {
		return auth.Actor{}, nil, err
	}
	user, err := people.ByName(ctx, found.UserName)
	if fault.Is(err, fault.NotFound) || err == nil && (!user.Active || user.ID != found.User) {
		err = tokens.ErrInvalid
	}
	actor := auth.Through(app).As(user).Within(found.Scopes)
	actor.Session, actor.Token = true, found.ID
	return actor, found.Scopes, err
}
