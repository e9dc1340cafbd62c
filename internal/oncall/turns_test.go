package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/users"
)

// Of consecutive incidents each member gets nearly the same number, and so of every second, third ... incident: alerts
// that always fire together do not page the same member each time. The next page of an incident goes to the next
// member.
func TestTurnsAreFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(rt, "members")
		first := rapid.Int64Range(0, 1<<40).Draw(rt, "first incident")
		stride := rapid.Int64Range(1, 12).Draw(rt, "stride")
		const each = 400
		got := make([]int, n)
		for i := range int64(each * n) {
			place := turn(first+i*stride, 0, n)
			got[place]++
			require.Equal(rt, (place+1)%n, turn(first+i*stride, 1, n))
		}
		for place, count := range got {
			require.InDelta(rt, each, count, each/2, "member %d of %d, every %d incidents", place, n, stride)
		}
		block := map[int]bool{}
		for i := range int64(n) {
			block[turn(first/int64(n)*int64(n)+i, 0, n)] = true
		}
		require.Len(rt, block, n, "each member gets one of n consecutive incidents")
	})
	require.Zero(t, turn(-5, -1, 3), "any number is accepted")
}

func TestNextOnCallIsTheNextOtherHolder(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	shift := func(user users.ID, from, hours int) Shift {
		start := noon.Add(time.Duration(from) * time.Hour)
		return Shift{TeamID: 101, Role: "primary", User: user, Start: start,
			End: start.Add(time.Duration(hours) * time.Hour)}
	}
	dir := newDirectory()
	dir.teams[101] = Team{ID: 101, TargetID: 101, Name: "db", Active: true, Members: []users.ID{1, 2, 3}}
	// 1 is on call and goes on after a hand-off to themselves; then nobody; then 4, and later 3.
	calendar := NewTeamCalendar(101, noon.Add(-48*time.Hour), noon.Add(48*time.Hour),
		[]Shift{shift(1, -2, 3), shift(1, 1, 3), shift(4, 8, 2), shift(3, 10, 2)})
	ask := func(at time.Time) Answer {
		answer, err := NewResolver(dir, Fixed{101: calendar}, time.Minute).Resolve(t.Context(),
			Query{Role: RoleNextOnCall, TargetID: 101}, at)
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, Answer{Users: []users.ID{4},
		Rule: "next primary of team db: shift from Mon 2026-11-23 20:00 UTC"}, ask(noon))
	require.Equal(t, []users.ID{3}, ask(noon.Add(9*time.Hour)).Users)
	require.Equal(t, []users.ID{1}, ask(noon.Add(11*time.Hour)).Users,
		"no shift follows: after 3 in the fixed order comes 1")
}
