package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestPersonalWords(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	ann := NoticeFact{User: 1, Role: "primary", Name: "Ann Lee", Start: monday, End: monday.Add(24 * time.Hour)}
	bob := NoticeFact{User: 2, Role: "secondary", Name: "Bob Ray", Start: monday.Add(48 * time.Hour), End: monday.Add(60 * time.Hour)}
	const anns, bobs = "primary Mon 23 Nov 09:00 to Tue 24 Nov 09:00 UTC", "secondary Wed 25 Nov 09:00 to Wed 25 Nov 21:00 UTC"
	for name, tc := range map[string]struct {
		PersonalNotice
		want Text
	}{
		"asked to swap": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann, bob}, Note: "my birthday", Link: "https://iris/me"},
			Text{"Ann Lee asks you to swap shifts of ops", "You would take: " + anns + ".\nYou would give: " + bobs + ".\n“my birthday”\nAnswer: https://iris/me"},
		},
		"asked to cover": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann}},
			Text{"Ann Lee asks you to take a shift of ops", "You would take: " + anns + "."},
		},
		"accepted": {
			PersonalNotice{Kind: SwapAccepted, Reader: 1, By: "Bob Ray", Facts: []NoticeFact{ann, bob}},
			Text{"Bob Ray accepted your swap request for ops", "You gave away: " + anns + ".\nYou have now: " + bobs + "."},
		},
		"declined": {
			PersonalNotice{Kind: SwapDeclined, Reader: 1, By: "Bob Ray", Facts: []NoticeFact{ann, bob}, Link: "https://iris/me"},
			Text{"Bob Ray declined your swap request for ops", "Still yours: " + anns + ".\nAsk others: https://iris/me"},
		},
		"expired": {
			PersonalNotice{Kind: SwapExpired, Reader: 1, Facts: []NoticeFact{ann, bob}, Note: "a shift has begun"},
			Text{"Your swap request for ops expired", "Nobody agreed in time: a shift has begun.\nStill yours: " + anns + "."},
		},
		"withdrawn": {
			PersonalNotice{Kind: SwapWithdrawn, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann}},
			Text{"Ann Lee withdrew the swap request for ops", "You need not answer, nothing changes.\nIt was about: " + anns + "."},
		},
		"who took the pager": {
			PersonalNotice{Kind: PagerTaken, Reader: 1, By: "Ann Lee", Facts: []NoticeFact{ann, bob}},
			Text{"You have the pager of ops", "You are primary of ops from now until Tue 24 Nov 09:00 UTC."},
		},
		"who lost it": { // only what is taken of the shift
			PersonalNotice{Kind: PagerTaken, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann,
				{User: 2, Role: "primary", Start: monday.Add(-time.Hour), End: monday.Add(time.Hour)}, {User: 3, Role: "primary", Start: monday.Add(time.Hour), End: ann.End}}},
			Text{"Ann Lee took the pager of ops from you", "Ann Lee is on call in your place: primary Mon 23 Nov 09:00 to Mon 23 Nov 10:00 UTC."},
		},
		"many shifts": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann, ann, ann, ann, ann, ann, ann}},
			Text{"Ann Lee asks you to take a shift of ops", "You would take: " + anns + ", " + anns + ", " + anns + ", " + anns + ", " + anns + ", and 2 more."},
		},
	} {
		tc.Team, tc.Zone = "ops", time.UTC
		words, ok := tc.Text()
		require.True(t, ok, name)
		require.Equal(t, tc.want, words, name)
		require.True(t, tc.Kind.Personal())
	}
	for _, none := range []PersonalNotice{{Kind: PagerTaken}, {Kind: PagerTaken, Reader: 4, Facts: []NoticeFact{ann}}, {Kind: ShiftCreated}} {
		_, ok := none.Text()
		require.False(t, ok)
	}
	require.False(t, ShiftCreated.Personal())
	require.Equal(t, users.Medium, SwapAsked.Priority())
	require.Equal(t, users.High, PagerTaken.Priority())
}

func TestWhoHearsOfSwapRequests(t *testing.T) {
	t.Parallel()
	give, take := shift(1, RolePrimary, 1, in(10), in(20)), shift(2, RoleSecondary, 2, in(20), in(30))
	d := desk()
	r, err := d.Request(1, 2, []Shift{give}, []Shift{take}, "please")
	require.NoError(t, err)
	require.Equal(t, Notice{Kind: SwapAsked, TeamID: 7, By: 1, Note: "please", Users: []users.ID{2}, Shifts: []Shift{give, take}},
		r.Asked(d.Team, []Shift{give}, []Shift{take}))
	all := r
	all.To = 0
	everybody := all.Asked(d.Team, []Shift{give}, nil).Users
	require.Contains(t, everybody, users.ID(2))
	require.NotContains(t, everybody, users.ID(1), "who asks knows")
	require.NotContains(t, everybody, users.ID(5), "who is switched off is asked nothing")

	told := func(r SwapRequest) []Notice { return r.Ended([]Shift{give}, []Shift{take}) }
	accepted, _, err := d.Accept(r, 2, []Shift{give}, []Shift{take})
	require.NoError(t, err)
	require.Equal(t, []Notice{{Kind: SwapAccepted, Unless: ShiftSwapped, TeamID: 7, By: 2, Roles: []string{RolePrimary, RoleSecondary}, Users: []users.ID{1},
		Shifts: []Shift{give, take}}}, told(accepted))
	declined, err := d.Decline(r, 2)
	require.NoError(t, err)
	require.Equal(t, []users.ID{1}, told(declined)[0].Users)
	expired, over := r.Expire(in(10), []Shift{give}, []Shift{take})
	require.True(t, over)
	require.Equal(t, "a shift has begun", told(expired)[0].Note)
	require.Equal(t, []users.ID{1}, told(expired)[0].Users)
	for by, want := range map[users.ID][]users.ID{1: {2}, 2: {1}, 3: {1, 2}} { // 2 and 3 as administrators
		withdrawn, err := d.Withdraw(r, by)
		require.NoError(t, err)
		require.Equal(t, SwapWithdrawn, told(withdrawn)[0].Kind)
		require.Equal(t, want, told(withdrawn)[0].Users)
	}
	withdrawn, err := d.Withdraw(all, 1)
	require.NoError(t, err)
	require.Empty(t, told(withdrawn), "everybody is not bothered")
	require.Empty(t, told(r), "it is open")
}

func TestThePagerTellsWhoTookAndWhoLostIt(t *testing.T) {
	t.Parallel()
	shifts := []Shift{shift(1, RolePrimary, 1, in(-6), in(6)), shift(2, RolePrimary, 2, in(6), in(20))}
	c, err := desk().TakePager(shifts, RolePrimary, 3, in(8))
	require.NoError(t, err)
	n := c.Notices[1]
	require.Equal(t, PagerTaken, n.Kind)
	require.Equal(t, ShiftSubstituted, n.Unless)
	require.Equal(t, []users.ID{3, 1, 2}, n.Users)
	require.Equal(t, users.ID(3), n.Shifts[0].User)
	require.Equal(t, shifts, n.Shifts[1:])
	c, err = desk().TakePager(nil, RolePrimary, 3, in(8))
	require.NoError(t, err)
	require.Equal(t, ShiftCreated, c.Notices[1].Unless)
	require.Equal(t, []users.ID{3}, c.Notices[1].Users)
}
