package auth

import (
	"context"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/operation"
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
	caller operation.Actor
	onCall map[string]bool
}

// Sight returns what the caller sees, see SightOn.
func (a Actor) Sight(onCall ...string) Sight { return SightOn(a.Caller(Openings{}), onCall...) }

// SightOf returns what a caller sees of the contacts of the people with these names. onCallNow tells who of them is on
// call; it is asked only if that matters.
func SightOf(ctx context.Context, caller operation.Actor, onCallNow func(context.Context, []string) (map[string]bool, error), names []string) (Sight, error) {
	s := Sight{caller: caller}
	if !s.reader() || len(names) == 0 {
		return s, nil
	}
	var err error
	s.onCall, err = onCallNow(ctx, names)
	return s, err
}

// SightOn returns what a caller sees of contacts. onCall are the names of people who are on call now. Only a caller who
// may only read needs them: it sees the contacts of these people.
func SightOn(caller operation.Actor, onCall ...string) Sight {
	s := Sight{caller: caller, onCall: make(map[string]bool, len(onCall))}
	for _, name := range onCall {
		s.onCall[name] = true
	}
	return s
}

func (s Sight) reader() bool { return s.caller.Role == operation.Reader && !s.admin() }

// admin reports whether the caller reads what an administrator reads.
func (s Sight) admin() bool { return s.caller.Role == operation.Admin || s.caller.ReadOnlyAdmin }

// own reports whether the caller is the person with that name, or an administrator.
func (s Sight) own(owner string) bool {
	return s.admin() || s.caller.Person != 0 && users.SameName(s.caller.Name, owner)
}

// Contact returns what the caller sees of a destination of the person with that name; "" = nothing. owner is "" for an
// address that is nobody's contact.
func (s Sight) Contact(owner string, mode users.Mode, destination string) string {
	switch {
	case destination == "" || s.own(owner):
		return destination
	case s.reader() && !s.onCall[owner]:
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

// SeesAllContacts reports whether the caller sees the contacts of a mode of all people, so that it may search for them.
func (s Sight) SeesAllContacts(mode users.Mode) bool {
	return s.admin() || !s.reader() && !users.Secret(mode)
}

// SearchesDestinations reports whether the caller may search messages by their destination.
func (s Sight) SearchesDestinations() bool { return s.SeesAllContacts(users.Email) }
