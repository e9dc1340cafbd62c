package editing

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func TestMatchPeople(t *testing.T) {
	t.Parallel()
	candidates := []Candidate{
		{1, "ann", "Ann Lee", "ann@example.com"}, {2, "bob", "Bob Ray", ""}, {3, "sam", "Sam Fox",
			"sam@example.com"}, {4, "sam2", "Sam Fox", ""},
		{5, "on", "", "on@example.com"},
	}
	for name, tc := range map[string]struct {
		summary string
		people  []EventPerson
		found   []users.ID
		unknown []string
	}{
		"an address":  {"x", []EventPerson{{"Somebody", "ANN@example.com"}}, []users.ID{1}, nil},
		"a full name": {"x", []EventPerson{{"bob ray", ""}}, []users.ID{2}, nil},
		"a user name": {"x", []EventPerson{{"Bob", "bob@elsewhere.example"}}, []users.ID{2}, nil},
		"two people":  {"x", []EventPerson{{"", "ann@example.com"}, {"bob", ""}}, []users.ID{1, 2}, nil},
		"one of two": {"x", []EventPerson{{"", "ann@example.com"}, {"Zoe", "zoe@example.com"}},
			[]users.ID{1}, []string{"Zoe"}},
		"two of the same name":      {"x", []EventPerson{{"Sam Fox", ""}}, nil, []string{"Sam Fox"}},
		"the summary":               {"ops primary shift: Bob Ray", nil, []users.ID{2}, nil},
		"two in the summary":        {"Bob Ray / ann lee (night)", nil, []users.ID{1, 2}, nil},
		"a user name in it":         {"primary: bob", nil, []users.ID{2}, nil},
		"a name within a word":      {"bobsleigh, Annabel", nil, nil, []string{"bobsleigh, Annabel"}},
		"names win over user names": {"Bob Ray on call", nil, []users.ID{2}, nil},
		"a group and the summary":   {"Ann Lee", []EventPerson{{"", "ops@example.com"}}, []users.ID{1}, nil},
		"nobody": {"holiday", []EventPerson{{"", "ops@example.com"}}, nil,
			[]string{"ops@example.com"}},
		"nothing": {"", nil, nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, unknown := MatchPeople(candidates, tc.summary, tc.people)
			require.Equal(t, tc.found, found)
			require.Equal(t, tc.unknown, unknown)
		})
	}
}

