package audit

import (
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ErrLogInAgain is the refusal of a dangerous change in a session whose log-in is too old. After a further log-in it is
// admitted.
var ErrLogInAgain = fault.New(fault.LogInAgain, "This needs a recent log-in: log in again, then repeat it")

// dangerous lists the changes with which somebody could keep access, take over an account, delete much or stop pages,
// by their action in the audit log. In a browser's session they need a recent log-in, so that an open screen or a
// stolen cookie is not enough. The function decides for one entry by whom it is written; nil = every entry.
var dangerous = map[Action]func(by Origin, e Entry) bool{
	// Tokens, keys and secrets.
	TokenCreated: nil, ServiceTokenCreated: nil,
	SCIMConnectionCreated: nil, SCIMConnectionDeleted: nil, SCIMTokenCreated: nil, SCIMTokensEnded: nil,
	IntegrationAdded: nil, IntegrationTokenAdded: nil, IntegrationSecretsSet: nil,
	ApplicationSecondaryKeyAdded: nil, ApplicationSecondaryKeyMadeThePrimaryOne: nil, ApplicationKeysReplaced: nil,
	ApplicationKeyRead: nil, CalendarFeedKeyCreated: nil,
	// Accounts and rights.
	UserCreated: nil, UserDeleted: nil, UserSwitchedOn: nil, UserSwitchedOff: nil, RoleChanged: nil,
	UserChanged: takesOver, ContactSet: takesOver, ContactVerified: nil,
	PasswordLinkSent: nil, PasswordSet: ofAnother, PasswordRemoved: ofAnother, SecondFactorRemoved: ofAnother,
	InvitationAdded: nil, InvitationSentAgain: nil, AccountLinked: nil,
	SCIMUserAdded: nil, SCIMUserDeleted: nil, DeactivationConfirmed: nil,
	TeamAdminAdded: nil, TeamAdminRemoved: nil, TeamDeleted: nil,
	// Paging of everybody.
	MessagesPurged: nil, SendingPaused: nil, ApplicationPaused: nil, ApplicationDeleted: nil,
	SilenceCreated: wide, SilenceChanged: wide,
}

// takesOver reports whether a change of a person verifies a contact, or changes the name, the role or whether the
// person is active. A verified address gets links that set the password.
func takesOver(_ Origin, e Entry) bool {
	for _, c := range e.Changes {
		switch {
		case strings.HasPrefix(c.Field, "contacts.") && strings.HasSuffix(c.After, " (verified)"),
			c.Field == "name", c.Field == "active", c.Field == "admin", c.Field == "read_only":
			return true
		}
	}
	return false
}

// ofAnother reports whether a person changes another one. For the own password and second factor, the pages ask for the
// password.
func ofAnother(by Origin, e Entry) bool { return e.Object != "user "+by.Actor }

func wide(_ Origin, e Entry) bool { return e.Wide }

// Confirmed returns ErrLogInAgain for a dangerous change in a session whose log-in is too old. Storage calls it for
// every entry of the audit log, in the transaction of the change, so that no door can forget it.
func Confirmed(by Origin, e Entry) error {
	if !by.OldLogin {
		return nil
	}
	if applies, listed := dangerous[e.Action]; listed && (applies == nil || applies(by, e)) {
		return ErrLogInAgain
	}
	return nil
}
