package delivery_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func (o *office) changes(message int64) string {
	return o.text(`select coalesce(string_agg(format('%s|%s|%s|%s', change_type, old, new, description), E'\n' order by id), '')
		from message_changes where message_id = $1`, message)
}

// A person whose carrier blocks texts gets the text of the operator. An e-mail is sent from the address of its
// application. A call to a country where calls are not permitted becomes a text with the notice that the law requires.
func TestTextsAndModesSetOutsideTheTemplate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.exec(`insert into user_template_overrides (user_id, mode) values ($1, 'sms')`, o.user)
	o.exec(`insert into application_sender_addresses (application_id, mode, address) values ($1, 'email', 'shop@example.com')`, o.app)
	h := o.own("me", 0, 256)
	phone := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS, users.Call}}
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	incident, text := o.incident(users.SMS, messages.ClassUrgent)
	_, letter := o.incident(users.Email, messages.ClassUrgent)
	_, tracking := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update messages set purpose = 'tracking' where id = $1`, tracking)
	wei := o.number(`insert into users (name) values ('wei') returning id`)
	o.exec(`insert into user_contacts (user_id, mode, destination) values ($1, 'call', '+86 138 0013 8000'), ($1, 'sms', '+86 138 0013 8000')`, wei)
	_, call := o.incident(users.Call, messages.ClassUrgent)
	o.exec(`update messages set user_id = $1, recipient = 'user:' || $1::bigint, target = 'wei' where id = $2`, wei,
		call)
	deps := o.deps(h, phone, mail)
	deps.Renderer = messages.NewRenderer(pg.NewLoader(o.db))
	w, _ := o.work(deps, delivery.Config{SMSOverride: "Iris incident %s, log in to see it",
		MainlandChinaNotice: "[Notice]"})
	w.Wake(buckets.All())
	o.eventually("all are sent", func() bool { return o.number(`select count(*) from messages where state = 'sent'`) == 4 })

	sent := map[messages.ID]messages.Outbound{}
	for _, c := range append(phone.all(), mail.all()...) {
		sent[c.m.MessageID] = c.m
	}
	require.Equal(t, fmt.Sprintf("Iris incident %d, log in to see it", incident), sent[messages.ID(text)].Body,
		"replaced, not prefixed")
	require.Equal(t, "content-change|||Replaced SMS body to avoid being blocked by carrier", o.changes(text))
	require.Equal(t, "shop@example.com", sent[messages.ID(letter)].Sender)
	require.Empty(t, sent[messages.ID(text)].Sender)
	require.Empty(t, sent[messages.ID(letter)].ReplyTo)
	require.NotEmpty(t, sent[messages.ID(tracking)].ReplyTo)
	require.Equal(t, sent[messages.ID(tracking)].Destination, sent[messages.ID(tracking)].ReplyTo,
		"a tracker's answers are its own")
	require.Equal(t, users.SMS, sent[messages.ID(call)].Mode)
	require.Equal(t, "+86 138 0013 8000", sent[messages.ID(call)].Destination)
	require.Regexp(t, `^\[Notice\] `, sent[messages.ID(call)].Body)
	require.Equal(t, "mode-change|call|sms|Changing mode due to calling restriction", o.changes(call))
	require.Contains(t, o.text(`select string_agg(t.text, ' ') from timeline_entries t join messages m on m.incident_id = t.incident_id where m.id = $1`, call),
		"Calls to +86 are not permitted; wei is notified by sms.")
}

// A premium number gets neither text nor call, whether it is a contact or a literal destination.
func TestPremiumNumbersAreNotCalled(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.exec(`delete from user_contacts where user_id = $1`, o.user)
	o.exec(`insert into user_contacts (user_id, mode, destination) values ($1, 'sms', '+1 900 555 0100'), ($1, 'email', 'ana@example.com')`, o.user)
	h := o.own("me", 0, 256)
	all := &post{name: "all", account: "main", modes: []users.Mode{users.SMS, users.Call, users.Email}}
	_, id := o.incident(users.SMS, messages.ClassUrgent)
	w, _ := o.work(o.deps(h, all), delivery.Config{RefusedNumbers: users.DefaultRefusedNumbers()})
	w.Wake(buckets.All())
	o.eventually("it is sent otherwise",
		func() bool { return o.text(`select state from messages where id = $1`, id) == "sent" })
	require.Equal(t, 1, all.count())
	require.Equal(t, users.Email, all.all()[0].m.Mode)
	require.Contains(t, o.text(`select string_agg(text, ' ') from timeline_entries`), "delivery.refused_numbers")
	require.NotContains(t, o.text(`select string_agg(text, ' ') from timeline_entries`), "900",
		"the timeline shows no number")
}

func TestCallsToMainlandChinaWhereTheyArePermitted(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.exec(`insert into user_contacts (user_id, mode, destination) values ($1, 'call', '+8613800138000')`, o.user)
	h := o.own("me", 0, 256)
	phone := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS, users.Call}}
	o.incident(users.Call, messages.ClassUrgent)
	w, _ := o.work(o.deps(h, phone), delivery.Config{CallMainlandChina: true})
	w.Wake(buckets.All())
	o.eventually("it is sent", func() bool { return phone.count() == 1 })
	require.Equal(t, users.Call, phone.all()[0].m.Mode)
}

// Every retry is in the audit log of the message, and not on the timeline.
func TestRetriesAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}, answer: func(n int, _ messages.Outbound) messages.Result {
		if n == 1 {
			return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "busy"}
		}
		return messages.Result{Outcome: messages.OutcomeSent}
	}}
	_, id := o.incident(users.Email, messages.ClassUrgent)
	w, _ := o.work(o.deps(h, mail), delivery.Config{})
	w.Wake(buckets.All())
	o.eventually("it is sent", func() bool { return o.text(`select state from messages where id = $1`, id) == "sent" })
	require.Regexp(t, `^sent-change\|\|pending\|Email to ana failed \(busy\)\. It is tried again in [0-9.]+ m?s\.$`,
		o.changes(id))
	require.Zero(t, o.number(`select count(*) from timeline_entries where kind = 'delivery'`))
}

// A digest has its own text. Its number acknowledges all incidents of the digest.
func TestADigestIsSent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	phone := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS}}
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	const batch = "0123456789abcdef0123456789abcdef"
	o.exec(`update messages set state = 'aggregated', held_at = clock_timestamp(), settled_at = clock_timestamp(), batch = $1`, batch)
	o.exec(`insert into batches (id, plan_id, application_id, user_id, pages) values ($1, $2, $3, $4, 12)`, batch,
		o.plan, o.app, o.user)
	o.exec(`insert into batch_incidents (batch, incident_id) values ($1, $2)`, batch, incident)
	o.exec(`insert into messages (bucket, application_id, plan_id, recipient, purpose, user_id, target, priority, class, mode, batch, batch_size)
		values (3, $1, $2, 'user:' || $3::bigint, 'digest', $3, 'ana', 'high', 0, 'sms', $4, 12)`, o.app, o.plan, o.user, batch)
	deps := o.deps(h, phone)
	deps.Renderer = messages.NewRenderer(pg.NewLoader(o.db))
	w, _ := o.work(deps, delivery.Config{})
	w.Wake(buckets.All())
	o.eventually("it is sent", func() bool { return phone.count() == 1 })
	digest := o.number(`select id from messages where purpose = 'digest'`)
	require.Equal(t, fmt.Sprintf("[shop] 12 messages from plan p. Batch ID: %s\nAcknowledge: https://iris.test/ack/x or reply \"%d ack\"", batch, digest), phone.all()[0].m.Body)
	require.Equal(t, "https://iris.test/ack/x", phone.all()[0].m.AckURL)
	require.Equal(t, batch, phone.all()[0].m.Batch, "so that calls and buttons can be answered")
	o.eventually("it is recorded", func() bool { return o.text(`select state from messages where purpose = 'digest'`) == "sent" })

	shown, err := pgincidents.New(o.db).Timeline(t.Context(), incidents.ID(incident))
	require.NoError(t, err)
	found := false
	for _, e := range shown {
		found = found || e.Text == "sms to ana by twilio (main): accepted by the vendor"
	}
	require.True(t, found, "the incident's timeline shows that its page left: %v", shown)
	list, err := pgincidents.NewMessages(o.db).ByIncident(t.Context(), incidents.ID(incident))
	require.NoError(t, err)
	require.False(t, list[0].SentAt.IsZero(), "and when")
}
