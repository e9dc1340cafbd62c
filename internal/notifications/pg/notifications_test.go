package pg_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/users"
)

func notification(c pgtest.Catalog, subject string) messages.Notification {
	return messages.Notification{ApplicationID: c.Demo, Subject: subject, Body: "body", Priority: users.High,
		Lifetime: time.Hour,
		Recipients: []messages.NotificationRecipient{
			{Recipient: messages.ToUser(c.Ann), UserID: c.Ann, Target: "ann", Mode: users.Email, Changed: true},
			{Recipient: messages.ToLiteral("#room"), Target: "#room", Mode: users.Slack, Literal: "#room"},
			{Recipient: messages.ToUser(c.Ann), UserID: c.Ann, Target: "ann",
				Mode: users.Email}, // listed twice: one message
		}}
}

func TestNotificationsAreStoredWithTheirMessages(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	n := pgnotifications.New(c.DB)
	var wg sync.WaitGroup
	ids := make([]int64, 60)
	for i := range ids {
		wg.Go(func() {
			var err error
			ids[i], err = n.Create(t.Context(), notification(c, strconv.Itoa(i)))
			require.NoError(t, err)
		})
	}
	wg.Wait()
	for i, id := range ids {
		var subject string
		var made int
		err := c.Pool().QueryRow(t.Context(),
			`select r.subject, count(*) from notification_requests r join messages m on m.request_id = r.id
			where r.id = $1 and m.bucket = r.bucket and m.class = 2 and m.priority = 'high' and m.state = 'pending'
			and m.expires_at between clock_timestamp() + interval '59 minutes' and clock_timestamp() + interval '61 minutes'
			group by r.subject`, id).Scan(&subject, &made)
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(i), subject)
		require.Equal(t, 2, made)
	}
}

func TestABadNotificationFailsAlone(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	n := pgnotifications.New(c.DB)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			nt := notification(c, "s")
			if i%10 == 3 {
				nt.ApplicationID = 4711 // deleted in the meantime
			}
			_, err := n.Create(t.Context(), nt)
			require.Equal(t, i%10 == 3, fault.Is(err, fault.Invalid), "%v", err)
		})
	}
	wg.Wait()
	var stored int
	require.NoError(t, c.Pool().QueryRow(t.Context(), "select count(*) from messages").Scan(&stored))
	require.Equal(t, 27*2, stored)
}

func TestMessagesAreReadFromQueueAndHistory(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	ctx := t.Context()
	_, err := pgnotifications.New(c.DB).Create(ctx, notification(c, "s"))
	require.NoError(t, err)
	_, err = c.Pool().Exec(ctx, `
		update messages set state = 'sent', settled_at = created_at + interval '2 seconds', attempt = 1 where mode = 'email';
		insert into message_contents (message_id, destination, subject, body)
			select id, 'ann@example.com', '[demo] s', 'body' from messages where mode = 'email';
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, finished_at)
			select id, 1, mode, 'smtp', 'ann@example.com', 'p', 'sent', clock_timestamp() from messages where mode = 'email';
		insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, user_id, purpose,
			target, class, mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
			select 1000, now() - interval '1 day', 0, application_id, 0, 0, 0, 0, recipient, user_id, 'fallback', 'ann', 2, 'sms', 'failed', 1, true, now(),
			'+1', '100% of it', 'old', '', '', (select jsonb_agg(to_jsonb(a)) from attempts a) from messages where mode = 'email';
		insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, purpose,
			target, class, mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
			select 1001, created_at, 0, application_id, 0, 0, 0, 0, 'user:1', 'primary', 'ann', 2, '', 'cancelled', 0, false, settled_at,
			'', '', '', '', '', '[]' from message_history;
		insert into message_changes (message_id, change_type, old, new, description) values (1000, 'mode-change', 'call', 'sms', 'why'),
			(1000, 'mode-change', 'sms', 'email', 'again');
		insert into receipts (vendor, vendor_message_id, status, outcome, message_id) values ('twilio', 'SM1', 'sent', 'sent', 1000),
			('twilio', 'SM1', 'undelivered', 'rejected', 1000)`)
	require.NoError(t, err)
	m := pgincidents.NewMessages(c.DB)

	ids := func(limit int, conds ...filters.Condition) string {
		got, err := m.List(ctx, filters.Query{Conditions: conds, Limit: limit})
		require.NoError(t, err)
		out := ""
		for _, msg := range got {
			out += fmt.Sprintf("%s:%s ", msg.Mode, msg.State)
		}
		return out
	}
	cond := func(field string, op filters.Op, v ...any) filters.Condition {
		return filters.Condition{Field: field, Op: op, Values: v}
	}
	require.Equal(t, "email:sent slack:pending sms:failed ", ids(0))
	require.Equal(t, "slack:pending ", ids(1))
	require.Equal(t, "slack:pending ", ids(0, cond("active", filters.Eq, true)))
	require.Equal(t, "email:sent sms:failed ", ids(0, cond("target", filters.Eq, "ANN")))
	require.Equal(t, "sms:failed ", ids(0, cond("subject", filters.Contains, "0%")))
	require.Equal(t, "email:sent ", ids(0, cond("sent", filters.Gt, time.Unix(0, 0))))
	require.Equal(t, "email:sent sms:failed ", ids(0, cond("mode", filters.In, "email", "sms")))
	require.Empty(t, ids(0, cond("incident_id", filters.Eq, int64(1))))
	require.Empty(t, ids(0, cond("batch", filters.Eq, "x")))

	undecided, err := m.Get(ctx, 1001)
	require.NoError(t, err, "imported before Iris chose a mode: it can be asked for, and is in no list")
	require.Empty(t, undecided.Mode)

	old, err := m.Get(ctx, 1000)
	require.NoError(t, err)
	require.True(t, old.TargetChanged)
	require.True(t, old.ModeChanged)
	require.Len(t, old.Attempts, 1)
	require.Equal(t, "smtp", old.Attempts[0].Vendor)
	require.Equal(t, messages.OutcomeSent, old.Attempts[0].Outcome)
	got, err := m.Get(ctx, 1)
	require.NoError(t, err)
	require.Len(t, got.Attempts, 1)
	require.Equal(t, "[demo] s", got.Subject)
	require.Equal(t, got.CreatedAt.Add(2*time.Second), got.SentAt)
	_, err = m.Get(ctx, 5)
	require.True(t, fault.Is(err, fault.NotFound))

	log, err := m.Changes(ctx, 1000)
	require.NoError(t, err)
	require.Len(t, log, 2)
	require.Equal(t, "again", log[0].Description)
	status, err := m.ReceiptStatus(ctx, 1000, "twilio")
	require.NoError(t, err)
	require.Equal(t, "undelivered", status)
	status, err = m.ReceiptStatus(ctx, 1, "twilio")
	require.NoError(t, err)
	require.Empty(t, status)
}

