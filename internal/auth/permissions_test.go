package auth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/operation"
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
		"nobody":                         {Actor{}, ann, users.ErrUsernameNeeded},
		"application":                    {Actor{ApplicationID: 1}, ann, users.ErrAppUserPower},
		"application that acts for them": {Actor{ApplicationID: 1, ActsForUsers: true}, ann, nil},
		"speaking for ann": {Actor{ApplicationID: 1, ActsForUsers: true, UserID: 5, Username: "ann"},
			ann, nil},
		"speaking for bob": {Actor{ApplicationID: 1, ActsForUsers: true, UserID: 6, Username: "bob"},
			ann, operation.ErrNotThisUser},
		"another person of the same name": {Actor{ApplicationID: 1, UserID: 6, Username: "ann"}, ann,
			operation.ErrNotThisUser},
		"a name that folds to another": {Actor{ApplicationID: 1, UserID: 6, Username: "ſyſadm"},
			users.User{ID: 1, Name: "sysadm"}, operation.ErrNotThisUser},
		"for somebody unknown, known ann": {Actor{ApplicationID: 1, Username: "ann"}, ann, operation.ErrNotThisUser},
		"for somebody unknown, the same":  {Actor{ApplicationID: 1, Username: "Eve "}, users.User{Name: "eve"}, nil},
		"for somebody unknown, another": {Actor{ApplicationID: 1, Username: "eve"}, users.User{Name: "eva"},
			operation.ErrNotThisUser},
		"administrator": {Actor{ApplicationID: 1, UserID: 9, Username: "root", Admin: true}, ann,
			nil},
		"a read-only user about themselves": {Actor{ApplicationID: 1, UserID: 5, Username: "ann", ReadOnly: true,
			Session: true}, ann, nil},
		"a read-only user about another one": {Actor{ApplicationID: 1, UserID: 5, Username: "ann", ReadOnly: true,
			Session: true}, bob, operation.ErrNotThisUser},
		"a number that is ann's": {Actor{ApplicationID: 1, Username: "ann", UserID: 7},
			users.User{Name: "7"}, operation.ErrNotThisUser},
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
		"for bob": {Actor{ApplicationID: 1, Application: "relay", UserID: 6, Username: "bob"},
			operation.ErrNotThisUser},
		"for an administrator": {Actor{ApplicationID: 1, Application: "relay", Username: "root", Admin: true},
			nil},
	} {
		require.Equal(t, tc.want, tc.actor.MayRegisterDevice(users.User{ID: 5, Name: "ann"}, allowed), name)
	}
	require.Error(t, Actor{}.MayRegisterDevice(users.User{ID: 5, Name: "ann"}, []string{""}),
		"a list with nothing in it lets nobody in")
}

// In an earlier release an application without the power relay could act as anybody through the routes of relays
// (security review, item 6).
func TestOnlyRelaysPassOnAnswers(t *testing.T) {
	t.Parallel()
	plain := Actor{ApplicationID: 1, Application: "db"}
	relay := Actor{ApplicationID: 1, Application: "relay", Relay: true}
	acting := Actor{ApplicationID: 3, Application: "tool", ActsForUsers: true}
	ann := Actor{ApplicationID: 2, Application: "iris", UserID: 5, Username: "ann", ActsForUsers: true,
		OpensForOthers: false, Session: true}
	asAnn := Actor{ApplicationID: 1, Application: "relay", Relay: true, UserID: 5, Username: "ann"}
	admin := ann
	admin.Admin = true
	open := Openings{NoCredentials: true}
	require.NoError(t, Actor{}.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}),
		"the vendor itself, with its signature")
	require.NoError(t, relay.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}))
	require.ErrorIs(t, plain.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}), ErrNoRelay)
	require.NoError(t, acting.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}),
		"it may claim in anybody's name directly as well")
	require.NoError(t, ann.MayPassOn(users.User{ID: 5, Name: "ANN"}, Openings{}))
	require.NoError(t, admin.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}))
	require.ErrorIs(t, ann.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}), operation.ErrNotThisUser)
	require.ErrorIs(t, asAnn.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{}), operation.ErrNotThisUser,
		"a relay that speaks for somebody")
	require.NoError(t, ann.MayPassOn(users.User{ID: 6, Name: "bob"}, Openings{SessionsActForAnyone: true}))

	require.NoError(t, relay.MayPassOnMail(7))
	require.ErrorIs(t, plain.MayPassOnMail(7), ErrNoRelay)
	require.NoError(t, plain.MayPassOnMail(1), "its own")
	require.NoError(t, admin.MayPassOnMail(1))
	require.NoError(t, ann.MayPassOnMail(2))
	require.ErrorIs(t, ann.MayPassOnMail(1), operation.ErrNotThisUser)

	for name, c := range map[string]struct {
		actor             Actor
		answers, receipts error
	}{
		"nobody":              {Actor{}, operation.ErrUnknown, operation.ErrUnknown},
		"plain":               {plain, ErrNoRelay, ErrNoRelay},
		"relay":               {relay, nil, nil},
		"acts for people":     {acting, nil, ErrNoRelay},
		"a person":            {ann, nil, ErrNoRelay},
		"a relay as a person": {asAnn, nil, ErrNoRelay},
		"administrator":       {admin, nil, nil},
		"who only reads": {Actor{ApplicationID: 1, Relay: true, Username: "vic", ReadOnly: true}, operation.ErrReadOnly,
			operation.ErrReadOnly},
	} {
		require.Equal(t, c.answers, c.actor.MayRelay(Openings{}), name)
		require.Equal(t, c.receipts, c.actor.MayPassOnReceipts(Openings{}), name)
	}
	require.NoError(t, Actor{}.MayRelay(open))
	require.NoError(t, Actor{}.MayPassOnReceipts(open))
}

// An ordinary application may claim in the name of others only with the compatibility switch.
func TestApplicationsClaimForAnyone(t *testing.T) {
	t.Parallel()
	plain := Actor{ApplicationID: 1, Application: "db"}
	bob := users.User{ID: 6, Name: "bob"}
	may := func(a Actor, open Openings) bool { return MayActAs(a.Claimer(open), bob) }
	require.False(t, may(plain, Openings{}))
	require.True(t, may(plain, Openings{ApplicationsClaim: true}))
	require.True(t, may(Actor{ApplicationID: 1, ActsForUsers: true}, Openings{}))
	require.False(t, may(Actor{ApplicationID: 1, UserID: 5, Username: "ann"}, Openings{ApplicationsClaim: true}))
	require.False(t, may(Actor{}, Openings{ApplicationsClaim: true}))
	require.False(t, may(Actor{}, Openings{ApplicationsClaim: true, NoCredentials: true}))
}
