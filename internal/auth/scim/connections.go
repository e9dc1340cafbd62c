package scim

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// One names a connection.
type One struct {
	Name string `path:"connection" json:"connection"`
}

// New is a connection that does not exist.
type New struct {
	Name          string         `json:"name"`
	Provider      operation.Text `json:"provider" required:"false" doc:"The provider whose rules map the groups to roles and teams; without it groups give nothing."`
	LinksAccounts bool           `json:"links_accounts,omitempty" doc:"The externalId of a person is the subject of their account at the provider, as with Okta."`
}

// maxName is the longest name of a connection in characters.
const maxName = 100

// Check implements operation.Checker.
func (n New) Check() error {
	var wrong fault.Wrong
	name := strings.TrimSpace(n.Name)
	wrong.If(name == "" || len([]rune(name)) > maxName || strings.Contains(name, "/"), "name",
		"name must have 1 to %d characters and no slash", maxName)
	wrong.If(n.LinksAccounts && n.Provider == "", "links_accounts", "links_accounts needs a provider")
	return wrong.Err()
}

// WithToken is a connection with the secret of a token that was just made.
type WithToken struct {
	Connection
	Secret string `json:"token" doc:"The secret. No later answer shows it: store it now."`
}

// Added is a new connection.
type Added struct{ WithToken }

// Location is the address of the connection.
func (a Added) Location() string { return operation.Path(GetConnection.Path, a.Name) }

// Giving gives a person to a connection.
type Giving struct {
	One
	Body Person `json:"body"`
}

// Person names a person.
type Person struct {
	User string `json:"user" minLength:"1"`
}

// OneHeld names a held deactivation.
type OneHeld struct {
	ID int64 `path:"deactivation" json:"id"`
}

// The operations on connections and held deactivations, for administrators.
var (
	ListConnections = operation.Define[operation.Paging, operation.Page[Connection]](operation.Doc{
		Name: "scim-connection.list", Method: http.MethodGet, Path: "/v1/scim-connections", Needs: operation.Admin,
		Summary: "Directories that push people with SCIM, by number"})
	AddConnection = operation.Define[New, Added](operation.Doc{Name: "scim-connection.create",
		Method: http.MethodPost, Path: "/v1/scim-connections", Needs: operation.Admin, Secret: true,
		Audit:   []audit.Action{audit.SCIMConnectionCreated},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Add a directory; only this answer has its token",
		Note:    "The directory uses /scim/v2, which describes itself at /scim/v2/Schemas. An Idempotency-Key is refused."})
	GetConnection = operation.Define[One, Connection](operation.Doc{Name: "scim-connection.get",
		Method: http.MethodGet, Path: "/v1/scim-connections/{connection}", Needs: operation.Admin,
		Summary: "A directory"})
	DeleteConnection = operation.Define[One, operation.None](operation.Doc{Name: "scim-connection.delete",
		Method: http.MethodDelete, Path: "/v1/scim-connections/{connection}", Needs: operation.Admin,
		Audit:   []audit.Action{audit.SCIMConnectionDeleted},
		Summary: "Remove a directory and its groups; people, roles and memberships stay"})
	RotateToken = operation.Define[One, WithToken](operation.Doc{Name: "scim-connection.rotate-token",
		Method: http.MethodPut, Path: "/v1/scim-connections/{connection}/token", Needs: operation.Admin, Secret: true,
		Status: http.StatusCreated, Audit: []audit.Action{audit.SCIMTokenCreated},
		Summary: "Create a token; if there are two already, the older one becomes invalid"})
	EndOldTokens = operation.Define[One, operation.None](operation.Doc{Name: "scim-connection.end-old-tokens",
		Method: http.MethodDelete, Path: "/v1/scim-connections/{connection}/token", Needs: operation.Admin,
		Audit: []audit.Action{audit.SCIMTokensEnded}, Summary: "End all tokens except the newest"})
	GiveUser = operation.Define[Giving, operation.None](operation.Doc{Name: "scim-connection.give-user",
		Method: http.MethodPost, Path: "/v1/scim-connections/{connection}/users", Needs: operation.Admin,
		Status: http.StatusNoContent, Audit: []audit.Action{audit.SCIMUserAdded},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Assign an existing person to a directory, which sees the person from then on",
		Note:    "409: the person belongs to a directory already."})
	ListHeld = operation.Define[operation.Paging, operation.Page[Held]](operation.Doc{Name: "held-deactivation.list",
		Method: http.MethodGet, Path: "/v1/held-deactivations", Needs: operation.Admin,
		Summary: "Deactivations by directories that wait for an administrator"})
	ConfirmHeld = operation.Define[OneHeld, operation.None](operation.Doc{Name: "held-deactivation.confirm",
		Method: http.MethodPost, Path: "/v1/held-deactivations/{deactivation}/confirm", Needs: operation.Admin,
		Status: http.StatusNoContent, Audit: []audit.Action{audit.DeactivationConfirmed, audit.UserSwitchedOff},
		Errors:  []int{http.StatusConflict, http.StatusUnprocessableEntity},
		Summary: "Carry out a held deactivation", Note: "422: the last active administrator stays."})
	RejectHeld = operation.Define[OneHeld, operation.None](operation.Doc{Name: "held-deactivation.reject",
		Method: http.MethodDelete, Path: "/v1/held-deactivations/{deactivation}", Needs: operation.Admin,
		Audit: []audit.Action{audit.DeactivationRejected}, Summary: "Reject a deactivation; the person stays active"})
)

