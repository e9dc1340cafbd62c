package auth

import (
	"slices"

	"github.com/iris-oncall/iris/internal/users"
)

// ServiceTeam returns the id of the team whose service token the actor is; 0 = another kind of caller.
func (a Actor) ServiceTeam() int64 {
	if a.Service == "" || len(a.TeamAdminOf) == 0 {
		return 0
	}
	return a.TeamAdminOf[0]
}

// InTeam reports whether the actor is a member of the team, or its service token, and may write.
func (a Actor) InTeam(t users.OwningTeam) bool {
	return !a.ReadOnly && t.ID != 0 && (slices.Contains(a.MemberOf, t.ID) || a.UserID != 0 &&
		slices.Contains(t.Members, a.UserID))
}
