package editing

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Candidate is a person whom an external calendar may mean.
type Candidate struct {
	User                  users.ID
	Name, FullName, Email string
}

// EventPerson is a person as an external calendar names them.
type EventPerson struct{ Name, Email string }

func (n EventPerson) String() string {
	if n.Name == "" {
		return n.Email
	}
	return n.Name
}

// MatchPeople returns the candidates whom an event means: its people by address, full name or name; or, if none of
// these is known, the people whom its summary names. unknown lists names that match nobody, or more than one person.
func MatchPeople(candidates []Candidate, summary string, people []EventPerson) (found []users.ID, unknown []string) {
	add := func(id users.ID) {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	for _, p := range people {
		if id, ok := candidateNamed(candidates, p); ok {
			add(id)
		} else {
			unknown = append(unknown, p.String())
		}
	}
	if len(found) > 0 {
		return found, unknown
	}
	for _, id := range inSummary(candidates, summary) {
		add(id)
	}
	switch {
	case len(found) > 0:
		return found, nil // the addresses may be those of a group
	case len(unknown) == 0:
		unknown = []string{summary}
	}
	return nil, unknown
}

func candidateNamed(candidates []Candidate, p EventPerson) (users.ID, bool) {
	for _, same := range []func(c Candidate) bool{
		func(c Candidate) bool { return p.Email != "" && strings.EqualFold(c.Email, p.Email) },
		func(c Candidate) bool { return p.Name != "" && strings.EqualFold(c.Name, p.Name) },
		func(c Candidate) bool {
			return p.Name != "" && (strings.EqualFold(c.FullName, p.Name) || strings.EqualFold(c.Email, p.Name))
		},
	} {
		if id, ok := lone(candidates, same); ok {
			return id, true
		}
	}
	return 0, false
}

func lone(candidates []Candidate, is func(Candidate) bool) (id users.ID, ok bool) {
	for _, c := range candidates {
		if !is(c) {
			continue
		}
		if ok {
			return 0, false
		}
		id, ok = c.User, true
	}
	return id, ok
}

// inSummary returns the people whom a text names by full name or address, else those whom it names by user name. A name
// that two people have matches nobody.
func inSummary(candidates []Candidate, summary string) []users.ID {
	for _, names := range []func(Candidate) []string{
		func(c Candidate) []string { return []string{c.FullName, c.Email} }, func(c Candidate) []string { return []string{c.Name} },
	} {
		var found []users.ID
		for _, c := range candidates {
			for _, name := range names(c) {
				shared := slices.ContainsFunc(candidates, func(o Candidate) bool {
					return o.User != c.User && slices.ContainsFunc(names(o), func(s string) bool { return strings.EqualFold(s, name) })
				})
				if name != "" && !shared && containsWord(summary, name) {
					found = append(found, c.User)
				}
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// containsWord reports whether a text contains a name that is not part of a longer word, ignoring case.
func containsWord(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		after, _ := utf8.DecodeRuneInString(text[at+i+len(name):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		at += i + len(name)
	}
}

// Occurrence identifies an occurrence of an external calendar's event, as a person's shift.
type Occurrence struct {
	UID    string
	Occurs time.Time
	User   users.ID
}

// OccurrenceShift is the present content of an occurrence.
type OccurrenceShift struct {
	Occurrence
	Start, End time.Time
}

// ImportedOccurrence is an occurrence that was imported before, and its shift. Shift is nil if it was deleted or cut by
// hand since.
type ImportedOccurrence struct {
	Occurrence
	Shift *oncall.Shift
}

// CalendarImport is the result of importing a calendar.
type CalendarImport struct {
	oncall.Changes
	// Added are the occurrences of Changes.Add, in the same order; Dropped are those whose shifts are deleted.
	Added, Dropped []Occurrence
	// Kept are occurrences whose shifts were changed or deleted by hand: manual edits take precedence over imported
	// calendars.
	Kept []Occurrence
}

// ImportShifts turns the occurrences of an external calendar into shifts of a team's role. It adds new ones and moves
// known ones. It deletes missing ones of events that the calendar still has, unless they have begun. It keeps shifts
// that were changed by hand.
func ImportShifts(now time.Time, team int64, role string, wanted []OccurrenceShift, known []ImportedOccurrence) CalendarImport {
	var p CalendarImport
	before := map[Occurrence]ImportedOccurrence{}
	for _, k := range known {
		before[k.Occurrence] = k
	}
	seen := map[Occurrence]bool{}
	for _, w := range wanted {
		if seen[w.Occurrence] {
			continue
		}
		seen[w.Occurrence] = true
		k, ok := before[w.Occurrence]
		switch {
		case !ok:
			// A running occurrence begins now: the past does not change.
			p.Add = append(p.Add, oncall.Shift{TeamID: team, Role: role, User: w.User, Start: instant.Later(w.Start, now.Truncate(time.Second)), End: w.End})
			p.Added = append(p.Added, w.Occurrence)
		case k.Shift == nil || k.Shift.Edited:
			p.Kept = append(p.Kept, w.Occurrence)
		default:
			after := *k.Shift
			if after.End = w.End; after.Start.After(now) {
				after.Start = instant.Later(w.Start, now.Truncate(time.Second))
			}
			if !after.Start.Equal(k.Shift.Start) || !after.End.Equal(k.Shift.End) {
				p.Update = append(p.Update, oncall.Update{Before: *k.Shift, After: after})
			}
		}
	}
	for _, k := range known {
		if seen[k.Occurrence] || k.Shift == nil || k.Shift.Edited || !k.Shift.Start.After(now) {
			continue
		}
		p.Delete = append(p.Delete, *k.Shift)
		p.Dropped = append(p.Dropped, k.Occurrence)
	}
	return p
}

// ExternalCalendar is what an external calendar says about a team's role.
type ExternalCalendar struct {
	TeamID int64
	Role   string
	Since  time.Time // the beginning of the range that was read
	UIDs   []string  // of all its events
	Wanted []OccurrenceShift
	// Subscription is the subscription that read the calendar; 0 = a file. Shifts of its earlier readings count as missing too, if the calendar
	// no longer has them.
	Subscription int64
}
