package pg

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Reminders turns due reminders and notices of a team into out-of-band notifications. One transaction stores the
// notification and marks the reminder as made, fenced by the lease of the team's bucket, so that each is made once. It
// is safe for concurrent use.
type Reminders struct {
	db            *postgres.DB
	notifications *Notifications
	application   int64
	answers       string
}

// NewReminders returns the adapter. The messages belong to application and count for its quota. Messages that ask a
// question link to the page answers ("" = no link).
func NewReminders(n *Notifications, application int64, answers string) *Reminders {
	return &Reminders{db: n.DB(), notifications: n, application: application, answers: answers}
}

// The reminders and notices of one transaction, the lifetime of a notice, and the shortest lifetime of a reminder.
const (
	reminderBatch = 200
	noticeBatch   = 50
	noticeLife    = 24 * time.Hour
	reminderLife  = 10 * time.Minute
)

// Result is the result of a batch.
type Result struct {
	Types   []oncall.NoticeKind // one for each message
	Unread  int                 // notices that made no message
	Buckets buckets.Set         // of the messages
	More    bool                // there may be more
}

// Waiting lists teams of the buckets with notices to send. If reminders is true, it adds teams with due reminders or
// expired swap requests. limit bounds each of the three kinds.
func (r *Reminders) Waiting(ctx context.Context, bs []int, reminders bool, limit int) ([]int64, error) {
	var out []int64
	err := r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		result, err := q.TeamsToNotify(ctx, postgresdb.TeamsToNotifyParams{Buckets: postgres.NonNil(bs),
			MaxRows: limit})
		if out = result; err != nil || !reminders {
			return err
		}
		due, err := q.TeamsToRemind(ctx, postgresdb.TeamsToRemindParams{Buckets: postgres.NonNil(bs), MaxRows: limit})
		if err != nil {
			return err
		}
		over, err := q.TeamsWithOverSwaps(ctx, postgresdb.TeamsWithOverSwapsParams{Buckets: postgres.NonNil(bs),
			MaxRows: limit})
		out = slices.Concat(result, due, over)
		return err
	})
	slices.Sort(out)
	return slices.Compact(out), err
}

// Remind makes up to 200 of a team's due reminders.
func (r *Reminders) Remind(ctx context.Context, processID string, lease buckets.Lease, team int64) (Result, error) {
	return r.ofTeam(ctx, processID, lease, func(ctx context.Context, q *postgresdb.Queries) (Result, []messages.Notification, error) {
		due, err := q.RemindersDue(ctx, postgresdb.RemindersDueParams{TeamID: team, MaxRows: reminderBatch})
		if err != nil {
			return Result{}, nil, err
		}
		now, err := q.ServerClock(ctx)
		if err != nil {
			return Result{}, nil, err
		}
		result, out := Result{More: len(due) == reminderBatch}, []messages.Notification{}
		for _, d := range due {
			made, err := q.ClaimReminder(ctx, postgresdb.ClaimReminderParams{FeedID: d.FeedID, UserID: d.UserID,
				Type: d.Type, Mode: d.Mode, DueAt: d.DueAt})
			if err != nil {
				return result, nil, err
			}
			if made == 0 {
				continue // two settings ask for the same message
			}
			text := oncall.Reminder{
				Type: d.Type, Team: d.Team, Role: d.Role, At: d.Edge, Before: time.Duration(d.TimeBefore) * time.Second, Zone: postgres.Location(d.UserZone),
			}.Text()
			result.Types = append(result.Types, oncall.NoticeKind(d.Type))
			out = append(out, r.notification(text, max(d.Edge.Sub(now), reminderLife),
				recipient(d.UserID, d.UserName, d.Mode)))
		}
		return result, out, nil
	})
}

// Notify makes the messages of up to 50 notices of a team, oldest first, and deletes these notices.
func (r *Reminders) Notify(ctx context.Context, processID string, lease buckets.Lease, team int64) (Result, error) {
	return r.ofTeam(ctx, processID, lease, func(ctx context.Context, q *postgresdb.Queries) (Result, []messages.Notification, error) {
		rows, err := q.NoticesOfTeam(ctx, postgresdb.NoticesOfTeamParams{TeamID: team, MaxRows: noticeBatch})
		if err != nil {
			return Result{}, nil, err
		}
		result, out, ids := Result{More: len(rows) == noticeBatch}, []messages.Notification{}, []int64{}
		for _, n := range rows {
			ids = append(ids, n.ID)
			made, err := r.notify(ctx, q, team, n)
			if err != nil {
				return result, nil, err
			}
			if len(made) == 0 {
				result.Unread++
			}
			for range made {
				result.Types = append(result.Types, oncall.NoticeKind(n.Kind))
			}
			out = append(out, made...)
		}
		return result, out, q.DeleteNotices(ctx, ids)
	})
}

// notify makes the messages of one notice for its subscribers.
func (r *Reminders) notify(ctx context.Context, q *postgresdb.Queries, team int64, n postgresdb.NoticesOfTeamRow) ([]messages.Notification, error) {
	if oncall.NoticeKind(n.Kind).Personal() {
		return r.notifyPersonally(ctx, q, team, n)
	}
	readers, err := q.NoticeReaders(ctx, postgresdb.NoticeReadersParams{TeamID: team, Kind: n.Kind, Roles: n.Roles,
		UserIds: n.UserIds})
	if err != nil || len(readers) == 0 {
		return nil, err
	}
	facts, err := noticeFacts(ctx, q, n.Facts)
	if err != nil {
		return nil, err
	}
	var out []messages.Notification
	for _, reader := range readers {
		text, ok := oncall.NoticeText(oncall.NoticeKind(n.Kind), n.Team, facts, postgres.Location(reader.TimeZone))
		if ok {
			out = append(out, r.notification(text, noticeLife, recipient(reader.UserID, reader.Name, reader.Mode)))
		}
	}
	return out, nil
}

