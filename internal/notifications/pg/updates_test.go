package pg_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/users"
)

// newsroom is an installation with the applications demo (2) and other (3), the plan p (1) that pages the team db, and
// the people ann (1), bob (2), cat (3) and dan (4), who have an e-mail address.
type newsroom struct {
	t     *testing.T
	db    *postgres.DB
	ops   *updates.Updates
	wait  time.Duration
	woken int
}

func (n *newsroom) ByName(_ context.Context, name string) (auth.Application, error) {
	return auth.Application{ID: 2, Name: name}, nil
}
func (n *newsroom) Notifications(context.Context, auth.Application) time.Duration { return n.wait }
func (n *newsroom) Accepted(int64, int)                                           {}

// applications is the part of auth.Applications that updates need.
type applications struct {
	auth.Applications
	*newsroom
}

func (a applications) ByName(ctx context.Context, name string) (auth.Application, error) {
	return a.newsroom.ByName(ctx, name)
}

func newNewsroom(t *testing.T) *newsroom {
	t.Helper()
	n := &newsroom{t: t, db: pgtest.New(t)}
	n.exec(`insert into users (name) values ('ann'), ('bob'), ('cat'), ('dan');
		insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users;
		insert into user_contacts (user_id, mode, destination) select id, 'slack', name from users where name = 'bob';
		insert into applications (name, title_variable) values ('demo', 'title'), ('other', null);
		insert into teams (name) values ('db'), ('web');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
			values ('p', 1, 0, 0, 0, 0);
		insert into plan_active (name_key, plan_id) select name, id from plans;
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
			select 1, 1, 0, 'high', 'team', target_id, 't', 60, 0, false from teams where name = 'db'`)
	n.ops = updates.New(updates.Deps{Store: pg.NewUpdates(pg.New(n.db)), Incident: pgincidents.New(n.db).Get,
		Applications: applications{nil, n}, Load: n, PublicURL: "https://iris.example",
		Wake: func(_ context.Context, b buckets.Set) { n.woken++ }})
	return n
}

func (n *newsroom) exec(sql string, args ...any) {
	n.t.Helper()
	_, err := n.db.Pool().Exec(n.t.Context(), sql, args...)
	require.NoError(n.t, err)
}

func (n *newsroom) text(sql string) (out string) {
	n.t.Helper()
	require.NoError(n.t, n.db.Pool().QueryRow(n.t.Context(), sql).Scan(&out))
	return out
}

func (n *newsroom) open() incidents.ID {
	n.t.Helper()
	opened, err := pgincidents.New(n.db).Open(n.t.Context(), incidents.New{PlanID: 1, ApplicationID: 2,
		Context: []byte(`{"title": "Disk <b>full</b>"}`), Actor: "application demo"})
	require.NoError(n.t, err)
	return opened.ID
}

// person is a caller with a session.
func person(id int64) operation.Actor {
	return operation.Actor{Person: id, Name: []string{"", "ann", "bob", "cat", "dan"}[id], Role: operation.Member, Session: true}
}

func (n *newsroom) subscribe(who int64, w updates.Wish) updates.UpdateSubscription {
	n.t.Helper()
	if w.Mode == "" {
		w.Mode = users.Email
	}
	s, err := n.ops.Subscribe.Do(n.t.Context(), person(who), w)
	require.NoError(n.t, err)
	return s
}

func (n *newsroom) post(id incidents.ID, state updates.State, text string) updates.Update {
	n.t.Helper()
	u, err := n.ops.Post.Do(n.t.Context(), person(1), posting(id, state, text))
	require.NoError(n.t, err)
	return u
}

func posting(id incidents.ID, state updates.State, text string) updates.Posting {
	return updates.Posting{One: incidents.One{ID: id}, Body: updates.Draft{State: state, Text: text}}
}

// got lists who gets messages by which mode.
func (n *newsroom) got() string {
	n.t.Helper()
	return n.text(`select coalesce(string_agg(target || ' ' || mode, ', ' order by id), '') from messages where purpose = 'update'`)
}

func (n *newsroom) forget() { n.exec(`delete from messages where purpose = 'update'`) }

