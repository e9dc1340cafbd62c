package jobs

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// remindSeed is a team with Ann in New York and Bob. Ann is reminded a day before her primary shifts and two hours
// before they end. Bob gets a notice of every change.
const remindSeed = `
update bucket_leases set owner = 'me', epoch = 7;
insert into users (name, full_name, time_zone) values ('ann', 'Ann Lee', 'America/New_York'), ('bob', 'Bob Ray', 'UTC');
insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users;
insert into teams (name) values ('ops');
insert into team_members (team_id, user_id, position) select t.id, u.id, u.id from teams t, users u;
insert into notice_settings (user_id, team_id, mode, type, time_before, only_if_involved, changed_at)
	select u.id, t.id, v.mode, v.type, v.before, v.mine, now() - interval '1 year'
	from teams t, (values ('ann', 'email', 'oncall_reminder', 86400, null), ('ann', 'email', 'oncall_reminder', 86400, null),
		('ann', 'sms', 'offcall_reminder', 7200, null), ('bob', 'email', 'event_created', null, false), ('bob', 'email', 'event_edited', null, false),
		('bob', 'email', 'event_deleted', null, false), ('bob', 'email', 'event_swapped', null, false), ('bob', 'email', 'event_substituted', null, false),
		('ann', 'sms', 'event_deleted', null, true)
	) v (name, mode, type, before, mine)
	join users u on u.name = v.name;
insert into notice_setting_roles (setting_id, role_id) select n.id, r.id from notice_settings n, oncall_roles r where r.name = 'primary';
`

type remindFixture struct {
	*testing.T
	db    *postgres.DB
	store *pgnotifications.Reminders
}

func newRemindFixture(t *testing.T) *remindFixture {
	t.Helper()
	f := &remindFixture{T: t, db: pgtest.New(t)}
	f.exec(remindSeed)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	app, err := pg.NewApplications(f.db, keys).ByName(t.Context(), auth.SessionApplication)
	require.NoError(t, err)
	f.store = pgnotifications.NewReminders(pgnotifications.New(f.db), app.ID, "https://iris.example.com/me")
	return f
}

func (f *remindFixture) exec(sql string, args ...any) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql, args...)
	require.NoError(f, err)
}

func (f *remindFixture) count(sql string) (n int) {
	f.Helper()
	require.NoError(f, f.db.Pool().QueryRow(f.Context(), sql).Scan(&n))
	return n
}

