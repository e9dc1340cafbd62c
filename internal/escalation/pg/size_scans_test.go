package pg_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// newSized returns a database with rows sleeping incidents and a history of rows messages of other incidents.
func newSized(t testing.TB, rows int) *postgres.DB {
	t.Helper()
	return fillSized(t, pgtest.New(t), rows)
}

func fillSized(t testing.TB, d *postgres.DB, rows int) *postgres.DB {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(),
		strings.ReplaceAll(`set statement_timeout = 0; insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (plan_id, application_id, due_at) select 1, 2, clock_timestamp() + interval '1 day' from generate_series(1, ROWS);
		insert into message_history (id, created_at, bucket, incident_id, batch, application_id, reopen_count, step, position, repeat, recipient, purpose, user_id, target, class,
				mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
			select n, clock_timestamp() - n * interval '1 second', n & 255, case when n % 10 > 0 then n end, case when n % 10 = 0 then gen_random_uuid() end,
				2, 0, 1, 0, 0, 'user:1', 'page', 1, 'ann', 0, 'email', 'sent', 1, false, clock_timestamp(), 'x', '', '', '', '', '[]'
			from generate_series(1, ROWS) n`, "ROWS", strconv.Itoa(rows)))
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	return d
}

func TestTheIncidentPageDoesNotScanHistory(t *testing.T) {
	t.Parallel()
	d := newSized(t, 20_000)
	for _, query := range []string{"TimelineEntries", "TimelineAttempts", "TimelineHistory", "TimelineReceipts"} {
		require.LessOrEqual(t, pgtest.Scanned(t, d, "incidents.sql", query, map[string]any{"incident_id": 11}), 20,
			query)
	}
}

func TestTheLoadCountDoesNotReadSleepingIncidents(t *testing.T) {
	t.Parallel()
	d := newSized(t, 20_000)
	// The plan reads 256 rows of generate_series, one for each bucket, and no row of incidents.
	require.LessOrEqual(t, pgtest.Scanned(t, d, "queues.sql", "PendingByApplication", nil), 20)
}

func TestRetentionDoesNotReadRecentRows(t *testing.T) {
	t.Parallel()
	d := newSized(t, 20_000)
	_, err := d.Pool().Exec(t.Context(),
		`insert into notification_requests (application_id, created_at) select 2, clock_timestamp() from generate_series(1, 20000);
		insert into idempotency_keys (application_id, route, key, body_hash, status, created_at) select 2, 'r', n::text, '', 200, clock_timestamp() from generate_series(1, 20000) n;
		insert into message_changes (message_id, change_type) select n, 'mode-change' from generate_series(1, 20000) n;
		insert into receipts (vendor, vendor_message_id, status, outcome, message_id) select 'twilio', n::text, 'delivered', 'delivered', n from generate_series(1, 20000) n;
		insert into vendor_messages (vendor, vendor_message_id, message_id, attempt, created_at) select 'twilio', n::text, n, 1, clock_timestamp() from generate_series(1, 20000) n;
		insert into sliding_counts (key) select n::text from generate_series(1, 20000) n;
		insert into aggregations (plan_id, application_id, priority, user_id, bucket) select n, 2, 'high', 1, 0 from generate_series(1, 20000) n`)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	year := map[string]any{"retention_us": int64(366 * 86_400_000_000)}
	for query, args := range map[string]map[string]any{
		"ForgetNotificationRequests": year, "ForgetIdempotencyKeys": nil, "ForgetStrayReceipts": nil, "ForgetUnpartitioned": year, "ForgetMessageChanges": year,
		"ForgetReceipts": year, "ForgetVendorMessages": nil, "ForgetCounts": nil, "ForgetAggregations": nil, "ForgetBatches": year,
	} {
		require.LessOrEqual(t, pgtest.Scanned(t, d, "history.sql", query, args), 20, query)
	}

	_, err = d.Pool().Exec(t.Context(), `update message_changes set at = at - interval '2 years' where id <= 50; update receipts set at = at - interval '2 years' where id <= 50;
		update vendor_messages set created_at = created_at - interval '8 days' where message_id <= 50`)
	require.NoError(t, err)
	for query, args := range map[string]map[string]any{"ForgetMessageChanges": year, "ForgetReceipts": year, "ForgetVendorMessages": nil} {
		require.LessOrEqual(t, pgtest.Scanned(t, d, "history.sql", query, args), 3_100, "a batch of %s", query)
	}
	var left int
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		`select (select count(*) from message_changes) + (select count(*) from receipts) + (select count(*) from vendor_messages)`).Scan(&left))
	require.Equal(t, 3*19_950, left)
}

func TestAFailingRetentionStepDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(),
		`create table message_history_200001 (like message_history including defaults including constraints);
		alter table message_history attach partition message_history_200001 for values from ('2000-01-01 00:00+00') to ('2000-02-01 00:00+00');
		alter table receipts rename to receipts_away`) // the first step fails
	require.NoError(t, err)
	_, err = pgdelivery.NewHistory(d).Forget(t.Context(), 24*time.Hour)
	require.Error(t, err)
	var left bool
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		"select to_regclass('message_history_200001') is not null").Scan(&left))
	require.False(t, left, "the failed step does not stop the next ones")
}

func TestPausedIncidentsAreNotDueUntilTheyAreResumed(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("paused", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set paused = true where id = $1`, plan)
	first := e.Open(plan)
	e.Pass()
	e.Exec(`insert into incidents (plan_id, application_id, due_at, step_at, progress, created_at)
		select i.plan_id, i.application_id, i.due_at, i.step_at, i.progress, i.created_at from incidents i, generate_series(1, 5000) where i.id = $1`, first)
	e.Exec(`analyze incidents`)
	versions := func() int64 { return e.ID(`select sum(version)::bigint from incidents`) }
	before := versions()
	for range 3 { // the runner does not read or change them
		e.Later(10 * time.Second)
		e.Pass()
	}
	require.Equal(t, before, versions())
	require.LessOrEqual(t, pgtest.Scanned(t, e.DB, "runner.sql", "WakeResumed",
		map[string]any{"now": e.Now, "most": 5000}), 10)

	e.Exec(`update plans set paused = false where id = $1`, plan)
	n, err := pgescalation.NewRunner(e.DB).Resume(t.Context(), e.Now)
	require.NoError(t, err)
	require.Equal(t, 5000, n)
	n, err = pgescalation.NewRunner(e.DB).Resume(t.Context(), e.Now)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, int64(5001), e.ID(`select count(*) from incidents where due_at <= $1`, e.Now))
}

// BenchmarkAtSize measures what pages and POSTs read while the database holds 500,000 sleeping incidents and 500,000
// past messages.
func BenchmarkAtSize(b *testing.B) {
	d := newSized(b, 500_000)
	incidents, queues, runner := pg.New(d), pgdelivery.NewQueues(d), pgescalation.NewRunner(d)
	for name, read := range map[string]func() error{
		"timeline":    func() error { _, err := incidents.Timeline(b.Context(), 11); return err },
		"load count":  func() error { _, err := queues.Pending(b.Context()); return err },
		"resume":      func() error { _, err := runner.Resume(b.Context(), time.Time{}); return err },
		"oldest due":  func() error { _, err := runner.OldestDue(b.Context()); return err },
		"queue depth": func() error { _, err := queues.Depths(b.Context()); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, read())
			}
		})
	}
}
