package editing

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/clock"
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
					return o.User != c.User && slices.ContainsFunc(names(o),
						func(s string) bool { return strings.EqualFold(s, name) })
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

// ImportShifts turns the occurrences of an external calendar into shifts of a team's role. known are the occurrences of
// earlier imports that belong to the events of this calendar, or to its subscription, and no others: those that the
// calendar no longer has are deleted, and end now if they have begun. It adds new ones and moves known ones. It keeps
// shifts that were changed by hand. The past does not change. An occurrence of the same person at the same time is the
// same shift if only its UID changed: some programs make new UIDs each time. A running shift stays with its person,
// until its known end, while nobody can be found for its event. The shifts of an event that cannot be read stay.
func ImportShifts(now time.Time, c ExternalCalendar, known []ImportedOccurrence) CalendarImport {
	p := importing{ExternalCalendar: c, now: now.Truncate(time.Second), known: known, taken: make([]bool, len(known)),
		held: map[personTime]bool{}}
	for _, w := range p.matchUIDs() {
		at := personTime{w.User, w.Start.Unix(), w.End.Unix()}
		if p.held[at] {
			continue
		}
		p.held[at] = true
		if k := p.renamed(w); k >= 0 {
			p.match(w, k)
		} else {
			p.add(w)
		}
	}
	left := p.unmatched()
	for i, k := range known {
		switch {
		case p.taken[i] || k.Shift == nil || k.Shift.Edited:
		case !c.Ended && left.unreadable[k.UID] && k.Shift.End.After(now): // nobody knows whether its event is removed
		case k.Shift.Start.After(now) || !c.Ended && !k.Shift.Start.Before(p.now):
			p.out.Delete = append(p.out.Delete, *k.Shift)
			p.out.Dropped = append(p.out.Dropped, k.Occurrence)
		case !c.Ended && k.Shift.End.After(now) && !left.stays(k.Occurrence):
			p.end(*k.Shift)
		}
	}
	return p.out
}

// importing is an import that is being computed.
type importing struct {
	ExternalCalendar
	now   time.Time // in whole seconds
	known []ImportedOccurrence
	taken []bool              // the known occurrences that the calendar still has
	held  map[personTime]bool // the times that have a shift
	// places are the known occurrences that no UID matched, without their UIDs.
	places map[Occurrence][]int
	out    CalendarImport
}

// personTime is a person with the beginning and the end of a shift, in Unix seconds.
type personTime struct {
	user       users.ID
	start, end int64
}

// matchUIDs finds the known occurrences that are wanted with the same UID. It returns the other occurrences that are
// not over.
func (p *importing) matchUIDs() (others []OccurrenceShift) {
	before := map[Occurrence]int{}
	for i, k := range p.known {
		before[k.Occurrence] = i
	}
	seen := map[Occurrence]bool{}
	for _, w := range p.Wanted {
		if seen[w.Occurrence] || !w.End.After(p.now) {
			continue
		}
		seen[w.Occurrence] = true
		at := personTime{w.User, w.Start.Unix(), w.End.Unix()}
		i, ok := before[w.Occurrence]
		switch {
		case !ok || p.over(p.known[i]):
			others = append(others, w)
		case p.held[at] && p.movable(p.known[i]): // another event holds the same time: this shift is a copy
		default:
			p.held[at] = p.held[at] || p.movable(p.known[i])
			p.match(w, i)
		}
	}
	return others
}

// unmatched are events of which nobody was found, by what they share with the shifts that they may have had.
type unmatched struct {
	events map[eventTime]bool // by UID and Occurs
	whole  map[string]bool    // UIDs of events that run now, or cannot be read
	times  map[time.Time]bool // Occurs of events whose UIDs are new
	still  map[string]bool    // UIDs that the calendar has
	// unreadable are UIDs of events that cannot be read: all their shifts stay.
	unreadable map[string]bool
}

type eventTime struct {
	uid    string
	occurs time.Time
}

