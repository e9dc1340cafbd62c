package editing

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

var editorNow = time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)

func in(h int) time.Time { return editorNow.Add(time.Duration(h) * time.Hour) }

// editor returns the editor of team 7 at editorNow. The members are a (1) to d (4), and e (5), who is deactivated.
func editor() Editor {
	return Editor{
		Now: editorNow, Link: links()(),
		Team: Membership{TeamID: 7, Name: "db", Members: map[users.ID]bool{1: true, 2: true, 3: true, 4: true,
			5: false}},
	}
}

var (
	errMember = errors.New("not a team member")
	errAdmin  = errors.New("not an admin")
)

func TestCreateAShift(t *testing.T) {
	t.Parallel()
	good := ShiftRequest{Start: in(1), End: in(9), Role: oncall.RolePrimary, User: 1, Note: "n"}
	for why, edit := range map[string]func(*Editor, *ShiftRequest){
		"Invalid event: Creating events in the past not allowed": func(_ *Editor, n *ShiftRequest) {
			n.Start,
				n.End = in(-25), in(-26)
		},
		"Invalid event: Event must start before it ends": func(d *Editor, n *ShiftRequest) {
			n.End,
				d.Refusals.Member = n.Start, errMember
		},
		"not a team member": func(d *Editor, n *ShiftRequest) {
			n.User, d.Refusals.Member = 9,
				errMember
		},
		"Invalid event: User must be part of the team": func(_ *Editor, n *ShiftRequest) { n.User = 9 },
	} {
		d, n := editor(), good
		edit(&d, &n)
		_, err := d.Create(n)
		require.EqualError(t, err, why)
	}
	good.Start = in(-24)
	c, err := editor().Create(good)
	require.NoError(t, err)
	want := oncall.Shift{TeamID: 7, Role: oncall.RolePrimary, User: 1, Start: in(-24), End: in(9), Note: "n"}
	require.Equal(t, oncall.Changes{Add: []oncall.Shift{want},
		Notices: []oncall.Notice{{Kind: oncall.ShiftCreated, Roles: []string{oncall.RolePrimary}, Users: []users.ID{1},
			Shifts: []oncall.Shift{want}}}}, c)
	require.True(t, want.HandMade())
}

func TestEditAShift(t *testing.T) {
	t.Parallel()
	next, running := shift(1, oncall.RolePrimary, 1, in(1), in(9)), shift(2, oncall.RolePrimary, 1, in(-48), in(9))
	next.Link, next.Schedule = "abc", 5
	two, nine, shadow := users.ID(2), users.ID(9), oncall.RoleShadow
	at := func(h int) *time.Time { t := in(h); return &t }
	for name, tc := range map[string]struct {
		shift    oncall.Shift
		patch    Patch
		refusals Refusals
		err      string
	}{
		"another person": {next, Patch{User: &two}, Refusals{Admin: errAdmin}, ""},
		"no member of the team": {next, Patch{User: &nine}, Refusals{},
			"Invalid event update: Event user must be part of the team"},
		"no permission": {next, Patch{User: &nine}, Refusals{Member: errMember}, "not a team member"},
		"the wrong way round": {next, Patch{Start: at(9)}, Refusals{Member: errMember},
			"Invalid event update: Event must start before it ends"},
		"into the past":              {next, Patch{Start: at(-30)}, Refusals{Admin: errAdmin}, "not an admin"},
		"into the past, by an admin": {next, Patch{Start: at(-30)}, Refusals{}, ""},
		"a running one, longer":      {running, Patch{End: at(12)}, Refusals{Admin: errAdmin}, ""},
		"a running one, cut off":     {running, Patch{End: at(-1)}, Refusals{Admin: errAdmin}, "not an admin"},
		"a running one, other role":  {running, Patch{Role: &shadow}, Refusals{Admin: errAdmin}, "not an admin"},
	} {
		d := editor()
		d.Refusals = tc.refusals
		c, err := d.Edit(tc.shift, tc.patch)
		if tc.err != "" {
			require.EqualError(t, err, tc.err, name)
			require.True(t, c.Empty())
			continue
		}
		require.NoError(t, err, name)
		after := c.Update[0].After
		require.Empty(t, after.Link)
		require.True(t, after.Edited)
		require.Equal(t, tc.shift.Schedule, after.Schedule)
	}
	c, err := editor().Edit(next, Patch{User: &two, Role: &shadow})
	require.NoError(t, err)
	require.Equal(t, []string{oncall.RolePrimary, oncall.RoleShadow}, c.Notices[0].Roles)
	require.Equal(t, []users.ID{1, 2}, c.Notices[0].Users)
}

