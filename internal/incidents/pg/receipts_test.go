package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
)

// sendMessage records that every pending message of an incident was sent by Twilio, with the vendor's id SM<message
// id>.
func sendMessage(e *pgtest.Escalating, incident int64) (message int64) {
	e.T.Helper()
	e.Exec(`update messages set attempt = attempt + 1, mode_attempt = mode_attempt + 1 where incident_id = $1 and state = 'pending'`, incident)
	e.Exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, outcome, vendor_message_id)
		select id, attempt, mode, 'twilio', 'x', 'me', 'sent', 'SM' || id || '-' || attempt from messages where incident_id = $1 and state = 'pending'`, incident)
	e.Settle(incident, "sent")
	return e.ID(`select max(id) from messages where incident_id = $1`, incident)
}

func stateOf(e *pgtest.Escalating, message int64) string {
	e.T.Helper()
	var s string
	require.NoError(e.T, e.DB.Pool().QueryRow(e.Ctx(),
		`select format('%s %s refused %s', state, mode, refused_modes) from messages where id = $1`, message).Scan(&s))
	return s
}

func undelivered(number string, outcome messages.Outcome) messages.Receipt {
	return messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "undelivered", Outcome: outcome,
		Detail: "30003"}
}

func TestReceiptsChangeTheStateOfMessages(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s := pgincidents.NewReceipts(e.DB)
	plan := e.Plan("text", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour,
		Repeat: 1},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Hour})
	begun := func() (incident, message int64, number string) {
		incident = e.Open(plan)
		e.Pass()
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
			apply(messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "delivered",
				Outcome: messages.OutcomeSent, Delivered: true})
		}
		require.Equal(t, "delivered sms refused {}", stateOf(e, m))
	})
	t.Run("rejected goes another way at once", func(t *testing.T) {
		id, m, number := begun()
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
		require.Contains(t, e.Timeline(id)[1],
			"The sms to ana was not delivered (undelivered 30003). It is tried another way.")
	})
	t.Run("nobody answered: again in a moment, but not for ever", func(t *testing.T) {
		id, m, number := begun()
		apply(undelivered(number, messages.OutcomeUnavailable))
		require.Equal(t, "pending sms refused {}", stateOf(e, m))
		require.Equal(t, int64(1), e.ID(`select count(*) from messages where id = $1 and available_at > clock_timestamp() + interval '10 seconds'`, m))
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
		e.Acknowledge(id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
		require.NotContains(t, e.Timeline(id)[1], "tried")
	})
	t.Run("an acknowledgement that was taken back does not hide it", func(t *testing.T) {
		id, m, number := begun()
		e.Acknowledge(id)
		e.Reopen(id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	})
	t.Run("a later repeat is on its way anyhow", func(t *testing.T) {
		id, m, number := begun()
		e.Later(time.Hour)
		e.Pass()
		require.Len(t, e.Pages(id), 2)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
	})
	t.Run("after the next step began, that step goes on", func(t *testing.T) {
		id, m, number := begun()
		e.Exec(`update incidents set current_step = 2 where id = $1`, id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "failed sms refused {}", stateOf(e, m))
	})
	t.Run("an exhausted plan does not hide that the last page never arrived", func(t *testing.T) {
		id, m, number := begun()
		e.Exec(`update incidents set active = false, due_at = null, exhausted_at = clock_timestamp() where id = $1`, id)
		apply(undelivered(number, messages.OutcomeRejected))
		require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	})
}

func TestEarlyReceiptsAreKeptUntilTheirMessageIsSent(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s := pgincidents.NewReceipts(e.DB)
	known, err := s.Apply(t.Context(), undelivered("SM-1", messages.OutcomeRejected))
	require.NoError(t, err)
	require.False(t, known, "nothing of that name yet")
	n, err := s.Match(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)

	id := e.Open(e.Plan("text", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour}))
	e.Pass()
	m := sendMessage(e, id)
	e.Exec(`update receipts set at = $1`, e.Now.Add(-time.Minute))
	e.Exec(`update attempts set vendor_message_id = 'SM-1' where message_id = $1`, m)
	n, err = s.Match(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "pending sms refused {sms}", stateOf(e, m))
	require.Equal(t, int64(1), e.ID(`select count(*) from receipts where message_id = $1 and at = $2`, m,
		e.Now.Add(-time.Minute)), "when it came is kept")
	n, err = s.Match(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
}

// A vendor sends a receipt only once. A receipt for a locked incident must not be lost, and must not delay other
// receipts.
func TestAReceiptThatCannotBeAppliedNowIsKept(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s := pgincidents.NewReceipts(e.DB)
	plan := e.Plan("text", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	busy, free := e.Open(plan), e.Open(plan)
	e.Pass()
	bm, fm := sendMessage(e, busy), sendMessage(e, free)
	err := pgx.BeginFunc(t.Context(), e.DB.Pool(), func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `select id from incidents where id = $1 for update`, busy)
		require.NoError(t, err)
		known, err := s.Apply(t.Context(), undelivered("SM"+fmt.Sprint(bm)+"-1", messages.OutcomeRejected))
		require.NoError(t, err)
		require.True(t, known)
		e.Exec(`insert into receipts (vendor, vendor_message_id, status, outcome) values ('twilio', $1, 'undelivered', 'rejected')`, "SM"+fmt.Sprint(fm)+"-1")
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

// Twilio may send a receipt hours after the message was moved to history.
func TestReceiptsFindMessagesInHistory(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s, shown := pgincidents.NewReceipts(e.DB), pgincidents.NewMessages(e.DB)
	plan := e.Plan("text", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	past := func() (incident, message int64, number string) {
		incident = e.Open(plan)
		e.Pass()
		message = sendMessage(e, incident)
		e.Acknowledge(incident)
		e.Exec(`update messages set settled_at = clock_timestamp() - interval '1 hour' where id = $1`, message)
		round, err := pg.NewHistory(e.DB).Move(t.Context(), 10*time.Minute, 100)
		require.NoError(t, err)
		require.Equal(t, 1, round.Moved)
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
		return messages.Receipt{Vendor: "twilio", VendorMessageID: number, Status: "delivered",
			Outcome: messages.OutcomeSent, Delivered: true}
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
	told := e.Timeline(id)
	require.Contains(t, told[len(told)-1], "The sms to ana was not delivered after all (undelivered 30003).")
	require.Equal(t, int64(1), e.ID(`select count(*) from message_changes where message_id = $1 and new = 'failed'`,
		m), "told once")
	apply(delivered(number))
	require.Equal(t, messages.Failed, state(m), "the worse word stays")

	known, err := s.Apply(t.Context(), delivered("SM-nobody"))
	require.NoError(t, err)
	require.False(t, known)
	e.Exec(`update vendor_messages set created_at = clock_timestamp() - interval '8 days'`)
	_, err = pg.NewHistory(e.DB).Forget(t.Context(), 365*24*time.Hour)
	require.NoError(t, err)
	require.Zero(t, e.ID(`select count(*) from vendor_messages`))
}

// A vendor may report a delivery before its answer to the call was stored.
func TestAcceptedIsBeforeDeliveredOnTheTimeline(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("text", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	id := e.Open(plan)
	e.Pass()
	m := sendMessage(e, id)
	known, err := pgincidents.NewReceipts(e.DB).Apply(t.Context(), messages.Receipt{
		Vendor: "twilio", VendorMessageID: fmt.Sprintf("SM%d-1",
			m), Status: "delivered", Outcome: messages.OutcomeSent, Delivered: true,
	})
	require.NoError(t, err)
	require.True(t, known)
	e.Exec(`update attempts set started_at = r.at - interval '1 second', finished_at = r.at + interval '1 second' from receipts r where attempts.message_id = $1 and r.message_id = $1`, m)
	entries, err := pgincidents.New(e.DB).Timeline(t.Context(), incidents.ID(id))
	require.NoError(t, err)
	last := entries[len(entries)-2:]
	require.Contains(t, last[0].Text, "accepted by the vendor")
	require.Contains(t, last[1].Text, "twilio says delivered")
	require.False(t, last[1].At.Before(last[0].At))
}