func (p *importing) unmatched() unmatched {
	u := unmatched{events: map[eventTime]bool{}, whole: map[string]bool{}, times: map[time.Time]bool{},
		still: map[string]bool{}, unreadable: map[string]bool{}}
	if len(p.Unmatched) == 0 {
		return u
	}
	before := map[string]bool{}
	for _, k := range p.known {
		before[k.UID] = true
	}
	for _, uid := range p.UIDs {
		u.still[uid] = true
	}
	for _, e := range p.Unmatched {
		u.events[eventTime{e.UID, e.Occurs.UTC()}] = true
		if e.End.IsZero() || !e.Start.After(p.now) && e.End.After(p.now) {
			u.whole[e.UID] = true
		}
		if e.End.IsZero() {
			u.unreadable[e.UID] = true
		}
		if !before[e.UID] && !e.End.IsZero() {
			u.times[e.Occurs.UTC()] = true
		}
	}
	return u
}

// stays reports whether the calendar still has the event of a running shift, as one of which nobody was found.
func (u unmatched) stays(o Occurrence) bool {
	at := o.Occurs.UTC()
	return u.whole[o.UID] || u.events[eventTime{o.UID, at}] || !u.still[o.UID] && u.times[at]
}

// movable reports whether an occurrence has a shift that nobody changed by hand.
func (p *importing) movable(k ImportedOccurrence) bool { return k.Shift != nil && !k.Shift.Edited }

// over reports whether the shift of an occurrence is in the past.
func (p *importing) over(k ImportedOccurrence) bool { return p.movable(k) && !k.Shift.End.After(p.now) }

// renamed returns the known occurrence that is w with another UID; -1 = none. It prefers one whose shift ends as w
// does, and then one with a shift.
func (p *importing) renamed(w OccurrenceShift) int {
	if p.places == nil {
		p.places = map[Occurrence][]int{}
		for i, k := range p.known {
			if !p.taken[i] && !p.over(k) {
				place := Occurrence{Occurs: k.Occurs, User: k.User}
				p.places[place] = append(p.places[place], i)
			}
		}
	}
	found, best := -1, 0
	for _, i := range p.places[Occurrence{Occurs: w.Occurs, User: w.User}] {
		fit, k := 1, p.known[i]
		switch {
		case p.taken[i]:
			continue
		case k.Shift != nil && k.Shift.End.Equal(w.End):
			fit = 3
		case k.Shift != nil:
			fit = 2
		}
		if fit > best {
			found, best = i, fit
		}
	}
	return found
}

// match makes the shift of the known occurrence i that of w, unless it was changed by hand.
func (p *importing) match(w OccurrenceShift, i int) {
	p.taken[i] = true
	k := p.known[i]
	if !p.movable(k) {
		p.out.Kept = append(p.out.Kept, w.Occurrence)
		return
	}
	after := *k.Shift
	switch began := k.Shift.Start.Before(p.now); {
	case began && w.Start.After(p.now): // moved away while it runs
		p.end(*k.Shift)
		p.add(w)
		return
	case !began:
		after.Start = clock.Later(w.Start, p.now)
	}
	after.End = w.End
	if !after.Start.Equal(k.Shift.Start) || !after.End.Equal(k.Shift.End) {
		p.out.Update = append(p.out.Update, oncall.Update{Before: *k.Shift, After: after})
	}
}

// add adds the shift of an occurrence. One that is running begins now.
func (p *importing) add(w OccurrenceShift) {
	p.out.Add = append(p.out.Add, oncall.Shift{TeamID: p.TeamID, Role: p.Role, User: w.User,
		Start: clock.Later(w.Start, p.now), End: w.End})
	p.out.Added = append(p.out.Added, w.Occurrence)
}

// end ends a running shift now.
func (p *importing) end(s oncall.Shift) {
	after := s
	after.End = p.now
	p.out.Update = append(p.out.Update, oncall.Update{Before: s, After: after})
}

// ExternalCalendar is what an external calendar says about a team's role.
type ExternalCalendar struct {
	TeamID int64
	Role   string
	Since  time.Time // the beginning of the range that was read
	UIDs   []string  // of all its events
	Wanted []OccurrenceShift
	// Unmatched are the occurrences of which nobody was found, without people, and the events that cannot be read,
	// without times.
	Unmatched []OccurrenceShift
	// Subscription is the subscription that read the calendar; 0 = a file. Shifts of its earlier readings count as
	// missing too, if the calendar no longer has them.
	Subscription int64
	Ended        bool // the subscription is being removed: shifts that have begun stay
}
