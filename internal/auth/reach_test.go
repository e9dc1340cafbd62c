package auth

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyKeysOfApplicationsAreConfined(t *testing.T) {
	t.Parallel()
	app := Application{ID: 1, Name: "db"}
	for name, c := range map[string]struct {
		actor    Actor
		open     Openings
		confined bool
	}{
		"a key": {Through(app), Openings{}, true},
		"a key with every power": {Actor{ApplicationID: 1, ActsForUsers: true, OpensForOthers: true,
			Relay: true, AllowOncall: true}, Openings{}, true},
		"for somebody whom Iris does not know": {Actor{ApplicationID: 1, ActsForUsers: true, Username: "x"},
			Openings{}, true},
		"for a person": {Actor{ApplicationID: 1, ActsForUsers: true, Username: "ann",
			UserID: 5}, Openings{}, false},
		"a session": {Actor{ApplicationID: 2, Username: "ann", UserID: 5, Session: true},
			Openings{}, false},
		"a service token": {Actor{ApplicationID: 2, Service: "deploy of ops", Token: 7,
			Session: true}, Openings{}, false},
		"the command line":                       {CommandLine(Application{ID: 2}), Openings{}, false},
		"nobody, with anonymous reads":           {Actor{}, Openings{AnonymousReads: true}, false},
		"a key, with anonymous reads":            {Through(app), Openings{AnonymousReads: true}, true},
		"a key, where keys reach everything":     {Through(app), Openings{ReachEverything: true}, false},
		"a key that is not checked (tests only)": {Through(app), Openings{NoCredentials: true}, false},
	} {
		require.Equal(t, c.confined, c.actor.Confined(c.open), name)
	}
}