func TestDeleteAShift(t *testing.T) {
	t.Parallel()
	d := editor()
	_, err := d.Delete(shift(1, oncall.RolePrimary, 1, in(-25), in(9)))
	require.EqualError(t, err, "Invalid event update: Deleting events in the past not allowed")
	s := shift(1, oncall.RolePrimary, 1, in(-23), in(9))
	c, err := d.Delete(s)
	require.NoError(t, err)
	require.Equal(t, []oncall.Shift{s}, c.Delete)
	d.Refusals.Member = errMember
	_, err = d.Delete(s)
	require.ErrorIs(t, err, errMember)
}

func TestLinkedShifts(t *testing.T) {
	t.Parallel()
	draft := func(h, user int) ShiftRequest {
		return ShiftRequest{Start: in(h), End: in(h + 12), Role: oncall.RolePrimary, User: userID(user), UserName: "x",
			TeamName: "db"}
	}
	for why, drafts := range map[string][]ShiftRequest{
		"Invalid argument: events list cannot be empty":          nil,
		"Invalid argument: event missing team attribute":         {{}},
		"Invalid event: Creating events in the past not allowed": {draft(1, 1), draft(-30, 1)},
		"Invalid event: Missing team for event":                  {draft(1, 1), {Start: in(1), End: in(2)}},
		"Invalid event: Events can only be submitted to one team": {draft(1, 1),
			{Start: in(1), End: in(2), TeamName: "web"}},
		"Invalid event: User x must be part of the team db": {draft(1, 1), draft(25, 9)},
		"Invalid event: Event must start before it ends":    {{Start: in(1), End: in(1), TeamName: "db"}},
	} {
		_, err := editor().CreateLinked(drafts)
		require.EqualError(t, err, why)
	}
	c, err := editor().CreateLinked([]ShiftRequest{draft(25, 1), draft(1, 2)})
	require.NoError(t, err)
	require.Len(t, c.Add, 2)
	require.Equal(t, in(1), c.Add[0].Start)
	require.Len(t, c.Add[0].Link, 32)
	require.Equal(t, c.Add[0].Link, c.Add[1].Link)
	require.Len(t, c.Notices, 1)
	require.Equal(t, []users.ID{2, 1}, c.Notices[0].Users)

	stored := store(nil, c)
	three, nine, note := users.ID(3), users.ID(9), "swapped"
	for why, patch := range map[string]Patch{
		"Invalid event update: Invalid column":                             {Start: &editorNow},
		"Invalid event update: Nothing to change: give user, role or note": {},
		"Invalid event update: Event user must be part of the team":        {User: &nine},
	} {
		_, err := editor().EditLinked(stored, patch)
		require.EqualError(t, err, why)
	}
	c, err = editor().EditLinked(stored, Patch{User: &three, Note: &note})
	require.NoError(t, err)
	require.Len(t, c.Update, 2)
	require.Equal(t, stored[0].Link, c.Update[1].After.Link)
	require.Equal(t, []users.ID{2, 3, 1}, c.Notices[0].Users)
	late := editor()
	late.Now = in(26)
	_, err = late.EditLinked(stored, Patch{User: &three})
	require.EqualError(t, err, "Invalid event update: Editing events in the past not allowed")
	_, err = late.DeleteLinked(stored)
	require.EqualError(t, err, "Invalid event update: Deleting events in the past not allowed")
	c, err = editor().DeleteLinked(stored)
	require.NoError(t, err)
	require.Equal(t, stored, c.Delete)
	_, err = editor().DeleteLinked(nil)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = editor().EditLinked(nil, Patch{})
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestSwap(t *testing.T) {
	t.Parallel()
	a, b := shift(1, oncall.RolePrimary, 1, in(1), in(9)), shift(2, oncall.RoleVacation, 2, in(20), in(30))
	a.Link, a.Schedule = "one", 5
	l1, l2 := shift(3, oncall.RolePrimary, 3, in(40), in(50)), shift(4, oncall.RolePrimary, 3, in(60), in(70))
	l1.Link, l2.Link = "two", "two"
	old, other := a, a
	old.Start, other.TeamID = in(-25), 8
	mixed := l2
	mixed.User = 4
	for why, sides := range map[string][]Side{
		"Invalid event swap request: Must provide 2 events": {{Shifts: []oncall.Shift{a}}},
		"404 Not Found": {{Shifts: []oncall.Shift{a}}, {}},
		"Invalid event swap request: Cannot edit events in the past": {{Shifts: []oncall.Shift{old}},
			{Shifts: []oncall.Shift{other}}},
		"Event swap not allowed: Swapped events must come from the same team": {{Shifts: []oncall.Shift{a}},
			{Shifts: []oncall.Shift{other}}},
		"Event swap not allowed: all linked events must have the same user": {{Shifts: []oncall.Shift{a}},
			{Shifts: []oncall.Shift{l1, mixed}, Linked: true}},
	} {
		_, err := editor().Swap(sides)
		require.EqualError(t, err, why)
	}
	c, err := editor().Swap([]Side{{Shifts: []oncall.Shift{a}}, {Shifts: []oncall.Shift{l2, l1}, Linked: true}})
	require.NoError(t, err)
	var got []string
	for _, u := range c.Update {
		got = append(got, fmt.Sprintf("%d: %d -> %d link %q schedule %d", u.After.ID, u.Before.User, u.After.User,
			u.After.Link, u.After.Schedule))
	}
	require.Equal(t, []string{`1: 1 -> 3 link "" schedule 5`, `3: 3 -> 1 link "two" schedule 0`,
		`4: 3 -> 1 link "two" schedule 0`}, got)
	c, err = editor().Swap([]Side{{Shifts: []oncall.Shift{a}}, {Shifts: []oncall.Shift{b}}})
	require.NoError(t, err)
	require.Equal(t, []string{oncall.RolePrimary, oncall.RoleVacation}, c.Notices[0].Roles)
	d := editor()
	d.Refusals.Member = errMember
	_, err = d.Swap([]Side{{Shifts: []oncall.Shift{a}}, {Shifts: []oncall.Shift{b}}})
	require.ErrorIs(t, err, errMember)
}

func TestSwapOfARunningShiftBeginsNow(t *testing.T) {
	t.Parallel()
	running, ahead := shift(1, oncall.RolePrimary, 1, in(-30), in(9)), shift(2, oncall.RolePrimary, 2, in(20), in(30))
	running.Schedule, running.Note = 5, "kept"
	c, err := editor().SwapFromNow([]Side{{Shifts: []oncall.Shift{running}}, {Shifts: []oncall.Shift{ahead}}})
	require.NoError(t, err)
	head, given := running, ahead
	head.End, head.Edited = in(0), true
	given.User, given.Edited = 1, true
	require.Equal(t, []oncall.Update{{Before: running, After: head}, {Before: ahead, After: given}}, c.Update)
	require.Equal(t, []oncall.Shift{{TeamID: running.TeamID, Role: oncall.RolePrimary, User: 2, Start: in(0),
		End: in(9), Note: "kept", Covers: 5}}, c.Add)
	require.Empty(t, c.Delete)

	over := running
	over.End = in(-1)
	_, err = editor().SwapFromNow([]Side{{Shifts: []oncall.Shift{over}}, {Shifts: []oncall.Shift{ahead}}})
	require.EqualError(t, err, "Invalid event swap request: Cannot edit events in the past")
	_, err = editor().SwapFromNow(nil)
	require.Error(t, err)
	same, err := editor().SwapFromNow([]Side{{Shifts: []oncall.Shift{shift(3, oncall.RolePrimary, 3, in(1), in(2))}},
		{Shifts: []oncall.Shift{ahead}}})
	require.NoError(t, err)
	require.Empty(t, same.Add, "shifts ahead only change their people")
}

func TestOverrideSplitsShiftsLikeOncall(t *testing.T) {
	t.Parallel()
	one, two := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 1, in(20), in(30))
	one.Schedule, two.Schedule, one.Note = 5, 5, "kept"
	for name, tc := range map[string]struct {
		shifts     []oncall.Shift
		start, end int
		want       []string
		ids        []oncall.ShiftID
	}{
		"all of it":     {[]oncall.Shift{one}, 5, 25, []string{"10-20 d"}, []oncall.ShiftID{0}},
		"exactly":       {[]oncall.Shift{one}, 10, 20, []string{"10-20 d"}, []oncall.ShiftID{0}},
		"the end":       {[]oncall.Shift{one}, 15, 20, []string{"10-15 a", "15-20 d"}, []oncall.ShiftID{1, 0}},
		"the beginning": {[]oncall.Shift{one}, 10, 15, []string{"10-15 d", "15-20 a"}, []oncall.ShiftID{0, 1}},
		"the middle": {[]oncall.Shift{one}, 12, 15, []string{"10-12 a", "12-15 d", "15-20 a"},
			[]oncall.ShiftID{0, 0, 0}},
		"across the joint": {[]oncall.Shift{two, one}, 15, 25, []string{"10-15 a", "15-25 d", "25-30 a"},
			[]oncall.ShiftID{1, 0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, after, err := editor().Override(tc.shifts, in(tc.start), in(tc.end), 4)
			require.NoError(t, err)
			var got []string
			var ids []oncall.ShiftID
			for _, s := range after {
				got = append(got, fmt.Sprintf("%.0f-%.0f %s", s.Start.Sub(editorNow).Hours(),
					s.End.Sub(editorNow).Hours(), nameOf(s.User)))
				ids = append(ids, s.ID)
				if s.ID == 0 {
					want := oncall.Shift{TeamID: 7, Role: oncall.RolePrimary, User: s.User, Start: s.Start, End: s.End,
						Covers: 5}
					if name == "the middle" && s.Start.Equal(one.Start) {
						want.RemainsOf = one.ID
					}
					require.Equal(t, want, s)
				} else {
					require.True(t, s.Edited)
					require.Equal(t, oncall.ScheduleID(5), s.Schedule)
				}
			}
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.ids, ids)
			require.Equal(t, after, c.Apply(tc.shifts))
			require.Equal(t, []users.ID{4, 1}, c.Notices[0].Users)
		})
	}
}

