// This file serves the routes of /v1 about directories that push people with SCIM: connections with their tokens, and
// deactivations that wait for an administrator. Only administrators may use them. Only the answers that make a token
// have its secret.

package pages

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Connections reads connections.
type Connections interface {
	Connections(ctx context.Context, after int64, most int) ([]scim.Connection, error)
	Connection(ctx context.Context, name string) (scim.Connection, error)
	// Give adds a person who exists to a connection.
	Give(ctx context.Context, c scim.Connection, u users.User, actor string) (scim.Resource, error)
}

// Changes stores connections and their tokens. A name that exists is a Conflict fault.
type Changes interface {
	Add(ctx context.Context, c scim.Connection, hash []byte) (scim.Connection, error)
	Rotate(ctx context.Context, c scim.Connection, hash []byte, actor string) error
	EndOldTokens(ctx context.Context, c scim.Connection, actor string) error
	Delete(ctx context.Context, c scim.Connection, actor string) error
}

// Deactivations are the held deactivations.
type Deactivations interface {
	Held(ctx context.Context, after int64, most int) ([]scim.Held, error)
	Decide(ctx context.Context, id int64, confirm bool, actor string) error
}

// ConnectionPeople finds people by name.
type ConnectionPeople interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// ConnectionDeps are the parts that the routes work on.
type ConnectionDeps struct {
	Connections   Connections
	Changes       Changes
	Deactivations Deactivations
	People        ConnectionPeople
	Providers     []string // names of the providers of single sign-on in the configuration
}

type connectionRoutes struct{ ConnectionDeps }

// ConnectionRoutes returns the routes.
func ConnectionRoutes(d ConnectionDeps) []routing.Route {
	a := connectionRoutes{d}
	return []routing.Route{
		routing.Get("/v1/scim-connections", routing.Someone, a.list),
		routing.Post("/v1/scim-connections", routing.Write, a.create),
		routing.Get("/v1/scim-connections/{connection}", routing.Someone, a.show),
		routing.Delete("/v1/scim-connections/{connection}", routing.Write, a.delete),
		routing.Put("/v1/scim-connections/{connection}/token", routing.Write, a.rotate),
		routing.Delete("/v1/scim-connections/{connection}/token", routing.Write, a.endOldTokens),
		routing.Post("/v1/scim-connections/{connection}/users", routing.Write, a.give),
		routing.Get("/v1/held-deactivations", routing.Someone, a.held),
		routing.Post("/v1/held-deactivations/{deactivation}/confirm", routing.Write, a.decide(true)),
		routing.Delete("/v1/held-deactivations/{deactivation}", routing.Write, a.decide(false)),
	}
}

// connection is a connection on the wire.
type connection struct {
	Name          string  `json:"name"`
	Provider      *string `json:"provider"`
	LinksAccounts bool    `json:"links_accounts"`
	CreatedBy     string  `json:"created_by"`
	CreatedAt     *string `json:"created_at"`
	Tokens        []token `json:"tokens"`
	Token         string  `json:"token,omitempty"`
}

