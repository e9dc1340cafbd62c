package editing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func TestMatchPeople(t *testing.T) {
	t.Parallel()
	candidates := []Candidate{
		{1, "ann", "Ann Lee", "ann@example.com"}, {2, "bob", "Bob Ray", ""}, {3, "sam", "Sam Fox", "sam@example.com"}, {4, "sam2", "Sam Fox", ""},
		{5, "on", "", "on@example.com"},
	}
	for name, tc := range map[string]struct {
		summary string
		people  []EventPerson
		found   []users.ID
		unknown []string
	}{
		"an address":                {"x", []EventPerson{{"Somebody", "ANN@example.com"}}, []users.ID{1}, nil},
		"a full name":               {"x", []EventPerson{{"bob ray", ""}}, []users.ID{2}, nil},
		"a user name":               {"x", []EventPerson{{"Bob", "bob@elsewhere.example"}}, []users.ID{2}, nil},
		"two people":                {"x", []EventPerson{{"", "ann@example.com"}, {"bob", ""}}, []users.ID{1, 2}, nil},
		"one of two":                {"x", []EventPerson{{"", "ann@example.com"}, {"Zoe", "zoe@example.com"}}, []users.ID{1}, []string{"Zoe"}},
		"two of the same name":      {"x", []EventPerson{{"Sam Fox", ""}}, nil, []string{"Sam Fox"}},
		"the summary":               {"ops primary shift: Bob Ray", nil, []users.ID{2}, nil},
		"two in the summary":        {"Bob Ray / ann lee (night)", nil, []users.ID{1, 2}, nil},
		"a user name in it":         {"primary: bob", nil, []users.ID{2}, nil},
		"a name within a word":      {"bobsleigh, Annabel", nil, nil, []string{"bobsleigh, Annabel"}},
		"names win over user names": {"Bob Ray on call", nil, []users.ID{2}, nil},
		"a group and the summary":   {"Ann Lee", []EventPerson{{"", "ops@example.com"}}, []users.ID{1}, nil},
		"nobody":                    {"holiday", []EventPerson{{"", "ops@example.com"}}, nil, []string{"ops@example.com"}},
		"nothing":                   {"", nil, nil, []string{""}},
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
		return ImportedOccurrence{key(uid), &oncall.Shift{ID: 9, TeamID: 7, Role: "primary", User: 1, Start: at(from), End: at(to), Edited: edited}}
	}
	for name, tc := range map[string]struct {
		wanted []OccurrenceShift
		known  []ImportedOccurrence
		add    []oncall.Span
		update []oncall.Span
		remove int
		kept   int
	}{
		"new":                  {[]OccurrenceShift{want("a", 1, 2)}, nil, []oncall.Span{{Start: at(1), End: at(2)}}, nil, 0, 0},
		"twice":                {[]OccurrenceShift{want("a", 1, 2), want("a", 1, 2)}, nil, []oncall.Span{{Start: at(1), End: at(2)}}, nil, 0, 0},
		"running":              {[]OccurrenceShift{want("a", -5, 2)}, nil, []oncall.Span{{Start: at(0), End: at(2)}}, nil, 0, 0},
		"as before":            {[]OccurrenceShift{want("a", 1, 2)}, []ImportedOccurrence{known("a", 1, 2, false)}, nil, nil, 0, 0},
		"moved":                {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{known("a", 1, 2, false)}, nil, []oncall.Span{{Start: at(3), End: at(4)}}, 0, 0},
		"begun":                {[]OccurrenceShift{want("a", -5, 4)}, []ImportedOccurrence{known("a", -2, 2, false)}, nil, []oncall.Span{{Start: at(-2), End: at(4)}}, 0, 0},
		"moved by hand":        {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{known("a", 1, 2, true)}, nil, nil, 0, 1},
		"deleted by hand":      {[]OccurrenceShift{want("a", 3, 4)}, []ImportedOccurrence{{Occurrence: key("a")}}, nil, nil, 0, 1},
		"gone":                 {nil, []ImportedOccurrence{known("a", 1, 2, false)}, nil, nil, 1, 0},
		"gone, and begun":      {nil, []ImportedOccurrence{known("a", -1, 2, false)}, nil, nil, 0, 0},
		"gone, and by hand":    {nil, []ImportedOccurrence{known("a", 1, 2, true)}, nil, nil, 0, 0},
		"gone here, and there": {nil, []ImportedOccurrence{{Occurrence: key("a")}}, nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ImportShifts(now, 7, "primary", tc.wanted, tc.known)
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