// ConnectionStore stores connections and held deactivations. actor is the author in the audit log. An unknown name or
// number is a NotFound fault.
type ConnectionStore interface {
	// Connections and Held return at most so many rows with a larger number than after, by number.
	Connections(ctx context.Context, after int64, most int) ([]Connection, error)
	Connection(ctx context.Context, name string) (Connection, error)
	// Add stores a connection with its first token. A name that exists is a Conflict fault.
	Add(ctx context.Context, c Connection, hash []byte) (Connection, error)
	Rotate(ctx context.Context, c Connection, hash []byte, actor string) error
	EndOldTokens(ctx context.Context, c Connection, actor string) error
	Delete(ctx context.Context, c Connection, actor string) error
	// Give adds a person who exists to a connection.
	Give(ctx context.Context, c Connection, u users.User, actor string) (Resource, error)
	Held(ctx context.Context, after int64, most int) ([]Held, error)
	// Decide carries out a held deactivation, or rejects it.
	Decide(ctx context.Context, id int64, confirm bool, actor string) error
}

// Connections are the operations. They are safe for concurrent use.
type Connections struct {
	List         operation.Op[operation.Paging, operation.Page[Connection]]
	Add          operation.Op[New, Added]
	Get          operation.Op[One, Connection]
	Delete       operation.Op[One, operation.None]
	RotateToken  operation.Op[One, WithToken]
	EndOldTokens operation.Op[One, operation.None]
	GiveUser     operation.Op[Giving, operation.None]
	ListHeld     operation.Op[operation.Paging, operation.Page[Held]]
	Confirm      operation.Op[OneHeld, operation.None]
	Reject       operation.Op[OneHeld, operation.None]

	store     ConnectionStore
	people    users.Finder
	providers []string
}

// NewConnections returns the operations. providers are the names of the providers of single sign-on in the
// configuration.
func NewConnections(store ConnectionStore, people users.Finder, providers []string) *Connections {
	s := &Connections{store: store, people: people, providers: providers}
	s.List, s.Add, s.Get, s.Delete = ListConnections.By(s.list), AddConnection.By(s.add), GetConnection.By(s.get), DeleteConnection.By(s.remove)
	s.RotateToken, s.EndOldTokens, s.GiveUser = RotateToken.By(s.rotate), EndOldTokens.By(s.endOld), GiveUser.By(s.give)
	s.ListHeld, s.Confirm, s.Reject = ListHeld.By(s.held), ConfirmHeld.By(s.decide(true)), RejectHeld.By(s.decide(false))
	return s
}

