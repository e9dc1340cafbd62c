package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/metrics"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
)

// TeamReminders finds teams with due reminders and creates their messages, fenced by the lease of the bucket.
type TeamReminders interface {
	Waiting(ctx context.Context, bs []int, reminders bool, limit int) ([]int64, error)
	Expire(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgnotifications.Result, error)
	Remind(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgnotifications.Result, error)
	Notify(ctx context.Context, processID string, lease buckets.Lease, team int64) (pgnotifications.Result, error)
}

// ReminderUpkeep notifies people who have no phone number, and deletes old reminders.
type ReminderUpkeep interface {
	CheckPhones(ctx context.Context, processID string, leases []buckets.Lease,
		c pgnotifications.PhoneCheck) (pgnotifications.Result, error)
	Forget(ctx context.Context) error
}

// ReminderStores has the storage that a Reminder uses.
type ReminderStores struct {
	Teams  TeamReminders
	Upkeep ReminderUpkeep
}

// Reminder notifies people about their shifts: before a shift begins or ends, and when somebody changes it or asks to
// swap it. It works on the teams in the owned buckets. All state is in the database, so no reminder is lost while no
// process runs. An error of one team does not delay the others (promise P7).
type Reminder struct {
	// open returns the storage. It needs the database, which may not answer when the process starts.
	open   func(ctx context.Context) (ReminderStores, error)
	stores ReminderStores
	holder Leases
	wake   func(buckets.Set)
	phones pgnotifications.PhoneCheck // Every 0 = people without a phone number are not notified
	now    func() time.Time
	log    *zap.Logger
	made   *prometheus.CounterVec
	failed prometheus.Counter

	reminded, checked, cleaned time.Time
	putOff                     map[int64]time.Time // teams whose reminders failed: no attempt before this time
}

const (
	remindTick  = 5 * time.Second
	remindEvery = 30 * time.Second
	checkEvery  = 10 * time.Minute
	cleanEvery  = time.Hour
	remindRetry = time.Minute // pause after a failure of a team
	remindTeams = 200
)

// NewReminder returns the job. The job calls open before its first work, and again if open failed. With phones.Every 0,
// people without a phone number are not notified.
func NewReminder(open func(ctx context.Context) (ReminderStores, error), phones pgnotifications.PhoneCheck, e Engine) *Reminder {
	return &Reminder{
		open: open, holder: e.Leases, wake: e.Wake, phones: phones, now: e.Clock.Now, log: e.Log.Named("reminder"), putOff: map[int64]time.Time{},
		made: metrics.Start(promauto.With(e.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_reminders_total", Help: "Messages to people about their shifts, by type.",
		}, []string{"type"}), []string{"nobody", string(oncall.SwapAsked), string(oncall.PagerTaken), string(oncall.ShiftsHandedOver),
			string(oncall.PhoneMissing), string(oncall.ShiftCreated),
			string(oncall.ShiftEdited), string(oncall.ShiftDeleted)}),
		failed: promauto.With(e.Registerer).NewCounter(prometheus.CounterOpts{
			Name: "iris_app_reminder_failures_total", Help: "Failed attempts to notify a team about its shifts. Each is retried.",
		}),
	}
}

// OpenReminders returns a function that opens the storage. Reminders are messages of the application
// auth.SessionApplication.
func OpenReminders(applications *pg.Applications, notifications *pgnotifications.Notifications, publicURL string) func(ctx context.Context) (ReminderStores, error) {
	return func(ctx context.Context) (ReminderStores, error) {
		app, err := applications.ByName(ctx, auth.SessionApplication)
		if err != nil {
			return ReminderStores{}, err
		}
		rows := pgnotifications.NewReminders(notifications, app.ID, answersPage(publicURL))
		return ReminderStores{Teams: rows, Upkeep: rows}, nil
	}
}

// answersPage is the URL of "My shifts", where people answer requests to swap shifts.
func answersPage(publicURL string) string {
	if publicURL == "" {
		return ""
	}
	return publicURL + "/me"
}

// Run notifies people until ctx ends.
func (r *Reminder) Run(ctx context.Context) error {
	return repeat(ctx, remindTick, r.pass, func(err error) {
		r.log.Warn("reminders cannot be read: nobody is reminded, retrying", zap.Error(err))
	})
}

// pass creates the messages that are due.
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
				return err // another process owns the bucket, or the database cannot be reached
			}
			r.failed.Inc()
			r.putOff[team] = now.Add(remindRetry)
			r.log.Error("team cannot be notified about its shifts, retrying later", zap.Int64("team", team),
				zap.Error(err))
		}
	}
	if remind && len(teams) < remindTeams {
		r.reminded = now
	}
	return r.upkeep(ctx, leases, now)
}

// team creates all due messages of a team.
func (r *Reminder) team(ctx context.Context, lease buckets.Lease, team int64) error {
	for _, do := range []func(context.Context, string, buckets.Lease, int64) (pgnotifications.Result, error){r.stores.Teams.Expire, r.stores.Teams.Notify, r.stores.Teams.Remind} {
		for more := true; more && ctx.Err() == nil; {
			result, err := do(ctx, r.holder.ProcessID(), lease, team)
			if err != nil {
				return err
			}
			r.count(result)
			more = result.More
		}
	}
	return nil
}

func (r *Reminder) count(result pgnotifications.Result) {
	for _, kind := range result.Types {
		r.made.WithLabelValues(string(kind)).Inc()
	}
	if result.Unread > 0 {
		r.made.WithLabelValues("nobody").Add(float64(result.Unread))
	}
	if len(result.Types) > 0 {
		r.wake(result.Buckets)
	}
}

// upkeep notifies people without a phone number and deletes old reminders.
func (r *Reminder) upkeep(ctx context.Context, leases []buckets.Lease, now time.Time) error {
	if r.phones.Every > 0 && now.Sub(r.checked) >= min(checkEvery, r.phones.Every) {
		for more := true; more && ctx.Err() == nil; {
			result, err := r.stores.Upkeep.CheckPhones(ctx, r.holder.ProcessID(), leases, r.phones)
			if err != nil {
				return err
			}
			r.count(result)
			more = result.More
		}
		r.checked = now
	}
	if now.Sub(r.cleaned) < cleanEvery {
		return nil
	}
	r.cleaned = now
	return r.stores.Upkeep.Forget(ctx)
}
