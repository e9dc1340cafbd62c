package oncall

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/users"
)

func TestOnCallEqualsALinearSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var shifts []Shift
		for i := range rapid.IntRange(0, 30).Draw(rt, "shifts") {
			start := rapid.IntRange(-50, 100).Draw(rt, "start")
			s := shift(i+1, rapid.SampledFrom([]string{RolePrimary, RoleSecondary}).Draw(rt, "role"),
				rapid.IntRange(1, 4).Draw(rt, "who"),
				in(start), in(start+rapid.IntRange(0, 40).Draw(rt, "length")))
			s.TeamID = rapid.Int64Range(7, 9).Draw(rt, "team")
			shifts = append(shifts, s)
		}
		c := NewTeamCalendar(7, in(0), in(100), shifts, TeamRole{8, RolePrimary})
		own := func(s Shift) bool { return s.TeamID == 7 || s.TeamID == 8 && s.Role == RolePrimary }
		for h := range 100 {
			var want []Shift
			for _, s := range SortedShifts(shifts) {
				if own(s) && s.Role == RolePrimary && s.At(in(h)) {
					want = append(want, s)
				}
			}
			require.Equal(rt, want, c.OnCall(RolePrimary, in(h)))
			gap := slices.ContainsFunc(c.Gaps(RolePrimary, in(0), in(100)),
				func(g Span) bool { return !in(h).Before(g.Start) && in(h).Before(g.End) })
			require.Equal(rt, len(want) == 0, gap, "hour %d", h)
		}
		// HandOffs returns every change of the people on call.
		who := Holders(c.OnCall(RolePrimary, in(0)))
		for _, change := range c.HandOffs(RolePrimary, in(0), 1000) {
			require.Equal(rt, who, change.From)
			require.NotEqual(rt, change.From, change.To)
			require.Equal(rt, change.To, Holders(c.OnCall(RolePrimary, change.At)))
			require.Equal(rt, who, Holders(c.OnCall(RolePrimary, change.At.Add(-time.Second))))
			who = change.To
		}
		require.Equal(rt, who, Holders(c.OnCall(RolePrimary, in(100).Add(-time.Second))))
	})
}

func TestSummaryReturnsCurrentAndNextShifts(t *testing.T) {
	t.Parallel()
	now1, now2 := shift(1, RolePrimary, 1, in(-5), in(5)), shift(2, RolePrimary, 2, in(-4), in(4))
	next1, next2, far := shift(3, RolePrimary, 3, in(5), in(9)), shift(4, RolePrimary, 4, in(5), in(9)), shift(5,
		RolePrimary, 1, in(9), in(12))
	other := shift(6, RolePrimary, 1, in(7), in(12))
	other.TeamID = 8
	vacation := shift(7, RoleVacation, 1, in(0), in(1))
	c := NewTeamCalendar(7, in(-100), in(100), []Shift{far, other, next2, next1, now2, now1, vacation},
		TeamRole{8, RolePrimary})
	require.Equal(t, Summary{
		Current: map[string][]Shift{RolePrimary: {now1, now2}, RoleVacation: {vacation}},
		Next:    map[string][]Shift{RolePrimary: {next1, next2, other}},
	}, c.Summary(in(0)))
	require.Equal(t, []Shift{now1, now2, vacation}, c.Now(in(0)))
	require.Equal(t, []Shift{now1, now2}, FirstOfEach(c.Now(in(0))))
	require.Equal(t, []Shift{next1, next2}, c.OnCall(RolePrimary, in(5)), "at a hand-off only the new ones")
	require.Empty(t, c.Summary(in(50)).Current)
	require.Nil(t, c.HandOffs("nothing", in(0), 5))
	require.Equal(t, []HandOff{
		{At: in(4), Role: RolePrimary, From: []users.ID{1, 2}, To: []users.ID{1}}, {At: in(5), Role: RolePrimary,
			From: []users.ID{1}, To: []users.ID{3, 4}},
	}, c.HandOffs(RolePrimary, in(0), 2))
	require.Equal(t, []Span{{in(12), in(20)}}, c.Gaps(RolePrimary, in(0), in(20)))
	require.Equal(t, []Span{{in(90), in(100)}}, c.Gaps("nothing", in(90), in(120)))
}

func TestUpcomingShiftsCollapseLinks(t *testing.T) {
	t.Parallel()
	linked := func(id, h int, link string) Shift {
		s := shift(id, RolePrimary, 1, in(h), in(h+1))
		s.Link = link
		return s
	}
	shifts := []Shift{linked(5, 50, "y"), linked(1, 0, ""), linked(2, 10, "x"), linked(3, 20, ""), linked(4, 30, "x"),
		linked(6, 60, "y"), linked(7, -10, "x")}
	require.Equal(t, []UpcomingShift{{linked(2, 10, "x"), 2}, {linked(3, 20, ""), 0}, {linked(5, 50, "y"), 2}},
		Upcoming(shifts, in(0), 0))
	require.Equal(t, []UpcomingShift{{linked(2, 10, "x"), 2}}, Upcoming(shifts, in(0), 1))
}
