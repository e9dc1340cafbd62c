package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
)

// Subscriptions stores subscriptions of calendars. It is safe for concurrent use.
type Subscriptions struct {
	db   *postgres.DB
	keys *auth.Keys
}

// NewSubscriptions returns the adapter over d. keys encrypt URLs.
func NewSubscriptions(d *postgres.DB, keys *auth.Keys) *Subscriptions { return &Subscriptions{d, keys} }

// ownerOf names the owner of an encrypted URL.
func ownerOf(s editing.CalendarSubscription) string {
	return fmt.Sprintf("calendar subscription of team %d, person %d", s.TeamID, s.User)
}

func subscriptionOf(r postgresdb.CalendarsSubscribedRow) editing.CalendarSubscription {
	return editing.CalendarSubscription{ID: r.ID, Kind: editing.SubscriptionKind(r.Kind), TeamID: r.TeamID,
		Team: r.Team, User: users.ID(r.UserID), UserName: r.UserName,
		Role: r.Role, Name: r.Name, Host: r.Host, Country: r.Country, WholeDays: r.WholeDays, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt,
		ReadAt: postgres.Deref(r.ReadAt), NextAt: r.NextReadAt, Failures: r.Failures, Problem: r.Problem, Events: r.Events, LeftOut: r.LeftOut}
}

func (s *Subscriptions) list(ctx context.Context, p postgresdb.CalendarsSubscribedParams) ([]editing.CalendarSubscription, error) {
	p.Ids = postgres.NonNil(p.Ids)
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).CalendarsSubscribed, p)
	return postgres.Convert(rows, subscriptionOf), err
}

// OfTeam returns the subscriptions of a team, oldest first.
func (s *Subscriptions) OfTeam(ctx context.Context, team int64) ([]editing.CalendarSubscription, error) {
	return s.list(ctx, postgresdb.CalendarsSubscribedParams{TeamID: &team})
}

// OfPerson returns the subscriptions of a person, oldest first.
func (s *Subscriptions) OfPerson(ctx context.Context, person users.ID) ([]editing.CalendarSubscription, error) {
	return s.list(ctx, postgresdb.CalendarsSubscribedParams{UserID: &person})
}

// ByID returns a subscription; a NotFound fault when there is none.
func (s *Subscriptions) ByID(ctx context.Context, id int64) (editing.CalendarSubscription, error) {
	return postgres.First(s.list(ctx, postgresdb.CalendarsSubscribedParams{Ids: []int64{id}}))
}

// Save adds a subscription, or changes its name, URL and choice of events if it has an id. An empty URL stays as it is.
// It returns the id. The calendar is read soon.
func (s *Subscriptions) Save(ctx context.Context, c editing.CalendarSubscription, url string, by oncall.By) (int64, error) {
	var sealed []byte
	if url != "" {
		sealed = s.keys.Seal([]byte(url), ownerOf(c))
	}
	id, action := c.ID, audit.CalendarSubscriptionChanged
	if id == 0 {
		action = audit.CalendarSubscribed
	}
	return id, s.change(ctx, c, action, by, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		if id == 0 {
			id, err = q.SubscribeCalendar(ctx, postgresdb.SubscribeCalendarParams{Kind: string(c.Kind),
				TeamID: c.TeamID, UserID: int64(c.User), Role: c.Role,
				Name: postgres.Storable(c.Name), UrlSealed: postgres.NonNil(sealed), Host: postgres.Storable(c.Host), Country: c.Country,
				WholeDays: c.WholeDays, CreatedBy: postgres.Storable(by.Owner)})
			return err
		}
		err = postgres.RequireRow(q.ChangeCalendarSubscription(ctx,
			postgresdb.ChangeCalendarSubscriptionParams{ID: id, Name: postgres.Storable(c.Name),
				UrlSealed: sealed, Host: postgres.Storable(c.Host), Country: c.Country, WholeDays: c.WholeDays}))
		if err != nil {
			return err
		}
		return q.NameBusyTimes(ctx, postgresdb.NameBusyTimesParams{SubscriptionID: &id,
			Note: postgres.Storable(c.Name)})
	})
}

// Drop removes a subscription and the unavailability that came from it. The caller has removed its shifts and holidays.
func (s *Subscriptions) Drop(ctx context.Context, c editing.CalendarSubscription, by oncall.By) error {
	return s.change(ctx, c, audit.CalendarUnsubscribed, by, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.UnsubscribeCalendar(ctx, c.ID))
	})
}

// change runs a change with its entry in the audit log: of the person, or of the team's calendar.
func (s *Subscriptions) change(ctx context.Context, c editing.CalendarSubscription, action audit.Action, by oncall.By, do func(context.Context, *postgresdb.Queries) error) error {
	if c.TeamID == 0 {
		return auditlog.Change(ctx, s.db, auditlog.User(c.User), audit.Entry{Actor: by.Owner, Action: action}, do)
	}
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := do(ctx, q); err != nil {
			return err
		}
		return auditlog.WriteOncall(ctx, q, by.Owner, c.Team, subscriptionActions[action],
			map[string]any{"kind": c.Kind, "role": c.Role, "name": c.Name, "host": c.Host, "country": c.Country})
	})
}