type token struct {
	CreatedAt  *string `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
}

func shown(c scim.Connection, secret string) connection {
	out := connection{Name: c.Name, Provider: listing.OrNull(c.Provider), LinksAccounts: c.LinksAccounts,
		CreatedBy: c.CreatedBy, CreatedAt: listing.Time(c.CreatedAt),
		Tokens: []token{}, Token: secret}
	for _, t := range c.Tokens {
		out.Tokens = append(out.Tokens, token{CreatedAt: listing.Time(t.CreatedAt),
			LastUsedAt: listing.Time(t.LastUsedAt)})
	}
	return out
}

// after checks that an administrator asks, and returns the query and the number in its cursor; 0 = the first page.
func after(r *http.Request) (q listing.Query, number int64, err error) {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return q, 0, err
	}
	if q, err = listing.Read(r); err != nil || q.AfterName() == "" {
		return q, 0, err
	}
	if number, err = strconv.ParseInt(q.AfterName(), 10, 64); err != nil || number <= 0 {
		return q, 0, listing.BadCursor()
	}
	return q, number, nil
}

func (a connectionRoutes) list(w http.ResponseWriter, r *http.Request) error {
	q, number, err := after(r)
	if err != nil {
		return err
	}
	found, err := a.Connections.Connections(r.Context(), number, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, func(c scim.Connection) any { return shown(c, "") },
		func(c scim.Connection) string { return strconv.FormatInt(c.ID, 10) })
}

// maxName is the longest name of a connection in characters.
const maxName = 100

func (a connectionRoutes) create(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayAdminister(); err != nil {
		return err
	}
	if r.Header.Get("Idempotency-Key") != "" {
		return fault.Invalidf("Idempotency-Key",
			"a connection cannot be created with an Idempotency-Key: the secret of its token would be stored with the answer")
	}
	b, err := jsonbody.ReadKnown(w, r, "name", "provider", "links_accounts")
	if err != nil {
		return err
	}
	c := scim.Connection{CreatedBy: actor.String()}
	c.Name, c.Provider = jsonbody.Next(&err, b.Required, "name"), jsonbody.Next(&err, b.Text, "provider")
	if err == nil {
		c.LinksAccounts, _, err = b.Flag("links_accounts")
	}
	c.Name = strings.TrimSpace(c.Name)
	switch {
	case err != nil:
		return err
	case c.Name == "" || len([]rune(c.Name)) > maxName || strings.Contains(c.Name, "/"):
		return fault.Invalidf("name", "name must have 1 to %d characters and no slash", maxName)
	case c.Provider != "" && !slices.Contains(a.Providers, c.Provider):
		return fault.Invalidf("provider", "there is no provider %.60q in the configuration; known: %s", c.Provider,
			strings.Join(a.Providers, ", "))
	case c.LinksAccounts && c.Provider == "":
		return fault.Invalidf("links_accounts", "links_accounts needs a provider")
	}
	secret, hash, err := newToken()
	if err != nil {
		return err
	}
	if c, err = a.Changes.Add(r.Context(), c, hash); err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/scim-connections/"+url.PathEscape(c.Name))
	return a.answer(w, r, http.StatusCreated, c, secret)
}

func newToken() (secret string, hash []byte, err error) {
	secret = tokens.Make(tokens.ForDirectory)
	_, hash, err = tokens.Hash(secret)
	return secret, hash, err
}

// answer answers with the stored state of a connection.
func (a connectionRoutes) answer(w http.ResponseWriter, r *http.Request, status int, c scim.Connection, secret string) error {
	c, err := a.Connections.Connection(r.Context(), c.Name)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, status, shown(c, secret))
}

// find returns the connection of the path for an administrator.
func (a connectionRoutes) find(r *http.Request) (scim.Connection, error) {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return scim.Connection{}, err
	}
	return a.Connections.Connection(r.Context(), wire.Param(r, "connection"))
}

func (a connectionRoutes) show(w http.ResponseWriter, r *http.Request) error {
	c, err := a.find(r)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, shown(c, ""))
}

// rotate makes a further token. The oldest of three becomes invalid.
func (a connectionRoutes) rotate(w http.ResponseWriter, r *http.Request) error {
	c, err := a.find(r)
	if err != nil {
		return err
	}
	secret, hash, err := newToken()
	if err != nil {
		return err
	}
	if err := a.Changes.Rotate(r.Context(), c, hash, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusCreated, c, secret)
}

func (a connectionRoutes) endOldTokens(w http.ResponseWriter, r *http.Request) error {
	c, err := a.find(r)
	if err == nil {
		err = a.Changes.EndOldTokens(r.Context(), c, wire.Actor(r.Context()).String())
	}
	return done(w, err)
}

func (a connectionRoutes) delete(w http.ResponseWriter, r *http.Request) error {
	c, err := a.find(r)
	if err == nil {
		err = a.Changes.Delete(r.Context(), c, wire.Actor(r.Context()).String())
	}
	return done(w, err)
}

// give adds a person who exists to a connection. The directory sees the person from then on.
func (a connectionRoutes) give(w http.ResponseWriter, r *http.Request) error {
	c, err := a.find(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "user")
	if err != nil {
		return err
	}
	name, err := b.Required("user")
	if err != nil {
		return err
	}
	u, err := a.People.ByName(r.Context(), name)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %.100q", name))
	}
	_, err = a.Connections.Give(r.Context(), c, u, wire.Actor(r.Context()).String())
	return done(w, err)
}

// held is a held deactivation on the wire.
type held struct {
	ID          int64   `json:"id"`
	Connection  string  `json:"connection"`
	User        string  `json:"user"`
	RequestedAt *string `json:"requested_at"`
}

func (a connectionRoutes) held(w http.ResponseWriter, r *http.Request) error {
	q, number, err := after(r)
	if err != nil {
		return err
	}
	found, err := a.Deactivations.Held(r.Context(), number, q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found, func(h scim.Held) any {
		return held{ID: h.ID, Connection: h.Connection, User: h.User, RequestedAt: listing.Time(h.RequestedAt)}
	}, func(h scim.Held) string { return strconv.FormatInt(h.ID, 10) })
}

// decide returns the handler that confirms or rejects a held deactivation.
func (a connectionRoutes) decide(confirm bool) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		actor := wire.Actor(r.Context())
		if err := actor.MayAdminister(); err != nil {
			return err
		}
		id, err := strconv.ParseInt(wire.Param(r, "deactivation"), 10, 64)
		if err != nil || id <= 0 {
			return fault.New(fault.NotFound, "there is no such held deactivation")
		}
		return done(w, a.Deactivations.Decide(r.Context(), id, confirm, actor.String()))
	}
}

func done(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