func TestOverrideRefusesWrongRequests(t *testing.T) {
	t.Parallel()
	one, apart := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 1, in(21), in(30))
	next, role, elsewhere := apart, apart, apart
	next.Start, role.Role, elsewhere.TeamID = in(20), oncall.RoleShadow, 8
	for _, tc := range []struct {
		shifts     []oncall.Shift
		start, end int
		substitute users.ID
		why        string
	}{
		{[]oncall.Shift{one}, 10, 20, 0, "Invalid name or list of events"},
		{nil, 10, 20, 4, "Invalid name or list of events"},
		{[]oncall.Shift{one}, -25, 20, 4, "Invalid override request: Cannot edit events in the past"},
		{[]oncall.Shift{one, elsewhere}, 10, 20, 4, "Invalid override request: Events must be from the same team"},
		{[]oncall.Shift{one}, 10, 20, 9, "Invalid override request: Substituting user must be part of the team"},
		{[]oncall.Shift{one, role}, 10, 20, 4, "Invalid override request: events must have the same role"},
		{[]oncall.Shift{one, apart}, 10, 30, 4, "Invalid override request: events must be consecutive"},
		{[]oncall.Shift{one, next}, 10, 20, 4,
			"Invalid override request: events must overlap with override time range"},
		{[]oncall.Shift{one}, 30, 40, 4, "Invalid override request: events must overlap with override time range"},
		{[]oncall.Shift{one}, 12, 12, 4, "Invalid override request: events must overlap with override time range"},
		{[]oncall.Shift{one}, 15, 12, 4, "Invalid override request: events must overlap with override time range"},
	} {
		_, _, err := editor().Override(tc.shifts, in(tc.start), in(tc.end), tc.substitute)
		require.EqualError(t, err, tc.why)
	}
	d := editor()
	d.Refusals.Member = errMember
	_, _, err := d.Override([]oncall.Shift{one}, in(-25), in(20), 9)
	require.ErrorIs(t, err, errMember)
}

