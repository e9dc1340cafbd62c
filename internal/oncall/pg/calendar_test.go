package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// The resolver reads a cached calendar again after every change that may change an answer. So an override is paged as
// soon as it is saved.
func TestResolverSeesEveryChangeOfTheCalendar(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx := t.Context()
	exec := func(sql string) {
		t.Helper()
		_, err := db.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann'), ('bob'), ('eve');
		insert into teams (name) values ('ops'), ('other');
		insert into team_members (team_id, user_id, position) select t.id, u.id, u.id from teams t, users u where t.name = 'ops' and u.name <> 'eve';
		insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
			select t.id, r.id, u.id, now() - interval '1 hour', now() + interval '5 hours' from teams t, oncall_roles r, users u
			where t.name = 'ops' and r.name = 'primary' and u.name = 'ann'`)
	dir := pgescalation.NewDirectory(db)
	live := oncall.NewLiveCalendar(pgoncall.NewCalendars(db), oncall.LiveConfig{Keep: -1, Wait: 10 * time.Second})
	resolver := oncall.NewResolver(dir, live, 0)
	var target int64
	require.NoError(t, db.Pool().QueryRow(ctx, `select target_id from teams where name = 'ops'`).Scan(&target))
	who := func(role string) []string {
		t.Helper()
		answer, err := resolver.Resolve(ctx, oncall.Query{Role: role, TargetID: target, Name: "ops"}, time.Now())
		require.NoError(t, err)
		found, err := dir.UsersByID(ctx, answer.Users)
		require.NoError(t, err)
		out := []string{}
		for _, id := range answer.Users {
			out = append(out, found[id].Name)
		}
		return out
	}
	require.Equal(t, []string{"ann"}, who("oncall-primary"))
	people := func(name string) users.ID {
		u, err := pg.NewUsers(db).ByName(ctx, name)
		require.NoError(t, err)
		return u.ID
	}
	shifts := pgoncall.NewShifts(db)
	rows, err := shifts.Find(ctx, oncall.ShiftQuery{})
	require.NoError(t, err)
	override := edited(editing.Selection{IDs: []oncall.ShiftID{rows[0].ID}}, func(d editing.Editor, selected []oncall.Shift) (oncall.Changes, error) {
		c, _, err := d.Override(selected, d.Now.Add(-time.Minute).Truncate(time.Second), d.Now.Add(time.Hour),
			people("bob"))
		return c, err
	})
	override.Rehearse = true
	_, err = shifts.Edit(ctx, override, oncall.By{Owner: "test"})
	require.NoError(t, err)
	require.Equal(t, []string{"ann"}, who("oncall-primary"), "a rehearsal changes nothing")
	override.Rehearse = false
	_, err = shifts.Edit(ctx, override, oncall.By{Owner: "test"})
	require.NoError(t, err)
	require.Equal(t, []string{"bob"}, who("oncall-primary"))

	exec(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
			select t.id, r.id, u.id, now() - interval '1 hour', now() + interval '5 hours' from teams t, oncall_roles r, users u
			where t.name = 'other' and r.name = 'shadow' and u.name = 'eve'`)
	require.NotEqual(t, []string{"eve"}, who("oncall-shadow"))
	exec(`insert into team_subscriptions select a.id, b.id, r.id from teams a, teams b, oncall_roles r where a.name = 'ops' and b.name = 'other' and r.name = 'shadow'`)
	require.Equal(t, []string{"eve"}, who("oncall-shadow"))
	exec(`delete from shifts where user_id = (select id from users where name = 'eve')`)
	require.NotEqual(t, []string{"eve"}, who("oncall-shadow"), "a change of the other team's calendar is seen, too")
	exec(`delete from shifts`)
	require.Equal(t, []string{"ann"}, who("oncall-primary"), "without shifts the fixed order holds")
}
