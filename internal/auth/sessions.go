package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Keys of the values of a web session that its row has too, for lists.
const (
	SessionUserID  = "user_id"
	SessionHow     = "how"
	SessionAddress = "address"
	SessionDevice  = "device"
)

// Session is a running web session of a person, without its secret.
type Session struct {
	ID         int64          `json:"id"`
	How        operation.Text `json:"how" doc:"password, or the name of the provider; null = unknown."`
	Address    operation.Text `json:"address" doc:"Of the log-in."`
	Device     operation.Text `json:"device" doc:"Browser and system, such as: Firefox on Linux."`
	CreatedAt  time.Time      `json:"created_at"`
	LastUsedAt time.Time      `json:"last_used_at" doc:"Exact to about one minute."`
	ExpiresAt  time.Time      `json:"expires_at"`
	Current    bool           `json:"current" doc:"true: the session of this request."`
}

type backgroundKey struct{}

// WithBackground returns a context for requests that the browser sends by itself while a page is open. They do not
// extend the session: it ends after the idle time although the page is open.
func WithBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether WithBackground has marked the request of this context.
func IsBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// SessionFilter selects sessions.
type SessionFilter struct {
	operation.Paging
	SessionsOf
}

// SessionsOf names whose sessions an operation is about.
type SessionsOf struct {
	User string `query:"user" json:"user,omitempty" doc:"The person, for administrators; without it, the caller."`
}

// OneSession names a session.
type OneSession struct {
	ID int64 `path:"session" json:"id"`
}

// The operations on sessions.
var (
	ListSessions = operation.Define[SessionFilter, operation.Page[Session]](operation.Doc{Name: "session.list",
		Method: http.MethodGet, Path: "/v1/sessions", Needs: operation.Reader, Rule: operation.Themselves,
		Summary: "One's own running web sessions, newest first; administrators name a person"})
	EndSessions = operation.Define[SessionsOf, operation.None](operation.Doc{Name: "session.end-others",
		Method: http.MethodDelete, Path: "/v1/sessions", Needs: operation.Reader, Rule: operation.Themselves,
		Audit:   []audit.Action{audit.SessionsEnded},
		Summary: "End one's own sessions except this one; administrators end all of a person",
		Note:    "Takes effect at once, on every server."})
	EndSession = operation.Define[OneSession, operation.None](operation.Doc{Name: "session.end",
		Method: http.MethodDelete, Path: "/v1/sessions/{session}", Needs: operation.Reader, Rule: operation.TheirOwn,
		Audit: []audit.Action{audit.SessionEnded}, Summary: "End a session; administrators end any"})
)

// SessionStore stores sessions. An ended session is refused with the next request, on every server.
type SessionStore interface {
	// OfUser returns the running sessions of a person, newest first. current is the token of the session that asks; "" =
	// none.
	OfUser(ctx context.Context, user users.ID, current string) ([]Session, error)
	// End ends a session of a person; user 0 = of anybody.
	End(ctx context.Context, id int64, user users.ID, actor string) error
	// EndOthers ends all sessions of a person except the one with the token.
	EndOthers(ctx context.Context, u users.User, current, actor string) error
}

// Sessions are the operations on sessions. They are safe for concurrent use.
type Sessions struct {
	List      operation.Op[SessionFilter, operation.Page[Session]]
	EndOthers operation.Op[SessionsOf, operation.None]
	End       operation.Op[OneSession, operation.None]

	store   SessionStore
	people  users.Finder
	current func(context.Context) string
}

// NewSessions returns the operations. current returns the token of the session of a request that has no other token.
func NewSessions(store SessionStore, people users.Finder, current func(context.Context) string) *Sessions {
	s := &Sessions{store: store, people: people, current: current}
	s.List, s.EndOthers, s.End = ListSessions.By(s.list), EndSessions.By(s.endOthers), EndSession.By(s.end)
	return s
}

// of returns whose sessions an operation is about, and the token of the session that asks: those of the caller, or
// those of the person that an administrator names.
func (s *Sessions) of(ctx context.Context, by operation.Actor, name string) (u users.User, current string, err error) {
	if err := tokens.RequirePerson(by); err != nil {
		return u, "", err
	}
	if by.Token == 0 {
		current = s.current(ctx)
	}
	if name == "" || users.SameName(name, by.Name) {
		return users.User{ID: users.ID(by.Person), Name: by.Name}, current, nil
	}
	if err := by.Require(operation.Admin); err != nil {
		return u, "", err
	}
	u, err = s.people.ByName(ctx, name)
	return u, current, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %.100q", name))
}

// list has one page: a person has few sessions.
func (s *Sessions) list(ctx context.Context, by operation.Actor, f SessionFilter) (out operation.Page[Session], err error) {
	u, current, err := s.of(ctx, by, f.User)
	if err != nil {
		return out, err
	}
	found, err := s.store.OfUser(ctx, u.ID, current)
	return operation.Page[Session]{Items: append([]Session{}, found[:min(len(found), f.Size())]...)}, err
}

// endOthers ends the sessions of a person except the one that asks.
func (s *Sessions) endOthers(ctx context.Context, by operation.Actor, o SessionsOf) (none operation.None, err error) {
	u, current, err := s.of(ctx, by, o.User)
	if err != nil {
		return none, err
	}
	return none, s.store.EndOthers(ctx, u, current, by.Name)
}

func (s *Sessions) end(ctx context.Context, by operation.Actor, one OneSession) (none operation.None, err error) {
	if err := tokens.RequirePerson(by); err != nil {
		return none, err
	}
	owner := users.ID(by.Person)
	if by.Role == operation.Admin {
		owner = 0
	}
	return none, s.store.End(ctx, one.ID, owner, by.Name)
}