func TestQueuesReportDepthAndAge(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	ctx := t.Context()
	n := pgnotifications.New(c.DB)
	for range 3 {
		_, err := n.Create(ctx, notification(c, "s"))
		require.NoError(t, err)
	}
	_, err := c.Pool().Exec(ctx, `update messages set created_at = created_at - interval '1 minute' where mode = 'slack' and request_id = 1;
		update messages set state = 'sending' where mode = 'email' and request_id = 2`)
	require.NoError(t, err)
	_, err = pg.NewPlans(c.DB).Create(ctx, c.Draft("p"))
	require.NoError(t, err)
	_, err = c.Pool().Exec(ctx, "insert into incidents (plan_id, application_id, due_at) select 1, id, clock_timestamp() - interval '1 s' from applications where name = 'other'")
	require.NoError(t, err)

	q := pgdelivery.NewQueues(c.DB)
	depths, err := q.Depths(ctx)
	require.NoError(t, err)
	require.Len(t, depths, 2)
	require.Equal(t, messages.QueueDepth{Mode: users.Email, Application: "demo", Class: messages.ClassOutOfBand,
		Waiting: 2, InFlight: 1,
		OldestAge: depths[0].OldestAge}, depths[0])
	require.EqualValues(t, 3, depths[1].Waiting)
	require.InDelta(t, 60, depths[1].OldestAge.Seconds(), 20)
	pending, err := q.Pending(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 5, pending[c.Demo])
	require.EqualValues(t, 1, pending[c.Demo+1])
}

func TestBareNotificationsAreMarked(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	bare := notification(c, "Re: 27 it burns")
	bare.Bare, bare.ShownTo = true, []string{"ann@example.com", "bob@example.com"}
	id, err := pgnotifications.New(c.DB).Create(t.Context(), bare)
	require.NoError(t, err)
	other, err := pgnotifications.New(c.DB).Create(t.Context(), notification(c, "it burns"))
	require.NoError(t, err)
	words, err := pgdelivery.NewLoader(c.DB).Requests(t.Context(), []int64{id, other})
	require.NoError(t, err)
	require.True(t, words[id].Bare)
	require.False(t, words[other].Bare)
	require.Equal(t, "ann@example.com, bob@example.com", words[id].ShownTo)
	require.Empty(t, words[other].ShownTo)
}

func TestMailboxes(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	_, err := c.Pool().Exec(t.Context(), `insert into incident_emails (email, application_id, plan_key)
		select e, $1, 'pager' from unnest(array['Page@Iris.example', 'second@iris.example', 'taken@example.com']) e`, c.Demo)
	require.NoError(t, err)
	_, err = c.Pool().Exec(t.Context(), `insert into user_contacts (user_id, mode, destination) values ($1, 'email', 'Taken@example.com')
		on conflict (user_id, mode) do update set destination = excluded.destination`, int64(c.Ann))
	require.NoError(t, err)
	s := pgincidents.NewResponses(c.DB)
	for _, q := range []struct {
		to    []string
		want  string
		opens bool
	}{
		{nil, "", false},
		{[]string{"ann@example.com"}, "", false},
		{[]string{"a\x00\xff", "page@iris.example"}, "Page@Iris.example", true},
		{[]string{"second@iris.example", "page@iris.example"}, "second@iris.example", true},
		{[]string{"taken@example.com"}, "taken@example.com", true}, // mailboxes take precedence over contacts
		{[]string{"taken@example.com", "second@iris.example"}, "taken@example.com", true},
	} {
		box, opens, err := s.Mailbox(t.Context(), q.to)
		require.NoError(t, err, q.to)
		require.Equal(t, q.opens, opens, q.to)
		require.Equal(t, q.want, box.Address, q.to)
		if opens {
			require.Equal(t, "demo", box.Application)
			require.Equal(t, "pager", box.Plan)
		}
	}
}
