// Package notifications accepts out-of-band notifications: it finds who a notification is for, chooses a mode for each
// person, and stores the notification with one message for each recipient. The edges of /v0 and /v1 call it. It knows no
// transport; a fault names the field as bodies of /v1 spell it.
package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// LiteralRole is the role of targets that are addresses themselves: an e-mail address, a number, a channel.
const LiteralRole = "literal_target"

// MaxRecipients is how many messages one notification has at most.
const MaxRecipients = 1000

// What a fault of Accept wraps, for edges that have texts of their own.
var (
	ErrRole     = errors.New("there is no such role")
	ErrTarget   = errors.New("there is no such target")
	ErrMismatch = errors.New("the role and the target mean nobody")
	ErrTooMany  = errors.New("there are too many recipients")
)

// Store stores notifications.
type Store interface {
	Create(ctx context.Context, n messages.Notification) (int64, error)
	// Lookup finds what a role and a name mean, up to a second old.
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
	// Category finds a category of an application by name; a NotFound fault when there is none.
	Category(ctx context.Context, applicationID int64, name string) (messages.Category, error)
	// CategoryChoices returns the modes that people chose for a category.
	CategoryChoices(ctx context.Context, category int64, people []users.ID) (map[users.ID]users.Mode, error)
}

// Directory reads how people can be reached and what applications allow, in batches.
type Directory interface {
	Responders(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error)
	Applications(ctx context.Context, ids []int64) (map[int64]escalation.Application, error)
}

// Resolver finds the people that a role of a target means.
type Resolver interface {
	Resolve(ctx context.Context, q oncall.Query, t time.Time) (oncall.Answer, error)
}

// Load limits how much of an application may wait, and counts what is accepted.
type Load interface {
	// Notifications returns for how long the application must wait before it sends another one; 0 = not at all.
	Notifications(ctx context.Context, app auth.Application) time.Duration
	Accepted(applicationID int64, n int)
}

// Request is a notification as its sender asks for it. One of Priority, Mode and Category decides the mode.
type Request struct {
	Targets []Target
	// SkipUnknown leaves out targets that mean nobody while another one means somebody. Otherwise they are refused.
	SkipUnknown bool
	// Together: every mail names all recipients that are not hidden. Otherwise it names its own.
	Together  bool
	Subject   string
	Body      string
	EmailHTML string
	Template  string          // "" = none
	Context   json.RawMessage // for the template; nil = none
	Priority  users.Priority
	Mode      users.Mode // decides even when there is a priority
	Category  string     // of the application
}

// Target is a role and a name, such as oncall-primary and a team.
type Target struct {
	Role, Name string
	Hidden     bool // mails to others do not name these recipients
}

// Deps are the parts that an Acceptor works on. All are required.
type Deps struct {
	Store     Store
	Directory Directory
	Resolver  Resolver
	Load      Load
	// DummyRoles: the Resolver answers for any role of any target, also for those that do not exist.
	DummyRoles bool `optional:"true"`
	// Lifetime is for how long a notification is worth sending; 0 = 1 hour.
	Lifetime time.Duration `optional:"true"`
}

// Acceptor accepts notifications. It is safe for concurrent use.
type Acceptor struct {
	Deps
	responders *oncall.Recent[users.ResponderKey, users.Responder]
	modes      *oncall.Recent[int64, escalation.Application]
}

// keepFor is for how long contacts and modes are used without another read.
const keepFor = time.Second

// New returns an Acceptor.
func New(d Deps) *Acceptor {
	if d.Lifetime <= 0 {
		d.Lifetime = time.Hour
	}
	return &Acceptor{Deps: d, responders: oncall.NewRecent(keepFor, d.Directory.Responders), modes: oncall.NewRecent(keepFor, d.Directory.Applications)}
}

// Within returns an Acceptor over the store of a unit of work. It shares what a caches.
func (a *Acceptor) Within(s Store) *Acceptor {
	c := *a
	c.Store = s
	return &c
}
