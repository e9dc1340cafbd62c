package users

import (
	"slices"
	"strings"
)

// Profile is a person with all settings and known facts.
type Profile struct {
	User
	Teams    []string // names of the active ones, by name
	Contacts map[Mode]string
	Modes    map[Priority]Mode            // the person's own choice
	AppModes map[string]map[Priority]Mode // the person's choice for applications, by name
	// FixedTexts are the modes in which the operator's text replaces the template's (for carriers that block messages).
	FixedTexts []Mode
	Categories []CategoryChoice
	Devices    []Device
}

// Device is a phone registered for push messages.
type Device struct {
	RegistrationID string
	Platform       string // as the phone reports it: iOS, Android
}

// ParseMode returns the mode of that name, ignoring case and spaces around it; false if there is none.
func ParseMode(name string) (Mode, bool) {
	m := Mode(strings.ToLower(strings.TrimSpace(name)))
	return m, slices.Contains(Modes, m)
}

// ParsePriority is ParseMode for priorities.
func ParsePriority(name string) (Priority, bool) {
	p := Priority(strings.ToLower(strings.TrimSpace(name)))
	return p, slices.Contains(Priorities, p)
}
