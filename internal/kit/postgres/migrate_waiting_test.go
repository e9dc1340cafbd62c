package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

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
