package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/migrations"
)

// Messages that a release before migration 0025 stored are found after the migration in every state, and after its rollback.
func TestMessagesMoveOverToTheWaitingIndex(t *testing.T) {
	t.Parallel()
	const before = 24
	url := pgtest.URL(t)
	cc, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	conn := stdlib.OpenDB(*cc)
	defer func() { require.NoError(t, conn.Close()) }()
	p, err := goose.NewProvider(goose.DialectPostgres, conn, migrations.Files)
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), before)
	require.NoError(t, err)
	exec := func(sql string) {
		t.Helper()
		_, err := conn.ExecContext(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into notification_requests (application_id) select id from applications where name = 'demo'`)
	// The second pending message has settled_at set. No release wrote such a row, but the migration must not lose it.
	exec(`insert into messages (id, bucket, request_id, application_id, recipient, user_id, target, class, mode, state, attempt, claim_by,
			claim_until, settled_at, held_at)
		select n, 7, r.id, r.application_id, 'user:' || n, 1, 'ann', 2, 'email', s, a, c, u, e, h
		from notification_requests r, (values
			(1, 'pending', 0, null, null::timestamptz, null::timestamptz, null::timestamptz), (2, 'pending', 1, null, null, now(), null),
			(3, 'taken', 0, 'dead', now() - interval '1 second', null, null), (4, 'taken', 0, 'dead', now() + interval '1 minute', null, null),
			(5, 'sending', 1, 'dead', now() - interval '1 second', null, null), (6, 'sending', 1, 'dead', now() + interval '1 minute', null, null),
			(7, 'sent', 1, null, null, now(), null), (8, 'delivered', 1, null, null, now(), null), (9, 'failed', 1, null, null, now(), null),
			(10, 'cancelled', 0, null, null, now(), null), (11, 'dropped', 0, null, null, now(), null),
			(12, 'aggregated', 0, null, null, now(), now())) v (n, s, a, c, u, e, h);
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id, finished_at)
		select id, attempt, 'email', 'smtp', 'x', 'dead', settled_at from messages where attempt > 0 and state <> 'pending'`)
	const states = `select string_agg(id || ' ' || state, ', ' order by id) from messages`
	var was, is string
	require.NoError(t, conn.QueryRowContext(t.Context(), states).Scan(&was))

	_, err = p.Up(t.Context())
	require.NoError(t, err)
	d := pgtest.Open(t, url, postgres.Config{})
	require.NoError(t, d.Pool().QueryRow(t.Context(), states).Scan(&is))
	require.Equal(t, was, is)
	q := pg.New(d)
	found, err := q.Waiting(t.Context(), []int{7}, time.Time{})
	require.NoError(t, err)
	require.Len(t, found.Waiting, 1)
	lost, err := q.Sending(t.Context(), "next", buckets.All().List())
	require.NoError(t, err)
	require.Len(t, lost, 1, "the other call may still be running")
	require.EqualValues(t, 5, lost[0].ID)
	count := func(sql string) (n int) {
		t.Helper()
		require.NoError(t, d.Pool().QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.Equal(t, 6, count(`select count(*) from messages where settled_at is null and state in ('pending', 'taken', 'sending')`))
	require.Equal(t, 1, count(`select count(*) from messages where held_at is not null and settled_at is not null and state = 'aggregated'`))
	_, err = d.Pool().Exec(t.Context(), `update messages set state = 'pending' where id = 7`)
	require.ErrorContains(t, err, "messages_unsettled", "nothing waits where nobody looks")

	_, err = p.DownTo(t.Context(), before)
	require.NoError(t, err)
	require.NoError(t, conn.QueryRowContext(t.Context(), states).Scan(&is))
	require.Equal(t, was, is)
	_, err = p.Up(t.Context())
	require.NoError(t, err)
}

// Taking and marking a message does not move it between indexes: both only write the row.
func TestTakingAndMarkingWriteTheRowOnly(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	_, err := d.Pool().Exec(ctx, `insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into notification_requests (application_id) select id from applications where name = 'demo';
		insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode)
		select n & 255, r.id, r.application_id, 'user:' || n, 1, 'ann', 2, 'email' from notification_requests r, generate_series(1, 600) n`)
	require.NoError(t, err)
	tx, err := d.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	_, err = tx.Exec(ctx, `update messages set state = 'taken', claim_by = 'me', takes = 1, claim_until = clock_timestamp()`)
	require.NoError(t, err)
	var updated, hot int
	require.NoError(t, tx.QueryRow(ctx, `select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'messages'`).Scan(&updated, &hot))
	require.Equal(t, 600, updated)
	require.Greater(t, hot, 560, "nearly all have room on their page")
}
