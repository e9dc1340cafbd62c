package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// LiteralRole is the role of targets that are addresses themselves: an e-mail address, a number, a channel.
const LiteralRole = "literal_target"

// MaxRecipients is the maximum number of messages of one notification.
const MaxRecipients = 1000

// The errors inside the faults of Accept, for edges that have their own texts.
var (
	ErrRole     = errors.New("there is no such role")
	ErrTarget   = errors.New("there is no such target")
	ErrMismatch = errors.New("the role and the target mean nobody")
	ErrTooMany  = errors.New("there are too many recipients")
)

// Lookups finds the people that a role and a name mean. The result may be a second old.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// Store stores notifications.
type Store interface {
	Lookups
	Create(ctx context.Context, n messages.Notification) (int64, error)
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

// Load limits the pending messages of an application, and counts accepted ones.
type Load interface {
	// Notifications returns how long the application must wait before its next notification; 0 = it need not wait.
	Notifications(ctx context.Context, app auth.Application) time.Duration
	Accepted(applicationID int64, n int)
}

// Request asks for a notification. Category decides the mode; without it Mode does, and without
// that Priority.
type Request struct {
	Targets []Target
	// SkipUnknown says that unknown targets are ignored if at least one target is known. Otherwise an unknown target is
	// a fault.
	SkipUnknown bool
	// Together says that each e-mail names all recipients that are not hidden. Otherwise an e-mail names only its own
	// recipient.
	Together  bool
	Subject   string
	Body      string
	EmailHTML string
	Template  string          // "" = none
	Context   json.RawMessage // for the template; nil = none
	Priority  users.Priority
	Mode      users.Mode // takes precedence over Priority
	Category  string     // of the application
}

// Target is a role and a name, such as oncall-primary and a team.
type Target struct {
	Role   string `json:"role" doc:"A role such as user or oncall-primary, or literal_target for an address or number."`
	Name   string `json:"name"`
	Hidden bool   `json:"hidden" required:"false" nullable:"true" doc:"true: e-mails to the other targets do not name the recipients of this target."`
}

// Deps are the parts that an Acceptor works on. All are required.
type Deps struct {
	Store     Store
	Directory Directory
	Resolver  Resolver
	Load      Load
	// DummyRoles is set if the Resolver answers for any role and target, even if they do not exist.
	DummyRoles bool `optional:"true"`
	// Clock decides who is on call; nil = the clock of this process.
	Clock *clock.Database `optional:"true"`
	// Lifetime is the time after which an unsent notification expires; 0 = 1 hour.
	Lifetime time.Duration `optional:"true"`
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// Acceptor accepts notifications. It is safe for concurrent use.
type Acceptor struct {
	Deps
	responders *oncall.Recent[users.ResponderKey, users.Responder]
	modes      *oncall.Recent[int64, escalation.Application]
}

// keepFor is how long contacts and modes are cached.
const keepFor = time.Second

// New returns an Acceptor.
func New(d Deps) *Acceptor {
	if d.Lifetime <= 0 {
		d.Lifetime = time.Hour
	}
	return &Acceptor{Deps: d, responders: oncall.NewRecent(keepFor, d.Directory.Responders),
		modes: oncall.NewRecent(keepFor, d.Directory.Applications)}
}