func TestAnUpdateGoesOnceToEachSubscriber(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	id := n.open()
	n.subscribe(2, updates.Wish{Subject: updates.Subject{Incident: id}, Mode: users.Slack})
	n.subscribe(2, updates.Wish{Subject: updates.Subject{Application: "DEMO"}})
	n.subscribe(3, updates.Wish{Subject: updates.Subject{Team: "db"}})
	n.subscribe(4, updates.Wish{Subject: updates.Subject{Application: "other"}})
	u := n.post(id, updates.Identified, " It is the *disk*.\r\nWe replace it. ")
	require.Equal(t, 2, u.Recipients)
	require.True(t, u.Made())
	require.Equal(t, "bob slack, cat email", n.got(), "the mode of the narrowest subscription")
	require.Equal(t, 1, n.woken)
	require.Equal(t, "Update, identified: Disk <b>full</b> (incident 1)", n.text(`select subject from notification_requests`))
	body := n.text(`select body from notification_requests`)
	require.True(t, strings.HasPrefix(body, "It is the *disk*.\nWe replace it.\n\nState: identified\n\nhttps://iris.example/incidents/1\n"), body)
	require.Contains(t, body, "https://iris.example/subscriptions")
	require.NotContains(t, body, "<b>", "the title of an alert is no Markdown")
	require.Equal(t, "2 5", n.text(`select min(class) || ' ' || count(distinct request_id) + 4 from messages where purpose = 'update'`), "out of band, one request")
	require.Equal(t, "update by ann to 2 subscribers, identified: It is the *disk*.\nWe replace it.",
		n.text(`select text from timeline_entries where kind = 'status'`))

	again := n.post(id, updates.Identified, "It is the *disk*.\nWe replace it.")
	require.False(t, again.Made(), "a form that is sent twice")
	require.Equal(t, u.ID, again.ID)
	require.Equal(t, "bob slack, cat email", n.got())
	n.post(id, updates.Resolved, "Done.")
	require.Equal(t, "bob slack, cat email, bob slack, cat email", n.got())
	require.Equal(t, incidents.StateEscalating, n.state(id), "an update does not resolve the incident")

	all, err := n.ops.List.Do(t.Context(), person(4), incidents.Part{One: incidents.One{ID: id}, Paging: operation.Paging{Limit: 1}})
	require.NoError(t, err)
	require.Equal(t, updates.Resolved, all.Items[0].State)
	rest, err := n.ops.List.Do(t.Context(), person(4), incidents.Part{One: incidents.One{ID: id}, Paging: operation.Paging{Cursor: *all.Next}})
	require.NoError(t, err)
	require.Len(t, rest.Items, 1)
}

func (n *newsroom) state(id incidents.ID) incidents.State {
	n.t.Helper()
	i, err := pgincidents.New(n.db).Get(n.t.Context(), id)
	require.NoError(n.t, err)
	return i.State()
}

func TestTeamsGetUpdatesOfWhatTheyOwn(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	id := n.open()
	n.subscribe(2, updates.Wish{Subject: updates.Subject{Team: "web"}})
	n.post(id, updates.Investigating, "one")
	require.Empty(t, n.got())
	n.exec(`insert into plan_owners (name_key, team_id) select 'p', id from teams where name = 'web'`)
	n.post(id, updates.Investigating, "two")
	require.Equal(t, "bob email", n.got())
	n.forget()
	n.exec(`delete from plan_owners; update applications set team_id = (select id from teams where name = 'web') where name = 'demo'`)
	n.post(id, updates.Investigating, "three")
	require.Equal(t, "bob email", n.got())
}

func TestWhatHappensToSubscribers(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	first, second := n.open(), n.open()
	n.subscribe(2, updates.Wish{Subject: updates.Subject{Incident: first}})
	n.subscribe(3, updates.Wish{Subject: updates.Subject{Incident: second}})
	in, change := pgincidents.New(n.db), incidents.Change{IDs: []incidents.ID{second}, Actor: "ann", Via: incidents.ViaAPI}
	_, err := in.Merge(t.Context(), change, first, "")
	require.NoError(t, err)
	n.post(first, updates.Monitoring, "merged")
	require.Equal(t, "bob email, cat email", n.got(), "the first incident stands for the second")
	_, err = n.ops.Post.Do(t.Context(), person(1), posting(second, updates.Monitoring, "x"))
	require.True(t, fault.Is(err, fault.Conflict))
	require.ErrorContains(t, err, "is merged into incident 1")
	_, err = in.Unmerge(t.Context(), change)
	require.NoError(t, err)
	n.forget()
	n.post(first, updates.Monitoring, "apart again")
	require.Equal(t, "bob email", n.got())

	n.forget()
	_, err = in.Resolve(t.Context(), incidents.Change{IDs: []incidents.ID{first}, Actor: "ann"}, true)
	require.NoError(t, err)
	n.post(first, updates.Resolved, "over")
	require.Equal(t, "bob email", n.got(), "an incident that is resolved has subscribers")
	n.forget()
	n.exec(`update users set active = false where name = 'bob'`)
	n.post(first, updates.Resolved, "bob left")
	require.Empty(t, n.got(), "a person who is switched off gets nothing")
	n.exec(`delete from users where name = 'bob'`)
	require.Equal(t, "1", n.text(`select count(*)::text from update_subscriptions`), "an erased person has no subscription")
}

