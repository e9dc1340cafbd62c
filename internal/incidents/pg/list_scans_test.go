package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// fill runs statements that make many rows, without the limit on their time.
func fill(t *testing.T, d *postgres.DB, sql string) {
	t.Helper()
	tx, err := d.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "set local statement_timeout = 0")
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), sql)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
}

// A rare application, a name that nobody has and a plan that does not exist read few of 20,000 incidents.
func TestListsOfOneApplicationReadFewIncidents(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	fill(t, d, `insert into users (name) values ('ann'); insert into applications (name) values ('busy'), ('rare');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('rarely', 1, 0, 0, 0, 0);
		insert into incidents (plan_id, application_id, owner_id)
			select case when n < 5 then 2 else 1 end, (select id from applications where name = case when n < 5 then 'rare' else 'busy' end), 1
			from generate_series(1, 20000) n`)
	_, err := d.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	for _, c := range []filters.Condition{
		{Field: "application", Op: filters.Eq, Values: []any{"RARE"}},
		{Field: "application", Op: filters.Eq, Values: []any{"nobody"}},
		{Field: "application", Op: filters.Contains, Values: []any{"zzz"}},
		{Field: "application", Op: filters.Contains, Values: []any{"rar"}},
		{Field: "plan", Op: filters.Eq, Values: []any{"rarely"}},
		{Field: "owner", Op: filters.Eq, Values: []any{"nobody"}},
		{Field: "plan", Op: filters.Eq, Values: []any{"none"}},
	} {
		sql, args, err := pg.IncidentList(t.Context(), d, filters.Query{Conditions: []filters.Condition{c}, Limit: 50})
		require.NoError(t, err)
		require.LessOrEqual(t, pgtest.ScannedBy(t, d, sql, args), 40, c)
	}
	found, err := pg.New(d).List(t.Context(), filters.Query{Limit: 50, Conditions: []filters.Condition{
		{Field: "application", Op: filters.Eq, Values: []any{"rare"}}, {Field: "plan", Op: filters.Contains,
			Values: []any{"R"}}}})
	require.NoError(t, err)
	require.Len(t, found, 4)
}

// A few open or escalating incidents among many resolved or closed ones are found without reading the others.
func TestListsOfOpenIncidentsReadFewIncidents(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	fill(t, d, `insert into users (name) values ('ann'); insert into applications (name) values ('shop');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (plan_id, application_id, created_at, resolved, active)
			select 1, (select id from applications where name = 'shop'), now() - make_interval(mins => n), n % 5000 > 0, n % 10000 = 0
			from generate_series(1, 20000) n`)
	equal := func(field string, v int64) filters.Condition {
		return filters.Condition{Field: field, Op: filters.Eq, Values: []any{v}}
	}
	few := func(conditions ...filters.Condition) {
		_, err := d.Pool().Exec(t.Context(), "analyze")
		require.NoError(t, err)
		sql, args, err := pg.IncidentList(t.Context(), d, filters.Query{Conditions: conditions, Limit: 50})
		require.NoError(t, err)
		require.LessOrEqual(t, pgtest.ScannedBy(t, d, sql, args), 40, conditions)
	}
	few(equal("resolved", 0))
	few(equal("active", 1))
	few(equal("resolved", 0), equal("closed", 0))
	counts, err := pg.New(d).CountUpTo(t.Context(), 3,
		filters.Query{Conditions: []filters.Condition{equal("resolved", 0), equal("closed", 0)}},
		filters.Query{Conditions: []filters.Condition{equal("active", 1)}},
		filters.Query{Conditions: []filters.Condition{filters.Equal("owner", "nobody")}})
	require.NoError(t, err)
	require.Equal(t, []int{3, 2, 0}, counts)
	fill(t, d, `update incidents set resolved = false, closed_at = now() where resolved`)
	few(equal("resolved", 0), equal("closed", 0))
}

// A rare severity or integration, and one whose incidents are all old, read few of 20,000 incidents.
func TestListsOfOneSeverityOrIntegrationReadFewIncidents(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		fill(t, d, sql)
	}
	exec(`insert into users (name) values ('ann'); insert into applications (name) values ('shop');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into integrations (id, application_id, name, type, rate_per_minute, created_by)
			select n, a.id, 'sender ' || n, 'generic', 60, 'ann' from generate_series(1, 3) n, applications a where a.name = 'shop';
		insert into incidents (id, plan_id, application_id, integration_id, created_at)
			select n, 1, a.id, case when n <= 5000 then 1 when n = 10000 then 3 else 2 end, now() - make_interval(mins => 20000 - n)
			from generate_series(1, 20000) n, applications a where a.name = 'shop';
		insert into incident_contexts (incident_id, context, severity)
			select n, '{}', case when n % 5000 = 0 then 'critical' when n % 3 = 0 then 'error' when n % 3 = 1 then 'warning' end from generate_series(1, 20000) n`)
	exec("analyze")
	for _, c := range []struct {
		field string
		value any
		want  int
		found string
	}{
		{"integration", "SENDER 1", 50, "sender 1"},
		{"integration", "sender 2", 50, "sender 2"},
		{"integration", "sender 3", 1, "sender 3"},
		{"integration", "nobody", 0, ""},
		{"critical", int64(1), 4, "critical"},
		{"warning", int64(1), 50, "warning"},
		{"info", int64(1), 0, ""},
	} {
		q := filters.Query{Conditions: []filters.Condition{{Field: c.field, Op: filters.Eq, Values: []any{c.value}}},
			Limit: 50}
		sql, args, err := pg.IncidentList(t.Context(), d, q)
		require.NoError(t, err)
		require.LessOrEqual(t, pgtest.ScannedBy(t, d, sql, args), 500, c)
		found, err := pg.New(d).List(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, found, c.want, c)
		for _, i := range found {
			require.Contains(t, []string{i.Integration, i.Severity}, c.found)
		}
	}
}
