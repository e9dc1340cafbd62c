package users

import "slices"

// ModeFor returns the mode in which r wants a message of priority p from an application: the user's choice for the
// application, else the application's default, else the user's choice, else the priority's default
// (docs/reference/escalation.md 3). It does not check whether r has a contact for the mode or the application supports
// it; NextMode does.
func ModeFor(r Responder, p Priority, app AppModes) Mode {
	for _, m := range []map[Priority]Mode{r.AppModes, app.Defaults, r.Modes, app.Priorities} {
		if mode, ok := m[p]; ok {
			return mode
		}
	}
	return DefaultModes[p]
}

// fallbackOrder is the order in which further modes are tried: e-mail first, as Iris does, then the modes that wake
// people.
var fallbackOrder = []Mode{Email, Slack, SMS, Call, Push, Webhook}

// CanUse reports whether r can be reached in the mode for the application. Drop needs no contact.
func CanUse(r Responder, app AppModes, m Mode) bool {
	if m == Drop {
		return true
	}
	return app.Supported[m] && !app.Unserved[m] && r.Contacts[m] != ""
}

// NextMode returns the first usable mode that was not tried yet, and false if none is left. Drop is never a fallback: a
// page that was not delivered is not to be discarded.
func NextMode(r Responder, app AppModes, tried []Mode) (Mode, bool) {
	for _, m := range fallbackOrder {
		if !slices.Contains(tried, m) && CanUse(r, app, m) {
			return m, true
		}
	}
	return "", false
}
