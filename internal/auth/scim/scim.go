package scim

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Connection is a directory that pushes people. It sees only the people and groups that it made, and people whom an
// administrator gave to it.
type Connection struct {
	ID   int64  `json:"-"`
	Name string `json:"name"`
	// Provider is the provider of single sign-on whose rules map groups to roles and teams; "" = groups give nothing.
	Provider operation.Text `json:"provider"`
	// LinksAccounts: the externalId of a person is the subject of the account at the provider, so SCIM links the
	// account.
	LinksAccounts bool       `json:"links_accounts"`
	CreatedBy     string     `json:"created_by"`
	CreatedAt     time.Time  `json:"created_at"`
	Tokens        []TokenUse `json:"tokens" doc:"The oldest first."` // at most MaxTokens
}

// TokenUse is a token of a connection without its secret.
type TokenUse struct {
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at" doc:"Exact to about one minute; null = never."`
}

// MaxTokens is how many tokens a connection can have: two during a rotation.
const MaxTokens = 2

// Resource is a person or a group of a connection.
type Resource struct {
	ID        string // a number
	Document  Document
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// List is a page of a list.
type List struct {
	Total     int
	Resources []Resource
}

// Window is the part of a list that a request asks for.
type Window struct {
	Start int // 1-based
	Count int
	// WithoutMembers leaves out the members of groups.
	WithoutMembers bool
}

// Users stores the people of a connection. Each change is one transaction, with an entry in the audit log. A connection
// does not find the people of others: they are a NotFound fault. A name that exists is a Conflict fault.
type Users interface {
	Users(ctx context.Context, c Connection, f Filter, w Window) (List, error)
	CreateUser(ctx context.Context, c Connection, d Document, p Policy) (Resource, error)
	// SaveUser replaces a person. It returns a Stale fault if the version is not the stored one.
	SaveUser(ctx context.Context, c Connection, r Resource, p Policy) (Resource, error)
	// DeleteUser deactivates a person and hides it from the connection. Its history stays.
	DeleteUser(ctx context.Context, c Connection, id string, p Policy) error
}

// Groups stores the groups of a connection, in the same way as Users.
type Groups interface {
	Groups(ctx context.Context, c Connection, f Filter, w Window) (List, error)
	CreateGroup(ctx context.Context, c Connection, d Document, p Policy) (Resource, error)
	SaveGroup(ctx context.Context, c Connection, r Resource, p Policy) (Resource, error)
	DeleteGroup(ctx context.Context, c Connection, id string, p Policy) error
}

// Policy is what storage asks the domain in a transaction.
type Policy struct {
	// MostDeactivations is how many people a connection may deactivate in an hour. Further ones are held until an
	// administrator decides.
	MostDeactivations int
	Rules             sso.Rules    // of the connection's provider
	Issuer            string       // of the connection's provider; "" = unknown
	Region            users.Region // the country of phone numbers without a country code
}

// Holds reports whether a deactivation waits for an administrator, after so many of the connection in the last hour. A
// directory that was emptied by mistake must not switch off everybody who is on call.
func (p Policy) Holds(lastHour int) bool { return lastHour >= p.MostDeactivations }

// ErrLastAdmin is the refusal of the deactivation of the last active administrator.
var ErrLastAdmin = &fault.Error{Kind: fault.Invalid, Field: "active",
	Message: "the last active administrator of Iris cannot be deactivated: make another person an administrator first"}

// Held is a deactivation that waits for an administrator.
type Held struct {
	ID          int64     `json:"id"`
	Connection  string    `json:"connection"`
	User        string    `json:"user"`
	RequestedAt time.Time `json:"requested_at"`
}