// subscriptionActions are the actions in the log of the on-call API.
var subscriptionActions = map[audit.Action]string{audit.CalendarSubscribed: "calendar_subscribed",
	audit.CalendarSubscriptionChanged: "calendar_subscription_edited",
	audit.CalendarUnsubscribed:        "calendar_unsubscribed"}

// Refresh makes a calendar due now.
func (s *Subscriptions) Refresh(ctx context.Context, id int64) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		return postgres.RequireRow(q.RefreshCalendarSubscription(ctx, id))
	})
}

// DueSubscription is a subscription that this process has claimed.
type DueSubscription struct {
	editing.CalendarSubscription
	URL                string         // "" = it cannot be decrypted, or the holidays are of a country
	Zone               *time.Location // of the team or person
	ETag, LastModified string         // of the last answer; "" = request the calendar without a condition
	claims             int64
}

// Claim returns up to most subscriptions that are due. No other process gets them until hold has passed. If the last
// full reading of a calendar is a day ago, it is read in full again.
func (s *Subscriptions) Claim(ctx context.Context, most int, hold time.Duration) ([]DueSubscription, error) {
	ids, err := postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]int64, error) {
		return q.ClaimCalendarSubscriptions(ctx, postgresdb.ClaimCalendarSubscriptionsParams{Most: most,
			HoldSeconds: hold.Seconds()})
	})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).CalendarsSubscribed,
		postgresdb.CalendarsSubscribedParams{Ids: ids})
	if err != nil {
		return nil, err
	}
	var out []DueSubscription
	for _, r := range rows {
		d := DueSubscription{CalendarSubscription: subscriptionOf(r), Zone: postgres.Location(r.TimeZone),
			claims: r.Claims}
		if url, err := s.keys.Unseal(r.UrlSealed, ownerOf(d.CalendarSubscription)); err == nil {
			d.URL = string(url)
		}
		if r.FullReadAt != nil && time.Since(*r.FullReadAt) < 24*time.Hour {
			d.ETag, d.LastModified = r.Etag, r.LastModified
		}
		out = append(out, d)
	}
	return out, nil
}

// Reading is the result of a successful reading. If Changed is false, the calendar was not sent again (304), and Done
// ignores the other fields.
type Reading struct {
	Changed            bool
	ETag, LastModified string
	Events             int
	LeftOut            []string
}

// Done stores the success of a reading. It does nothing if somebody changed the subscription meanwhile.
func (s *Subscriptions) Done(ctx context.Context, d DueSubscription, r Reading) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		_, err := q.CalendarSubscriptionRead(ctx, postgresdb.CalendarSubscriptionReadParams{ID: d.ID, Claims: d.claims,
			PauseSeconds: editing.ReadEvery.Seconds(), Changed: r.Changed,
			Etag: postgres.Storable(r.ETag), LastModified: postgres.Storable(r.LastModified), Events: r.Events,
			LeftOut: postgres.NonNil(postgres.Convert(r.LeftOut, postgres.Storable))})
		return err
	})
}

// Failed stores why a reading failed, and when the next one is. The results of earlier readings stay.
func (s *Subscriptions) Failed(ctx context.Context, d DueSubscription, problem string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		_, err := q.CalendarSubscriptionFailed(ctx, postgresdb.CalendarSubscriptionFailedParams{ID: d.ID,
			Claims: d.claims, Problem: postgres.Storable(problem),
			PauseSeconds: editing.ReadRetry(d.Failures + 1).Seconds()})
		return err
	})
}

// SetBusy replaces the unavailability that came from a subscription. It is a Conflict fault if somebody changed the
// subscription meanwhile.
func (s *Subscriptions) SetBusy(ctx context.Context, d DueSubscription, busy []oncall.Span) error {
	starts, ends := make([]time.Time, len(busy)), make([]time.Time, len(busy))
	for i, b := range busy {
		starts[i], ends[i] = b.Start, b.End
	}
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.LockCalendarSubscription(ctx, postgresdb.LockCalendarSubscriptionParams{ID: d.ID, Claims: d.claims}); err != nil {
			return fault.When(err, fault.NotFound, fault.New(fault.Conflict, "the subscription was changed meanwhile"))
		}
		if err := q.DropOldBusyTimes(ctx, postgresdb.DropOldBusyTimesParams{SubscriptionID: &d.ID, Starts: starts, Ends: ends}); err != nil {
			return err
		}
		return q.AddBusyTimes(ctx, postgresdb.AddBusyTimesParams{SubscriptionID: d.ID, Starts: starts, Ends: ends})
	})
}

// Candidates returns the people of a team who can get shifts from events.
func (s *Subscriptions) Candidates(ctx context.Context, team int64) ([]editing.Candidate, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).EventCandidates, team)
	return postgres.Convert(rows, func(r postgresdb.EventCandidatesRow) editing.Candidate {
		return editing.Candidate{User: r.ID, Name: r.Name, FullName: r.FullName, Email: r.Email}
	}), err
}
