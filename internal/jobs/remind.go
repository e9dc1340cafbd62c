package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/metrics"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	pgnotifications "github.com/iris-oncall/iris/internal/postgres/notifications"
	pgreminders "github.com/iris-oncall/iris/internal/postgres/reminders"
)

// TeamReminders finds the teams with something due and makes messages of it, fenced by a bucket's lease.
type TeamReminders interface {
	Waiting(ctx context.Context, bs []int, reminders bool, limit int) ([]int64, error)
	Expire(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgreminders.Told, error)
	Remind(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgreminders.Told, error)
	Tell(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgreminders.Told, error)
}

// ReminderUpkeep tells people who cannot be called, and forgets reminders that are over.
type ReminderUpkeep interface {
	CheckPhones(ctx context.Context, processID string, leases []buckets.Lease, c pgreminders.PhoneCheck) (pgreminders.Told, error)
	Forget(ctx context.Context) error
}

// ReminderStores are what a Reminder works on.
type ReminderStores struct {
	Teams  TeamReminders
	Upkeep ReminderUpkeep
}

// Reminder tells people of their shifts: before they begin and end, when somebody changes them or asks for them. It does so for the teams
// whose buckets this process holds. What is due is in the database alone, so nothing is lost while no process runs, and a team
// that cannot be told delays no other (promise P7).
type Reminder struct {
	// open returns the stores; it needs the database, which may be away when the process starts.
	open   func(ctx context.Context) (ReminderStores, error)
	stores ReminderStores
	holder Leases
	wake   func(buckets.Set)
	phones pgreminders.PhoneCheck // Every 0 = nobody is told that they cannot be called
	now    func() time.Time
	log    *zap.Logger
	made   *prometheus.CounterVec
	failed prometheus.Counter

	reminded, checked, forgot time.Time
	putOff                    map[int64]time.Time // teams that could not be told, until when
}

const (
	remindTick  = 5 * time.Second
	remindEvery = 30 * time.Second
	checkEvery  = 10 * time.Minute
	forgetEvery = time.Hour
	remindAgain = time.Minute // after a failure
	remindTeams = 200
)

// NewReminder returns the job. open is called once the database answers, and again after it fails. phones with an Every of 0 tells
// nobody that they cannot be called.
func NewReminder(open func(ctx context.Context) (ReminderStores, error), phones pgreminders.PhoneCheck, e Engine) *Reminder {
	r := &Reminder{
		open: open, holder: e.Leases, wake: e.Wake, phones: phones, now: time.Now, log: e.Log.Named("reminder"), putOff: map[int64]time.Time{},
		made: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_reminders_total", Help: "Messages to people about their shifts, by type.",
		}, []string{"type"}), []string{"nobody", string(oncall.SwapAsked), string(oncall.PagerTaken), string(oncall.PhoneMissing), string(oncall.ShiftCreated),
			string(oncall.ShiftEdited), string(oncall.ShiftDeleted)}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_app_reminder_failures_total", Help: "Times that the people of a team could not be told of their shifts; it is tried again.",
		}),
	}
	e.Registerer.MustRegister(r.made, r.failed)
	return r
}

// OpenReminders returns a store whose messages are those of the application that people act through, too.
func OpenReminders(applications *catalog.Applications, notifications *pgnotifications.Notifications, publicURL string) func(ctx context.Context) (ReminderStores, error) {
	return func(ctx context.Context) (ReminderStores, error) {
		app, err := applications.ByName(ctx, auth.SessionApplication)
		if err != nil {
			return ReminderStores{}, err
		}
		rows := pgreminders.New(notifications, app.ID, answersPage(publicURL))
		return ReminderStores{Teams: rows, Upkeep: rows}, nil
	}
}

// answersPage is where people answer swap requests: "My shifts".
func answersPage(publicURL string) string {
	if publicURL == "" {
		return ""
	}
	return publicURL + "/me"
}

// Run tells people until ctx ends.
func (r *Reminder) Run(ctx context.Context) error {
	return repeat(ctx, remindTick, r.pass, func(err error) {
		r.log.Warn("reminders cannot be read, nobody is reminded for now", zap.Error(err))
	})
}

// pass tells what is due now.
func (r *Reminder) pass(ctx context.Context) (err error) {
	leases := r.holder.Leases()
	if len(leases) == 0 {
		return nil
	}
	if r.stores.Teams == nil {
		if r.stores, err = r.open(ctx); err != nil {
			return err
		}
	}
	by, held := map[int]buckets.Lease{}, []int{}
	for _, l := range leases {
		by[l.Bucket] = l
		held = append(held, l.Bucket)
	}
	now := r.now()
	remind := now.Sub(r.reminded) >= remindEvery
	teams, err := r.stores.Teams.Waiting(ctx, held, remind, remindTeams)
	if err != nil {
		return err
	}
	for _, team := range teams {
		if ctx.Err() != nil {
			return nil
		}
		if now.Before(r.putOff[team]) {
			continue
		}
		delete(r.putOff, team)
		if err := safely(func() error { return r.team(ctx, by[int(team%buckets.Count)], team) }); err != nil {
			if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Unavailable) {
				return err // the bucket has moved on, or the database is away
			}
			r.failed.Inc()
			r.putOff[team] = now.Add(remindAgain)
			r.log.Error("the people of a team cannot be told of their shifts, trying again later", zap.Int64("team", team), zap.Error(err))
		}
	}
	if remind && len(teams) < remindTeams {
		r.reminded = now
	}
	return r.chores(ctx, leases, now)
}

// team tells everything that is due of one team.
func (r *Reminder) team(ctx context.Context, lease buckets.Lease, team int64) error {
	for _, do := range []func(context.Context, string, buckets.Lease, int64) (pgreminders.Told, error){r.stores.Teams.Expire, r.stores.Teams.Tell, r.stores.Teams.Remind} {
		for more := true; more && ctx.Err() == nil; {
			told, err := do(ctx, r.holder.ProcessID(), lease, team)
			if err != nil {
				return err
			}
			r.count(told)
			more = told.More
		}
	}
	return nil
}

func (r *Reminder) count(told pgreminders.Told) {
	for _, kind := range told.Types {
		r.made.WithLabelValues(string(kind)).Inc()
	}
	if told.Unread > 0 {
		r.made.WithLabelValues("nobody").Add(float64(told.Unread))
	}
	if len(told.Types) > 0 {
		r.wake(told.Buckets)
	}
}

// chores tells people without a phone and forgets what is over.
func (r *Reminder) chores(ctx context.Context, leases []buckets.Lease, now time.Time) error {
	if r.phones.Every > 0 && now.Sub(r.checked) >= min(checkEvery, r.phones.Every) {
		for more := true; more && ctx.Err() == nil; {
			told, err := r.stores.Upkeep.CheckPhones(ctx, r.holder.ProcessID(), leases, r.phones)
			if err != nil {
				return err
			}
			r.count(told)
			more = told.More
		}
		r.checked = now
	}
	if now.Sub(r.forgot) < forgetEvery {
		return nil
	}
	r.forgot = now
	return r.stores.Upkeep.Forget(ctx)
}