func TestAnOverrideChangesOnlyWhoIsOnCall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var shifts []oncall.Shift
		at := rapid.IntRange(0, 20).Draw(rt, "first")
		for i := range rapid.IntRange(1, 4).Draw(rt, "shifts") {
			end := at + rapid.IntRange(1, 30).Draw(rt, "length")
			shifts = append(shifts, shift(i+1, oncall.RolePrimary, 1, in(at), in(end)))
			at = end
		}
		start := rapid.IntRange(-10, 100).Draw(rt, "from")
		end := start + rapid.IntRange(1, 100).Draw(rt, "for")
		c, after, err := editor().Override(shifts, in(start), in(end), 2)
		if err != nil {
			require.EqualError(rt, err, "Invalid override request: events must overlap with override time range")
			require.True(rt, c.Empty())
			return
		}
		was := oncall.NewTeamCalendar(7, in(-100), in(400), shifts)
		is := oncall.NewTeamCalendar(7, in(-100), in(400), after)
		for h := -20; h < 240; h++ {
			want := oncall.Holders(was.OnCall(oncall.RolePrimary, in(h)))
			if h >= start && h < end && len(want) > 0 {
				want = []users.ID{2}
			}
			require.Equal(rt, want, oncall.Holders(is.OnCall(oncall.RolePrimary, in(h))))
		}
	})
}

