package auth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestMaySelf(t *testing.T) {
	t.Parallel()
	ann, bob := users.User{ID: 5, Name: "ann"}, users.User{ID: 6, Name: "bob"}
	for name, tc := range map[string]struct {
		actor Actor
		about users.User
		want  error
	}{
		"nobody":                             {Actor{}, ann, ErrUsernameNeeded},
		"application":                        {Actor{ApplicationID: 1}, ann, ErrAppUserPower},
		"application that acts for them":     {Actor{ApplicationID: 1, ActsForUsers: true}, ann, nil},
		"speaking for ann":                   {Actor{ApplicationID: 1, ActsForUsers: true, UserID: 5, Username: "ann"}, ann, nil},
		"speaking for bob":                   {Actor{ApplicationID: 1, ActsForUsers: true, UserID: 6, Username: "bob"}, ann, ErrNotThisUser},
		"another person of the same name":    {Actor{ApplicationID: 1, UserID: 6, Username: "ann"}, ann, ErrNotThisUser},
		"a name that folds to another":       {Actor{ApplicationID: 1, UserID: 6, Username: "ſyſadm"}, users.User{ID: 1, Name: "sysadm"}, ErrNotThisUser},
		"for somebody unknown, known ann":    {Actor{ApplicationID: 1, Username: "ann"}, ann, ErrNotThisUser},
		"for somebody unknown, the same":     {Actor{ApplicationID: 1, Username: "Eve "}, users.User{Name: "eve"}, nil},
		"for somebody unknown, another":      {Actor{ApplicationID: 1, Username: "eve"}, users.User{Name: "eva"}, ErrNotThisUser},
		"administrator":                      {Actor{ApplicationID: 1, UserID: 9, Username: "root", Admin: true}, ann, nil},
		"a read-only user about themselves":  {Actor{ApplicationID: 1, UserID: 5, Username: "ann", ReadOnly: true, Session: true}, ann, nil},
		"a read-only user about another one": {Actor{ApplicationID: 1, UserID: 5, Username: "ann", ReadOnly: true, Session: true}, bob, ErrNotThisUser},
		"a number that is ann's":             {Actor{ApplicationID: 1, Username: "ann", UserID: 7}, users.User{Name: "7"}, ErrNotThisUser},
	} {
		require.Equal(t, tc.want, tc.actor.MaySelf(tc.about), name)
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
		"for ann":                    {Actor{ApplicationID: 1, Application: "relay", UserID: 5, Username: "ANN"}, nil},
		"for bob":                    {Actor{ApplicationID: 1, Application: "relay", UserID: 6, Username: "bob"}, ErrNotThisUser},
		"for an administrator":       {Actor{ApplicationID: 1, Application: "relay", Username: "root", Admin: true}, nil},
	} {
		require.Equal(t, tc.want, tc.actor.MayRegisterDevice(users.User{ID: 5, Name: "ann"}, allowed), name)
	}
	require.Error(t, Actor{}.MayRegisterDevice(users.User{ID: 5, Name: "ann"}, []string{""}), "a list with nothing in it lets nobody in")
}

func TestWhatPeoplePassOn(t *testing.T) {
	t.Parallel()
	relay := Actor{ApplicationID: 1, Application: "relay"}
	ann := Actor{ApplicationID: 2, Application: "iris", UserID: 5, Username: "ann", ActsForUsers: true, Session: true}
	admin := ann
	admin.Admin = true
	require.NoError(t, Actor{}.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}), "the vendor itself, with its signature")
	require.NoError(t, relay.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}))
	require.NoError(t, ann.MayPassOn(users.User{ID: 5, Name: "ANN"}, Openings{}))
	require.NoError(t, admin.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}))
	require.ErrorIs(t, ann.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}), ErrNotThisUser)
	require.NoError(t, ann.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{SessionsActForAnyone: true}))
	require.NoError(t, relay.MayPassOnMail(3))
	require.NoError(t, admin.MayPassOnMail(3))
	require.NoError(t, ann.MayPassOnMail(2))
	require.ErrorIs(t, ann.MayPassOnMail(3), ErrNotThisUser)
}
