package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	domain "github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/pg"
)

func TestOutlooks(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann'), ('omar'); insert into applications (name) values ('shop');
		insert into user_contacts (user_id, mode, destination) select id, 'call', '+1' from users where name = 'omar';
		insert into user_modes (user_id, priority, mode) select id, 'high', 'call' from users;
		insert into teams (name) values ('db');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, dynamic_index, template, wait_seconds, repeat)
			select 1, 1, 0, 'high', 'user', target_id, null::int, 't', 60, 1 from users where name = 'omar'
			union all select 1, 2, 0, 'high', 'user', target_id, null, 't', 60, 0 from users where name = 'ann'
			union all select 1, 2, 1, 'high', 'oncall-primary', target_id, null, 't', 60, 0 from teams where name = 'db'
			union all select 1, 3, 0, 'high', null, null, 0, 't', 60, 0;
		insert into incidents (id, plan_id, application_id, current_step, progress, due_at, active)
			select n, 1, (select id from applications where name = 'shop'), step, progress::jsonb, '2030-01-01', n < 6 from (values
				(1, 0, null), (2, 1, '{"n":[{"m":1}]}'), (3, 1, '{"n":[{"m":2}]}'), (4, 2, '{"n":[{"m":1},{"m":1}]}'), (5, 3, '{"n":[{"m":1}]}'), (6, 1, '{"n":[{"m":1}]}')) v (n, step, progress);
		insert into incident_alerts (incident_id, fingerprint, status) values (1, 'a', 'firing'), (1, 'b', 'resolved');
		insert into messages (bucket, incident_id, application_id, step, recipient, target, class, mode, available_at)
			select 3, 3, id, 1, 'user:2', 'omar', 0, 'sms', '2029-01-01' from applications where name = 'shop';`)
	due := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	omar, ann, db := domain.Target{Role: "user", Name: "omar"}, domain.Target{Role: "user",
		Name: "ann"}, domain.Target{Role: "oncall-primary", Name: "db"}
	store := pg.New(d)
	got, err := store.Outlooks(t.Context(), []domain.ID{1, 2, 3, 4, 5, 6, 7})
	require.NoError(t, err)
	for id, o := range got {
		o.DueAt, o.Waiting.At = o.DueAt.UTC(), o.Waiting.At.UTC()
		got[id] = o
	}
	require.Equal(t, map[domain.ID]domain.Outlook{
		1: {Alerts: 2, Firing: 1, DueAt: due, Step: 1, Next: []domain.Target{omar}, Mode: "call"},
		2: {DueAt: due, Step: 1, Again: true, Next: []domain.Target{omar}, Mode: "call"},
		3: {DueAt: due, Step: 2, Next: []domain.Target{ann, db},
			Waiting: domain.WaitingMessage{Recipient: "omar", Mode: "sms",
				At: time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)}},
		4: {DueAt: due, Step: 3},
		5: {DueAt: due},
		6: {},
	}, got)

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
