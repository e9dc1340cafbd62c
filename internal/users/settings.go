package users

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/humanize"
)

// Profile is a person with everything they chose and everything that is known of them.
type Profile struct {
	User
	Teams    []string // names of the active ones, by name
	Contacts map[Mode]string
	Modes    map[Priority]Mode            // their own choice
	AppModes map[string]map[Priority]Mode // their choice for applications, by name
	// FixedTexts are the modes in which the operator's text replaces the template's (carriers that block).
	FixedTexts []Mode
	Categories []CategoryChoice
	Devices    []Device
}

// ModeChoice is in which mode a person wants to hear of a priority.
type ModeChoice struct {
	Application string // "" = of all that they chose nothing for
	Priority    Priority
	Mode        Mode // "" = no choice: the default
}

// String says it in words: "high by sms", "low by default for shop".
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

// CategoryChoice is in which mode a person wants notifications of an application's category.
type CategoryChoice struct {
	Application string
	Category    string
	Mode        Mode // "" = no choice: the category's mode
}

// String says it in words: "news of shop by sms".
func (c CategoryChoice) String() string {
	return c.Category + " of " + c.Application + " by " + orDefault(c.Mode)
}

// Device is a phone registered for push messages.
type Device struct {
	RegistrationID string
	Platform       string // what the phone calls itself: iOS, Android
}

// Reprioritisation sends what exceeds Count messages in Source within Window to Destination instead.
type Reprioritisation struct {
	Source, Destination Mode
	Count               int
	Window              time.Duration // whole seconds
}

// String says it in words: "beyond 10 sms in 5 min: email".
func (r Reprioritisation) String() string {
	return fmt.Sprintf("beyond %d %s in %s: %s", r.Count, r.Source, humanize.Duration(r.Window), r.Destination)
}

// ParseMode returns the mode of that name, ignoring case and spaces around it; false when there is none.
func ParseMode(name string) (Mode, bool) {
	m := Mode(strings.ToLower(strings.TrimSpace(name)))
	return m, slices.Contains(Modes, m)
}

// ParsePriority is ParseMode for priorities.
func ParsePriority(name string) (Priority, bool) {
	p := Priority(strings.ToLower(strings.TrimSpace(name)))
	return p, slices.Contains(Priorities, p)
}
