package tokens

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Filter selects tokens.
type Filter struct {
	operation.Paging
	All bool `query:"all" json:"all,omitempty" doc:"true: those of everybody, for administrators."`
}

// One names a token.
type One struct {
	ID ID `path:"token" json:"id"`
}

// New is a token that does not exist.
type New struct {
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes"`
	Seconds *int64   `json:"expires_in_seconds,omitempty" nullable:"true" minimum:"1" maximum:"31622400" doc:"90 days if it is missing, or the maximum of the installation (auth.tokens) if that is shorter."`
}

// Content returns the checked content. most is the longest life that the installation allows.
func (n New) Content(most time.Duration) (Content, error) {
	scopes, err := ParseScopes(n.Scopes)
	if err != nil {
		return Content{}, err
	}
	c := Content{n.Name, scopes, UsualLife(most)}
	if n.Seconds != nil {
		c.Life = time.Duration(*n.Seconds) * time.Second
	}
	return c, c.Check(most)
}

// New returns the content as operations take it.
func (c Content) New() New {
	seconds := int64(c.Life / time.Second)
	n := New{Name: c.Name, Scopes: []string{}, Seconds: &seconds}
	for _, s := range c.Scopes {
		n.Scopes = append(n.Scopes, string(s))
	}
	return n
}

// Made is a new token with its secret.
type Made struct {
	Token
	Secret string `json:"token" doc:"The secret. No later answer shows it: store it now."`
}

// Location is the address of the token.
func (m Made) Location() string { return operation.Path(RevokeToken.Path, m.ID) }

// Exchange is the code of a log-in from the command line.
type Exchange struct {
	Code     string `json:"code" minLength:"1" doc:"From the browser."`
	Verifier string `json:"verifier" minLength:"1" doc:"The text whose SHA-256 was the challenge."`
}

// ExchangedToken is the token that a command line got for its code.
type ExchangedToken struct {
	Secret    string    `json:"token" doc:"The secret. No later answer shows it: store it now."`
	ID        ID        `json:"id"`
	Name      string    `json:"name"`
	Scopes    Scopes    `json:"scopes"`
	ExpiresAt time.Time `json:"expires_at"`
	Username  string    `json:"username"`
}

// Current is the token of a request.
type Current struct {
	ID        ID        `json:"id"`
	Kind      string    `json:"kind" enum:"personal,service"`
	Name      string    `json:"name"`
	Scopes    Scopes    `json:"scopes"`
	ExpiresAt time.Time `json:"expires_at"`
	Username  string    `json:"username,omitempty"`
	Team      string    `json:"team,omitempty" doc:"Of a service token that belongs to a team."`
}

