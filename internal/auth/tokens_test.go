package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/users"
)

func TestMayManageServiceToken(t *testing.T) {
	t.Parallel()
	ofTeam, ofAdministrators := tokens.Service{TeamID: 7, Team: "ops",
		Scopes: tokens.Scopes{tokens.Admin}}, tokens.Service{Scopes: tokens.Scopes{tokens.Admin}}
	person := func(admin bool, teams ...int64) auth.Actor {
		return auth.Actor{UserID: 1, Username: "ann", Session: true, Admin: admin, TeamAdminOf: teams}
	}
	for name, c := range map[string]struct {
		actor                auth.Actor
		team, administrators bool
	}{
		"an administrator":                 {person(true), true, true},
		"an administrator of the team":     {person(false, 3, 7), true, false},
		"an administrator of another team": {person(false, 3), false, false},
		"a person with a wrong team":       {person(false, 0), false, false},
		"a service token of the team":      {auth.ByService(auth.Application{ID: 1}, ofTeam), false, false},
		"a service token of administrators": {auth.ByService(auth.Application{ID: 1}, ofAdministrators), false,
			false},
		"an application that acts for people": {auth.Actor{ApplicationID: 1, UserID: 1, Username: "ann",
			ActsForUsers: true, Admin: true}, false, false},
		"nobody": {auth.Actor{}, false, false},
	} {
		require.Equal(t, c.team, c.actor.MayManageServiceToken(ofTeam) == nil, name)
		require.Equal(t, c.administrators, c.actor.MayManageServiceToken(ofAdministrators) == nil, name)
	}
}

// The compatibility switch lets administrators of a team change its members, but not the team's service tokens.
func TestServiceTokensEditNoPeople(t *testing.T) {
	t.Parallel()
	bob, open := users.User{ID: 6, Name: "bob"}, auth.Openings{AdminsEditMembers: true}
	token := auth.ByService(auth.Application{ID: 1, AllowOncall: true},
		tokens.Service{ID: 1, TeamID: 7, Team: "ops", Scopes: tokens.Scopes{tokens.Admin}})
	require.NoError(t, auth.Actor{UserID: 5, Username: "ann", TeamAdminOf: []int64{7}}.MayEditPerson(bob, []int64{7},
		open))
	require.Error(t, token.MayEditPerson(bob, []int64{7}, open))
	require.Error(t, token.MaySelf(bob))
	require.Error(t, token.MayHoldTokens())
	require.False(t, token.MayActAs(bob, open))
	require.NoError(t, token.MayAdministerTeam(7, "ops"))
	require.Error(t, token.MayAdministerTeam(8, "other"))
}
