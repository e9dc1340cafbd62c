package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// newSettled returns a database with an application, a plan, and rows messages that settled an hour ago. Each has an
// incident, a text and an attempt. The incidents are active or over.
func newSettled(t testing.TB, rows int, active bool) *postgres.DB {
	t.Helper()
	d := pgtest.New(t)
	for _, sql := range []string{
		`insert into users (name) values ('ann')`,
		`insert into applications (name) values ('demo')`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
	} {
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	settle(t, d, rows, active)
	return d
}

func settle(t testing.TB, d *postgres.DB, rows int, active bool) {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(), `
		with i as (
			insert into incidents (plan_id, application_id, active) select 1, 2, $2 from generate_series(1, $1::int) returning id, bucket
		), m as (
			insert into messages (bucket, incident_id, application_id, plan_id, recipient, user_id, target, priority, class, mode, template, state, attempt, created_at, settled_at)
			select bucket, id, 2, 1, 'user:1', 1, 'ann', 'high', 0, 'email', 't', 'sent', 1, clock_timestamp() - interval '61 minutes', clock_timestamp() - interval '1 hour' from i
			returning id
		), c as (
			insert into message_contents (message_id, destination, subject, body, email_html)
			select id, 'ann@example.com', 'CRITICAL: the disk is full', repeat('The disk is full. ', 12), repeat('<p>The disk is full.</p>', 12) from m
		)
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id, finished_at, outcome, vendor_message_id, idempotency_key)
		select id, 1, 'email', 'smtp', 'ann@example.com', 'p', clock_timestamp(), 'sent', 'id-' || id, 'key-' || id from m`, rows, active)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
}

// Messages of active incidents are read once, not again and again.
func TestTheHistorianDoesNotRereadMessagesOfActiveIncidents(t *testing.T) {
	t.Parallel()
	d := newSettled(t, 5_000, true)
	h := pg.NewHistory(d)
	round, err := h.Move(t.Context(), time.Minute, 5_000)
	require.NoError(t, err)
	require.Zero(t, round.Moved)
	args := map[string]any{"age_us": time.Minute.Microseconds(), "most": 5_000, "revisits": 500}
	require.LessOrEqual(t, pgtest.Scanned(t, d, "history.sql", "MoveToHistory", args), 10)

	_, err = d.Pool().Exec(t.Context(), `update incidents set active = false where id in (select id from incidents order by id limit 3)`)
	require.NoError(t, err)
	require.LessOrEqual(t, pgtest.Scanned(t, d, "history.sql", "MoveToHistory", args), 200,
		"only the messages of three incidents are read")
	var left int
	require.NoError(t, d.Pool().QueryRow(t.Context(), `select count(*) from messages`).Scan(&left))
	require.Equal(t, 4_997, left)
}

// BenchmarkMoveToHistory moves b.N messages with their texts and attempts, 2,000 at a time as the historian does.
func BenchmarkMoveToHistory(b *testing.B) {
	d := newSettled(b, b.N, false)
	h := pg.NewHistory(d)
	require.NoError(b, h.Prepare(b.Context()))
	b.ResetTimer()
	for moved := 0; moved < b.N; {
		round, err := h.Move(b.Context(), time.Minute, 2_000)
		require.NoError(b, err)
		moved += round.Moved
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
