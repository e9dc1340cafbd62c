package incidents_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

// BenchmarkStatistics computes the figures of an hour over 200,000 incidents of seven weeks and 500,000 past messages.
func BenchmarkStatistics(b *testing.B) {
	d := pgtest.New(b)
	for _, sql := range []string{
		`insert into users (name) values ('ann')`,
		`insert into applications (name) select 'app' || n from generate_series(1, 20) n`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
		`insert into incidents (plan_id, application_id, created_at, active, owner_id)
			select 1, 2 + n % 20, now() - n * interval '21 seconds', false, case when n % 2 = 0 then 1 end from generate_series(1, 200000) n`,
		`insert into timeline_entries (incident_id, at, kind, text)
			select id, created_at + interval '1 minute', k, 'x' from incidents, unnest(array['opened', 'step', 'acknowledged']) k`,
		`insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, purpose, target, class,
			mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
			select n, now() - n * interval '60 seconds', 1, 2 + n % 20, 0, 1, 0, 0, 'user:1', 'primary', 'ann', 1, 'email', 'sent', 1, false,
			now() - n * interval '60 seconds', 'ann@example.com', 'subject', repeat('x', 500), '', '', '[{"mode": "email", "attempt": 1}]'
			from generate_series(1, 500000) n`,
		`analyze`,
	} {
		_, err := d.Pool().Exec(b.Context(), "set statement_timeout = 0; "+sql)
		require.NoError(b, err)
	}
	s := incidents.NewStatistics(d)
	for b.Loop() {
		_, err := d.Pool().Exec(b.Context(), "delete from statistics_snapshots")
		require.NoError(b, err)
		_, err = s.Current(b.Context())
		require.NoError(b, err)
	}
}