func TestImportShifts(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0).UTC()
	at := func(h int) time.Time { return now.Add(time.Duration(h) * time.Hour) }
	key := func(uid string) Occurrence { return Occurrence{UID: uid, Occurs: at(1), User: 1} }
	want := func(uid string, from, to int) OccurrenceShift { return OccurrenceShift{key(uid), at(from), at(to)} }
	known := func(uid string, from, to int, edited bool) ImportedOccurrence {
		return ImportedOccurrence{key(uid), &oncall.Shift{ID: 9, TeamID: 7, Role: "primary", User: 1, Start: at(from),
			End: at(to), Edited: edited}}
	}
	for name, tc := range map[string]struct {
		wanted []OccurrenceShift
		known  []ImportedOccurrence
		add    []oncall.Span
		update []oncall.Span
		remove int
		kept   int
	}{
		"new": {[]OccurrenceShift{want("a", 1, 2)}, nil, []oncall.Span{{Start: at(1), End: at(2)}}, nil,
			0, 0},
		"twice": {[]OccurrenceShift{want("a", 1, 2), want("a", 1, 2)}, nil,
			[]oncall.Span{{Start: at(1), End: at(2)}}, nil, 0, 0},
		"running": {[]OccurrenceShift{want("a", -5, 2)}, nil, []oncall.Span{{Start: at(0), End: at(2)}}, nil,
			0, 0},
		"as before": {[]OccurrenceShift{want("a", 1, 2)}, []ImportedOccurrence{known("a", 1, 2, false)}, nil,
			nil, 0, 0},
		"moved": {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{known("a", 1, 2, false)}, nil,
			[]oncall.Span{{Start: at(3), End: at(4)}}, 0, 0},
		"begun": {[]OccurrenceShift{want("a", -5, 4)}, []ImportedOccurrence{known("a", -2, 2, false)}, nil,
			[]oncall.Span{{Start: at(-2), End: at(4)}}, 0, 0},
		"moved by hand": {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{known("a", 1, 2, true)}, nil,
			nil, 0, 1},
		"deleted by hand": {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{{Occurrence: key("a")}}, nil,
			nil, 0, 1},
		"gone": {nil, []ImportedOccurrence{known("a", 1, 2, false)}, nil, nil, 1, 0},
		"gone, and running": {nil, []ImportedOccurrence{known("a", -1, 2, false)}, nil,
			[]oncall.Span{{Start: at(-1), End: at(0)}}, 0, 0},
		"gone, and over":   {nil, []ImportedOccurrence{known("a", -2, -1, false)}, nil, nil, 0, 0},
		"gone, begins now": {nil, []ImportedOccurrence{known("a", 0, 2, false)}, nil, nil, 1, 0},
		"running, moved away": {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{known("a", -2, 2, false)},
			[]oncall.Span{{Start: at(3), End: at(4)}},
			[]oncall.Span{{Start: at(-2), End: at(0)}}, 0, 0},
		"over, made longer": {[]OccurrenceShift{want("a", -3, 4)}, []ImportedOccurrence{known("a", -3, -1, false)},
			[]oncall.Span{{Start: at(0), End: at(4)}}, nil, 0, 0},
		"another UID": {[]OccurrenceShift{want("b", -3, 4)}, []ImportedOccurrence{known("a", -2, 4, false)},
			nil, nil, 0, 0},
		"another UID, longer": {[]OccurrenceShift{want("b", 1, 4)}, []ImportedOccurrence{known("a", 1, 3, false)},
			nil, []oncall.Span{{Start: at(1), End: at(4)}}, 0, 0},
		"another UID, by hand": {[]OccurrenceShift{want("b", 1, 4)}, []ImportedOccurrence{{Occurrence: key("a")}}, nil,
			nil, 0, 1},
		"two UIDs": {[]OccurrenceShift{want("a", 1, 2), want("b", 1, 2)}, nil,
			[]oncall.Span{{Start: at(1), End: at(2)}}, nil, 0, 0},
		"two UIDs, one known": {[]OccurrenceShift{want("b", 1, 2), want("a", 1, 2)},
			[]ImportedOccurrence{known("a", 1, 2, false)}, nil, nil, 0, 0},
		"gone, and by hand":    {nil, []ImportedOccurrence{known("a", 1, 2, true)}, nil, nil, 0, 0},
		"gone here, and there": {nil, []ImportedOccurrence{{Occurrence: key("a")}}, nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ImportShifts(now, ExternalCalendar{TeamID: 7, Role: "primary", Wanted: tc.wanted}, tc.known)
			var add, update []oncall.Span
			for _, s := range p.Add {
				add = append(add, oncall.Span{Start: s.Start, End: s.End})
			}
			for _, u := range p.Update {
				update = append(update, oncall.Span{Start: u.After.Start, End: u.After.End})
			}
			require.Equal(t, tc.add, add)
			require.Equal(t, tc.update, update)
			require.Len(t, p.Delete, tc.remove)
			require.Len(t, p.Dropped, tc.remove)
			require.Len(t, p.Kept, tc.kept)
			require.Len(t, p.Added, len(tc.add))
		})
	}
}

