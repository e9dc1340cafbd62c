package pg_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/system/pg"
)

// fillPast adds incidents and three times as many past messages, evenly over the given time.
func fillPast(t testing.TB, d *postgres.DB, incidents, days int) {
	t.Helper()
	for _, sql := range []string{
		`insert into users (name) values ('ann')`,
		`insert into applications (name) select 'app' || n from generate_series(1, 20) n`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
		`select make_history_partition(now() - n * interval '1 month') from generate_series(0, DAYS / 30 + 1) n`,
		`insert into incidents (plan_id, application_id, created_at, active, owner_id)
			select 1, 2 + n % 20, now() - (COUNT - n) * interval 'DAYS days' / COUNT, false, case when n % 2 = 0 then 1 end from generate_series(1, COUNT) n`,
		`insert into timeline_entries (incident_id, at, kind, text)
			select id, created_at + interval '1 minute', k, 'x' from incidents, unnest(array['opened', 'step', 'acknowledged']) k`,
		`insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, purpose, target, class,
			mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
			select n, at, 1, 2 + n % 20, 0, 1, 0, 0, 'user:1', 'primary', 'ann', 1, 'email', 'sent', 1, false, at + interval '2 seconds',
			'ann@example.com', 'subject', repeat('x', 500), '', '', '[{"mode": "email", "attempt": 1}]'
			from (select n, now() - (3 * COUNT - n) * interval 'DAYS days' / (3 * COUNT) as at from generate_series(1, 3 * COUNT) n) x`,
		`vacuum analyze`,
	} {
		sql = strings.NewReplacer("COUNT", strconv.Itoa(incidents), "DAYS", strconv.Itoa(days)).Replace(sql)
		_, err := d.Pool().Exec(t.Context(), "set statement_timeout = 0")
		require.NoError(t, err)
		_, err = d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
}

// Counting an hour reads the incidents and messages of that hour, and messages that are stored next to them.
func TestCountingAnHourDoesNotReadOtherHours(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	fillPast(t, d, 20_000, 60)
	hour := time.Now().UTC().Truncate(time.Hour).Add(-20 * 24 * time.Hour)
	args := map[string]any{"after": hour.Add(-time.Hour), "until": hour, "part_seconds": 3600}
	require.LessOrEqual(t, pgtest.Scanned(t, d, "statistics.sql", "CountIncidents", args), 100, "of 20,000 incidents")
	require.LessOrEqual(t, pgtest.Scanned(t, d, "statistics.sql", "CountMessages", args), 5_000, "of 60,000 messages")
	require.LessOrEqual(t, pgtest.Scanned(t, d, "statistics.sql", "CallRetryWeeks", map[string]any{"hour": hour}), 10)
}

// BenchmarkStatistics has 200,000 incidents of 98 days and 600,000 past messages. First all hours are counted; then the
// figures of the hour are computed from what was counted.
func BenchmarkStatistics(b *testing.B) {
	d := pgtest.New(b)
	fillPast(b, d, 200_000, 98)
	s := pg.NewStatistics(d)
	for name, forget := range map[string]string{
		"first fill":  "delete from statistics_progress; delete from statistics_snapshots",
		"of the hour": "delete from statistics_snapshots",
	} {
		b.Run(name, func(b *testing.B) {
			require.NoError(b, s.Count(b.Context(), 0))
			for b.Loop() {
				_, err := d.Pool().Exec(b.Context(), forget)
				require.NoError(b, err)
				_, err = s.Current(b.Context())
				require.NoError(b, err)
			}
		})
	}
}
