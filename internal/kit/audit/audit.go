package audit

import (
	"context"
	"time"
)

// Kind is the kind of an actor.
type Kind string

// The kinds of actors.
const (
	Person      Kind = "person"
	Application Kind = "application"
	Service     Kind = "service_token" // a service token
	Operator    Kind = "operator"      // a command on the server, with access to the database
	Directory   Kind = "directory"     // the sync with LDAP or Slack, or SCIM
	Provider    Kind = "provider"      // single sign-on
	Program     Kind = "program"       // Iris itself
	Nobody      Kind = "nobody"        // a request without credentials
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Person, Application, Service, Operator, Directory, Provider, Program, Nobody}
}

// Origin says who makes a change and from where. A request, command or job puts it into its context; the storage reads
// it there. The zero value is a program of Iris.
type Origin struct {
	Kind    Kind
	Actor   string // the name, for example "ann"
	ActorID int64  // the id of the person, application, service token or SCIM connection; 0 = none
	Through string // the application that acts for the person; "" = the person acts directly
	TokenID int64  // the personal token or service token of the request; 0 = none
	Address string // of the client; "" = no request
	Request string // the id of the request, as in the header X-Iris-Request-Id; "" = no request
	// OldLogin means that the request has a session whose log-in is not recent: dangerous changes are refused. It is
	// not stored.
	OldLogin bool
}

type originKey struct{}

// With returns a context whose changes have the origin.
func With(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// From returns the origin of changes in the context.
func From(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	if o.Kind == "" {
		o.Kind = Program
	}
	return o
}

// As returns a context in which another actor acts from the same client.
func As(ctx context.Context, k Kind, id int64, name string) context.Context {
	o := From(ctx)
	return With(ctx, Origin{Kind: k, Actor: name, ActorID: id, Address: o.Address, Request: o.Request})
}

// Change is the value of a field before and after. A secret has a fingerprint.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"` // "" = it had none
	After  string `json:"after,omitempty"`  // "" = it has none
}

// Entry is a change that is to be logged.
type Entry struct {
	Actor   string // another name than that of the origin, for example "SCIM: corp"; "" = that of the origin
	Action  Action
	Object  string // kind and name of the changed object, for example "plan db-on-call"
	Detail  string // a note for people; never a secret
	Changes []Change
	// Wide means that the change could stop the pages of everybody for long. It is not stored.
	Wide bool
}

// Record is a stored entry.
type Record struct {
	Entry
	ID   int64
	At   time.Time
	From Origin // without Actor
}
