package audit

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDangerousChangesNeedARecentLogIn(t *testing.T) {
	t.Parallel()
	old := Origin{Kind: Person, Actor: "ann", OldLogin: true}
	verified := []Change{{Field: "contacts.email", After: "eve@example.com (verified)"}}
	for name, c := range map[string]struct {
		e     Entry
		asked bool
	}{
		"a token":                        {Entry{Action: TokenCreated}, true},
		"a key of a feed":                {Entry{Action: CalendarFeedKeyCreated}, true},
		"a comment":                      {Entry{Action: RemindersSet}, false},
		"a verified contact":             {Entry{Action: ContactSet, Changes: verified}, true},
		"a verified contact of a change": {Entry{Action: UserChanged, Changes: verified}, true},
		"a contact without verification": {Entry{Action: ContactSet,
			Changes: []Change{{Field: "contacts.email", After: "a@example.com"}}}, false},
		"a contact that loses it": {Entry{Action: ContactSet,
			Changes: []Change{{Field: "contacts.email", Before: "a@example.com (verified)"}}}, false},
		"a full name": {Entry{Action: UserChanged,
			Changes: []Change{{Field: "full_name", After: "A"}}}, false},
		"a switched off person": {Entry{Action: UserChanged,
			Changes: []Change{{Field: "active", Before: "true", After: "false"}}}, true},
		"the own password":             {Entry{Action: PasswordSet, Object: "user ann"}, false},
		"somebody's second factor":     {Entry{Action: SecondFactorRemoved, Object: "user bob"}, true},
		"a silence of everything":      {Entry{Action: SilenceCreated, Wide: true}, true},
		"a silence of one application": {Entry{Action: SilenceChanged}, false},
		"the end of a silence":         {Entry{Action: SilenceEnded, Wide: true}, false},
	} {
		require.Equal(t, c.asked, errors.Is(Confirmed(old, c.e), ErrLogInAgain), name)
		require.NoError(t, Confirmed(Origin{Kind: Person, Actor: "ann"}, c.e), name)
	}
	for action := range dangerous {
		require.True(t, action.Known(), action)
	}
}
