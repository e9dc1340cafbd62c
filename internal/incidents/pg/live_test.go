package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	domain "github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/pg"
)

func TestVersionsAndAlertCounts(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann'); insert into applications (name) values ('shop');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (id, plan_id, application_id, active) select n, 1, id, true from applications, generate_series(1, 3) n where name = 'shop';
		insert into incident_alerts (incident_id, fingerprint, status) values (1, 'a', 'firing'), (1, 'b', 'resolved');
		insert into messages (bucket, incident_id, application_id, step, recipient, target, class, mode, available_at)
			select 3, 3, id, 1, 'user:1', 'ann', 0, 'sms', '2029-01-01' from applications where name = 'shop';`)
	store := pg.New(d)
	got, err := store.AlertCounts(t.Context(), []domain.ID{1, 2, 3, 4})
	require.NoError(t, err)
	require.Equal(t, map[domain.ID]domain.AlertCount{1: {Alerts: 2, Firing: 1}}, got)

	before, err := store.Version(t.Context())
	require.NoError(t, err)
	of := func(id domain.ID) string {
		v, err := store.VersionOf(t.Context(), id)
		require.NoError(t, err)
		return v
	}
	first, third := of(1), of(3)
	exec("insert into timeline_entries (incident_id, kind, text) values (1, 'comment', 'x')")
	after, err := store.Version(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	require.NotEqual(t, first, of(1))
	require.Equal(t, third, of(3), "another incident")
	exec("update messages set available_at = now() where incident_id = 3")
	require.NotEqual(t, third, of(3))
}