// The person of a running event changes: one shift ends and the other begins at the same instant.
func TestARunningEventChangesItsPerson(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 5e8).UTC()
	event := func(user users.ID) OccurrenceShift {
		return OccurrenceShift{Occurrence{UID: "a", Occurs: now.Add(-time.Hour), User: user}, now.Add(-time.Hour),
			now.Add(time.Hour)}
	}
	ana := oncall.Shift{ID: 9, TeamID: 7, Role: "primary", User: 1, Start: now.Add(-time.Hour), End: now.Add(time.Hour)}
	p := ImportShifts(now, ExternalCalendar{TeamID: 7, Role: "primary", Wanted: []OccurrenceShift{event(2)}},
		[]ImportedOccurrence{{event(1).Occurrence, &ana}})
	require.Len(t, p.Update, 1)
	require.Len(t, p.Add, 1)
	require.Equal(t, users.ID(2), p.Add[0].User)
	require.True(t, p.Update[0].After.End.Equal(time.Unix(1_000_000, 0)))
	require.True(t, p.Add[0].Start.Equal(p.Update[0].After.End))

	p = ImportShifts(now, ExternalCalendar{TeamID: 7, Role: "primary", Ended: true},
		[]ImportedOccurrence{{event(1).Occurrence, &ana}})
	require.Empty(t, p.Update, "a removed subscription takes nobody off call")
}

// A running shift stays until its known end while its event is in the calendar and nobody can be found for it.
func TestARunningEventWhoseTextCannotBeMatchedKeepsItsPerson(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 5e8, time.UTC)
	event := func(uid, summary, start, end string) string {
		return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nSUMMARY:" + summary + "\r\nDTSTART:20261120T" + start +
			"Z\r\nDTEND:20261120T" + end + "Z\r\nEND:VEVENT\r\n"
	}
	read := func(events string) (ExternalCalendar, []UnmatchedEvent) {
		t.Helper()
		c := ExternalCalendar{TeamID: 7, Role: "primary", Since: now.Add(-24 * time.Hour), Subscription: 3}
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + events + "END:VCALENDAR\r\n"
		out, err := ReadShifts(&c, []byte(text), []Candidate{{User: 1, Name: "ana"}, {User: 2, Name: "ben"}}, time.UTC,
			now.Add(24*time.Hour))
		require.NoError(t, err)
		return c, out
	}
	c, _ := read(event("a", "ana", "110000", "130000"))
	require.Len(t, c.Wanted, 1)
	ana := oncall.Shift{ID: 9, TeamID: 7, Role: "primary", User: 1, Start: c.Wanted[0].Start, End: c.Wanted[0].End}
	known := []ImportedOccurrence{{c.Wanted[0].Occurrence, &ana}}
	for name, tc := range map[string]struct {
		events string
		ends   bool
		shown  int
	}{
		"renamed":                 {event("a", "anna", "110000", "130000"), false, 1},
		"renamed and longer":      {event("a", "anna", "110000", "150000"), false, 1},
		"renamed, begins earlier": {event("a", "anna", "103000", "130000"), false, 1},
		"renamed under a new UID": {event("b", "anna", "110000", "130000"), false, 1},
		"cannot be read":          {event("a", "ana", "11zz00", "130000"), false, 1},
		"another person":          {event("a", "ben", "110000", "130000"), true, 0},
		"deleted":                 {"", true, 0},
		"deleted beside a party":  {event("p", "party", "100000", "150000"), true, 1},
		"moved to later, renamed": {event("a", "anna", "140000", "150000"), true, 1},
	} {
		c, unmatched := read(tc.events)
		require.Len(t, unmatched, tc.shown, name)
		p := ImportShifts(now, c, known)
		require.Empty(t, p.Delete, name)
		if tc.ends {
			require.Len(t, p.Update, 1, name)
			require.True(t, p.Update[0].After.End.Equal(now.Truncate(time.Second)), name)
		} else {
			require.Empty(t, p.Changes, "%s: the shift stays as it is", name)
		}
	}
}

