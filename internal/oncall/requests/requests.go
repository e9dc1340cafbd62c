package requests

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Requests admits callers, and finds what they ask for. All parts are required. It is safe for concurrent use.
type Requests struct {
	calendaring.Finder
	Openings    auth.Openings
	Memberships auth.Memberships
	// Grace is the time after the start of a shift in which members of the team may still edit it.
	Grace time.Duration
}

// Admit refuses callers who may not use a route of a calendar API.
func (a Requests) Admit(rt routing.Route, r *http.Request) error {
	actor := wire.Actor(r.Context())
	switch rt.Access {
	case routing.Read:
		return actor.MayReadOncall(a.Openings)
	case routing.Self, routing.Someone:
		return actor.MayUseOncall(false)
	case routing.Write:
		return actor.MayUseOncall(rt.Method != http.MethodGet)
	case routing.Public:
	}
	return nil
}

// PersonNamed finds a user by name. It refuses callers who may not change the user's settings; reads: who may not read
// them.
func (a Requests) PersonNamed(ctx context.Context, name string, reads bool) (oncall.Person, error) {
	u, err := a.People.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if err != nil {
		u.User = users.User{Name: name} // only administrators learn that the user does not exist
	}
	var theirs []int64
	if err == nil {
		teams, err := a.People.Teams(ctx, u.ID)
		if err != nil {
			return u, err
		}
		for _, t := range teams {
			if !u.Admin { // an administrator of a team may not change an administrator of Iris
				theirs = append(theirs, t.ID)
			}
		}
	}
	actor := wire.Actor(ctx)
	if a.Openings.AdminsEditMembers && actor.UserID != 0 && !reads && len(actor.TeamAdminOf)+len(actor.MemberOf) == 0 { // pages do not read the teams of their readers
		var failed error
		if actor, failed = withTeams(ctx, a.Memberships, actor); failed != nil {
			return u, failed
		}
	}
	if refused := actor.MayEditPerson(u.User, theirs, reads, a.Openings); refused != nil {
		return u, refused
	}
	return u, err
}
