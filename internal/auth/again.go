package auth

import (
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ErrLogInAgain is the refusal of a dangerous change in a session whose log-in is too old. After a further log-in it is admitted.
var ErrLogInAgain = fault.New(fault.LogInAgain, "This needs a recent log-in: log in again, then repeat it")

// dangerous lists the changes with which somebody could keep access, take over an account, delete much or stop pages, by their action in the
// audit log. In a browser's session they need a recent log-in, so that an open screen or a stolen cookie is not enough. The function decides for
// one entry by whom it is written; nil = every entry.
var dangerous = map[audit.Action]func(by audit.Origin, e audit.Entry) bool{
	// Tokens, keys and secrets.
	audit.TokenCreated: nil, audit.ServiceTokenCreated: nil,
	audit.SCIMConnectionCreated: nil, audit.SCIMConnectionDeleted: nil, audit.SCIMTokenCreated: nil, audit.SCIMTokensEnded: nil,
	audit.IntegrationAdded: nil, audit.IntegrationTokenAdded: nil, audit.IntegrationSecretsSet: nil,
	audit.ApplicationSecondaryKeyAdded: nil, audit.ApplicationSecondaryKeyMadeThePrimaryOne: nil, audit.ApplicationKeysReplaced: nil,
	audit.ApplicationKeyRead: nil, audit.CalendarFeedKeyCreated: nil,
	// Accounts and rights.
	audit.UserCreated: nil, audit.UserDeleted: nil, audit.UserSwitchedOn: nil, audit.UserSwitchedOff: nil, audit.RoleChanged: nil,
	audit.UserChanged: takesOver, audit.ContactSet: takesOver, audit.ContactVerified: nil,
	audit.PasswordLinkSent: nil, audit.PasswordSet: ofAnother, audit.PasswordRemoved: ofAnother, audit.SecondFactorRemoved: ofAnother,
	audit.InvitationAdded: nil, audit.InvitationSentAgain: nil, audit.AccountLinked: nil,
	audit.SCIMUserAdded: nil, audit.SCIMUserDeleted: nil, audit.DeactivationConfirmed: nil,
	audit.TeamAdminAdded: nil, audit.TeamAdminRemoved: nil, audit.TeamDeleted: nil,
	// Paging of everybody.
	audit.MessagesPurged: nil, audit.SendingPaused: nil, audit.ApplicationPaused: nil, audit.ApplicationDeleted: nil,
	audit.SilenceCreated: wide, audit.SilenceChanged: wide,
}

// takesOver reports whether a change of a person verifies a contact, or changes the name, the role or whether the person is active. A verified
// address gets links that set the password.
func takesOver(_ audit.Origin, e audit.Entry) bool {
	for _, c := range e.Changes {
		switch {
		case strings.HasPrefix(c.Field, "contacts.") && strings.HasSuffix(c.After, " (verified)"),
			c.Field == "name", c.Field == "active", c.Field == "admin", c.Field == "read_only":
			return true
		}
	}
	return false
}

// ofAnother reports whether a person changes another one. For the own password and second factor, the pages ask for the password.
func ofAnother(by audit.Origin, e audit.Entry) bool { return e.Object != "user "+by.Actor }

func wide(_ audit.Origin, e audit.Entry) bool { return e.Wide }

// Confirmed returns ErrLogInAgain for a dangerous change in a session whose log-in is too old. Storage calls it for every entry of the audit log,
// in the transaction of the change, so that no door can forget it.
func Confirmed(by audit.Origin, e audit.Entry) error {
	if !by.OldLogin {
		return nil
	}
	if applies, listed := dangerous[e.Action]; listed && (applies == nil || applies(by, e)) {
		return ErrLogInAgain
	}
	return nil
}
