package auth

import (
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// ErrNotOwner refuses a change of the team that owns an object.
var ErrNotOwner = fault.New(fault.Forbidden, "Only administrators, the owner and administrators of the team that owns this may give it to another team")

// MayChange reports whether the actor may delete, activate or deactivate a plan or template. With a team as the owner its members may, without
// one the creator.
func (a Actor) MayChange(creator users.ID, team users.OwningTeam, open Openings) bool {
	if open.ChangeAnyPlan && a.MayTry(open) == nil {
		return true
	}
	if team.ID == 0 {
		return a.MayActAs(users.User{ID: creator}, open)
	}
	return a.InTeam(team) || a.mayActAsAnybody(open)
}

// ServiceTeam returns the id of the team whose service token the actor is; 0 = another kind of caller.
func (a Actor) ServiceTeam() int64 {
	if a.Service == "" || len(a.TeamAdminOf) == 0 {
		return 0
	}
	return a.TeamAdminOf[0]
}

// InTeam reports whether the actor is a member of the team, or its service token, and may write.
func (a Actor) InTeam(t users.OwningTeam) bool {
	return !a.ReadOnly && t.ID != 0 && (slices.Contains(a.MemberOf, t.ID) || a.UserID != 0 && slices.Contains(t.Members, a.UserID))
}

// manages reports whether the actor administers the team, or is its service token, and may write.
func (a Actor) manages(t users.OwningTeam) bool {
	return !a.ReadOnly && t.ID != 0 && (slices.Contains(a.TeamAdminOf, t.ID) || a.UserID != 0 && slices.Contains(t.Managers, a.UserID))
}

// MayGive allows a change of the team that owns an object, from one team to another; the zero team = none. Administrators may do it, and
// administrators of the present team. Without a present team, an owner may give the object to a team of their own. owns says whether the actor is an
// owner.
func (a Actor) MayGive(owns bool, from, to users.OwningTeam) error {
	if err := a.MayWrite(); err != nil {
		return err
	}
	if a.Admin || a.manages(from) || from.ID == 0 && owns && (to.ID == 0 || a.InTeam(to)) {
		return nil
	}
	return ErrNotOwner
}
