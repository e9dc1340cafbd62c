package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// A change of many shifts raises the calendar's version once. The numbers of added shifts follow their order, and feeds
// show every deleted shift as cancelled.
func TestAChangeOfManyShiftsRaisesTheCalendarVersionOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	count := func(sql string) (n int64) {
		t.Helper()
		require.NoError(t, db.Pool().QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	_, err := db.Pool().Exec(t.Context(),
		`insert into users (name) values ('ann'), ('bob'); insert into teams (name) values ('ops'), ('other')`)
	require.NoError(t, err)
	team, ann := count("select min(id) from teams"), users.ID(count("select min(id) from users"))
	edit := func(change oncall.Changes) oncall.Changes {
		t.Helper()
		done, err := pg.NewShifts(db).Edit(t.Context(), edited(editing.Selection{TeamID: team}, func(editing.Editor, []oncall.Shift) (oncall.Changes, error) {
			return change, nil
		}), oncall.By{Owner: "test"})
		require.NoError(t, err)
		return done.Changes
	}
	const versions = "select last_value + case when is_called then 1 else 0 end from calendar_versions"
	start := time.Now().Truncate(time.Second).Add(100 * time.Hour).UTC()
	var c oncall.Changes
	for i := range 50 {
		s := oncall.Shift{TeamID: team, Role: "primary", User: ann, Start: start.Add(time.Duration(i) * time.Hour),
			End: start.Add(time.Duration(i+1) * time.Hour), Note: "n"}
		if i%2 == 1 {
			s.Role, s.Note, s.Link = "secondary", "", "0123"
		}
		c.Add = append(c.Add, s)
		c.Notices = append(c.Notices, oncall.Notice{Kind: oncall.ShiftCreated, Roles: []string{s.Role},
			Users: []users.ID{ann}, Shifts: []oncall.Shift{s}})
	}
	before := count(versions)
	done := edit(c)
	require.Equal(t, before+1, count(versions))
	stored, err := pg.NewShifts(db).Find(t.Context(), oncall.ShiftQuery{Teams: []int64{team}})
	require.NoError(t, err)
	require.Len(t, stored, 50)
	for i, s := range stored {
		require.Equal(t, done.Add[i], s.Shift, "the number that came back is that of the shift")
		if i > 0 {
			require.Greater(t, s.ID, stored[i-1].ID)
		}
	}
	require.EqualValues(t, 50, count("select count(*) from notices"))
	require.Zero(t, count(`select count(*) from (select (facts -> 0 ->> 'start')::bigint as at, lag((facts -> 0 ->> 'start')::bigint) over (order by id) as last from notices) n where at < last`))

	// Feeds show two parts of one shift as one event. When both parts are deleted, they are cancelled as one event.
	whole := done.Add[0]
	pieces := []oncall.Shift{whole, whole}
	for i := range pieces {
		pieces[i].ID, pieces[i].RemainsOf = 0, whole.ID
		pieces[i].Start = whole.Start.Add(time.Duration(i) * 10 * time.Minute)
		pieces[i].End = pieces[i].Start.Add(5 * time.Minute)
	}
	cut := edit(oncall.Changes{Add: pieces, Delete: []oncall.Shift{whole}})
	require.EqualValues(t, 2, count("select count(distinct sequence) from shifts where feed_id <> id"),
		"each piece is a later state of the event")
	before = count(versions)
	edit(oncall.Changes{Delete: append(cut.Add, done.Add[1:]...)})
	require.Equal(t, before+1, count(versions))
	require.EqualValues(t, 50, count("select count(*) from cancelled_shifts"))
	require.EqualValues(t, 50, count("select count(distinct feed_id) from cancelled_shifts"))
	require.Zero(t, count("select calendar_version from teams where name = 'other'"))

	// If a role is deleted in the meantime, no shift is added.
	c.Add[7].Role = "boss"
	_, err = pg.NewShifts(db).Edit(t.Context(), edited(editing.Selection{TeamID: team}, func(editing.Editor, []oncall.Shift) (oncall.Changes, error) {
		return c, nil
	}), oncall.By{Owner: "test"})
	require.Error(t, err)
	require.Zero(t, count("select count(*) from shifts"))
}
