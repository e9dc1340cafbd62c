package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestTextsOfPersonalNotices(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	ann := NoticeFact{User: 1, Role: "primary", Name: "Ann Lee", Start: monday, End: monday.Add(24 * time.Hour)}
	bob := NoticeFact{User: 2, Role: "secondary", Name: "Bob Ray", Start: monday.Add(48 * time.Hour),
		End: monday.Add(60 * time.Hour)}
	const anns, bobs = "primary Mon 23 Nov 09:00 to Tue 24 Nov 09:00 UTC", "secondary Wed 25 Nov 09:00 to Wed 25 Nov 21:00 UTC"
	for name, tc := range map[string]struct {
		PersonalNotice
		want Text
	}{
		"asked to swap": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann, bob},
				Note: "my birthday", Link: "https://iris/me"},
			Text{"Ann Lee asks you to swap shifts of ops", "You would take: " + anns + ".\nYou would give: " + bobs +
				".\n“my birthday”\nAnswer: https://iris/me"},
		},
		"asked to cover": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann}},
			Text{"Ann Lee asks you to take a shift of ops", "You would take: " + anns + "."},
		},
		"accepted": {
			PersonalNotice{Kind: SwapAccepted, Reader: 1, By: "Bob Ray", Facts: []NoticeFact{ann, bob}},
			Text{"Bob Ray accepted your swap request for ops", "You gave away: " + anns + ".\nYou have now: " + bobs +
				"."},
		},
		"declined": {
			PersonalNotice{Kind: SwapDeclined, Reader: 1, By: "Bob Ray", Facts: []NoticeFact{ann, bob},
				Link: "https://iris/me"},
			Text{"Bob Ray declined your swap request for ops", "Still yours: " + anns +
				".\nAsk others: https://iris/me"},
		},
		"expired": {
			PersonalNotice{Kind: SwapExpired, Reader: 1, Facts: []NoticeFact{ann, bob}, Note: "a shift has begun"},
			Text{"Your swap request for ops expired", "Nobody agreed in time: a shift has begun.\nStill yours: " +
				anns + "."},
		},
		"withdrawn": {
			PersonalNotice{Kind: SwapWithdrawn, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann}},
			Text{"Ann Lee withdrew the swap request for ops", "You need not answer, nothing changes.\nIt was about: " +
				anns + "."},
		},
		"who took the pager": {
			PersonalNotice{Kind: PagerTaken, Reader: 1, By: "Ann Lee", Facts: []NoticeFact{ann, bob}},
			Text{"You have the pager of ops", "You are primary of ops from now until Tue 24 Nov 09:00 UTC."},
		},
		"who lost it": { // lists only the part that was taken
			PersonalNotice{Kind: PagerTaken, Reader: 2, By: "Ann Lee", Facts: []NoticeFact{ann,
				{User: 2, Role: "primary", Start: monday.Add(-time.Hour), End: monday.Add(time.Hour)}, {User: 3,
					Role: "primary", Start: monday.Add(time.Hour), End: ann.End}}},
			Text{"Ann Lee took the pager of ops from you",
				"Ann Lee is on call in your place: primary Mon 23 Nov 09:00 to Mon 23 Nov 10:00 UTC."},
		},
		"whose shift somebody gave away": {
			PersonalNotice{Kind: ShiftsHandedOver, Reader: 1, By: "Bob Ray", Facts: []NoticeFact{
				ann, {User: 2, Role: ann.Role, Start: ann.Start, End: ann.End},
				bob, {User: 1, Role: bob.Role, Start: bob.Start, End: bob.End}}},
			Text{"Bob Ray changed your shifts of ops", "No longer yours: " + anns + ".\nYours now: " + bobs + "."},
		},
		"many shifts": {
			PersonalNotice{Kind: SwapAsked, Reader: 2, By: "Ann Lee",
				Facts: []NoticeFact{ann, ann, ann, ann, ann, ann, ann}},
			Text{"Ann Lee asks you to take a shift of ops", "You would take: " + anns + ", " + anns + ", " + anns +
				", " + anns + ", " + anns + ", and 2 more."},
		},
	} {
		tc.Team, tc.Zone = "ops", time.UTC
		text, ok := tc.Text()
		require.True(t, ok, name)
		require.Equal(t, tc.want, text, name)
		require.True(t, tc.Kind.Personal())
	}
	for _, none := range []PersonalNotice{{Kind: PagerTaken}, {Kind: ShiftsHandedOver, Reader: 4, Facts: []NoticeFact{ann, bob}},
		{Kind: PagerTaken, Reader: 4, Facts: []NoticeFact{ann}}, {Kind: ShiftCreated}} {
		_, ok := none.Text()
		require.False(t, ok)
	}
	require.False(t, ShiftCreated.Personal())
	require.Equal(t, users.Medium, SwapAsked.Priority())
	require.Equal(t, users.High, PagerTaken.Priority())
}
