package users

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/humanize"
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

// ModeChoice is a person's choice of a mode for a priority.
type ModeChoice struct {
	Application string // "" = for all applications without a choice of their own
	Priority    Priority
	Mode        Mode // "" = no choice: the default
}

// String formats the choice for people: "high by sms", "low by default for shop".
func (c ModeChoice) String() string {
	s := string(c.Priority) + " by " + orDefault(c.Mode)
	if c.Application != "" {
		s += " for " + c.Application
	}
	return s
}

func orDefault(m Mode) string {
	if m == "" {
		return "default"
	}
	return string(m)
}

// CategoryChoice is a person's choice of a mode for an application's category.
type CategoryChoice struct {
	Application string
	Category    string
	Mode        Mode // "" = no choice: the category's mode
}

// String formats the choice for people: "news of shop by sms".
func (c CategoryChoice) String() string {
	return c.Category + " of " + c.Application + " by " + orDefault(c.Mode)
}

// Device is a phone registered for push messages.
type Device struct {
	RegistrationID string
	Platform       string // as the phone reports it: iOS, Android
}

// Reprioritisation sends messages that exceed Count in Source within Window to Destination.
type Reprioritisation struct {
	Source, Destination Mode
	Count               int
	Window              time.Duration // whole seconds
}

// String formats the rule for people: "beyond 10 sms in 5 min: email".
func (r Reprioritisation) String() string {
	return fmt.Sprintf("beyond %d %s in %s: %s", r.Count, r.Source, humanize.Duration(r.Window), r.Destination)
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