// The operations on personal tokens, and on the token of a request.
var (
	ListTokens = operation.Define[Filter, operation.Page[Token]](operation.Doc{Name: "token.list",
		Method: http.MethodGet, Path: "/v1/tokens", Needs: operation.Reader, Rule: operation.Themselves,
		Summary: "One's own personal tokens, newest first; no answer has their secrets"})
	CreateToken = operation.Define[New, Made](operation.Doc{Name: "token.create", Method: http.MethodPost,
		Path: "/v1/tokens", Needs: operation.Member, Rule: operation.Themselves, Secret: true,
		Audit: []audit.Action{audit.TokenCreated}, Errors: []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Create a personal token; only this answer has its secret",
		Note:    "A token needs the scope admin for it. An Idempotency-Key is refused. 409: the person has 50 tokens."})
	ExchangeCode = operation.Define[Exchange, ExchangedToken](operation.Doc{Name: "token.exchange", Method: http.MethodPost,
		Path: "/v1/tokens/exchange", Secret: true, Audit: []audit.Action{audit.TokenCreated},
		Errors:  []int{http.StatusUnauthorized, http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Exchange the code of a log-in from the command line for a personal token",
		Note:    "The code comes from the page /login/command-line. It is valid for 60 seconds and once; a wrong verifier uses it up. 409: the person has 50 tokens."})
	CurrentToken = operation.Define[operation.None, Current](operation.Doc{Name: "token.current",
		Method: http.MethodGet, Path: "/v1/tokens/current", Needs: operation.Reader, Rule: operation.WithToken,
		Summary: "The token of this request"})
	RevokeCurrentToken = operation.Define[operation.None, operation.None](operation.Doc{Name: "token.revoke-current",
		Method: http.MethodDelete, Path: "/v1/tokens/current", Needs: operation.Reader, Rule: operation.WithToken,
		Audit:   []audit.Action{audit.TokenRevoked, audit.ServiceTokenRevoked},
		Summary: "Revoke the token of this request, whatever its scopes are"})
	RevokeToken = operation.Define[One, operation.None](operation.Doc{Name: "token.revoke",
		Method: http.MethodDelete, Path: "/v1/tokens/{token}", Needs: operation.Member, Rule: operation.TheirOwn,
		Audit:   []audit.Action{audit.TokenRevoked},
		Summary: "Revoke a personal token; administrators may revoke any token", Note: "Takes effect at once."})
)

// Store stores personal tokens.
type Store interface {
	// Page returns at most so many tokens, newest first, with a smaller number than before; 0 = from the newest. user 0
	// = of everybody.
	Page(ctx context.Context, user users.ID, before ID, most int) ([]Token, error)
	// Create stores a token. If the person has too many, it returns a Conflict fault.
	Create(ctx context.Context, u users.User, c Content, hash []byte) (Token, error)
	// Revoke deletes a token of owner; owner 0 = of anybody. An unknown token is a NotFound fault.
	Revoke(ctx context.Context, id ID, owner users.ID, actor string) error
}

// ServiceStore stores service tokens. An unknown number is a NotFound fault.
type ServiceStore interface {
	Service(ctx context.Context, id ID) (Service, error)
	RevokeService(ctx context.Context, id ID, actor string) error
}

// Grants has the tokens that people allowed to a command line.
type Grants interface {
	// Take deletes the grant with the hash of a code and returns it. A code that is not valid is ErrGrant.
	Take(ctx context.Context, hash []byte) (Grant, error)
}

// Tokens are the operations. They are safe for concurrent use.
type Tokens struct {
	List          operation.Op[Filter, operation.Page[Token]]
	Create        operation.Op[New, Made]
	Exchange      operation.Op[Exchange, ExchangedToken]
	Current       operation.Op[operation.None, Current]
	RevokeCurrent operation.Op[operation.None, operation.None]
	Revoke        operation.Op[One, operation.None]
	Most          time.Duration // the longest life of a token

	store    Store
	services ServiceStore
	grants   Grants
}

// NewTokens returns the operations. most is the longest life of a token.
func NewTokens(store Store, services ServiceStore, grants Grants, most time.Duration) *Tokens {
	t := &Tokens{store: store, services: services, grants: grants, Most: most}
	t.List, t.Create, t.Exchange = ListTokens.By(t.list), CreateToken.By(t.create), ExchangeCode.By(t.exchange)
	t.Current, t.RevokeCurrent = CurrentToken.By(t.current), RevokeCurrentToken.By(t.revokeCurrent)
	t.Revoke = RevokeToken.By(t.revoke)
	return t
}

// RequirePerson refuses callers who are no person with a session or a token. An application that acts for a person may
// not use what only the person has: a token would outlive the key of the application.
func RequirePerson(by operation.Actor) error {
	if !by.Session || by.Person == 0 {
		return fault.New(fault.Forbidden, "Only a person with a session or a token has personal tokens")
	}
	return nil
}

func (t *Tokens) list(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[Token], err error) {
	user := users.ID(by.Person)
	if f.All {
		user, err = 0, by.Require(operation.Admin)
	} else {
		err = RequirePerson(by)
	}
	if err != nil {
		return out, err
	}
	before, err := f.Before()
	if err != nil {
		return out, err
	}
	found, err := t.store.Page(ctx, user, ID(before), f.Size()+1)
	return operation.PageOf(f.Paging, found, func(one Token) ID { return one.ID }), err
}

func (t *Tokens) create(ctx context.Context, by operation.Actor, n New) (Made, error) {
	if err := RequirePerson(by); err != nil {
		return Made{}, err
	}
	c, err := n.Content(t.Most)
	if err != nil {
		return Made{}, err
	}
	return t.make(ctx, users.User{ID: users.ID(by.Person), Name: by.Name}, c)
}

// make stores a new token of a person.
func (t *Tokens) make(ctx context.Context, u users.User, c Content) (out Made, err error) {
	out.Secret = Make(Personal)
	_, hash, err := Hash(out.Secret)
	if err == nil {
		out.Token, err = t.store.Create(ctx, u, c, hash)
	}
	return out, err
}

// exchange uses a code up with the first request, even if the verifier is wrong. The code is the credential of the
// request.
func (t *Tokens) exchange(ctx context.Context, _ operation.Actor, e Exchange) (ExchangedToken, error) {
	g, err := t.grants.Take(ctx, HashCode(e.Code))
	if err == nil {
		err = g.Confirm(e.Verifier)
	}
	if err != nil {
		return ExchangedToken{}, err
	}
	made, err := t.make(ctx, users.User{ID: g.User, Name: g.UserName},
		Content{Name: g.Name, Scopes: g.Scopes, Life: UsualLife(t.Most)})
	return ExchangedToken{made.Secret, made.ID, made.Name, made.Scopes, made.ExpiresAt, made.UserName}, err
}

var errNoToken = fault.New(fault.Forbidden, "This request has no token")

func (t *Tokens) current(ctx context.Context, by operation.Actor, _ operation.None) (Current, error) {
	id := ID(by.Token)
	if id == 0 {
		return Current{}, errNoToken
	}
	if by.Person == 0 {
		s, err := t.services.Service(ctx, id)
		return Current{s.ID, "service", s.Name, s.Scopes, s.ExpiresAt, "", string(s.Team)}, fault.When(err,
			fault.NotFound, ErrInvalid)
	}
	found, err := t.store.Page(ctx, users.ID(by.Person), id+1, 1)
	if err == nil && (len(found) == 0 || found[0].ID != id) {
		err = ErrInvalid // it was revoked during the request
	}
	if err != nil {
		return Current{}, err
	}
	one := found[0]
	return Current{one.ID, "personal", one.Name, one.Scopes, one.ExpiresAt, one.UserName, ""}, nil
}

// revokeCurrent is for every token, whatever its scopes are.
func (t *Tokens) revokeCurrent(ctx context.Context, by operation.Actor, none operation.None) (operation.None, error) {
	switch {
	case by.Token == 0:
		return none, errNoToken
	case by.Person == 0:
		return none, t.services.RevokeService(ctx, ID(by.Token), by.Name)
	}
	return none, t.store.Revoke(ctx, ID(by.Token), users.ID(by.Person), by.Name)
}

func (t *Tokens) revoke(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	owner := users.ID(0)
	if by.Role != operation.Admin {
		owner, err = users.ID(by.Person), RequirePerson(by)
	}
	if err != nil {
		return none, err
	}
	return none, t.store.Revoke(ctx, one.ID, owner, by.Name)
}
