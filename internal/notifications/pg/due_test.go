package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// dueReminders is the definition of reminders_due without indexes: every setting with every shift ahead.
const dueReminders = `
	select n.type, n.mode, s.feed_id, e.edge - make_interval(secs => n.time_before) as due_at
	from notice_settings n
	join teams t on t.id = n.team_id and t.active
	join users u on u.id = n.user_id and u.active
	join shifts s on s.user_id = n.user_id and s.team_id = n.team_id
	join notice_setting_roles nr on nr.setting_id = n.id and nr.role_id = s.role_id
	cross join lateral (select case n.type when 'oncall_reminder' then s.starts_at else s.ends_at end as edge) e
	where n.time_before is not null and e.edge - make_interval(secs => n.time_before) <= now()
		and greatest(n.changed_at, s.changed_at) <= e.edge - make_interval(secs => n.time_before)
		and e.edge > now() - case when n.time_before < 300 then interval '5 minutes' else interval '0' end`

// A team's reminders are found without reading the shifts that begin after the longest reminder.
func TestDueRemindersReadFewShifts(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(), `
		insert into users (name) select 'p' || n from generate_series(1, 50) n;
		insert into teams (name) select 't' || n from generate_series(1, 50) n;
		insert into notice_settings (user_id, team_id, mode, type, time_before)
			select n, n, 'email', k.type, k.seconds from generate_series(1, 50) n,
				(values ('oncall_reminder', 86400), ('oncall_reminder', 120), ('offcall_reminder', 3600)) k (type, seconds);
		insert into notice_setting_roles (setting_id, role_id) select s.id, r.id from notice_settings s, oncall_roles r where r.name = 'primary';
		insert into shifts (team_id, user_id, role_id, starts_at, ends_at)
			select n, n, r.id, now() + make_interval(mins => 7 * n + 720 * k), now() + make_interval(mins => 7 * n + 720 * k + 600)
			from generate_series(1, 50) n, generate_series(-3, 400) k, oncall_roles r where r.name = 'primary';
		alter table notice_settings disable trigger user;
		update notice_settings set changed_at = now() - interval '9 days';
		alter table shifts disable trigger user;
		update shifts set changed_at = now() - interval '9 days'`)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)

	var missing, extra, all int
	err = d.Pool().QueryRow(t.Context(), `
		with slow as (`+dueReminders+`), fast as (select type, mode, feed_id, due_at from reminders_due)
		select (select count(*) from (select * from slow except select * from fast) a), (select count(*) from (select * from fast except select * from slow) b),
			(select count(*) from fast)`).Scan(&missing, &extra, &all)
	require.NoError(t, err)
	require.Zero(t, missing)
	require.Zero(t, extra)
	require.Positive(t, all)
	const shifts = 50 * 404
	read := pgtest.ScannedBy(t, d, "select distinct team_id from reminders_due where (team_id & 255) = any($1::int[]) limit 1000", []any{[]int{1, 2, 3}})
	require.Less(t, read, shifts/10)
}
