package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// A page resolves who is on call. That reads only the team's present shifts, although forty teams have five years of
// history.
func TestResolvingWhoIsOnCallScansFewRows(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(), `insert into users (name) select 'u' || n from generate_series(1, 50) n;
		insert into teams (name) select 't' || n from generate_series(1, 40) n;
		insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
			select t.id, r.id, (select min(id) from users) + (w + 10 + t.id) % 50, now() - w * interval '1 week', now() - (w - 1) * interval '1 week'
			from teams t, oncall_roles r, generate_series(-10, 260) w where r.name = 'primary';
		insert into team_subscriptions select a.id, b.id, r.id from teams a, teams b, oncall_roles r where a.name = 't1' and b.name = 't2' and r.name = 'primary'`)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	const file, few = "oncall_shifts.sql", 120
	now := time.Now()
	var one, two, shift int64
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		`select a.id, b.id, (select max(id) from shifts) from teams a, teams b
		where a.name = 't1' and b.name = 't2'`).Scan(&one, &two, &shift))
	require.LessOrEqual(t, pgtest.Scanned(t, d, file, "CalendarVersions",
		map[string]any{"team_ids": []int64{one, two}}), few)
	require.LessOrEqual(t, pgtest.Scanned(t, d, file, "CalendarSubscriptions",
		map[string]any{"team_ids": []int64{one}}), few)
	require.LessOrEqual(t, pgtest.Scanned(t, d, file, "CalendarShifts", map[string]any{
		"team_ids": []int64{one, two}, "window_start": now.Add(-time.Hour), "window_end": now.Add(8 * 24 * time.Hour)}), 600,
		"at most the running and coming shifts, not the past")
	// An edit and a read of one shift find it by its number.
	require.LessOrEqual(t, pgtest.Scanned(t, d, file, "ChosenShifts", map[string]any{
		"ids": []int64{shift}, "links": []string{}, "running": false, "team_id": 0, "until": nil}), few)
	require.LessOrEqual(t, pgtest.Scanned(t, d, file, "ChosenShifts", map[string]any{
		"ids": []int64{}, "links": []string{}, "running": true, "team_id": one, "until": now.Add(24 * time.Hour)}), 400)
}
