package editing

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// member edits the calendar. It administers the team if admin is true.
type member struct{ admin bool }

func (member) MayEditCalendar(int64, string) error { return nil }

func (m member) MayAdministerTeam(int64, string) error {
	if m.admin {
		return nil
	}
	return fault.New(fault.Forbidden, "not an administrator")
}

func TestAHandOverNotifiesThePeopleConcerned(t *testing.T) {
	t.Parallel()
	ann, bob := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 2, in(20), in(30))
	running := shift(3, oncall.RolePrimary, 1, in(-6), in(6))
	sides := [2]SideRef{{ID: 1}, {ID: 2}}
	two, note, early := users.ID(2), "hello", in(12)
	for name, tc := range map[string]struct {
		Change
		selected []oncall.Shift
		by       users.ID
		told     []users.ID
		unless   oncall.NoticeKind
	}{
		"a swap by one of them":    {Exchange{Sides: sides}, []oncall.Shift{ann, bob}, 2, []users.ID{1}, oncall.ShiftSwapped},
		"a swap by a third person": {Exchange{Sides: sides}, []oncall.Shift{ann, bob}, 3, []users.ID{1, 2}, oncall.ShiftSwapped},
		"a swap by a program":      {Exchange{Sides: sides}, []oncall.Shift{ann, bob}, 0, []users.ID{1, 2}, oncall.ShiftSwapped},
		"a swap from now": {Exchange{Sides: [2]SideRef{{ID: 3}, {ID: 2}}, FromNow: true}, []oncall.Shift{running, bob}, 2,
			[]users.ID{1}, oncall.ShiftSwapped},
		"an override": {Override{Start: in(12), End: in(14), Substitute: oncall.Person{User: users.User{ID: 2}}}, []oncall.Shift{ann}, 2,
			[]users.ID{1}, oncall.ShiftSubstituted},
		"another person":         {Modify{Patch: Patch{User: &two}}, []oncall.Shift{ann}, 1, []users.ID{2}, oncall.ShiftEdited},
		"another time":           {Modify{Patch: Patch{End: &early}}, []oncall.Shift{ann}, 2, nil, ""},
		"a note":                 {Modify{Patch: Patch{Note: &note}, Linked: true}, []oncall.Shift{ann, bob}, 2, nil, ""},
		"the pager has its own":  {Take{Role: oncall.RolePrimary, User: oncall.Person{User: users.User{ID: 2}}}, []oncall.Shift{running}, 2, nil, ""},
		"the undo of a new date": {Undo{Changed: []oncall.Update{{Before: bob, After: bob}}}, []oncall.Shift{bob}, 1, nil, ""},
	} {
		edit := Edit{Access: Access{Caller: member{}, By: tc.by}, Change: tc.Change}
		o, err := edit.Decide(editor().Now, editor().Team, tc.selected)
		require.NoError(t, err, name)
		var told []users.ID
		for _, n := range o.Notices {
			if n.Kind == oncall.ShiftsHandedOver {
				told = n.Users
				require.Equal(t, tc.by, n.By, name)
				require.Equal(t, tc.unless, n.Unless, name)
				require.Zero(t, len(n.Shifts)%2, name)
			}
		}
		require.ElementsMatch(t, tc.told, told, name)

		edit.Caller = member{admin: true}
		o, err = edit.Decide(editor().Now, editor().Team, tc.selected)
		require.NoError(t, err, name)
		for _, n := range o.Notices {
			require.NotEqual(t, oncall.ShiftsHandedOver, n.Kind, "administrators plan: %s", name)
		}
	}
	refused := Edit{Access: Access{Caller: member{}}, Change: Exchange{}}
	_, err := refused.Decide(editor().Now, editor().Team, nil)
	require.Error(t, err)
}
