package teams

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// OnePerson names a person of a team.
type OnePerson struct {
	users.OneTeam
	User string `path:"user" json:"user"`
}

// The operations on the people of teams.
var (
	AddMember = operation.Define[OnePerson, operation.None](operation.Doc{Name: "team.add-member",
		Method: http.MethodPut, Path: "/v1/teams/{team}/members/{user}", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfTeam, Audit: []audit.Action{audit.TeamMemberAdded},
		Summary: "Make a person a member of a team; a member stays one"})
	RemoveMember = operation.Define[OnePerson, operation.None](operation.Doc{Name: "team.remove-member",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/members/{user}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.TeamMemberRemoved}, Errors: []int{http.StatusConflict},
		Summary: "Remove a person from the members of a team; rosters and administrators stay",
		Note:    "409: groups at an identity provider give the membership."})
	AddAdmin = operation.Define[OnePerson, operation.None](operation.Doc{Name: "team.add-admin",
		Method: http.MethodPut, Path: "/v1/teams/{team}/admins/{user}", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfTeam, Audit: []audit.Action{audit.TeamAdminAdded},
		Summary: "Make a person a member and administrator of a team; an administrator stays one"})
	RemoveAdmin = operation.Define[OnePerson, operation.None](operation.Doc{Name: "team.remove-admin",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/admins/{user}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit:   []audit.Action{audit.TeamAdminRemoved},
		Summary: "Remove a person from the administrators of a team",
		Note:    "A person who is in no roster of the team also leaves the team."})
)

var (
	errNoUser   = fault.New(fault.NotFound, "there is no such user")
	errNoMember = fault.New(fault.NotFound, "this person is not a member of the team")
	errNoAdmin  = fault.New(fault.NotFound, "this person is not an administrator of the team")
)

// onPerson is the function of an operation on a person of a team.
type onPerson = func(context.Context, operation.Actor, OnePerson) (operation.None, error)

// changeOfPerson adds a person to those of a team, or removes the person.
type changeOfPerson func(ctx context.Context, team oncall.Profile, user oncall.Person, by oncall.By) error

// adding returns the function of an operation that adds a person. A person who is there already is no error.
func (t *Teams) adding(add changeOfPerson) onPerson {
	return func(ctx context.Context, by operation.Actor, one OnePerson) (none operation.None, err error) {
		team, err := t.deps.Administrators.Own(ctx, by, one.Team)
		if err != nil {
			return none, err
		}
		u, err := t.deps.People.ByName(ctx, one.User)
		if err != nil {
			return none, fault.When(err, fault.NotFound, errNoUser)
		}
		return none, fault.When(add(ctx, team, u, planning.Author(by, nil)), fault.Conflict, nil)
	}
}

// removing returns the function of an operation that removes a person. missing is the fault of a person who is not
// there.
func (t *Teams) removing(remove changeOfPerson, missing error) onPerson {
	return func(ctx context.Context, by operation.Actor, one OnePerson) (none operation.None, err error) {
		team, err := t.deps.Administrators.Own(ctx, by, one.Team)
		if err != nil {
			return none, err
		}
		u, err := t.deps.People.ByName(ctx, one.User)
		if err != nil {
			return none, fault.When(err, fault.NotFound, errNoUser)
		}
		return none, fault.When(remove(ctx, team, u, planning.Author(by, nil)), fault.NotFound, missing)
	}
}
