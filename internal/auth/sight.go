package auth

import (
	"strings"

	"github.com/iris-oncall/iris/internal/users"
)

// Sight is what a caller sees of the contacts of people (docs/security.md, "Contacts"). It is the only place that decides it:
//   - What is secret in a contact, the address of a webhook or the token of a phone, is shown to the person and to administrators.
//     Others get the host and a fingerprint.
//   - E-mail addresses, phone numbers and Slack names are shown to everybody who may write. Callers who may only read get those of
//     people who are on call now.
//
// The zero value sees what somebody with no rights sees.
type Sight struct {
	caller Actor
	onCall map[string]bool
}

// NeedsOnCall reports whether what the caller sees depends on who is on call.
func (a Actor) NeedsOnCall() bool { return a.ReadOnly }

// Sight returns what the caller sees. onCall has the names of the people who are on call now; it is read only if
// NeedsOnCall.
func (a Actor) Sight(onCall map[string]bool) Sight { return Sight{caller: a, onCall: onCall} }

// own reports whether the caller is the person with that name, or an administrator.
func (s Sight) own(owner string) bool {
	return s.caller.Admin || s.caller.UserID != 0 && users.SameName(s.caller.Username, owner)
}

// Contact returns what the caller sees of a destination of the person with that name; "" = nothing. owner is "" for an
// address that is nobody's contact.
func (s Sight) Contact(owner string, mode users.Mode, destination string) string {
	switch {
	case destination == "" || s.own(owner):
		return destination
	case s.caller.ReadOnly && !s.onCall[owner]:
		return ""
	}
	return users.WithoutSecret(mode, destination)
}

// Contacts returns what the caller sees of the contacts of the person with that name. Modes of which the caller sees
// nothing are missing.
func (s Sight) Contacts(owner string, all map[users.Mode]string) map[users.Mode]string {
	out := make(map[users.Mode]string, len(all))
	for mode, destination := range all {
		if shown := s.Contact(owner, mode, destination); shown != "" {
			out[mode] = shown
		}
	}
	return out
}

// Within returns a text in which a destination may occur, as the caller sees it.
func (s Sight) Within(text, owner string, mode users.Mode, destination string) string {
	shown := s.Contact(owner, mode, destination)
	if destination == "" || shown == destination {
		return text
	}
	if shown == "" {
		shown = "[hidden]"
	}
	return strings.ReplaceAll(text, destination, shown)
}

// SeesEverybody reports whether the caller sees contacts of the mode of everybody, so that it may search for them.
func (s Sight) SeesEverybody(mode users.Mode) bool {
	return s.caller.Admin || !s.caller.ReadOnly && !users.Secret(mode)
}

// SearchesDestinations reports whether the caller may search messages by their destination.
func (s Sight) SearchesDestinations() bool { return s.SeesEverybody(users.Email) }
