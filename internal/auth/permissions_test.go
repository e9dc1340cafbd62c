package auth

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMaySelf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		actor Actor
		path  string
		want  error
	}{
		"nobody":                         {Actor{}, "ann", ErrUsernameNeeded},
		"application":                    {Actor{ApplicationID: 1}, "ann", ErrAppUserPower},
		"application that acts for them": {Actor{ApplicationID: 1, ActsForUsers: true}, "ann", nil},
		"speaking for ann":               {Actor{ApplicationID: 1, ActsForUsers: true, Username: "ann"}, "ann", nil},
		"speaking for bob":               {Actor{ApplicationID: 1, ActsForUsers: true, Username: "bob"}, "ann", ErrNotThisUser},
		"case and trailing spaces":       {Actor{ApplicationID: 1, Username: "Ann "}, "aNN   ", nil},
		"leading spaces count":           {Actor{ApplicationID: 1, Username: " ann"}, "ann", ErrNotThisUser},
		"administrator":                  {Actor{ApplicationID: 1, Username: "root", Admin: true}, "ann", nil},
		"who only reads, themselves":     {Actor{ApplicationID: 1, Username: "ann", ReadOnly: true, Session: true}, "ann", nil},
		"who only reads, another":        {Actor{ApplicationID: 1, Username: "ann", ReadOnly: true, Session: true}, "bob", ErrNotThisUser},
		"a number that is ann's":         {Actor{ApplicationID: 1, Username: "ann", UserID: 7}, "7", ErrNotThisUser},
	} {
		require.Equal(t, tc.want, tc.actor.MaySelf(tc.path), name)
	}
}

func TestMayRegisterDevice(t *testing.T) {
	t.Parallel()
	allowed := []string{"relay", "other"}
	for name, tc := range map[string]struct {
		actor Actor
		want  error
	}{
		"nobody":                     {Actor{}, ErrNoDevices},
		"an application not allowed": {Actor{ApplicationID: 1, Application: "demo", ActsForUsers: true}, ErrNoDevices},
		"an application allowed":     {Actor{ApplicationID: 1, Application: "Relay"}, nil},
		"for ann":                    {Actor{ApplicationID: 1, Application: "relay", Username: "ANN"}, nil},
		"for bob":                    {Actor{ApplicationID: 1, Application: "relay", Username: "bob"}, ErrNotThisUser},
		"for an administrator":       {Actor{ApplicationID: 1, Application: "relay", Username: "root", Admin: true}, nil},
	} {
		require.Equal(t, tc.want, tc.actor.MayRegisterDevice("ann", allowed), name)
	}
	require.Error(t, Actor{}.MayRegisterDevice("ann", []string{""}), "a list with nothing in it lets nobody in")
}

func TestWhatPeoplePassOn(t *testing.T) {
	t.Parallel()
	relay := Actor{ApplicationID: 1, Application: "relay"}
	ann := Actor{ApplicationID: 2, Application: "iris", UserID: 5, Username: "ann", ActsForUsers: true, Session: true}
	admin := ann
	admin.Admin = true
	require.NoError(t, Actor{}.MayPassOn("bob", Openings{}), "the vendor itself, with its signature")
	require.NoError(t, relay.MayPassOn("bob", Openings{}))
	require.NoError(t, ann.MayPassOn("ANN", Openings{}))
	require.NoError(t, admin.MayPassOn("bob", Openings{}))
	require.ErrorIs(t, ann.MayPassOn("bob", Openings{}), ErrNotThisUser)
	require.NoError(t, ann.MayPassOn("bob", Openings{SessionsActForAnyone: true}))
	require.NoError(t, relay.MayPassOnMail("db"))
	require.NoError(t, admin.MayPassOnMail("db"))
	require.NoError(t, ann.MayPassOnMail("iris"))
	require.ErrorIs(t, ann.MayPassOnMail("db"), ErrNotThisUser)
}
