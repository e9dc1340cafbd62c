package jobs

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// who returns the id of a person.
func (f *remindFixture) who(name string) users.ID {
	f.Helper()
	return users.ID(f.count("select id from users where name = '" + name + "'"))
}

// lastShift returns the number of the shift that was added last.
func (f *remindFixture) lastShift() oncall.ShiftID {
	f.Helper()
	return oncall.ShiftID(f.count("select max(id) from shifts"))
}

// ask makes a swap request for a new shift of ann that begins in hours. An empty name asks everybody.
func (f *remindFixture) ask(to string, hours float64) int64 {
	f.Helper()
	f.shift("ann", "primary", hours, hours+10, 0, nil)
	var asked users.ID
	if to != "" {
		asked = f.who(to)
	}
	id, err := pg.NewRequests(f.db).AskSwap(f.Context(), editing.NewSwapRequest{
		Access: editing.Access{Caller: anybody{}}, TeamID: int64(f.count("select id from teams")), From: f.who("ann"), To: asked,
		Give: []oncall.ShiftID{f.lastShift()}, Note: "please",
	}, oncall.By{Owner: "ann"})
	require.NoError(f, err)
	return id
}

// decide answers a swap request as a person.
func (f *remindFixture) decide(id int64, who string, answer editing.RequestState) error {
	f.Helper()
	_, err := pg.NewRequests(f.db).DecideSwap(f.Context(), id, editing.SwapAnswer{
		Access: editing.Access{Caller: anybody{}}, Who: f.who(who), State: answer,
	}, oncall.By{Owner: who})
	return err
}

func TestSwapRequestsSendNotices(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	f.exec("update notice_settings set type = 'event_deleted' where type = 'event_swapped'")
	f.exec("insert into user_modes (user_id, priority, mode) select id, 'medium', 'sms' from users where name = 'bob'")
	f.exec("insert into user_contacts (user_id, mode, destination) select id, 'sms', '+1555010' || id from users")
	f.exec("insert into users (name) values ('eve'), ('off')")
	f.exec("update users set active = false where name = 'off'")
	f.exec("insert into team_members (team_id, user_id, position) select t.id, u.id, u.id from teams t, users u where u.name in ('eve', 'off')")
	r := f.reminder(owner{epoch: 7})
	accepted, declined, withdrawn := f.ask("bob", 30), f.ask("bob", 50), f.ask("bob", 70)
	f.pass(r)
	require.NoError(t, f.decide(accepted, "bob", editing.RequestAccepted))
	require.NoError(t, f.decide(declined, "bob", editing.RequestDeclined))
	require.NoError(t, f.decide(withdrawn, "ann", editing.RequestWithdrawn))
	f.pass(r)
	f.ask("", 90)
	f.pass(r)
	require.Equal(t, []string{
		"bob sms: Ann Lee asks you to take a shift of ops",
		"bob sms: Ann Lee asks you to take a shift of ops",
		"bob sms: Ann Lee asks you to take a shift of ops",
		"ann email: Bob Ray accepted your swap request for ops",
		"ann email: Bob Ray declined your swap request for ops",
		"bob sms: Ann Lee withdrew the swap request for ops",
		"bob sms: Ann Lee asks you to take a shift of ops",
		"eve email: Ann Lee asks you to take a shift of ops", // she has no contact: delivery reports that
	}, f.messages())
	require.Equal(t, 5, f.count("select count(*) from notification_requests where body like '%please%Answer: https://iris.example.com/me'"))
	require.InDelta(t, 1, testutil.ToFloat64(r.made.WithLabelValues("swap_accepted")), 0)
	require.Zero(t, f.count("select count(*) from notices"))
}

// A person with a setting for swaps gets one notice of the swap, in the modes of the setting.
func TestOneChangeSendsOneNoticePerPerson(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	f.exec("update notice_settings set type = 'event_swapped', only_if_involved = true where user_id = $1 and mode = 'sms'", f.who("ann"))
	id := f.ask("bob", 30)
	require.NoError(t, f.decide(id, "bob", editing.RequestAccepted))
	f.shift("ann", "primary", -1, 5, 0, nil)
	f.edit(func(d editing.Editor, _ []oncall.Shift) (oncall.Changes, error) {
		held := oncall.Shift{ID: f.lastShift(), TeamID: d.Team.TeamID, Role: "primary", User: f.who("ann"),
			Start: d.Now.Add(-time.Hour), End: d.Now.Add(5 * time.Hour)}
		return d.TakePager([]oncall.Shift{held}, "primary", f.who("bob"), time.Time{})
	})
	f.pass(f.reminder(owner{epoch: 7}))
	require.Equal(t, []string{
		"bob email: Ann Lee asks you to take a shift of ops",
		"ann sms: Swapped: shifts of Ann Lee and Bob Ray for ops",
		"bob email: Swapped: shifts of Ann Lee and Bob Ray for ops",
		"bob email: Covered: Bob Ray stands in for Ann Lee as primary for ops",
		"ann email: Bob Ray took the pager of ops from you", // sms is not possible: she has no number
	}, f.messages())
}

