package editing

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func TestRecipientsOfSwapRequestNotices(t *testing.T) {
	t.Parallel()
	give, take := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RoleSecondary, 2, in(20), in(30))
	d := editor()
	r, err := d.Request(1, 2, []oncall.Shift{give}, []oncall.Shift{take}, "please")
	require.NoError(t, err)
	require.Equal(t, oncall.Notice{Kind: oncall.SwapAsked, TeamID: 7, By: 1, Note: "please", Users: []users.ID{2},
		Shifts: []oncall.Shift{give, take}},
		r.AskNotice(d.Team, []oncall.Shift{give}, []oncall.Shift{take}))
	all := r
	all.To = 0
	everybody := all.AskNotice(d.Team, []oncall.Shift{give}, nil).Users
	require.Contains(t, everybody, users.ID(2))
	require.NotContains(t, everybody, users.ID(1), "who asks knows")
	require.NotContains(t, everybody, users.ID(5), "who is switched off is asked nothing")

	told := func(r SwapRequest) []oncall.Notice { return r.EndNotices([]oncall.Shift{give}, []oncall.Shift{take}) }
	accepted, _, err := d.Accept(r, 2, []oncall.Shift{give}, []oncall.Shift{take})
	require.NoError(t, err)
	require.Equal(t, []oncall.Notice{{Kind: oncall.SwapAccepted, Unless: oncall.ShiftSwapped, TeamID: 7, By: 2,
		Roles: []string{oncall.RolePrimary, oncall.RoleSecondary}, Users: []users.ID{1},
		Shifts: []oncall.Shift{give, take}}}, told(accepted))
	declined, err := d.Decline(r, 2)
	require.NoError(t, err)
	require.Equal(t, []users.ID{1}, told(declined)[0].Users)
	expired, over := r.Expire(in(10), []oncall.Shift{give}, []oncall.Shift{take})
	require.True(t, over)
	require.Equal(t, "a shift has begun", told(expired)[0].Note)
	require.Equal(t, []users.ID{1}, told(expired)[0].Users)
	for by, want := range map[users.ID][]users.ID{1: {2}, 2: {1}, 3: {1, 2}} { // 2 and 3 are administrators
		withdrawn, err := d.Withdraw(r, by)
		require.NoError(t, err)
		require.Equal(t, oncall.SwapWithdrawn, told(withdrawn)[0].Kind)
		require.Equal(t, want, told(withdrawn)[0].Users)
	}
	withdrawn, err := d.Withdraw(all, 1)
	require.NoError(t, err)
	require.Empty(t, told(withdrawn), "everybody is not bothered")
	require.Empty(t, told(r), "it is open")
}

func TestTakingThePagerNotifiesBothHolders(t *testing.T) {
	t.Parallel()
	shifts := []oncall.Shift{shift(1, oncall.RolePrimary, 1, in(-6), in(6)),
		shift(2, oncall.RolePrimary, 2, in(6), in(20))}
	c, err := editor().TakePager(shifts, oncall.RolePrimary, 3, in(8))
	require.NoError(t, err)
	n := c.Notices[1]
	require.Equal(t, oncall.PagerTaken, n.Kind)
	require.Equal(t, oncall.ShiftSubstituted, n.Unless)
	require.Equal(t, []users.ID{3, 1, 2}, n.Users)
	require.Equal(t, users.ID(3), n.Shifts[0].User)
	require.Equal(t, shifts, n.Shifts[1:])
	c, err = editor().TakePager(nil, oncall.RolePrimary, 3, in(8))
	require.NoError(t, err)
	require.Equal(t, oncall.ShiftCreated, c.Notices[1].Unless)
	require.Equal(t, []users.ID{3}, c.Notices[1].Users)
}
