package pg_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
)

func TestAChangeOfAnApplicationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	a := pg.NewApplications(d, pgtest.Installation(t, d).Keys)
	id, err := a.Add(ctx, " Demo ", "root")
	require.NoError(t, err)
	text := "T"
	modes := []users.Mode{users.Email, users.Call}
	c := applications.Change{ContextTemplate: &text, Variables: []string{"b", "a"}, TitleVariable: "a", Modes: &modes,
		DefaultModes:    map[users.Priority]users.Mode{users.High: users.Call, users.Low: users.SMS},
		SenderAddresses: map[users.Mode]string{users.Email: "x@example.com"}}
	require.NoError(t, a.Change(ctx, id, c, "root"))
	before, err := a.Describe(ctx, "DEMO")
	require.NoError(t, err)
	require.Equal(t, map[users.Priority]users.Mode{users.High: users.Call}, before.DefaultModes)
	require.Equal(t, "x@example.com", before.SenderAddresses[users.Email])

	broken := []users.Mode{"pigeon"}
	c.Variables, c.Modes, c.ContextTemplate = []string{"other"}, &broken, nil
	require.Equal(t, fault.Invalid, fault.KindOf(a.Change(ctx, id, c, "root")))
	after, err := a.Describe(ctx, "demo")
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, fault.NotFound, fault.KindOf(a.Change(ctx, 999, applications.Change{}, "root")))
	var lines int
	require.NoError(t, d.Pool().QueryRow(ctx,
		"select count(*) from audit_log where action = 'application settings changed'").Scan(&lines))
	require.Equal(t, 1, lines)

	_, err = a.Add(ctx, "DEMO", "root")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	require.Equal(t, fault.Conflict, fault.KindOf(a.Rename(ctx, id, "IRIS", "root")))
	require.Equal(t, fault.Invalid, fault.KindOf(a.Rename(ctx, id, "a:b", "root")))
	require.Equal(t, fault.Conflict, fault.KindOf(a.Delete(ctx, id, nil, "root")), "its variables count")
	require.NoError(t, a.Change(ctx, id, applications.Change{}, "root"))
	require.NoError(t, a.Delete(ctx, id, nil, "root"))
	require.Equal(t, fault.NotFound, fault.KindOf(a.Delete(ctx, id, nil, "root")))
}

// Concurrent changes of the keys of an application run one after the other.
func TestKeysAreChangedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	a := pg.NewApplications(d, pgtest.Installation(t, d).Keys)
	id, _, err := a.Create(t.Context(), "demo")
	require.NoError(t, err)
	keys, outcomes := make([]string, 4), make([]error, 4)
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { keys[i], outcomes[i] = a.AddSecondary(t.Context(), id, "root") })
	}
	wg.Wait()
	made := 0
	for _, err := range outcomes {
		if err == nil {
			made++
		} else {
			require.Equal(t, fault.Conflict, fault.KindOf(err))
		}
	}
	require.Equal(t, 1, made)
	_, second, err := a.Key(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, keys, second)
	require.NoError(t, a.Rekey(t.Context(), id, "root"))
	first, none, err := a.Key(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, second, first)
	require.Empty(t, none)
	require.Equal(t, fault.Conflict, fault.KindOf(a.Rekey(t.Context(), id, "root")))
}