// A request expires even if nobody opens the calendar.
func TestAnExpiredSwapRequestSendsOneNotice(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	begun, given, gone, open := f.ask("bob", 20), f.ask("bob", 40), f.ask("bob", 60), f.ask("bob", 80)
	f.exec("delete from notices")
	f.exec("update shifts set starts_at = now() - interval '1 second' where id = (select give[1] from swap_requests where id = $1)", begun)
	f.exec("update shifts set user_id = $2 where id = (select give[1] from swap_requests where id = $1)", given,
		f.who("bob"))
	f.exec("delete from shifts where id = (select give[1] from swap_requests where id = $1)", gone)
	var running sync.WaitGroup
	for range 4 { // several processors that own the bucket, and a page that is opened
		running.Go(func() { _ = f.reminder(owner{epoch: 7}).pass(f.Context()) })
	}
	running.Go(func() {
		_, _ = pg.NewRequests(f.db).Swaps(f.Context(), int64(f.count("select id from teams")), 0, 1)
	})
	running.Wait()
	f.pass(f.reminder(owner{epoch: 7}))
	const subject = "ann email: Your swap request for ops expired"
	require.Equal(t, []string{subject, subject, subject}, f.messages())
	for _, why := range []string{"a shift has begun", "a shift has changed hands", "a shift no longer exists"} {
		require.Equal(t, 1, f.count("select count(*) from notification_requests where body like '%"+why+"%'"), why)
	}
	require.Equal(t, 1, f.count("select count(*) from swap_requests where state = 'open'"))
	require.True(t, fault.Is(f.decide(begun, "bob", editing.RequestAccepted), fault.Conflict))
	require.NoError(t, f.decide(open, "bob", editing.RequestAccepted))
}

// If a person accepts a request while it expires, either the request is accepted or it expires. An expired request
// never changes the calendar.
func TestARequestThatExpiresWhileItIsAcceptedChangesNothing(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	id := f.ask("bob", 30)
	meanwhile := func() {
		expired := make(chan error, 1)
		go func() {
			_, err := f.db.Pool().Exec(context.WithoutCancel(f.Context()),
				"update swap_requests set state = 'expired', decided_at = now() where id = $1", id)
			expired <- err
		}()
		require.NoError(t, <-expired)
	}
	_, err := pg.NewRequests(f.db).DecideSwap(f.Context(), id, editing.SwapAnswer{
		Access: editing.Access{Caller: interrupted{meanwhile: meanwhile}}, Who: f.who("bob"), State: editing.RequestAccepted,
	}, oncall.By{Owner: "bob"})
	require.Error(t, err)
	require.Equal(t, 1, f.count("select count(*) from shifts s join users u on u.id = s.user_id where u.name = 'ann'"))
}

// A process that crashes between two steps loses no message and duplicates none; the next process continues.
func TestSwapNoticesAreSentOnceDespiteCrashes(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	for i := range 55 {
		f.ask("bob", float64(20+i))
	}
	calls := 0
	for range 20 {
		r := f.reminder(owner{epoch: 7})
		r.open = func(context.Context) (ReminderStores, error) {
			return ReminderStores{Teams: dying{f.store, func() bool { calls++; return calls%3 == 0 }},
				Upkeep: f.store}, nil
		}
		require.NoError(t, r.pass(t.Context()))
	}
	require.Equal(t, 55, f.count("select count(*) from messages"))
}

func TestAddressOfThePageForSwapRequests(t *testing.T) {
	t.Parallel()
	require.Equal(t, "https://iris.example.com/me", answersPage("https://iris.example.com"))
	require.Empty(t, answersPage(""))
}

// interrupted is a caller that runs a function just before its request is decided.
type interrupted struct {
	anybody
	meanwhile func()
}

func (i interrupted) MayEditCalendar(int64, string) error {
	i.meanwhile()
	return nil
}
