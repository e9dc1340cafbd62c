package floods

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// morning is the hour of the person's day at which held pages are sent.
const morning = 8

// QuietLimits is what limits the pages to one person. Urgent pages are never held.
type QuietLimits struct {
	Limited     bool             // PerDay applies
	PerDay      int              // calls and texts on one day, of all incidents together
	WorkingDays []users.Priority // pages of these priorities are sent on working days only
	Zone        *time.Location
	Holidays    []string // days as YYYY-MM-DD, of the person's teams
}

// DayCount is how many calls and texts a person got on a day. It is stored as JSON.
type DayCount struct {
	Day   string `json:"d,omitempty"` // YYYY-MM-DD, in the person's zone
	Count int    `json:"n,omitempty"`
}

// Counts reports whether the limit of a day applies to the message.
func (q QuietLimits) Counts(m messages.New) bool {
	return q.Limited && q.applies(m) && (m.Mode == users.Call || m.Mode == users.SMS)
}

func (q QuietLimits) applies(m messages.New) bool {
	return m.Priority != "" && m.Priority != users.Urgent && m.Purpose != messages.TrackingMsg && m.Mode != users.Drop
}

// Hold decides about a message that is made at now, and counts it if it is sent. until is when a held message is sent;
// zero = it is not held. why is the reason, as text for the timeline.
func (q QuietLimits) Hold(m messages.New, count *DayCount, now time.Time) (until time.Time, why string) {
	if !q.applies(m) {
		return time.Time{}, ""
	}
	today := now.In(q.Zone)
	if slices.Contains(q.WorkingDays, m.Priority) && !q.working(today) {
		day := today.AddDate(0, 0, 1)
		for range 366 {
			if q.working(day) {
				break
			}
			day = day.AddDate(0, 0, 1)
		}
		return q.morningOf(day), fmt.Sprintf("they get %s pages on working days only", m.Priority)
	}
	if !q.Counts(m) {
		return time.Time{}, ""
	}
	if day := today.Format(time.DateOnly); count.Day != day {
		*count = DayCount{Day: day}
	}
	if count.Count >= q.PerDay {
		return q.morningOf(today.AddDate(0, 0, 1)), fmt.Sprintf("they have had their %s of the day",
			humanize.Count(q.PerDay, "call or text", "calls and texts"))
	}
	count.Count++
	return time.Time{}, ""
}

func (q QuietLimits) working(day time.Time) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday &&
		!slices.Contains(q.Holidays, day.Format(time.DateOnly))
}

// morningOf returns the instant of the morning of a day.
func (q QuietLimits) morningOf(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), morning, 0, 0, 0, q.Zone)
}

// QuietKey is the key of the pages to a person that a quiet-time limit holds. They are sent as one digest, whatever
// plan or application they are of.
func QuietKey(user users.ID) escalation.AggregationKey {
	return escalation.AggregationKey{Priority: "quiet", UserID: user}
}

// QuietEntry says that a quiet-time limit holds a page. until is in the zone of the person.
func QuietEntry(m messages.New, why string, until, at time.Time) incidents.Entry {
	if m.Purpose.Kind() == messages.FollowUp {
		return escalation.Entryf(at, incidents.EntryHeld, "the later %s to %s is left out: %s", m.Mode, m.Target, why)
	}
	return escalation.Entryf(at, incidents.EntryHeld, "page to %s by %s held: %s; it is sent %s", m.Target, m.Mode,
		why, until.Format("Mon 2006-01-02 15:04 MST"))
}
