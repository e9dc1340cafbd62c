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

// Item 6 of the security review: an application without the power relay acted as anybody through the routes of relays.
func TestOnlyRelaysPassOnAnswers(t *testing.T) {
	t.Parallel()
	plain := Actor{ApplicationID: 1, Application: "db"}
	relay := Actor{ApplicationID: 1, Application: "relay", Relay: true}
	acting := Actor{ApplicationID: 3, Application: "tool", ActsForUsers: true}
	ann := Actor{ApplicationID: 2, Application: "iris", UserID: 5, Username: "ann", ActsForUsers: true, OpensForOthers: false, Session: true}
	asAnn := Actor{ApplicationID: 1, Application: "relay", Relay: true, UserID: 5, Username: "ann"}
	admin := ann
	admin.Admin = true
	open := Openings{NoCredentials: true}
	require.NoError(t, Actor{}.MayPassOn("bob", Openings{}), "the vendor itself, with its signature")
	require.NoError(t, relay.MayPassOn("bob", Openings{}))
	require.ErrorIs(t, plain.MayPassOn("bob", Openings{}), ErrNoRelay)
	require.NoError(t, acting.MayPassOn("bob", Openings{}), "it may claim in anybody's name directly as well")
	require.NoError(t, ann.MayPassOn("ANN", Openings{}))
	require.NoError(t, admin.MayPassOn("bob", Openings{}))
	require.ErrorIs(t, ann.MayPassOn("bob", Openings{}), ErrNotThisUser)
	require.ErrorIs(t, asAnn.MayPassOn("bob", Openings{}), ErrNotThisUser, "a relay that speaks for somebody")
	require.NoError(t, ann.MayPassOn("bob", Openings{SessionsActForAnyone: true}))

	require.NoError(t, relay.MayPassOnMail("web"))
	require.ErrorIs(t, plain.MayPassOnMail("web"), ErrNoRelay)
	require.NoError(t, plain.MayPassOnMail("db"), "its own")
	require.NoError(t, admin.MayPassOnMail("db"))
	require.NoError(t, ann.MayPassOnMail("iris"))
	require.ErrorIs(t, ann.MayPassOnMail("db"), ErrNotThisUser)

	for name, c := range map[string]struct {
		actor             Actor
		answers, receipts error
	}{
		"nobody":              {Actor{}, ErrHeader, ErrHeader},
		"plain":               {plain, ErrNoRelay, ErrNoRelay},
		"relay":               {relay, nil, nil},
		"acts for people":     {acting, nil, ErrNoRelay},
		"a person":            {ann, nil, ErrNoRelay},
		"a relay as a person": {asAnn, nil, ErrNoRelay},
		"administrator":       {admin, nil, nil},
		"who only reads":      {Actor{ApplicationID: 1, Relay: true, Username: "vic", ReadOnly: true}, ErrReadOnly, ErrReadOnly},
	} {
		require.Equal(t, c.answers, c.actor.MayRelay(Openings{}), name)
		require.Equal(t, c.receipts, c.actor.MayPassOnReceipts(Openings{}), name)
	}
	require.NoError(t, Actor{}.MayRelay(open))
	require.NoError(t, Actor{}.MayPassOnReceipts(open))
}

// A plain application claims in nobody's name unless that is opened.
func TestApplicationsClaimForAnyoneIsAnOpening(t *testing.T) {
	t.Parallel()
	plain := Actor{ApplicationID: 1, Application: "db"}
	require.False(t, plain.MayClaimFor("bob", Openings{}))
	require.True(t, plain.MayClaimFor("bob", Openings{ApplicationsClaim: true}))
	require.True(t, Actor{ApplicationID: 1, ActsForUsers: true}.MayClaimFor("bob", Openings{}))
	require.False(t, Actor{ApplicationID: 1, UserID: 5, Username: "ann"}.MayClaimFor("bob", Openings{ApplicationsClaim: true}))
	require.False(t, Actor{}.MayClaimFor("bob", Openings{ApplicationsClaim: true}))
}
