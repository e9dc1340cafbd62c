package pg_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	domain "github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// hundredThousand is an installation with 100,000 incidents in a year, of 50 applications, 200 plans and 20 teams.
// 2,000 are open and 300 escalate. Each has a context of about 500 bytes, and an alert.
const hundredThousand = `
	insert into users (name) select 'person' || n from generate_series(1, 500) n;
	insert into user_contacts (user_id, mode, destination) select u.id, m, u.name || m from users u, unnest(array['sms', 'call', 'email']) m;
	insert into teams (name) select 'team' || n from generate_series(1, 20) n;
	insert into team_members (team_id, user_id, position) select 1 + u.id % 20, u.id, u.id from users u;
	insert into applications (name, team_id) select 'application' || n, 1 + n % 20 from generate_series(1, 50) n;
	insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) select 'plan' || n, 1, 0, 0, 0, 0 from generate_series(1, 200) n;
	insert into plan_owners select 'plan' || n, 1 + n % 20 from generate_series(1, 100) n;
	insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat)
		select p.id, s, 0, 'high', 'user', (select u.target_id from users u where u.id = 1 + (p.id + s) % 500), 't', 300, 1 from plans p, generate_series(1, 3) s;
	insert into incidents (id, plan_id, application_id, created_at, resolved, active, owner_id, current_step, due_at)
		select n, 1 + n % 200, (select min(id) from applications) + n % 50, now() - (100000 - n) * interval '5 min', n % 50 <> 0 and n <= 99700, n > 99700,
			case when n <= 99700 and n % 3 > 0 then 1 + n % 500 end, case when n > 99700 then 1 else 0 end, case when n > 99700 then now() + interval '4 min' end
		from generate_series(1, 100000) n;
	insert into incident_contexts (incident_id, context, severity)
		select n, json_build_object('title', 'disk of host' || n || ' is full', 'text', repeat('details ', 50)), (array['critical', 'error', 'warning', 'info'])[1 + n % 4] from generate_series(1, 100000) n;
	insert into incident_alerts (incident_id, fingerprint, status) select n, 'f', 'firing' from generate_series(1, 100000) n;`

// BenchmarkList reads a page of the list of incidents as the console does, with what is next for each row.
func BenchmarkList(b *testing.B) {
	d := pgtest.New(b)
	conn, err := d.Pool().Acquire(b.Context())
	require.NoError(b, err)
	for _, sql := range []string{"set statement_timeout = 0", hundredThousand, "vacuum analyze", "reset statement_timeout"} {
		_, err := conn.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	conn.Release()
	store := pg.New(d)
	state := func(name string, more ...filters.Condition) []filters.Condition {
		conditions, _ := domain.InState(name)
		return append(conditions, more...)
	}
	equal := func(field string, v any) filters.Condition {
		return filters.Condition{Field: field, Op: filters.Eq, Values: []any{v}}
	}
	contains := func(field, v string) filters.Condition {
		return filters.Condition{Field: field, Op: filters.Contains, Values: []any{v}}
	}
	for _, c := range []struct {
		name       string
		conditions []filters.Condition
	}{
		{"open", state("open")}, {"mine", state("open", equal("owner", "person7"))}, {"teams",
			state("open", equal("teams_of", int64(7)))},
		{"escalating", state("escalating")}, {"acknowledged", state("acknowledged")}, {"snoozed",
			state("snoozed")}, {"resolved", state("resolved")}, {"all", nil},
		{"critical", state("open", equal("critical", true))}, {"application",
			state("open", contains("application", "application7"))}, {"plan", state("", contains("plan", "plan77"))},
		{"owner", state("", equal("owner", "person7"))}, {"text",
			state("open", contains("context", "host99"))}, {"text-all", state("", contains("context", "host77777 "))},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				read := filters.Reader[domain.Incident](store.List).Page
				if strings.HasPrefix(c.name, "text") {
					read = filters.Reader[domain.Incident](store.List).Search
				}
				rows, _, err := read(b.Context(), filters.Query{Conditions: c.conditions, Limit: 50},
					func(i domain.Incident) filters.Place { return filters.Place{At: i.CreatedAt, ID: int64(i.ID)} })
				require.NoError(b, err)
				ids := make([]domain.ID, len(rows))
				for k, r := range rows {
					ids[k] = r.ID
				}
				_, err = store.AlertCounts(b.Context(), ids)
				require.NoError(b, err)
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
	b.Run("version", func(b *testing.B) {
		for b.Loop() {
			_, err := store.Version(b.Context())
			require.NoError(b, err)
		}
	})
}
