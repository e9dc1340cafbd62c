package pg

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/users"
)

// Updates implements updates.Store. It is safe for concurrent use.
type Updates struct {
	db            *postgres.DB
	notifications *Notifications
}

// NewUpdates returns the adapter. Messages of updates count for the quotas of applications.
func NewUpdates(n *Notifications) *Updates { return &Updates{n.DB(), n} }

// PostUpdate implements updates.Store.
func (u *Updates) PostUpdate(ctx context.Context, o updates.Outgoing) (out updates.Update, woken buckets.Set, err error) {
	policy, err := u.notifications.Policy(ctx)
	if err != nil {
		return out, woken, err
	}
	var tally floods.Tally
	err = u.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		out, woken, tally = o.Update, buckets.Set{}, floods.Tally{}
		out.Text = postgres.Storable(out.Text)
		known, err := lastUpdate(ctx, q, out)
		if err != nil {
			return err
		}
		if known != nil {
			out = *known
			out.Again = true
			return nil
		}
		recent, err := q.RecentUpdates(ctx, postgresdb.RecentUpdatesParams{Incident: int64(out.Incident), Seconds: time.Hour.Seconds()})
		if err != nil {
			return err
		}
		if recent.Sent >= updates.MostPerHour {
			return updates.ErrTooMany(out.Incident, time.Duration(recent.Wait)*time.Second)
		}
		readers, err := q.UpdateReaders(ctx, int64(out.Incident))
		if err != nil {
			return err
		}
		if len(readers) > 0 {
			ids, err := Store(ctx, q, policy, toReaders(o.Notification, readers), tally)
			if err != nil {
				return err
			}
			for _, id := range ids {
				woken.Add(int(id % buckets.Count))
			}
		}
		out.Recipients = len(readers)
		made, err := q.AddIncidentUpdate(ctx, postgresdb.AddIncidentUpdateParams{Incident: int64(out.Incident),
			State: string(out.State), Body: out.Text, Author: postgres.Storable(out.Author), Recipients: len(readers)})
		if err != nil {
			return err
		}
		out.ID, out.CreatedAt = made.ID, made.CreatedAt.UTC()
		if err := pgincidents.AddEntry(ctx, q, out.Incident, incidents.EntryStatus, postgres.Storable(out.Author), entry(out)); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: out.Author, Action: audit.UpdatePosted,
			Object: fmt.Sprintf("incident %d", out.Incident), Detail: fmt.Sprintf("%s; %d recipients", out.State, out.Recipients)})
	})
	if err == nil {
		pgdelivery.CountTally(u.db, tally)
	}
	return out, woken, err
}

// entry is the line of the timeline.
func entry(u updates.Update) string {
	to := "1 subscriber"
	if u.Recipients != 1 {
		to = fmt.Sprintf("%d subscribers", u.Recipients)
	}
	return fmt.Sprintf("update by %s to %s, %s: %s", u.Author, to, u.State, u.Text)
}

// lastUpdate locks the incident of an update. It returns the last update if that is the same; nil = it is another one.
func lastUpdate(ctx context.Context, q *postgresdb.Queries, u updates.Update) (*updates.Update, error) {
	locked, err := q.LockIncidentForUpdate(ctx, int64(u.Incident))
	switch {
	case err != nil:
		return nil, err
	case len(locked) == 0:
		return nil, fault.Newf(fault.NotFound, "there is no incident %d", u.Incident)
	case locked[0].MergedInto != 0:
		return nil, fault.Newf(fault.Conflict, "incident %d is merged into incident %d: write the update there",
			u.Incident, locked[0].MergedInto)
	}
	last, err := q.IncidentUpdates(ctx, postgresdb.IncidentUpdatesParams{Incident: int64(u.Incident), Before: math.MaxInt64, Most: 1})
	if err != nil || len(last) == 0 || last[0].State != string(u.State) || last[0].Body != u.Text || last[0].Author != u.Author {
		return nil, err
	}
	found := updateOf(last[0])
	return &found, nil
}

// toReaders returns the notifications of an update. Each has at most as many recipients as one may have.
func toReaders(n messages.Notification, readers []postgresdb.UpdateReadersRow) (out []messages.Notification) {
	for len(readers) > 0 {
		part := n
		for _, r := range readers[:min(len(readers), notifications.MaxRecipients)] {
			to := recipient(r.UserID, r.Name, r.Mode)
			to.Purpose = messages.StatusUpdate
			part.Recipients = append(part.Recipients, to)
		}
		out, readers = append(out, part), readers[len(part.Recipients):]
	}
	return out
}

func updateOf(r postgresdb.IncidentUpdate) updates.Update {
	return updates.Update{ID: r.ID, Incident: r.IncidentID, State: updates.State(r.State), Text: r.Body, Author: r.Author,
		Recipients: r.Recipients, CreatedAt: r.CreatedAt.UTC()}
}

// Updates implements updates.Store.
func (u *Updates) Updates(ctx context.Context, id incidents.ID, before int64, limit int) ([]updates.Update, error) {
	rows, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).IncidentUpdates,
		postgresdb.IncidentUpdatesParams{Incident: int64(id), Before: below(before), Most: limit})
	return postgres.Convert(rows, updateOf), err
}