func (s *Connections) list(ctx context.Context, _ operation.Actor, p operation.Paging) (out operation.Page[Connection], err error) {
	after, err := p.Before()
	if err != nil {
		return out, err
	}
	found, err := s.store.Connections(ctx, after, p.Size()+1)
	return operation.PageOf(p, found, func(one Connection) int64 { return one.ID }), err
}

func (s *Connections) add(ctx context.Context, by operation.Actor, n New) (out Added, err error) {
	provider := string(n.Provider)
	if provider != "" && !slices.Contains(s.providers, provider) {
		return out, fault.Invalidf("provider", "there is no provider %.60q in the configuration; known: %s", provider,
			strings.Join(s.providers, ", "))
	}
	out.WithToken, err = s.token(ctx, func(hash []byte) (string, error) {
		made, err := s.store.Add(ctx, Connection{Name: strings.TrimSpace(n.Name), Provider: n.Provider,
			LinksAccounts: n.LinksAccounts, CreatedBy: by.Name}, hash)
		return made.Name, err
	})
	return out, err
}

// token makes a token and returns the stored connection with it. store returns the name of the connection.
func (s *Connections) token(ctx context.Context, store func(hash []byte) (string, error)) (out WithToken, err error) {
	out.Secret = tokens.Make(tokens.ForDirectory)
	_, hash, err := tokens.Hash(out.Secret)
	if err != nil {
		return out, err
	}
	name, err := store(hash)
	if err == nil {
		out.Connection, err = s.store.Connection(ctx, name)
	}
	return out, err
}

func (s *Connections) get(ctx context.Context, _ operation.Actor, one One) (Connection, error) {
	return s.store.Connection(ctx, one.Name)
}

func (s *Connections) remove(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	c, err := s.store.Connection(ctx, one.Name)
	if err == nil {
		err = s.store.Delete(ctx, c, by.Name)
	}
	return none, err
}

// rotate makes a further token. The oldest of three becomes invalid.
func (s *Connections) rotate(ctx context.Context, by operation.Actor, one One) (WithToken, error) {
	c, err := s.store.Connection(ctx, one.Name)
	if err != nil {
		return WithToken{}, err
	}
	return s.token(ctx, func(hash []byte) (string, error) {
		return c.Name, s.store.Rotate(ctx, c, hash, by.Name)
	})
}

func (s *Connections) endOld(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	c, err := s.store.Connection(ctx, one.Name)
	if err == nil {
		err = s.store.EndOldTokens(ctx, c, by.Name)
	}
	return none, err
}

// give adds a person who exists to a connection. The directory sees the person from then on.
func (s *Connections) give(ctx context.Context, by operation.Actor, g Giving) (none operation.None, err error) {
	c, err := s.store.Connection(ctx, g.Name)
	if err != nil {
		return none, err
	}
	u, err := s.people.ByName(ctx, g.Body.User)
	if err != nil {
		return none, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %.100q", g.Body.User))
	}
	_, err = s.store.Give(ctx, c, u, by.Name)
	return none, err
}

func (s *Connections) held(ctx context.Context, _ operation.Actor, p operation.Paging) (out operation.Page[Held], err error) {
	after, err := p.Before()
	if err != nil {
		return out, err
	}
	found, err := s.store.Held(ctx, after, p.Size()+1)
	return operation.PageOf(p, found, func(one Held) int64 { return one.ID }), err
}

// decide returns the function that confirms or rejects a held deactivation.
func (s *Connections) decide(confirm bool) func(context.Context, operation.Actor, OneHeld) (operation.None, error) {
	return func(ctx context.Context, by operation.Actor, one OneHeld) (none operation.None, err error) {
		return none, s.store.Decide(ctx, one.ID, confirm, by.Name)
	}
}