// Over random histories of a calendar: after each reading, the calendar decides who is on call from now on, and the
// past is as it was.
func TestReadingsOfACalendarDecideTheFutureAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := calendarModel{shifts: map[oncall.ShiftID]oncall.Shift{}, taken: map[Occurrence]oncall.ShiftID{}}
		at := func(h int) time.Time { return time.Unix(1_000_000, 0).UTC().Add(time.Duration(h) * time.Hour) }
		type event struct {
			uid        string
			user       users.ID
			start, end int
		}
		var events []event
		hour, uids := 0, 0
		for step := range rapid.IntRange(1, 8).Draw(rt, "readings") {
			hour += rapid.IntRange(0, 3).Draw(rt, "hours")
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				uids++
				e := event{fmt.Sprint("event ", uids, " "), users.ID(rapid.IntRange(1, 2).Draw(rt, "user")),
					rapid.IntRange(0, 12).Draw(rt, "start"), 0}
				e.end = e.start + rapid.IntRange(1, 6).Draw(rt, "length")
				k := rapid.IntRange(0, len(events)).Draw(rt, "place")
				switch what := rapid.IntRange(0, 3).Draw(rt, "what"); {
				case k == len(events):
					events = append(events, e)
				case what == 0:
					events = slices.Delete(events, k, k+1)
				case what == 1:
					events[k].user = e.user
				case what == 2:
					events[k].start, events[k].end = e.start, e.end
				default:
					events[k].end = events[k].start + e.end - e.start
				}
			}
			renew := rapid.Bool().Draw(rt, "new UIDs")
			c := ExternalCalendar{TeamID: 7, Role: "primary"}
			for _, e := range events {
				if renew {
					e.uid += fmt.Sprint(step)
				}
				if at(e.end).After(at(hour)) { // as a reading from now on does
					c.Wanted = append(c.Wanted, OccurrenceShift{Occurrence{e.uid, at(e.start), e.user}, at(e.start),
						at(e.end)})
				}
			}
			before := maps.Clone(m.shifts)
			m.read(rt, at(hour), c)
			for half := range 40 {
				instant := at(0).Add(time.Duration(half)*time.Hour/2 + time.Minute)
				wanted := map[users.ID]map[string]bool{}
				for _, w := range c.Wanted {
					if !w.Start.After(instant) && w.End.After(instant) {
						if wanted[w.User] == nil {
							wanted[w.User] = map[string]bool{}
						}
						wanted[w.User][w.Start.String()+w.End.String()] = true
					}
				}
				for _, user := range []users.ID{1, 2} {
					got, want := holds(m.shifts, user, instant), len(wanted[user])
					if instant.Before(at(hour)) {
						want = holds(before, user, instant)
					}
					require.Equal(rt, want, got, "reading %d: shifts of person %d at half hour %d", step, user, half)
				}
			}
			again := ImportShifts(at(hour), c, m.known(at(hour)))
			require.Empty(rt, again.Add, "the same calendar adds nothing")
			require.Empty(rt, again.Update)
			require.Empty(rt, again.Delete)
		}
	})
}

// calendarModel stores shifts as the database does.
type calendarModel struct {
	shifts map[oncall.ShiftID]oncall.Shift
	taken  map[Occurrence]oncall.ShiftID
	last   oncall.ShiftID
}

func holds(shifts map[oncall.ShiftID]oncall.Shift, user users.ID, at time.Time) (n int) {
	for _, s := range shifts {
		if s.User == user && !s.Start.After(at) && s.End.After(at) {
			n++
		}
	}
	return n
}

// known returns what a reading at an instant finds.
func (m *calendarModel) known(now time.Time) (out []ImportedOccurrence) {
	for o, id := range m.taken {
		if s, ok := m.shifts[id]; ok && s.End.After(now) {
			out = append(out, ImportedOccurrence{o, &s})
		}
	}
	slices.SortFunc(out, func(a, b ImportedOccurrence) int { return int(a.Shift.ID - b.Shift.ID) })
	return out
}

func (m *calendarModel) read(rt *rapid.T, now time.Time, c ExternalCalendar) {
	p := ImportShifts(now, c, m.known(now))
	for _, u := range p.Update {
		require.True(rt, u.After.Start.Before(u.After.End), "no empty shift")
		m.shifts[u.Before.ID] = u.After
	}
	for i, s := range p.Add {
		require.True(rt, s.Start.Before(s.End), "no empty shift")
		m.last++
		s.ID = m.last
		m.shifts[s.ID], m.taken[p.Added[i]] = s, s.ID
	}
	for i, s := range p.Delete {
		delete(m.shifts, s.ID)
		delete(m.taken, p.Dropped[i])
	}
}
