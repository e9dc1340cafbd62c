package pg_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// Statements between a request and its incident, and those that run every second, read only the rows that they return.
func TestTheHotPathScansFewRows(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(),
		`insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (plan_id, application_id, created_at, active) select 1, 2, clock_timestamp() - n * interval '1 minute', false
			from generate_series(0, 20000) n;
		insert into aggregations (plan_id, application_id, priority, user_id, bucket, release_at)
			select n, 2, 'high', 1, 0, clock_timestamp() + (n - 3) * interval '1 hour' from generate_series(1, 5000) n`)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze incidents, aggregations")
	require.NoError(t, err)
	require.LessOrEqual(t, pgtest.Scanned(t, d, "rates.sql", "RecentIncidentsOf", map[string]any{
		"application_id": 2, "plan_id": 1, "lookback_us": 300_000_000, "most": 1001, "opener": ""}), 20)
	require.LessOrEqual(t, pgtest.Scanned(t, d, "rates.sql", "ActiveIncidentsOf",
		map[string]any{"application_id": 2, "plan_id": 1, "most": 1001, "opener": ""}), 20)
	require.LessOrEqual(t, pgtest.Scanned(t, d, "floods.sql", "DueAggregations",
		map[string]any{"buckets": []int{0, 1, 2}, "now": nil}), 20)
}

// One statement records the outcomes of many messages. The rows that it reads grow linearly with the number of
// messages.
func TestRecordingOutcomesScansLinearly(t *testing.T) {
	t.Parallel()
	const n = 200
	d := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (id, plan_id, application_id, due_at) select n, 1, 2, clock_timestamp() + interval '1 hour' from generate_series(1, 200) n;
		insert into messages (id, bucket, incident_id, application_id, recipient, user_id, target, class, mode, state, attempt, claim_by)
			select n, n & 255, n, 2, 'user:1', 1, 'ann', 0, 'email', 'sending', 1, 'me' from generate_series(1, 200) n;
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id) select n, 1, 'email', 'smtp', 'x', 'me' from generate_series(1, 200) n`)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	texts, no := slices.Repeat([]string{""}, n), slices.Repeat([]bool{false}, n)
	looked := pgtest.Scanned(t, d, "queue.sql", "RecordOutcomes", map[string]any{
		"hold_ids": ids, "ids": ids, "attempts": slices.Repeat([]int{1},
			n), "outcomes": slices.Repeat([]string{"sent"}, n), "details": texts,
		"vendor_ids": texts, "states": slices.Repeat([]string{"sent"}, n), "retry_us": slices.Repeat([]int64{0},
			n), "modes": texts,
		"tried": texts, "refused": texts, "same_key": no, "ask_fallback": no, "for_good": no, "unstarted": no, "why": texts, "audits": texts, "processes": texts,
	})
	require.Less(t, looked, 30*n)
	var sent, finished, moved int
	require.NoError(t, d.Pool().QueryRow(t.Context(), `select (select count(*) from messages where state = 'sent'),
		(select count(*) from attempts where outcome = 'sent' and not late), (select count(*) from incidents where due_at < clock_timestamp())`,
	).Scan(&sent, &finished, &moved))
	require.Equal(t, []int{n, n, n}, []int{sent, finished, moved})
}

// The statistics of the table change from minute to minute. When they say that no message waits, a take still reads
// only the buckets of its lanes.
func TestTakingReadsOnlyItsBuckets(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{KeyedPlans: true}) // as the processors do
	for _, sql := range []string{
		`insert into users (name) values ('ann'); insert into applications (name) values ('demo');
			insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, settled_at)
				select n & 255, n, 2, 'user:1', 1, 'ann', 0, 'email', 'sent', clock_timestamp() from generate_series(1, 20000) n`,
		`analyze messages`,
		`insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state)
			select n & 255, n, 2, 'user:1', 1, 'ann', 0, 'email', 'pending' from generate_series(20001, 25000) n`,
		`update bucket_leases set owner = 'me', epoch = 1 where bucket < 8`,
	} {
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	epochs := slices.Repeat([]int64{1}, 256)
	read := pgtest.Scanned(t, d, "queue.sql", "TakeMessages", map[string]any{
		"lease_buckets": []int{0, 1, 2, 3, 4, 5, 6,
			7}, "stand_in_buckets": []int{}, "process_id": "me", "epochs": epochs, "lane_modes": []string{"email"},
		"lane_classes":      []int{0},
		"lane_applications": []int64{2}, "lane_most": []int{16}, "lane_each": []int{4}, "lane_from": []int{1}, "lane_to": []int{8},
		"lane_waited_us": []int64{0}, "lane_older_us": []int64{0}, "lane_first_us": []int64{0}, "lane_buckets": []int{0, 1, 2, 3, 4, 5, 6, 7},
		"low": time.Now().Add(-time.Hour), "claim_us": int64(1_000_000),
	})
	require.Less(t, read, 1000, "of 5,000 messages that wait")
	var taken int
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		`select count(*) from messages where state = 'taken' and claim_by = 'me'`).Scan(&taken))
	require.Equal(t, 16, taken)
}
