// This file is the answer to the question who is on call: for a team or the teams of a service, now or at another time,
// with the next hand-offs and gaps. /v1 and the iris command show it; package operator finds it.

package scheduling

import (
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Ask selects whose on-call state is returned. Either Team or Service is set.
type Ask struct {
	Team    string
	Service string
	Role    string        // "" = all roles in the team's calendar, and primary
	At      string        // see oncall.ParseInstant, on the team's clock; "" = now
	Ahead   time.Duration // hand-offs and gaps within it are returned
}

// Team is who is on call for a team. Its times, and those of its parts, are whole seconds in UTC.
type Team struct {
	Team  string    `json:"team"`
	Zone  string    `json:"timezone"`
	At    time.Time `json:"at"`
	Until time.Time `json:"until" doc:"The end of the search for hand-offs and gaps."`
	Roles []Role    `json:"roles"`
}

// Role is who holds a role.
type Role struct {
	Role     string      `json:"role"`
	People   []Person    `json:"people" doc:"Empty: nobody is on call."`
	Rule     string      `json:"rule" doc:"The rule that chose them, or why nobody is on call."`
	Calendar bool        `json:"calendar" doc:"false: the fixed order of the team was used."`
	Next     []HandOff   `json:"next" doc:"At most 5."`
	Gaps     []PersonGap `json:"gaps"`
}

// Person is a person on call, with their contacts.
type Person struct {
	Name     string                `json:"name"`
	FullName string                `json:"full_name"`
	Contacts map[users.Mode]string `json:"contacts"`
}

// HandOff is a hand-off. An empty list means nobody.
type HandOff struct {
	At   time.Time `json:"at"`
	From []string  `json:"from"`
	To   []string  `json:"to"`
}

// PersonGap is a time that the team wants to be covered and in which nobody has a shift.
type PersonGap struct {
	Kind  GapKind   `json:"kind" doc:"nobody, or not-populated if a schedule has not filled the time yet."`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Roles returns the roles to answer for: primary, secondary, then the others by name.
func Roles(role string, calendar *oncall.TeamCalendar, wanted []string) []string {
	if role != "" {
		return []string{role}
	}
	var others []string
	for _, s := range calendar.Shifts() {
		wanted = append(wanted, s.Role)
	}
	for _, name := range wanted {
		name = strings.ToLower(name)
		if oncall.OnDuty(name) && name != oncall.RolePrimary && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if i := slices.Index(others, oncall.RoleSecondary); i > 0 {
		others = slices.Insert(slices.Delete(others, i, i+1), 0, oncall.RoleSecondary)
	}
	return append([]string{oncall.RolePrimary}, others...)
}