func TestAnUpdateNeverCallsOrTexts(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	id := n.open()
	for _, mode := range []users.Mode{users.SMS, users.Call, users.Drop} {
		_, err := n.ops.Subscribe.Do(t.Context(), person(2), updates.Wish{Subject: updates.Subject{Incident: id}, Mode: mode})
		require.True(t, fault.Is(err, fault.Invalid), mode)
	}
	_, err := n.ops.Subscribe.Do(t.Context(), person(3), updates.Wish{Subject: updates.Subject{Incident: id}, Mode: users.Webhook})
	require.ErrorContains(t, err, "you have no contact for webhook")
	// A person's own rule sends e-mails that are too many as texts. It does not hold for updates.
	n.subscribe(2, updates.Wish{Subject: updates.Subject{Incident: id}})
	n.exec(`insert into user_contacts (user_id, mode, destination) values (2, 'sms', '+15550000001');
		insert into application_modes (application_id, mode) values (2, 'sms');
		insert into user_reprioritizations select 2, 'email', 'sms', 1, 3600`)
	for k := range 4 {
		n.post(id, updates.Investigating, fmt.Sprint(k))
	}
	require.Equal(t, "bob email, bob email, bob email, bob email", n.got())
}

func TestSubscriptionsBelongToPeople(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	id := n.open()
	for name, w := range map[string]updates.Wish{"exactly one": {}, "exactly one of": {Subject: updates.Subject{Incident: id, Team: "db"}},
		"no incident 99": {Subject: updates.Subject{Incident: 99}}, `no team "x"`: {Subject: updates.Subject{Team: "x"}},
		`no application "x"`: {Subject: updates.Subject{Application: "x"}}} {
		w.Mode = users.Email
		_, err := n.ops.Subscribe.Do(t.Context(), person(2), w)
		require.ErrorContains(t, err, name)
	}
	mine := n.subscribe(2, updates.Wish{Subject: updates.Subject{Incident: id}})
	require.Equal(t, mine.ID, n.subscribe(2, updates.Wish{Subject: updates.Subject{Incident: id}, Mode: users.Slack}).ID)
	list := func(who int64) operation.Page[updates.UpdateSubscription] {
		found, err := n.ops.Subscriptions.Do(t.Context(), person(who), updates.Filter{})
		require.NoError(t, err)
		return found
	}
	require.Len(t, list(2).Items, 1)
	require.Equal(t, users.Slack, list(2).Items[0].Mode)
	require.Empty(t, list(3).Items)
	_, err := n.ops.Unsubscribe.Do(t.Context(), person(3), updates.One{ID: mine.ID})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = n.ops.Subscribe.Do(t.Context(), operation.Actor{Name: "application demo", Role: operation.Member, Program: true},
		updates.Wish{Subject: updates.Subject{Incident: id}, Mode: users.Email})
	require.True(t, fault.Is(err, fault.Forbidden))
	_, err = n.ops.Unsubscribe.Do(t.Context(), person(2), updates.One{ID: mine.ID})
	require.NoError(t, err)
	require.Empty(t, list(2).Items)

	n.exec(`insert into incidents (plan_id, application_id) select 1, 2 from generate_series(1, 100)`)
	n.exec(`insert into update_subscriptions (user_id, incident_id, mode) select 2, id, 'email' from incidents order by id desc limit $1`, updates.MostOfPerson)
	_, err = n.ops.Subscribe.Do(t.Context(), person(2), updates.Wish{Subject: updates.Subject{Team: "db"}, Mode: users.Email})
	require.ErrorContains(t, err, "100 subscriptions, which is the limit")
	n.exec(`insert into users (name) select 'p' || n from generate_series(1, 1000) n;
		insert into update_subscriptions (user_id, team_id, mode) select u.id, t.id, 'email' from users u, teams t where u.name like 'p%' and t.name = 'web'`)
	_, err = n.ops.Subscribe.Do(t.Context(), person(3), updates.Wish{Subject: updates.Subject{Team: "web"}, Mode: users.Email})
	require.ErrorContains(t, err, "team web has 1000 subscribers, which is the limit")
}

func TestUpdatesAreRefused(t *testing.T) {
	t.Parallel()
	n := newNewsroom(t)
	id := n.open()
	for name, p := range map[string]updates.Posting{"text must not be empty": posting(id, updates.Resolved, " "),
		"more than 2000 characters": posting(id, updates.Resolved, strings.Repeat("ä", 2001))} {
		_, err := n.ops.Post.Do(t.Context(), person(1), p)
		require.ErrorContains(t, err, name)
	}
	_, err := n.ops.Post.Do(t.Context(), person(1), posting(99, updates.Resolved, "x"))
	require.True(t, fault.Is(err, fault.NotFound))
	other := operation.Actor{Name: "application other", Role: operation.Member, Application: 3, ApplicationName: "other"}
	_, err = n.ops.Post.Do(t.Context(), other, posting(id, updates.Resolved, "x"))
	require.ErrorIs(t, err, operation.ErrNotReached)
	_, err = n.ops.List.Do(t.Context(), other, incidents.Part{One: incidents.One{ID: id}})
	require.ErrorIs(t, err, operation.ErrNotReached)
	n.wait = time.Minute
	_, err = n.ops.Post.Do(t.Context(), person(1), posting(id, updates.Resolved, "x"))
	require.True(t, fault.Is(err, fault.Throttled))
	require.Equal(t, "0", n.text(`select count(*)::text from incident_updates`))
}