func TestTagsAreReplaced(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	tags, apps := pg.NewTags(d), pg.NewApplications(d, pgtest.Installation(t, d).Keys)
	id, _, err := apps.Create(ctx, "demo")
	require.NoError(t, err)
	require.NoError(t, tags.Set(ctx, "application", id, "zone", []string{"b", "a", "b"}))
	require.NoError(t, tags.Set(ctx, "application", id, "team", []string{"x"}))
	found, err := tags.Of(ctx, "application", []int64{id, 999})
	require.NoError(t, err)
	require.Equal(t, map[int64]map[string][]string{id: {"zone": {"a", "b"}, "team": {"x"}}}, found)
	require.NoError(t, tags.Set(ctx, "application", id, "zone", nil))
	list, err := apps.List(ctx, filters.Query{Conditions: []filters.Condition{{Field: "tag_team", Op: filters.Eq,
		Values: []any{"X"}}}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	for _, kind := range []string{"incident", "plan", "template", "target", "application", "else"} {
		require.Equal(t, fault.NotFound, fault.KindOf(tags.Set(ctx, kind, 999, "zone", []string{"x"})), kind)
	}
	require.NoError(t, apps.Delete(ctx, id, nil, "root"))
	found, err = tags.Of(ctx, "application", []int64{id})
	require.NoError(t, err)
	require.Empty(t, found)
}

// If several processes request statistics in the same hour, one of them computes the statistics.
func TestStatisticsAreComputedOnce(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	results := make([]applications.Statistics, 4)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			results[i], err = pgsystem.NewStatistics(d).Current(ctx)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range results {
		require.Zero(t, r.Hour.Sub(r.Hour.Truncate(time.Hour)))
		require.NotNil(t, r.ByID)
	}
	var rows int
	require.NoError(t, d.Pool().QueryRow(ctx, "select count(*) from statistics_snapshots").Scan(&rows))
	require.LessOrEqual(t, rows, 2, "two when an hour ended meanwhile")

	_, err := d.Pool().Exec(ctx, `update statistics_snapshots set body = '{"of": "another release"}';
		insert into statistics_snapshots (hour, body) values (now() - interval '2 days', '{}')`)
	require.NoError(t, err)
	again, err := pgsystem.NewStatistics(d).Current(ctx)
	require.NoError(t, err)
	require.NotNil(t, again.ByID)
	require.NoError(t, d.Pool().QueryRow(ctx,
		"select count(*) from statistics_snapshots where hour < now() - interval '1 day'").Scan(&rows))
	require.Zero(t, rows)
}

func TestStateOfAnIncidentIsSet(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	ctx := t.Context()
	in := pgincidents.New(d)
	_, err := d.Pool().Exec(ctx, `insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat)
			select 1, s, 0, 'high', 'user', target_id, 't', 0, 0 from users, generate_series(1, 3) s`)
	require.NoError(t, err)
	opened, err := in.Open(ctx, incidents.New{PlanID: 1, ApplicationID: 2, Context: []byte("{}"), Actor: "x"})
	require.NoError(t, err)
	_, err = d.Pool().Exec(ctx, `update incidents set current_step = 1, step_at = now(), progress = '{"n": [{"m": 1}], "r": 2, "t": true}'`)
	require.NoError(t, err)
	c := incidents.Change{IDs: []incidents.ID{opened.ID}, Actor: "application sender", Via: incidents.ViaAPI}
	done, err := in.SetState(ctx, c, 3, true)
	require.NoError(t, err)
	require.True(t, done[0].Found && done[0].Active)
	var progress string
	require.NoError(t, d.Pool().QueryRow(ctx,
		"select progress::text from incidents where current_step = 3 and due_at <= clock_timestamp()").Scan(&progress))
	require.JSONEq(t, `{"r": 2, "t": true}`, progress)
	_, err = in.SetState(ctx, c, 4, true)
	require.ErrorContains(t, err, "current_step must be between 0 and 3")
	done, err = in.SetState(ctx, incidents.Change{IDs: []incidents.ID{999}}, 1, true)
	require.NoError(t, err)
	require.False(t, done[0].Found)
	active, recent, err := in.Recent(ctx, 2, "", 1, time.Minute, 5)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1}, []int64{active, recent})
	for range 7 {
		_, err := in.Open(ctx, incidents.New{PlanID: 1, ApplicationID: 2, Context: []byte("{}"), Actor: "x"})
		require.NoError(t, err)
	}
	active, recent, err = in.Recent(ctx, 2, "", 1, time.Minute, 5)
	require.NoError(t, err)
	require.Equal(t, []int64{5, 5}, []int64{active, recent}, "no further than asked")
}
