package oncallimport

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	calendar "github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

var began = time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }

// The comparison computes only at boundaries of shifts. It must find the same differences as a comparison of every
// minute.
func TestCompareMinuteByMinute(t *testing.T) {
	t.Parallel()
	const window = 120
	rapid.Check(t, func(t *rapid.T) {
		var there []duty
		var here []calendar.Shift
		for i := range rapid.IntRange(0, 8).Draw(t, "events") {
			user, start := rapid.Int64Range(1, 3).Draw(t, "user"), rapid.IntRange(-40, window+20).Draw(t, "start")
			end := start + rapid.IntRange(1, 60).Draw(t, "length")
			side := rapid.IntRange(0, 5).Draw(t, "side") // most shifts are on both sides
			if side != 1 && end > 0 {
				there = append(there, duty{user, minute(start), minute(end)})
			}
			if side != 2 {
				here = append(here, calendar.Shift{ID: calendar.ShiftID(i + 1), TeamID: 70, Role: "Primary",
					User: users.ID(user + 100), Start: minute(start), End: minute(end)})
			}
		}
		c := comparing{
			im: &importer{roles: map[int64]string{1: "primary"}, teams: map[int64]named{7: {"db", true}},
				people: map[int64]named{1: {"ann", true}, 2: {"bob", true}}},
			team: 7, role: 1, there: there, here: calendar.NewTeamCalendar(70, minute(0), minute(window), here),
			people: map[users.ID]int64{101: 1, 102: 2, 103: 3}, zone: time.UTC, since: minute(0), until: minute(window),
		}
		var found imports.Comparison
		c.run(&found)

		for m := range window {
			var a, b []string
			for n := int64(1); n <= 3; n++ {
				name := map[int64]string{1: "ann", 2: "bob", 3: "user 3"}[n]
				if slices.ContainsFunc(there, func(d duty) bool { return d.user == n && !minute(m).Before(d.start) && minute(m).Before(d.end) }) {
					a = append(a, name)
				}
				if slices.ContainsFunc(here, func(s calendar.Shift) bool { return int64(s.User) == n+100 && s.At(minute(m)) }) {
					b = append(b, name)
				}
			}
			at := slices.IndexFunc(found.Differences,
				func(d imports.Difference) bool { return !minute(m).Before(d.From) && minute(m).Before(d.Until) })
			if slices.Equal(a, b) {
				require.Equal(t, -1, at, "minute %d is the same", m)
				continue
			}
			require.NotEqual(t, -1, at, "minute %d differs", m)
			d := found.Differences[at]
			require.Equal(t, []string{"db", "primary"}, []string{d.Team, d.Role})
			require.Equal(t, append([]string{}, a...), append([]string{}, d.There...))
			require.Equal(t, append([]string{}, b...), append([]string{}, d.Here...))
		}
		for i, d := range found.Differences {
			require.True(t, d.From.Before(d.Until))
			require.False(t, d.From.Before(minute(0)) || d.Until.After(minute(window)))
			require.False(t, i > 0 && d.From.Before(found.Differences[i-1].Until), "they do not overlap")
		}
	})
}

func TestCompareReportsAMissingTeam(t *testing.T) {
	t.Parallel()
	c := comparing{
		im: &importer{roles: map[int64]string{1: "primary"}, teams: map[int64]named{7: {"db", true}},
			people: map[int64]named{1: {"ann", true}}},
		team: 7, role: 1, there: []duty{{1, minute(5), minute(6)}}, zone: time.UTC, since: minute(0), until: minute(10),
	}
	var found imports.Comparison
	c.run(&found)
	require.Equal(t, []imports.Difference{{Team: "db", Role: "primary", Zone: "UTC", From: minute(5), Until: minute(6),
		There: []string{"ann"}, Here: []string{}}}, found.Differences)
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ start, end, said string }{
		{"10", "20", ""},
		{"10", "10", "it does not end after its start: it puts nobody on call"},
		{"20", "10", "it does not end after its start: it puts nobody on call"},
		{"10.2", "10.7", "start has a fraction of a second; the next whole second was taken; end has a fraction of a second; the next whole second was taken; it does not end after its start: it puts nobody on call"},
		{"x", "10", "start is not a number; it has no start or no end"},
	} {
		class := &imports.Class{}
		row := imports.NewRow(class, "event", map[string][]byte{"start": []byte(c.start), "end": []byte(c.end)})
		start, end, ok := span(row)
		require.Equal(t, c.said == "", ok)
		if ok {
			require.Equal(t, 10*time.Second, end.Sub(start))
		}
		said := ""
		for i, r := range class.Reasons {
			if i > 0 {
				said += "; "
			}
			said += r.Text
		}
		require.Equal(t, c.said, said)
	}
}

// test/import checks that every column of Oncall is either read or listed here as not imported. This test checks that
// docs/importing.md names the listed columns.
func TestColumnsThatAreNotImportedAreDocumented(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/importing.md")
	require.NoError(t, err)
	_, moving, _ := strings.Cut(string(docs), "## Moving from Oncall")
	for table, columns := range derived {
		for _, column := range strings.Fields(columns) {
			require.Contains(t, moving, strings.TrimSuffix("`"+table+"."+column, ".*")+"`")
		}
	}
}
