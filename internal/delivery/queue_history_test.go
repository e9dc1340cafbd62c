package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestSettledMessagesMoveToHistory(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	active, _ := o.incident(users.Email, messages.ClassUrgent)
	over, _ := o.incident(users.Email, messages.ClassUrgent)
	cs := o.take(h, o.lane(users.Email, messages.ClassUrgent), 2)
	o.mark(h, cs...)
	for _, c := range cs {
		o.record(outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent}))
	}
	o.flood(2, users.Email)
	oob := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 1)[0]
	o.mark(h, oob)
	o.record(outcome(oob, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent}))
	o.exec(`update incidents set active = false where id = $1`, over)
	o.exec(`update messages set settled_at = settled_at - interval '1 hour' where settled_at is not null`)

	archive := pg.NewHistory(o.db)
	require.NoError(t, archive.Prepare(t.Context()))
	require.NoError(t, archive.Prepare(t.Context()), "a second call changes nothing")
	round, err := archive.Move(t.Context(), time.Minute, 3)
	require.NoError(t, err)
	require.Equal(t, 2, round.Moved)
	require.True(t, round.More, "as many as allowed were read")
	round, err = archive.Move(t.Context(), time.Minute, 3)
	require.NoError(t, err)
	require.Zero(t, round.Moved)
	require.False(t, round.More)

	require.Equal(t, int64(2), o.number(`select count(*) from messages`),
		"one of an active incident, one that was not sent")
	require.Equal(t, active, o.number(`select incident_id from messages where incident_id is not null`))
	require.Equal(t, "sent b email:ana 1 sent", o.text(`select state || ' ' || body || ' ' || destination || ' ' ||
		jsonb_array_length(attempts) || ' ' || (attempts -> 0 ->> 'outcome') from message_history where incident_id = $1`, over))
	require.Equal(t, int64(1), o.number(`select count(*) from attempts`))
	require.Equal(t, int64(1), o.number(`select count(*) from message_contents`))
	require.Equal(t, int64(0), o.number(`select count(*) from message_history_default`), "the partition existed")
}

// The historian passes messages of an active incident and reads them again when the incident ends.
func TestMessagesMoveAfterTheirIncidentHasEnded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update messages set state = 'sent', settled_at = clock_timestamp() - interval '1 hour'`)
	archive := pg.NewHistory(o.db)
	move := func() (moved int) {
		round, err := archive.Move(t.Context(), time.Minute, 100)
		require.NoError(t, err)
		return round.Moved
	}
	require.Zero(t, move(), "the incident is active")
	o.exec(`update messages set needs_fallback = true`)
	o.exec(`update incidents set active = false where id = $1`, incident)
	require.Zero(t, move(), "its fallback was not made yet")
	o.exec(`update messages set needs_fallback = false`)
	require.Zero(t, move(), "it is read again after the age")
	o.exec(`update history_revisits set due_at = due_at - interval '1 minute'`)
	require.Equal(t, 1, move())
	require.Equal(t, int64(0), o.number(`select count(*) from messages`))
	require.Equal(t, int64(0), o.number(`select count(*) from history_revisits`))
}

func TestHistoryDeletesOldRows(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.exec(`insert into receipts (vendor, vendor_message_id, status, outcome, at) values
		('twilio', 'a', 'delivered', 'sent', clock_timestamp() - interval '20 minutes'), ('twilio', 'b', 'delivered', 'sent', clock_timestamp())`)
	o.exec(`insert into idempotency_keys (application_id, route, key, body_hash, status, created_at) values
		($1, 'r', 'old', '', 201, clock_timestamp() - interval '25 hours'), ($1, 'r', 'new', '', 201, clock_timestamp())`, o.app)
	o.exec(`insert into notification_requests (application_id, created_at) values ($1, clock_timestamp() - interval '3 years')`, o.app)
	o.exec(`insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, purpose,
			target, class, mode, state, attempt, mode_changed, destination, subject, body, email_html, render_error, attempts)
		select 1, t, 0, $1, 0, 0, 0, 0, 'r', 'primary', 't', 2, 'email', 'sent', 1, false, '', '', '', '', '', '[]'
		from unnest(array[clock_timestamp() - interval '3 years', clock_timestamp()]) t`, o.app)
	o.exec(`select make_history_partition(clock_timestamp() - interval '3 years')`)
	archive := pg.NewHistory(o.db)
	require.NoError(t, archive.Prepare(t.Context()))
	require.Equal(t, int64(0), o.number(`select count(*) from message_history_default`),
		"the rows of the default partition moved")
	more, err := archive.Forget(t.Context(), 400*24*time.Hour)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, "b", o.text(`select string_agg(vendor_message_id, ',') from receipts`))
	require.Equal(t, "new", o.text(`select string_agg(key, ',') from idempotency_keys`))
	require.Equal(t, int64(0), o.number(`select count(*) from notification_requests`))
	require.Equal(t, int64(1), o.number(`select count(*) from message_history`))
}
