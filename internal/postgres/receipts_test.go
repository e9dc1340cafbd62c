package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
)

// leave records that every waiting message of an incident left for Twilio, under the number SM<message id>.
func sendMessage(e *escalating, incident int64) (message int64) {
	e.t.Helper()
	e.exec(`update messages set attempt = attempt + 1, mode_attempt = mode_attempt + 1 where incident_id = $1 and state = 'pending'`, incident)
	e.exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id)
		select id, attempt, mode, 'twilio', 'x', 'me', 'sent', 'SM' || id || '-' || attempt from messages where incident_id = $1 and state = 'pending'`, incident)
	e.settle(incident, "sent")
	return e.id(`select max(id) from messages where incident_id = $1`, incident)
}

func stateOf(e *escalating, message int64) string {
	e.t.Helper()
	var s string
	require.NoError(e.t, e.db.Pool().QueryRow(e.ctx(), `select format('%s %s refused %s', state, mode, refused_modes) from messages where id = $1`, message).Scan(&s))
	return s
}

func undelivered(number string, outcome messages.Outcome) messages.Receipt {
	return messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "undelivered", Outcome: outcome, Detail: "30003"}
}

func TestReceiptsMoveMessagesOn(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	s := postgres.NewReceipts(e.db)
	plan := e.plan("text", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour, repeat: 1},
		intent{step: 2, role: "user", target: "bo", priority: "high", wait: time.Hour})
	begun := func() (incident, message int64, number string) {
		incident = e.open(plan)
		e.pass()
		message = sendMessage(e, incident)
		return incident, message, "SM" + fmt.Sprint(message) + "-1"
	}
	apply := func(r messages.Receipt) {
		known, err := s.Apply(t.Context(), r)
		require.NoError(t, err)
		require.True(t, known)
	}

	t.Run("delivered, and delivered again", func(t *testing.T) {
		_, m, number := begun()
		for range 2 {
			apply(messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "delivered", Outcome: messages.OutcomeSent, Delivered: true})
		}
		require.Equal(t, "delivered sms refused {}", stateOf(e, m))
	})
	t.Run("rejected goes another way at once", func(t *testing.T) {
		id, m, number := begun()
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
		require.Contains(t, e.timeline(id)[1], "The sms to ana was not delivered (undelivered 30003). It is tried another way.")
	})
	t.Run("nobody answered: again in a moment, but not for ever", func(t *testing.T) {
		id, m, number := begun()
		apply(undelivered(number, messages.OutcomeUnavailable))
		require.Equal(t, "pending sms refused {}", stateOf(e, m))
		require.Equal(t, int64(1), e.id(`select count(*) from messages where id = $1 and available_at > clock_timestamp() + interval '10 seconds'`, m))
		sendMessage(e, id)
		apply(undelivered("SM"+fmt.Sprint(m)+"-2", messages.OutcomeUnavailable))
		sendMessage(e, id)
		apply(undelivered("SM"+fmt.Sprint(m)+"-3", messages.OutcomeUnavailable))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	})
	t.Run("an older attempt's changes nothing", func(t *testing.T) {
		id, m, number := begun()
		apply(undelivered(number, messages.OutcomeUnavailable))
		sendMessage(e, id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "sent sms refused {}", stateOf(e, m))
	})
	t.Run("after an acknowledgement nobody is told any more", func(t *testing.T) {
		id, m, number := begun()
		e.acknowledge(id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
		require.NotContains(t, e.timeline(id)[1], "tried")
	})
	t.Run("an acknowledgement that was taken back does not hide it", func(t *testing.T) {
		id, m, number := begun()
		e.acknowledge(id)
		e.reopen(id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	})
	t.Run("a later repeat is on its way anyhow", func(t *testing.T) {
		id, m, number := begun()
		e.later(time.Hour)
		e.pass()
		require.Len(t, e.pages(id), 2)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
	})
	t.Run("after the next step began, that step goes on", func(t *testing.T) {
		id, m, number := begun()
		e.exec(`update incidents set current_step = 2 where id = $1`, id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
	})
	t.Run("an exhausted plan does not hide that the last page never arrived", func(t *testing.T) {
		id, m, number := begun()
		e.exec(`update incidents set active = false, due_at = null where id = $1`, id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	})
}

func TestReceiptsThatComeTooEarlyWait(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	s := postgres.NewReceipts(e.db)
	known, err := s.Apply(t.Context(), undelivered("SM-1", messages.OutcomeRejected))
	require.NoError(t, err)
	require.False(t, known, "nothing of that name yet")
	n, err := s.Match(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)

	id := e.open(e.plan("text", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	m := sendMessage(e, id)
	e.exec(`update receipts set at = $1`, e.now.Add(-time.Minute))
	e.exec(`update attempts set vendor_message_id = 'SM-1' where message_id = $1`, m)
	n, err = s.Match(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	require.Equal(t, int64(1), e.id(`select count(*) from receipts where message_id = $1 and at = $2`, m, e.now.Add(-time.Minute)), "when it came is kept")
	n, err = s.Match(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
}

// A vendor tells only once: a receipt that meets a locked incident must not be lost, nor hold up others.
func TestAReceiptThatCannotBeAppliedNowIsKept(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	s := postgres.NewReceipts(e.db)
	plan := e.plan("text", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	busy, free := e.open(plan), e.open(plan)
	e.pass()
	bm, fm := sendMessage(e, busy), sendMessage(e, free)
	err := pgx.BeginFunc(t.Context(), e.db.Pool(), func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `select id from incidents where id = $1 for update`, busy)
		require.NoError(t, err)
		known, err := s.Apply(t.Context(), undelivered("SM"+fmt.Sprint(bm)+"-1", messages.OutcomeRejected))
		require.NoError(t, err)
		require.True(t, known)
		e.exec(`insert into receipts (vendor, vendor_message_id, status, outcome) values ('twilio', $1, 'undelivered', 'rejected')`, "SM"+fmt.Sprint(fm)+"-1")
		n, err := s.Match(t.Context())
		require.Error(t, err)
		require.Equal(t, 1, n, "the other one is applied")
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "pending sms refused {sms}", stateOf(e, fm))
	require.Equal(t, "sent sms refused {}", stateOf(e, bm))
	n, err := s.Match(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "pending sms refused {sms}", stateOf(e, bm))
}

// Twilio's word may come hours after the message has gone to history.
func TestReceiptsFindMessagesInHistory(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	s, shown := postgres.NewReceipts(e.db), postgres.NewMessages(e.db)
	plan := e.plan("text", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	past := func() (incident, message int64, number string) {
		incident = e.open(plan)
		e.pass()
		message = sendMessage(e, incident)
		e.acknowledge(incident)
		e.exec(`update messages set settled_at = clock_timestamp() - interval '1 hour' where id = $1`, message)
		moved, _, err := postgres.NewHistory(e.db).Move(t.Context(), delivery.Cursor{}, 10*time.Minute, 100)
		require.NoError(t, err)
		require.Equal(t, 1, moved)
		return incident, message, "SM" + fmt.Sprint(message) + "-1"
	}
	apply := func(r messages.Receipt) {
		t.Helper()
		known, err := s.Apply(t.Context(), r)
		require.NoError(t, err)
		require.True(t, known)
	}
	state := func(message int64) messages.State {
		t.Helper()
		m, err := shown.Get(t.Context(), messages.ID(message))
		require.NoError(t, err)
		return m.State
	}
	delivered := func(number string) messages.Receipt {
		return messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "delivered", Outcome: messages.OutcomeSent, Delivered: true}
	}

	_, m, number := past()
	apply(messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "sent", Outcome: messages.OutcomeSent})
	require.Equal(t, messages.Sent, state(m), "still on its way")
	for range 2 {
		apply(delivered(number))
	}
	require.Equal(t, messages.Delivered, state(m))
	status, err := shown.ReceiptStatus(t.Context(), messages.ID(m), "twilio")
	require.NoError(t, err)
	require.Equal(t, "delivered", status, "shown as the vendor said it")

	id, m, number := past()
	for range 2 {
		apply(undelivered(number, messages.OutcomeRejected))
	}
	require.Equal(t, messages.Failed, state(m), "and not sent again")
	told := e.timeline(id)
	require.Contains(t, told[len(told)-1], "The sms to ana was not delivered after all (undelivered 30003).")
	require.Equal(t, int64(1), e.id(`select count(*) from message_changes where message_id = $1 and new = 'failed'`, m), "told once")
	apply(delivered(number))
	require.Equal(t, messages.Failed, state(m), "the worse word stays")

	known, err := s.Apply(t.Context(), delivered("SM-nobody"))
	require.NoError(t, err)
	require.False(t, known)
	e.exec(`update vendor_messages set created_at = clock_timestamp() - interval '8 days'`)
	_, err = postgres.NewHistory(e.db).Forget(t.Context(), 365*24*time.Hour)
	require.NoError(t, err)
	require.Zero(t, e.id(`select count(*) from vendor_messages`))
}

// A vendor may report a delivery before its answer to the call was stored.
func TestAcceptedIsBeforeDeliveredOnTheTimeline(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("text", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	id := e.open(plan)
	e.pass()
	m := sendMessage(e, id)
	known, err := postgres.NewReceipts(e.db).Apply(t.Context(), messages.Receipt{
		Vendor: "twilio", VendorMessageID: fmt.Sprintf("SM%d-1", m), Status: "delivered", Outcome: messages.OutcomeSent, Delivered: true,
	})
	require.NoError(t, err)
	require.True(t, known)
	e.exec(`update attempts set started_at = r.at - interval '1 second', finished_at = r.at + interval '1 second' from receipts r where attempts.message_id = $1 and r.message_id = $1`, m)
	entries, err := postgres.NewIncidents(e.db).Timeline(t.Context(), incidents.ID(id))
	require.NoError(t, err)
	last := entries[len(entries)-2:]
	require.Contains(t, last[0].Text, "accepted by the vendor")
	require.Contains(t, last[1].Text, "twilio says delivered")
	require.False(t, last[1].At.Before(last[0].At))
}