func TestTakeThePagerNow(t *testing.T) {
	t.Parallel()
	running, next := shift(1, oncall.RolePrimary, 1, in(-30), in(6)), shift(2, oncall.RolePrimary, 2, in(6), in(20))
	running.Schedule, next.Schedule = 5, 5
	shifts := []oncall.Shift{running, next, shift(3, oncall.RoleSecondary, 3, in(-30), in(6))}
	for name, tc := range map[string]struct {
		shifts []oncall.Shift
		who    int
		until  time.Time
		want   []string
	}{
		"until the shift ends": {shifts, 3, time.Time{}, []string{"06-09 06:00 - 06-10 12:00 a",
			"06-10 12:00 - 06-10 18:00 c", "06-10 18:00 - 06-11 08:00 b"}},
		"for an hour": {shifts, 3, in(1), []string{"06-09 06:00 - 06-10 12:00 a",
			"06-10 12:00 - 06-10 13:00 c", "06-10 13:00 - 06-10 18:00 a", "06-10 18:00 - 06-11 08:00 b"}},
		"into the next shift": {shifts, 3, in(8), []string{"06-09 06:00 - 06-10 12:00 a",
			"06-10 12:00 - 06-10 20:00 c", "06-10 20:00 - 06-11 08:00 b"}},
		"longer than one's own": {shifts, 1, in(8), []string{"06-09 06:00 - 06-10 12:00 a",
			"06-10 12:00 - 06-10 20:00 a", "06-10 20:00 - 06-11 08:00 b"}},
		"while nobody has it": {nil, 3, in(2), []string{"06-10 12:00 - 06-10 14:00 c"}},
	} {
		c, err := editor().TakePager(tc.shifts, oncall.RolePrimary, userID(tc.who), tc.until)
		require.NoError(t, err, name)
		var primary []oncall.Shift
		for _, s := range c.Apply(tc.shifts) {
			if s.Role == oncall.RolePrimary {
				primary = append(primary, s)
			}
		}
		require.Equal(t, tc.want, lines(primary, time.UTC), name)
	}
	for field, take := range map[string]func() error{
		"user":  func() error { _, err := editor().TakePager(shifts, oncall.RolePrimary, 9, time.Time{}); return err },
		"role":  func() error { _, err := editor().TakePager(shifts, oncall.RoleVacation, 1, time.Time{}); return err },
		"until": func() error { _, err := editor().TakePager(nil, oncall.RolePrimary, 1, time.Time{}); return err },
	} {
		requireField(t, field, take())
	}
	_, err := editor().TakePager(shifts, oncall.RolePrimary, 3, in(0))
	requireField(t, "until", err)
	_, err = editor().TakePager(shifts, oncall.RolePrimary, 1, time.Time{})
	require.True(t, fault.Is(err, fault.Conflict))
}

