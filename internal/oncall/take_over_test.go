package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestWhoIsMeant(t *testing.T) {
	t.Parallel()
	candidates := []Candidate{
		{1, "ann", "Ann Lee", "ann@example.com"}, {2, "bob", "Bob Ray", ""}, {3, "sam", "Sam Fox", "sam@example.com"}, {4, "sam2", "Sam Fox", ""},
		{5, "on", "", "on@example.com"},
	}
	for name, tc := range map[string]struct {
		summary string
		people  []Named
		found   []users.ID
		unknown []string
	}{
		"an address":                {"x", []Named{{"Somebody", "ANN@example.com"}}, []users.ID{1}, nil},
		"a full name":               {"x", []Named{{"bob ray", ""}}, []users.ID{2}, nil},
		"a user name":               {"x", []Named{{"Bob", "bob@elsewhere.example"}}, []users.ID{2}, nil},
		"two people":                {"x", []Named{{"", "ann@example.com"}, {"bob", ""}}, []users.ID{1, 2}, nil},
		"one of two":                {"x", []Named{{"", "ann@example.com"}, {"Zoe", "zoe@example.com"}}, []users.ID{1}, []string{"Zoe"}},
		"two of the same name":      {"x", []Named{{"Sam Fox", ""}}, nil, []string{"Sam Fox"}},
		"the summary":               {"ops primary shift: Bob Ray", nil, []users.ID{2}, nil},
		"two in the summary":        {"Bob Ray / ann lee (night)", nil, []users.ID{1, 2}, nil},
		"a user name in it":         {"primary: bob", nil, []users.ID{2}, nil},
		"a name within a word":      {"bobsleigh, Annabel", nil, nil, []string{"bobsleigh, Annabel"}},
		"names win over user names": {"Bob Ray on call", nil, []users.ID{2}, nil},
		"a group and the summary":   {"Ann Lee", []Named{{"", "ops@example.com"}}, []users.ID{1}, nil},
		"nobody":                    {"holiday", []Named{{"", "ops@example.com"}}, nil, []string{"ops@example.com"}},
		"nothing":                   {"", nil, nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, unknown := WhoIsMeant(candidates, tc.summary, tc.people)
			require.Equal(t, tc.found, found)
			require.Equal(t, tc.unknown, unknown)
		})
	}
}

func TestPlanTakeOver(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0).UTC()
	at := func(h int) time.Time { return now.Add(time.Duration(h) * time.Hour) }
	key := func(uid string) Taken { return Taken{UID: uid, Occurs: at(1), User: 1} }
	want := func(uid string, from, to int) TakenShift { return TakenShift{key(uid), at(from), at(to)} }
	known := func(uid string, from, to int, edited bool) TakenOver {
		return TakenOver{key(uid), &Shift{ID: 9, TeamID: 7, Role: "primary", User: 1, Start: at(from), End: at(to), Edited: edited}}
	}
	for name, tc := range map[string]struct {
		wanted []TakenShift
		known  []TakenOver
		add    []Span
		update []Span
		remove int
		kept   int
	}{
		"new":                  {[]TakenShift{want("a", 1, 2)}, nil, []Span{{at(1), at(2)}}, nil, 0, 0},
		"twice":                {[]TakenShift{want("a", 1, 2), want("a", 1, 2)}, nil, []Span{{at(1), at(2)}}, nil, 0, 0},
		"running":              {[]TakenShift{want("a", -5, 2)}, nil, []Span{{at(0), at(2)}}, nil, 0, 0},
		"as before":            {[]TakenShift{want("a", 1, 2)}, []TakenOver{known("a", 1, 2, false)}, nil, nil, 0, 0},
		"moved":                {[]TakenShift{want("a", 3, 4)}, []TakenOver{known("a", 1, 2, false)}, nil, []Span{{at(3), at(4)}}, 0, 0},
		"begun":                {[]TakenShift{want("a", -5, 4)}, []TakenOver{known("a", -2, 2, false)}, nil, []Span{{at(-2), at(4)}}, 0, 0},
		"moved by hand":        {[]TakenShift{want("a", 3, 4)}, []TakenOver{known("a", 1, 2, true)}, nil, nil, 0, 1},
		"deleted by hand":      {[]TakenShift{want("a", 3, 4)}, []TakenOver{{Taken: key("a")}}, nil, nil, 0, 1},
		"gone":                 {nil, []TakenOver{known("a", 1, 2, false)}, nil, nil, 1, 0},
		"gone, and begun":      {nil, []TakenOver{known("a", -1, 2, false)}, nil, nil, 0, 0},
		"gone, and by hand":    {nil, []TakenOver{known("a", 1, 2, true)}, nil, nil, 0, 0},
		"gone here, and there": {nil, []TakenOver{{Taken: key("a")}}, nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := PlanTakeOver(now, 7, "primary", tc.wanted, tc.known)
			var add, update []Span
			for _, s := range p.Add {
				add = append(add, Span{s.Start, s.End})
			}
			for _, u := range p.Update {
				update = append(update, Span{u.After.Start, u.After.End})
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