// shift adds a shift of a person; begin, end and last change are in hours from now or before now.
func (f *remindFixture) shift(user, role string, from, to, changed float64, link any) {
	f.Helper()
	f.exec(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at, changed_at, link_id)
		select t.id, r.id, u.id, now() + make_interval(secs => $3 * 3600.0), now() + make_interval(secs => $4 * 3600.0),
			now() - make_interval(secs => $5 * 3600.0), $6::text
		from teams t, oncall_roles r, users u where r.name = $2 and u.name = $1`, user, role, from, to, changed, link)
}

func (f *remindFixture) reminder(o owner) *Reminder {
	open := func(context.Context) (ReminderStores, error) {
		return ReminderStores{Teams: f.store, Upkeep: f.store}, nil
	}
	return NewReminder(open, pgnotifications.PhoneCheck{}, Engine{Leases: o, Wake: func(buckets.Set) {},
		Log: zap.NewNop(), Registerer: prometheus.NewRegistry()})
}

func (f *remindFixture) pass(r *Reminder) {
	f.Helper()
	r.reminded = time.Time{}
	require.NoError(f, r.pass(f.Context()))
}

func (f *remindFixture) messages() (out []string) {
	f.Helper()
	rows, err := f.db.Pool().Query(f.Context(),
		`select m.target || ' ' || m.mode || ': ' || r.subject from notification_requests r
		join messages m on m.request_id = r.id order by r.id`)
	require.NoError(f, err)
	defer rows.Close()
	for rows.Next() {
		var s string
		require.NoError(f, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(f, rows.Err())
	return out
}

func TestRemindersAreSentOnce(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shifts func(f *remindFixture)
		want   []string
	}{
		"a day before": {func(f *remindFixture) { f.shift("ann", "primary", 23.9, 48, 30, nil) },
			[]string{"ann email: Your primary shift for ops begins in 1 day"}},
		"earlier than that": {func(f *remindFixture) { f.shift("ann", "primary", 24.1, 48, 30, nil) }, nil},
		"after a downtime": {func(f *remindFixture) { f.shift("ann", "primary", 0.1, 48, 30, nil) },
			[]string{"ann email: Your primary shift for ops begins in 1 day"}},
		"begun in a downtime": {func(f *remindFixture) { f.shift("ann", "primary", -0.1, 48, 30, nil) }, nil},
		"made later":          {func(f *remindFixture) { f.shift("ann", "primary", 20, 48, 3, nil) }, nil},
		"before the end": {func(f *remindFixture) { f.shift("ann", "primary", -20, 1, 30, nil) },
			[]string{"ann sms: Your primary shift for ops ends in 2 hours"}},
		"another role":   {func(f *remindFixture) { f.shift("ann", "secondary", 23, 48, 30, nil) }, nil},
		"another person": {func(f *remindFixture) { f.shift("bob", "primary", 23, 48, 30, nil) }, nil},
		"the first linked one": {func(f *remindFixture) {
			f.shift("ann", "primary", 20, 21, 30, "l")
			f.shift("ann", "primary", 22, 23, 30, "l")
		}, []string{"ann email: Your primary shift for ops begins in 1 day"}},
		"a new setting": {func(f *remindFixture) {
			f.shift("ann", "primary", 23, 48, 30, nil)
			f.exec("update notice_settings set mode = mode")
		}, nil},
		"an inactive person": {func(f *remindFixture) {
			f.shift("ann", "primary", 23, 48, 30, nil)
			f.exec("update users set active = false where name = 'ann'")
		}, nil},
		"a deleted team": {func(f *remindFixture) {
			f.shift("ann", "primary", 23, 48, 30, nil)
			f.exec("update teams set active = false")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRemindFixture(t)
			tc.shifts(f)
			f.pass(f.reminder(owner{epoch: 7}))
			f.pass(f.reminder(owner{epoch: 7}))
			require.Equal(t, tc.want, f.messages())
		})
	}
}

func TestRemindersUseThePersonsTimeZone(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	f.shift("ann", "primary", 23, 48, 30, nil)
	f.pass(f.reminder(owner{epoch: 7}))
	require.Equal(t, 1, f.count(`select count(*) from notification_requests where body ~ 'begins at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d E[SD]T\.$'`))
	require.Equal(t, 1, f.count(`select count(*) from messages where expires_at between now() + interval '22 hours' and now() + interval '24 hours'`))
}

// edit changes the calendar through the storage that the API uses.
func (f *remindFixture) edit(c change) {
	f.Helper()
	team := int64(f.count("select id from teams"))
	_, err := pgoncall.NewShifts(f.db).Edit(f.Context(), edited(editing.Selection{TeamID: team}, c),
		oncall.By{Owner: "test"})
	require.NoError(f, err)
}

func (f *remindFixture) notice(kind oncall.NoticeKind, role string, people ...string) {
	f.Helper()
	f.edit(func(d editing.Editor, _ []oncall.Shift) (oncall.Changes, error) {
		n := oncall.Notice{Kind: kind, Roles: []string{role}}
		for _, name := range people {
			id := users.ID(f.count("select id from users where name = '" + name + "'"))
			n.Users = append(n.Users, id)
			n.Shifts = append(n.Shifts, oncall.Shift{TeamID: d.Team.TeamID, Role: role, User: id, Start: d.Now,
				End: d.Now.Add(time.Hour)})
		}
		return oncall.Changes{Notices: []oncall.Notice{n}}, nil
	})
}

func TestNoticesAreSent(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	r := f.reminder(owner{epoch: 7})
	f.notice(oncall.ShiftCreated, "primary", "ann")
	f.notice(oncall.ShiftEdited, "primary", "ann", "ann")
	f.notice(oncall.ShiftDeleted, "primary", "ann")
	f.notice(oncall.ShiftDeleted, "primary", "bob")
	f.notice(oncall.ShiftSwapped, "primary", "ann", "bob")
	f.notice(oncall.ShiftSubstituted, "primary", "bob", "ann")
	f.notice(oncall.ShiftCreated, "secondary", "ann")
	f.pass(r)
	require.Equal(t, []string{
		"bob email: New: primary shift of Ann Lee for ops",
		"bob email: Changed: primary shift of Ann Lee for ops",
		"ann sms: Deleted: primary shift of Ann Lee for ops",
		"bob email: Deleted: primary shift of Ann Lee for ops",
		"bob email: Deleted: primary shift of Bob Ray for ops", // Ann gets only notices of her own shifts
		"bob email: Swapped: shifts of Ann Lee and Bob Ray for ops",
		"bob email: Covered: Bob Ray stands in for Ann Lee as primary for ops",
	}, f.messages())
	require.Zero(t, f.count("select count(*) from notices"))
	require.InDelta(t, 3, testutil.ToFloat64(r.made.WithLabelValues("event_deleted")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(r.made.WithLabelValues("nobody")), 0,
		"nobody wants to hear of secondary shifts")
}

// More notices than one transaction handles, from many teams, with two processors that both own the buckets.
func TestTwoProcessorsSendEveryNoticeOnce(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	for i := range 60 {
		f.shift("ann", "primary", 10+float64(i)/10, 48, 40, nil)
		f.notice(oncall.ShiftCreated, "primary", "ann")
	}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 3 {
				r := f.reminder(owner{epoch: 7})
				_ = r.pass(f.Context())
			}
		})
	}
	stale := f.reminder(owner{epoch: 6})
	require.Error(t, stale.pass(f.Context()), "a lease that was lost fences the work")
	running.Wait()
	f.pass(f.reminder(owner{epoch: 7}))
	require.Equal(t, 120, f.count("select count(*) from messages"))
	require.Equal(t, 120, f.count("select count(distinct id) from notification_requests"))
}

// dying is a store whose process repeatedly crashes, before or after a transaction.
type dying struct {
	*pgnotifications.Reminders
	dead func() bool
}

var errDied = errors.New("the process died")

func (d dying) Notify(ctx context.Context, id string, l buckets.Lease, team int64) (pgnotifications.Result, error) {
	if d.dead() {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_, _ = d.Reminders.Notify(ctx, id, l, team)
		return pgnotifications.Result{}, errDied
	}
	result, err := d.Reminders.Notify(ctx, id, l, team)
	if d.dead() {
		return pgnotifications.Result{}, errDied
	}
	return result, err
}

func (d dying) Remind(ctx context.Context, id string, l buckets.Lease, team int64) (pgnotifications.Result, error) {
	if d.dead() {
		return pgnotifications.Result{}, errDied
	}
	_, err := d.Reminders.Remind(ctx, id, l, team)
	return pgnotifications.Result{}, errors.Join(err, errDied)
}

func TestNoticesAreSentOnceDespiteCrashes(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	for i := range 210 {
		f.shift("ann", "primary", 10+float64(i)/100, 48, 40, nil)
	}
	for range 55 {
		f.notice(oncall.ShiftCreated, "primary", "ann")
	}
	calls := 0
	for range 20 {
		r := f.reminder(owner{epoch: 7})
		r.open = func(context.Context) (ReminderStores, error) {
			return ReminderStores{Teams: dying{f.store, func() bool { calls++; return calls%4 == 0 }},
				Upkeep: f.store}, nil
		}
		require.NoError(t, r.pass(t.Context()))
		if len(r.putOff) > 0 {
			require.InDelta(t, 1, testutil.ToFloat64(r.failed), 0)
		}
	}
	require.Equal(t, 265, f.count("select count(*) from messages"))
	require.Zero(t, f.count("select count(*) from notices"))
}

func TestPeopleWithoutAPhoneNumberGetAMessage(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	f.shift("ann", "primary", 5, 6, 1, nil)
	f.shift("bob", "vacation", 5, 6, 1, nil)
	r := f.reminder(owner{epoch: 7})
	r.phones = pgnotifications.PhoneCheck{Every: 24 * time.Hour, Subject: "no phone", Body: "add one"}
	f.pass(r)
	r.checked = time.Time{}
	f.pass(r)
	require.Equal(t, []string{"ann email: no phone"}, f.messages())
	f.exec("update phone_checks set told_at = told_at - interval '25 hours'")
	f.exec("insert into user_contacts (user_id, mode, destination) select id, 'call', '+1 555 0100' from users")
	r.checked = time.Time{}
	f.pass(r)
	require.Len(t, f.messages(), 1, "ann has a number now")
	f.exec("delete from user_contacts where mode = 'call'")
	r.checked = time.Time{}
	f.pass(r)
	require.Len(t, f.messages(), 2)
}

func TestOldRemindersAreDeleted(t *testing.T) {
	t.Parallel()
	f := newRemindFixture(t)
	f.shift("ann", "primary", -3000, -2900, 3000, nil)
	f.shift("ann", "primary", -30, -29, 3000, nil)
	f.exec("delete from shifts")
	f.exec(`insert into reminders_made (feed_id, user_id, type, mode, due_at, made_at)
		select 1, id, 'oncall_reminder', 'email', now() - interval '401 days', now() - interval '401 days' from users`)
	require.Equal(t, 2, f.count("select count(*) from cancelled_shifts"))
	f.pass(f.reminder(owner{epoch: 7}))
	require.Equal(t, 1, f.count("select count(*) from cancelled_shifts"))
	require.Zero(t, f.count("select count(*) from reminders_made"))
}
