package oncall

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Types of reminders, as the wire names them.
const (
	RemindBefore = "oncall_reminder"  // before a shift begins
	RemindEnd    = "offcall_reminder" // before a shift ends
)

// Text is a message about shifts.
type Text struct{ Subject, Body string }

// Reminder is a message to a person whose shift begins or ends soon.
type Reminder struct {
	Type       string
	Team, Role string
	At         time.Time // when the shift begins or ends
	Before     time.Duration
	Zone       *time.Location // of the person
}

// Text returns the text of the reminder.
func (r Reminder) Text() Text {
	verb := "begins"
	if r.Type == RemindEnd {
		verb = "ends"
	}
	when := "now"
	if r.Before > 0 {
		when = "in " + plainDuration(r.Before)
	}
	return Text{
		Subject: fmt.Sprintf("Your %s shift for %s %s %s", r.Role, r.Team, verb, when),
		Body:    fmt.Sprintf("Your shift as %s of team %s %s at %s.", r.Role, r.Team, verb, plainTime(r.At, r.Zone)),
	}
}

// plainTime formats an instant on the clock of a zone (docs/reference/oncall-v0.md 7).
func plainTime(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// plainDuration formats a duration in whole weeks, else days, hours, minutes or seconds.
func plainDuration(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{7 * day, "week"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d%unit.length == 0 {
			n := int64(d / unit.length)
			if n == 1 {
				return "1 " + unit.name
			}
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

// NoticeFact is a shift in a notice, with the names at the time of sending.
type NoticeFact struct {
	User       users.ID
	Role, Name string
	Start, End time.Time
}

func (f NoticeFact) text(zone *time.Location) string {
	return fmt.Sprintf("%s as %s from %s to %s", f.Name, f.Role, plainTime(f.Start, zone), plainTime(f.End, zone))
}

// NoticeText returns the text of a notice for a reader in a zone. facts are those of Notice.Shifts. It returns false if
// the kind has no text for so many facts.
func NoticeText(kind NoticeKind, team string, facts []NoticeFact, zone *time.Location) (Text, bool) {
	need := map[NoticeKind]int{ShiftCreated: 1, ShiftEdited: 2, ShiftDeleted: 1, ShiftSwapped: 2,
		ShiftSubstituted: 2}[kind]
	if need == 0 || len(facts) < need {
		return Text{}, false
	}
	a, subject := facts[0], fmt.Sprintf("%s shift of %s for %s", facts[0].Role, facts[0].Name, team)
	switch kind {
	case ShiftCreated:
		return Text{"New: " + subject, "A shift was added to the calendar of team " + team + ": " + a.text(zone) +
			"."}, true
	case ShiftDeleted:
		return Text{"Deleted: " + subject, "A shift was deleted from the calendar of team " + team + ": " +
			a.text(zone) + "."}, true
	case ShiftEdited:
		return Text{"Changed: " + subject, "A shift on the calendar of team " + team + " was changed.\n\nBefore: " +
			a.text(zone) +
			".\nNow: " + facts[1].text(zone) + "."}, true
	case ShiftSwapped:
		b := facts[1]
		return Text{fmt.Sprintf("Swapped: shifts of %s and %s for %s", a.Name, b.Name, team),
			fmt.Sprintf("%s and %s swapped shifts on the calendar of team %s.\n\nUntil now: %s; %s.", a.Name, b.Name,
				team, a.text(zone), b.text(zone))}, true
	case ShiftSubstituted:
		b := facts[1]
		return Text{fmt.Sprintf("Covered: %s stands in for %s as %s for %s", a.Name, b.Name, a.Role, team),
				fmt.Sprintf("%s stands in for %s on the calendar of team %s: %s.", a.Name, b.Name, team, a.text(zone))},
			true
	}
	return Text{}, false
}