func TestSwapRequestsNeedConsent(t *testing.T) {
	t.Parallel()
	give, take := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 2, in(20), in(30))
	d := editor()
	r, err := d.Request(1, 2, []oncall.Shift{give}, []oncall.Shift{take}, "please")
	require.NoError(t, err)
	require.Equal(t, SwapRequest{TeamID: 7, From: 1, To: 2, Give: []oncall.ShiftID{1}, Take: []oncall.ShiftID{2},
		Note: "please", State: RequestOpen, Created: editorNow}, r)

	_, _, err = d.Accept(r, 1, []oncall.Shift{give}, []oncall.Shift{take})
	require.True(t, fault.Is(err, fault.Forbidden), "not oneself")
	_, _, err = d.Accept(r, 3, []oncall.Shift{give}, []oncall.Shift{take})
	require.True(t, fault.Is(err, fault.Forbidden), "nobody else")
	accepted, c, err := d.Accept(r, 2, []oncall.Shift{give}, []oncall.Shift{take})
	require.NoError(t, err)
	require.Equal(t, RequestAccepted, accepted.State)
	require.Equal(t, users.ID(2), c.Update[0].After.User)
	require.Equal(t, users.ID(1), c.Update[1].After.User)
	require.True(t, c.Update[0].After.Edited)
	for _, end := range []func() error{
		func() error {
			_, _, err := d.Accept(accepted, 2, []oncall.Shift{give}, []oncall.Shift{take})
			return err
		},
		func() error { _, err := d.Decline(accepted, 2); return err },
		func() error { _, err := d.Withdraw(accepted, 1); return err },
	} {
		require.True(t, fault.Is(end(), fault.Conflict), "it is over")
	}

	declined, err := d.Decline(r, 2)
	require.NoError(t, err)
	require.Equal(t, RequestDeclined, declined.State)
	_, err = d.Decline(r, 1)
	require.True(t, fault.Is(err, fault.Forbidden))
	withdrawn, err := d.Withdraw(r, 1)
	require.NoError(t, err)
	require.Equal(t, RequestWithdrawn, withdrawn.State)
	d.Refusals.Admin = errAdmin
	_, err = d.Withdraw(r, 2)
	require.True(t, fault.Is(err, fault.Forbidden))

	// The calendar was changed in the meantime.
	moved, begun := give, d
	moved.User, begun.Now = 3, in(10)
	for _, stale := range []struct {
		Editor
		give []oncall.Shift
	}{{d, []oncall.Shift{moved}}, {d, nil}, {begun, []oncall.Shift{give}}} {
		expired, c, err := stale.Accept(r, 2, stale.give, []oncall.Shift{take})
		require.True(t, fault.Is(err, fault.Conflict))
		require.Equal(t, RequestExpired, expired.State)
		require.True(t, c.Empty())
		_, ok := r.Expire(stale.Now, stale.give, []oncall.Shift{take})
		require.True(t, ok)
	}
	_, ok := r.Expire(editorNow, []oncall.Shift{give}, []oncall.Shift{take})
	require.False(t, ok)

	// A request to everybody: the first person who accepts gets the shift.
	r, err = d.Request(1, 0, []oncall.Shift{give}, nil, "")
	require.NoError(t, err)
	_, err = d.Decline(r, 2)
	require.True(t, fault.Is(err, fault.Forbidden))
	_, c, err = d.Accept(r, 4, []oncall.Shift{give}, nil)
	require.NoError(t, err)
	require.Equal(t, users.ID(4), c.Update[0].After.User)
}