// Subscribers implements updates.Store.
func (u *Updates) Subscribers(ctx context.Context, id incidents.ID) ([]updates.Subscriber, error) {
	rows, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).UpdateReaders, int64(id))
	out := postgres.Convert(rows, func(r postgresdb.UpdateReadersRow) updates.Subscriber {
		return updates.Subscriber{Person: r.Name, Mode: r.Mode, Through: r.Through}
	})
	slices.SortFunc(out, func(a, b updates.Subscriber) int { return strings.Compare(a.Person, b.Person) })
	return out, err
}

func below(before int64) int64 {
	if before == 0 {
		return math.MaxInt64
	}
	return before
}

// Subscribe implements updates.Store.
func (u *Updates) Subscribe(ctx context.Context, person users.User, w updates.Wish) (id int64, err error) {
	err = u.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		parts, err := q.PartsOfSubscription(ctx, postgresdb.PartsOfSubscriptionParams{Incident: int64(w.Incident),
			Application: postgres.Storable(string(w.Application)), Team: postgres.Storable(string(w.Team)), Mode: string(w.Mode),
			Person: int64(person.ID)})
		if err != nil {
			return err
		}
		if err := missing(w, parts); err != nil {
			return err
		}
		count, err := q.CountSubscriptions(ctx, postgresdb.CountSubscriptionsParams{Person: int64(person.ID),
			Incident: parts.IncidentID, Application: parts.ApplicationID, Team: parts.TeamID})
		switch {
		case err != nil:
			return err
		case count.OfPerson >= updates.MostOfPerson:
			return fault.Newf(fault.Conflict, "you have %d subscriptions, which is the limit: end some first", updates.MostOfPerson)
		case count.OfObject >= updates.MostOfObject:
			return fault.Newf(fault.Conflict, "%s has %d subscribers, which is the limit", object(w.Subject), updates.MostOfObject)
		}
		id, err = q.AddSubscriptionToUpdates(ctx, postgresdb.AddSubscriptionToUpdatesParams{Person: int64(person.ID),
			Incident: parts.IncidentID, Application: parts.ApplicationID, Team: parts.TeamID, Mode: w.Mode})
		if err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: person.Name, Action: audit.UpdatesSubscribed, Object: object(w.Subject),
			Detail: "by " + string(w.Mode)})
	})
	return id, err
}

// missing returns an Invalid fault for a name that does not exist, and for a mode without a contact.
func missing(w updates.Wish, parts postgresdb.PartsOfSubscriptionRow) error {
	var wrong fault.Wrong
	wrong.If(w.Incident != 0 && parts.IncidentID == 0, "incident", "there is no incident %d", w.Incident)
	wrong.If(w.Application != "" && parts.ApplicationID == 0, "application", "there is no application %.100q", w.Application)
	wrong.If(w.Team != "" && parts.TeamID == 0, "team", "there is no team %.100q", w.Team)
	wrong.If(!parts.HasContact, "mode", "you have no contact for %s: add it to your contacts first", w.Mode)
	return wrong.Err()
}

func object(s updates.Subject) string {
	switch {
	case s.Incident != 0:
		return fmt.Sprintf("incident %d", s.Incident)
	case s.Application != "":
		return "application " + string(s.Application)
	}
	return "team " + string(s.Team)
}

// Subscriptions implements updates.Store.
func (u *Updates) Subscriptions(ctx context.Context, person users.ID, about incidents.ID, before int64, limit int) ([]updates.UpdateSubscription, error) {
	if person == 0 {
		return nil, nil
	}
	rows, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).SubscriptionsToUpdates,
		postgresdb.SubscriptionsToUpdatesParams{Person: int64(person), About: int64(about), Before: below(before), Most: limit})
	return postgres.Convert(rows, subscriptionOf), err
}

// Subscription implements updates.Store.
func (u *Updates) Subscription(ctx context.Context, id int64) (updates.UpdateSubscription, error) {
	rows, err := postgres.Query(ctx, u.db, (*postgresdb.Queries).SubscriptionsToUpdates,
		postgresdb.SubscriptionsToUpdatesParams{ID: id, Before: math.MaxInt64, Most: 1})
	if err == nil && (len(rows) == 0 || id == 0) {
		err = updates.ErrNoSubscription(id)
	}
	if err != nil {
		return updates.UpdateSubscription{}, err
	}
	return subscriptionOf(rows[0]), nil
}

func subscriptionOf(r postgresdb.SubscriptionsToUpdatesRow) updates.UpdateSubscription {
	return updates.UpdateSubscription{ID: r.ID, UserID: r.UserID, Person: r.Person, Mode: r.Mode, CreatedAt: r.CreatedAt.UTC(),
		Subject: updates.Subject{Incident: incidents.ID(r.Incident), Application: operation.Text(r.Application), Team: operation.Text(r.Team)}}
}

// Unsubscribe implements updates.Store.
func (u *Updates) Unsubscribe(ctx context.Context, s updates.UpdateSubscription, by string) error {
	return u.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.RemoveSubscriptionToUpdates(ctx, s.ID); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: audit.UpdatesUnsubscribed, Object: object(s.Subject),
			Detail: "of " + s.Person})
	})
}
