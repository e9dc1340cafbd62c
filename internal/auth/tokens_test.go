package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/users"
)

// The compatibility switch lets administrators of a team change its members, but not the team's service tokens.
func TestServiceTokensEditNoPeople(t *testing.T) {
	t.Parallel()
	bob, open := users.User{ID: 6, Name: "bob"}, auth.Openings{AdminsEditMembers: true}
	token := auth.ByService(auth.Application{ID: 1, AllowOncall: true},
		tokens.Service{ID: 1, TeamID: 7, Team: "ops", Scopes: tokens.Scopes{tokens.Admin}})
	require.NoError(t, auth.Actor{UserID: 5, Username: "ann", TeamAdminOf: []int64{7}}.MayEditPerson(bob, []int64{7},
		false, open))
	require.Error(t, token.MayEditPerson(bob, []int64{7}, false, open))
	readOnly := auth.Actor{UserID: 5, Username: "root", Admin: true, ReadOnly: true}
	require.NoError(t, readOnly.MayEditPerson(bob, nil, true, open), "reads what administrators read")
	require.Error(t, readOnly.MayEditPerson(bob, nil, false, open), "changes nothing of other people")
	require.Error(t, token.MaySelf(bob))
	require.Error(t, tokens.RequirePerson(token.Caller(open)))
	require.False(t, token.MayActAs(bob, open))
	planner := auth.Planner{Actor: token.CalendarCaller(open)}
	require.NoError(t, planner.MayAdministerTeam(7, "ops"))
	require.Error(t, planner.MayAdministerTeam(8, "other"))
}