func noticeFacts(ctx context.Context, q *postgresdb.Queries, raw json.RawMessage) ([]oncall.NoticeFact, error) {
	var stored []postgres.NoticeFact
	if json.Unmarshal(raw, &stored) != nil {
		return []oncall.NoticeFact{}, nil // not a notice of this release
	}
	names, err := shownNames(ctx, q, postgres.Convert(stored, func(f postgres.NoticeFact) int64 { return f.UserID }))
	return postgres.Convert(stored, func(f postgres.NoticeFact) oncall.NoticeFact {
		return oncall.NoticeFact{
			User: users.ID(f.UserID), Role: f.Role, Name: names[f.UserID], Start: time.Unix(f.Start,
				0), End: time.Unix(f.End, 0),
		}
	}), err
}

// shownNames returns the full names of people, or the user names of those without one.
func shownNames(ctx context.Context, q *postgresdb.Queries, ids []int64) (map[int64]string, error) {
	people, err := q.DirectoryUsers(ctx, ids)
	names := map[int64]string{}
	for _, p := range people {
		if names[int64(p.ID)] = p.FullName; p.FullName == "" {
			names[int64(p.ID)] = p.Name
		}
	}
	return names, err
}

// PhoneCheck is the e-mail to people who have a future shift and no number for calls. Every is the least time between
// two e-mails to one person.
type PhoneCheck struct {
	Every         time.Duration
	Subject, Body string
}

// CheckPhones makes up to 200 of these e-mails, for people of the leases' buckets.
func (r *Reminders) CheckPhones(ctx context.Context, processID string, leases []buckets.Lease, c PhoneCheck) (Result, error) {
	if len(leases) == 0 {
		return Result{}, nil
	}
	bs := pgbuckets.BucketNumbers(leases)
	return r.fenced(ctx, processID, leases, func(ctx context.Context, q *postgresdb.Queries) (Result, []messages.Notification, error) {
		people, err := q.PeopleToCheck(ctx, postgresdb.PeopleToCheckParams{Buckets: bs,
			EverySeconds: c.Every.Seconds(), MaxRows: reminderBatch})
		if err != nil {
			return Result{}, nil, err
		}
		result, out := Result{More: len(people) == reminderBatch}, []messages.Notification{}
		for _, p := range people {
			made, err := q.ClaimPhoneCheck(ctx, postgresdb.ClaimPhoneCheckParams{UserID: p.ID,
				EverySeconds: c.Every.Seconds()})
			if err != nil {
				return result, nil, err
			}
			if made > 0 {
				result.Types = append(result.Types, oncall.PhoneMissing)
				out = append(out, r.notification(oncall.Text{Subject: c.Subject, Body: c.Body}, noticeLife,
					recipient(p.ID, p.Name, users.Email)))
			}
		}
		return result, out, nil
	})
}

// Forget deletes the marks of reminders that were due more than 400 days ago, and cancelled shifts that ended more than
// 90 days ago.
func (r *Reminders) Forget(ctx context.Context) error {
	return r.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.ForgetReminders(ctx); err != nil {
			return err
		}
		_, err := q.ForgetCancelledShifts(ctx)
		return err
	})
}

func (r *Reminders) notification(w oncall.Text, life time.Duration, to messages.NotificationRecipient) messages.Notification {
	return messages.Notification{
		ApplicationID: r.application, Subject: w.Subject, Body: w.Body, Lifetime: life, Recipients: []messages.NotificationRecipient{to},
	}
}

func recipient(id users.ID, name string, mode users.Mode) messages.NotificationRecipient {
	return messages.NotificationRecipient{Recipient: messages.ToUser(id), UserID: id, Target: name, Mode: mode}
}

func (r *Reminders) ofTeam(ctx context.Context, processID string, lease buckets.Lease,
	decide func(context.Context, *postgresdb.Queries) (Result, []messages.Notification, error)) (Result, error) {
	return r.fenced(ctx, processID, []buckets.Lease{lease}, decide)
}

// fenced calls decide and stores its notifications in one transaction that only the owner of the leases can commit.
func (r *Reminders) fenced(ctx context.Context, processID string, leases []buckets.Lease,
	decide func(context.Context, *postgresdb.Queries) (Result, []messages.Notification, error)) (Result, error) {
	policy, err := r.notifications.Policy(ctx)
	if err != nil {
		return Result{}, err
	}
	var result Result
	var tally floods.Tally
	err = r.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		result, tally = Result{}, floods.Tally{}
		if err := pgbuckets.Fence(ctx, q, processID, leases); err != nil {
			return err
		}
		decided, made, err := decide(ctx, q)
		if result = decided; err != nil || len(made) == 0 {
			return err
		}
		ids, err := Store(ctx, q, policy, made, tally)
		for _, id := range ids {
			result.Buckets.Add(int(id % buckets.Count))
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	pgdelivery.CountTally(r.db, tally)
	return result, nil
}
