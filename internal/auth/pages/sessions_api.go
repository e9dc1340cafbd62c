// This file serves the routes of /v1 about web sessions. People end their own, administrators those of anybody. No
// answer has the secret of a session.

package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// SessionStore stores sessions. An ended session is refused with the next request, on every server.
type SessionStore interface {
	// OfUser returns the running sessions of a person, newest first. current is the token of the session that asks.
	OfUser(ctx context.Context, user users.ID, current string) ([]auth.Session, error)
	// End ends a session of a person; user 0 = of anybody.
	End(ctx context.Context, id int64, user users.ID, actor string) error
	// EndOthers ends all sessions of a person except the one with the token.
	EndOthers(ctx context.Context, u users.User, current, actor string) error
}

// SessionPeople finds people by name.
type SessionPeople interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// SessionAPIDeps are the parts that the routes work on.
type SessionAPIDeps struct {
	Sessions SessionStore
	People   SessionPeople
}

type sessionRoutes struct{ SessionAPIDeps }

// SessionRoutes returns the routes.
func SessionRoutes(d SessionAPIDeps) []routing.Route {
	a := sessionRoutes{d}
	return []routing.Route{
		routing.Get("/v1/sessions", routing.Someone, a.list),
		routing.Delete("/v1/sessions", routing.Self, a.endOthers),
		routing.Delete("/v1/sessions/{session}", routing.Self, a.end),
	}
}

// session is a session on the wire.
type session struct {
	ID         int64   `json:"id"`
	How        *string `json:"how"`
	Address    *string `json:"address"`
	Device     *string `json:"device"`
	CreatedAt  *string `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`
	ExpiresAt  *string `json:"expires_at"`
	Current    bool    `json:"current"`
}

func sessionShow(s auth.Session) any {
	return session{ID: s.ID, How: listing.OrNull(s.How), Address: listing.OrNull(s.Address),
		Device: listing.OrNull(s.Device), CreatedAt: listing.Time(s.CreatedAt),
		LastUsedAt: listing.Time(s.LastUsedAt), ExpiresAt: listing.Time(s.ExpiresAt), Current: s.Current}
}

// person returns whose sessions a request is about: those of the caller, or those of the person that an administrator
// names.
func (a sessionRoutes) person(r *http.Request, name string) (u users.User, err error) {
	actor := wire.Actor(r.Context())
	if err := actor.MayHoldTokens(); err != nil {
		return u, err
	}
	if name == "" || users.SameName(name, actor.Username) {
		return users.User{ID: actor.UserID, Name: actor.Username}, nil
	}
	if err := actor.MayAdminister(); err != nil {
		return u, err
	}
	u, err = a.People.ByName(r.Context(), name)
	return u, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %.100q", name))
}

// sessionToken returns the token of the session of a request; "" = it has none.
func sessionToken(r *http.Request) string {
	if c, err := r.Cookie(wire.SessionCookie); err == nil && !wire.HasBearer(r) {
		return c.Value
	}
	return ""
}

// list answers with the caller's running sessions; with ?user=NAME it answers administrators with those of a person. A
// person has few, so all are on one page.
func (a sessionRoutes) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "user")
	if err != nil {
		return err
	}
	name, _ := q.Text("user")
	u, err := a.person(r, name)
	if err != nil {
		return err
	}
	found, err := a.Sessions.OfUser(r.Context(), u.ID, sessionToken(r))
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, found[:min(len(found), q.Size)], sessionShow,
		func(s auth.Session) string { return strconv.FormatInt(s.ID, 10) })
}

// endOthers ends the caller's sessions except the one that asks; with ?user=NAME, all of a person.
func (a sessionRoutes) endOthers(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r, "user")
	if err != nil {
		return err
	}
	name, _ := q.Text("user")
	u, err := a.person(r, name)
	if err == nil {
		err = a.Sessions.EndOthers(r.Context(), u, sessionToken(r), wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// end ends a session of the caller. Administrators end any.
func (a sessionRoutes) end(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayHoldTokens(); err != nil {
		return err
	}
	owner := actor.UserID
	if actor.MayAdminister() == nil {
		owner = 0
	}
	id, err := strconv.ParseInt(wire.Param(r, "session"), 10, 64)
	if err != nil || id <= 0 {
		return fault.New(fault.NotFound, "there is no such session")
	}
	if err := a.Sessions.End(r.Context(), id, owner, actor.String()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