func TestInvalidSwapRequestsAreRefused(t *testing.T) {
	t.Parallel()
	give, take := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 2, in(20), in(30))
	begun, elsewhere := give, give
	begun.Start, elsewhere.TeamID = in(0), 8
	for _, tc := range []struct {
		field      string
		from, to   users.ID
		give, take []oncall.Shift
	}{
		{"from", 9, 2, []oncall.Shift{give}, nil},
		{"to", 1, 9, []oncall.Shift{give}, nil},
		{"to", 1, 1, []oncall.Shift{give}, nil},
		{"to", 1, 0, []oncall.Shift{give}, []oncall.Shift{take}},
		{"give", 1, 2, nil, []oncall.Shift{take}},
		{"give", 1, 2, []oncall.Shift{take}, nil},
		{"give", 1, 2, []oncall.Shift{begun}, nil},
		{"give", 1, 2, []oncall.Shift{elsewhere}, nil},
		{"take", 1, 2, []oncall.Shift{give}, []oncall.Shift{give}},
	} {
		_, err := editor().Request(tc.from, tc.to, tc.give, tc.take, "")
		requireField(t, tc.field, err)
	}
}

// A deactivated person gets no notices and no pages. So they get no new shifts.
func TestDeactivatedPeopleCannotBePutOnCall(t *testing.T) {
	t.Parallel()
	const off = "the user is switched off and cannot be put on call"
	d, five := editor(), users.ID(5)
	mine, theirs := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 5, in(20), in(30))
	_, err := d.Create(ShiftRequest{Start: in(1), End: in(2), Role: oncall.RolePrimary, User: 5})
	require.EqualError(t, err, "Invalid event: "+off)
	_, err = d.CreateLinked([]ShiftRequest{{Start: in(1), End: in(2), Role: oncall.RolePrimary, User: 5,
		TeamName: "db"}})
	require.EqualError(t, err, "Invalid event: "+off)
	_, err = d.Edit(mine, Patch{User: &five})
	require.EqualError(t, err, "Invalid event update: "+off)
	_, err = d.EditLinked([]oncall.Shift{theirs, mine}, Patch{User: &five})
	require.EqualError(t, err, "Invalid event update: "+off)
	_, _, err = d.Override([]oncall.Shift{mine}, in(10), in(20), 5)
	require.EqualError(t, err, "Invalid override request: "+off)

	note := "what they had stays theirs"
	c, err := d.Edit(theirs, Patch{User: &five, Note: &note})
	require.NoError(t, err)
	require.Equal(t, note, c.Update[0].After.Note)
}

func TestASwapGivesNoShiftsToFormerMembers(t *testing.T) {
	t.Parallel()
	give, take := shift(1, oncall.RolePrimary, 1, in(10), in(20)), shift(2, oncall.RolePrimary, 2, in(20), in(30))
	r, err := editor().Request(1, 2, []oncall.Shift{give}, []oncall.Shift{take}, "")
	require.NoError(t, err)
	later := editor()
	delete(later.Team.Members, 1)
	expired, c, err := later.Accept(r, 2, []oncall.Shift{give}, []oncall.Shift{take})
	require.True(t, fault.Is(err, fault.Conflict))
	require.Equal(t, RequestExpired, expired.State)
	require.True(t, c.Empty())
}
