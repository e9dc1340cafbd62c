package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/system/pg"
)

// Figures of a period are those of its incidents, messages and calls: hours that are counted, and the current hour.
func TestFigures(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	now := time.Now().UTC()
	day := now.Truncate(24*time.Hour).AddDate(0, 0, -int(now.Weekday()+6)%7-5) // a Wednesday of an earlier week
	saturday := day.AddDate(0, 0, 3)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`insert into users (name, time_zone) values ('ann', 'Asia/Tokyo'), ('bob', 'UTC')`)
	exec(`insert into teams (name) values ('ops')`)
	exec(`insert into applications (name, team_id) select 'demo', id from teams`)
	exec(`insert into applications (name) values ('other')`)
	exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) select p, id, 0, 0, 0, 0 from users, unnest(array['p', 'q']) p where name = 'ann'`)
	incident := func(app, plan string, at time.Time, acknowledged, resolved int) {
		t.Helper()
		exec(`with i as (
			insert into incidents (plan_id, application_id, created_at, active, resolved, owner_id)
			select p.id, a.id, $3::timestamptz, false, $5 > 0, case when $4 > 0 then (select id from users where name = 'ann') end from plans p, applications a where p.name = $2 and a.name = $1 returning id, created_at
		) insert into timeline_entries (incident_id, at, kind, text)
			select i.id, i.created_at + s * interval '1 second', k, '' from i, (values ('acknowledged', $4::int), ('resolved', $5::int)) x(k, s) where s > 0`, app, plan, at, acknowledged, resolved)
	}
	message := func(app, person, mode, state string, at time.Time, outcome string) {
		t.Helper()
		exec(`with m as (
			insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, user_id, target, class, mode, state, attempt, settled_at)
			select i.bucket, i.id, a.id, i.plan_id, (select count(*) + 1 from messages), 'user:' || u.id, u.id, u.name, 1, $3, $4, 1, $5 from applications a, users u, incidents i
			where a.name = $1 and u.name = $2 and i.id = (select min(id) from incidents) returning id
		) insert into attempts (message_id, attempt, mode, vendor, account, destination, process_id, finished_at, outcome) select m.id, 1, $3, 'twilio', 'main', '', '', $5, $6 from m`,
			app, person, mode, state, at, outcome)
	}
	noon := day.Add(12 * time.Hour)
	for i, seconds := range []int{60, 120, 600} {
		incident("demo", "p", noon.Add(time.Duration(i)*time.Minute), seconds, 10*seconds)
	}
	incident("other", "q", saturday.Add(3*time.Hour+time.Minute), 0, 0)
	incident("demo", "p", now, 0, 0)                                          // the current hour
	message("demo", "ann", "call", "sent", noon.Add(time.Minute), "sent")     // 21 o'clock in Tokyo
	message("demo", "bob", "sms", "delivered", noon.Add(time.Minute), "sent") // noon
	message("demo", "bob", "email", "sent", noon.Add(time.Minute), "sent")
	message("other", "bob", "sms", "failed", saturday.Add(3*time.Hour+time.Minute), "rejected")
	message("other", "bob", "call", "sent", saturday.Add(3*time.Hour+time.Minute), "sent")

	s := pg.NewStatistics(d)
	query := applications.FigureQuery{From: day, To: now.Add(time.Minute), Unit: applications.ByDay, Zone: "UTC"}
	check := func(f applications.PeriodFigures) {
		t.Helper()
		none := applications.IncidentFigure{AcknowledgeMedian: -1, AcknowledgeP90: -1, ResolveMedian: -1,
			ResolveP90: -1}
		p, q := none, none
		p.Key, p.Incidents, p.Acknowledged, p.Resolved = "p", 4, 3, 3
		for i := range f.Plans {
			approximate(t, map[string][]float64{"p": {120, 504, 1200, 5040}, "q": {-1, -1, -1, -1}}[f.Plans[i].Key],
				&f.Plans[i])
		}
		for i := range f.Teams {
			approximate(t, map[string][]float64{"ops": {120, 504, 1200, 5040}, "": {-1, -1, -1, -1}}[f.Teams[i].Key],
				&f.Teams[i])
		}
		q.Key, q.Incidents = "q", 1
		require.Equal(t, []applications.IncidentFigure{p, q}, f.Plans)
		p.Key, q.Key = "ops", ""
		require.Equal(t, []applications.IncidentFigure{p, q}, f.Teams)
		require.Len(t, f.Times, 3)
		require.Equal(t, day.Format(time.RFC3339), f.Times[0].Key)
		require.EqualValues(t, 3, f.Times[0].Incidents)
		require.Equal(t, now.Truncate(24*time.Hour).Format(time.RFC3339), f.Times[2].Key)
		require.Equal(t, []applications.PageFigure{{Key: "bob", Pages: 3, Interruptions: 2, Outside: 1, Weekend: 1},
			{Key: "ann", Pages: 1, Interruptions: 1, Outside: 1}}, f.People)
		require.Equal(t, []applications.PageFigure{{Key: "03", Pages: 1, Interruptions: 1, Outside: 1, Weekend: 1},
			{Key: "12", Pages: 2, Interruptions: 1}, {Key: "21", Pages: 1, Interruptions: 1, Outside: 1}}, f.Hours)
		calls, failed := int64(0), int64(0)
		for _, v := range f.Vendors {
			require.Equal(t, "twilio main", v.Vendor+" "+v.Account)
			calls, failed = calls+v.Attempts, failed+v.Failed
		}
		require.Equal(t, []int64{5, 1}, []int64{calls, failed})
		sent := map[string]int64{}
		for _, m := range f.Messages {
			sent[m.Mode] += m.Sent
		}
		require.Equal(t, map[string]int64{"call": 2, "sms": 1, "email": 1}, sent)
	}
	require.NoError(t, s.Count(t.Context(), 0))
	f, err := s.Figures(t.Context(), query)
	require.NoError(t, err)
	require.False(t, f.Counting)
	check(f)
	require.NoError(t, s.Pack(t.Context(), 0))
	var days int
	require.NoError(t, d.Pool().QueryRow(t.Context(),
		"select count(*) from statistics_days where length(body) > 0").Scan(&days))
	require.Greater(t, days, 6)
	again, err := s.Figures(t.Context(), query)
	require.NoError(t, err)
	check(again)

	// What a process keeps of packed days is what it would read.
	for name, change := range map[string]func(){
		"nothing":                 func() {},
		"later hours of a day":    func() { query.From = day.Add(5 * time.Hour) },
		"the name of a plan":      func() { exec("update plans set name = 'r' where name = 'q'") },
		"the owner":               func() { exec("update applications set team_id = (select id from teams) where name = 'other'") },
		"a time zone":             func() { exec("update users set time_zone = 'America/New_York' where name = 'bob'") },
		"a new plan in this hour": func() { incident("other", "p", now, 1, 0) },
		"a day packed anew": func() {
			exec("update statistics_incidents set incidents = incidents + 1")
			exec("delete from statistics_days where kind = 'incidents'")
			require.NoError(t, s.Pack(t.Context(), 0))
		},
		"a day that is not packed": func() { exec("delete from statistics_days where day = $1", saturday) },
	} {
		_, err := s.Figures(t.Context(), query)
		require.NoError(t, err)
		change()
		kept, err := s.Figures(t.Context(), query)
		require.NoError(t, err)
		fresh, err := pg.NewStatistics(d).Figures(t.Context(), query)
		require.NoError(t, err)
		require.Equal(t, fresh, kept, name)
	}
	exec("update plans set name = 'q' where name = 'r'; update applications set team_id = null where name = 'other'")
	query.From = day
	query.Team = "OPS"
	f, err = s.Figures(t.Context(), query)
	require.NoError(t, err)
	require.Len(t, f.Plans, 1)
	require.Len(t, f.Messages, 3, "the messages of the application of the team")
	query.Team, query.Plan, query.Application = "", "q", "other"
	f, err = s.Figures(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, "q", f.Plans[0].Key)
	require.Len(t, f.Plans, 1)
}

// A process that has read ahead answers the periods of the page without a packed day, at its start, after a day was
// packed anew, and in the zone of a caller.
func TestNobodyWaitsForPackedDays(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{Registerer: reg})
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`insert into users (name, time_zone) values ('ann', 'Asia/Tokyo'), ('bob', 'Asia/Tokyo'), ('eve', 'no zone')`)
	exec(`insert into applications (name) values ('demo')`)
	exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`)
	exec(`insert into incidents (plan_id, application_id, created_at, active)
		select 1, id, now() - n * interval '1 day', false from applications, generate_series(1, 30) n where name = 'demo'`)
	s := pg.NewStatistics(d)
	require.NoError(t, s.Count(t.Context(), 0))
	require.NoError(t, s.Pack(t.Context(), 0))
	reads := func() (n uint64) {
		found, err := reg.Gather()
		require.NoError(t, err)
		for _, f := range found {
			for _, m := range f.GetMetric() {
				if f.GetName() == "iris_postgres_query_seconds" && m.GetLabel()[0].GetValue() == "CountsOfDays" {
					n += m.GetHistogram().GetSampleCount()
				}
			}
		}
		return n
	}
	now, err := d.Clock(t.Context())
	require.NoError(t, err)
	ask := func(zone string) applications.PeriodFigures {
		t.Helper()
		in, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for _, name := range []string{"week", "month", "quarter"} {
			_, err := s.Figures(t.Context(), applications.Periods[name].Until(now.In(in)))
			require.NoError(t, err)
		}
		f, err := s.Figures(t.Context(), applications.Periods["month"].Until(now.In(in)))
		require.NoError(t, err)
		return f
	}
	require.NoError(t, s.Warm(t.Context(), 0))
	first := reads()
	require.Positive(t, first)
	before := ask("Asia/Tokyo").Plans[0].Incidents
	require.Equal(t, first, reads(), "read by Warm only")

	exec(`update statistics_incidents set incidents = incidents + 1 where at < now() - interval '3 days'`)
	exec(`delete from statistics_days where kind = 'incidents' and day < now() - interval '3 days'`)
	require.NoError(t, s.Pack(t.Context(), 0))
	require.NoError(t, s.Warm(t.Context(), 0))
	second := reads()
	require.Greater(t, second, first)
	require.Greater(t, ask("Asia/Tokyo").Plans[0].Incidents, before)
	require.Equal(t, second, reads(), "the days packed anew were read by Warm only")

	ask("America/New_York")
	third := reads()
	require.Greater(t, third, second, "a zone that nobody asked for")
	exec(`delete from statistics_days where kind = 'incidents'`)
	require.NoError(t, s.Pack(t.Context(), 0))
	require.NoError(t, s.Warm(t.Context(), 0))
	fourth := reads()
	ask("America/New_York")
	require.Equal(t, fourth, reads(), "the zone of a caller")
	require.NoError(t, s.Warm(t.Context(), 0))
	require.Equal(t, fourth, reads(), "nothing is read twice")
}

// approximate requires that the times of a figure are within 3.5 % of the given ones, and sets them to -1.
func approximate(t *testing.T, want []float64, f *applications.IncidentFigure) {
	t.Helper()
	for i, got := range []*applications.Seconds{&f.AcknowledgeMedian, &f.AcknowledgeP90, &f.ResolveMedian, &f.ResolveP90} {
		require.InEpsilon(t, want[i], float64(*got), 0.035)
		*got = -1
	}
}

// A resolve later than the hour of the incident is counted, also of an incident that nobody acknowledged.
func TestLateResolvesAreCounted(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	for _, sql := range []string{
		`insert into users (name) values ('ann')`, `insert into applications (name) values ('demo')`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
		`insert into incidents (plan_id, application_id, created_at, active) select 1, id, now() - interval '3 hours', false from applications where name = 'demo'`,
	} {
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	s := pg.NewStatistics(d)
	require.NoError(t, s.Count(t.Context(), 0))
	_, err := d.Pool().Exec(t.Context(),
		`update incidents set resolved = true, updated_at = created_at + interval '2 hours'`)
	require.NoError(t, err)
	require.NoError(t, s.Count(t.Context(), 0))
	f, err := s.Figures(t.Context(), applications.FigureQuery{From: time.Now().Add(-24 * time.Hour), To: time.Now(),
		Unit: applications.ByMonth, Zone: "Europe/Berlin"})
	require.NoError(t, err)
	require.InEpsilon(t, 7200, float64(f.Plans[0].ResolveMedian), 0.035)
	require.EqualValues(t, 1, f.Plans[0].Resolved)
}

// An incident that was acknowledged and then escalated again counts as acknowledged at its first acknowledgement.
func TestTheFirstAcknowledgementCounts(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	for _, sql := range []string{
		`insert into users (name) values ('ann')`, `insert into applications (name) values ('demo')`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
		`insert into incidents (plan_id, application_id, created_at, active, owner_id) select 1, id, now() - interval '3 hours', false, 1 from applications where name = 'demo'`,
		`insert into timeline_entries (incident_id, at, kind, text) select id, created_at + x.after, 'acknowledged', 'x' from incidents, (values (interval '90 seconds'), (interval '10 minutes')) x (after)`,
	} {
		exec(sql)
	}
	s := pg.NewStatistics(d)
	require.NoError(t, s.Count(t.Context(), 0))
	exec(`update incidents set active = true, owner_id = null, updated_at = now()`)
	require.NoError(t, s.Count(t.Context(), 0))
	f, err := s.Figures(t.Context(), applications.FigureQuery{From: time.Now().Add(-24 * time.Hour), To: time.Now(),
		Unit: applications.ByMonth, Zone: "Europe/Berlin"})
	require.NoError(t, err)
	require.EqualValues(t, 1, f.Plans[0].Acknowledged)
	require.InEpsilon(t, 90, float64(f.Plans[0].AcknowledgeMedian), 0.035)
	weekly, err := s.Current(t.Context())
	require.NoError(t, err)
	var claimed int64
	for _, of := range weekly.ByID {
		claimed += of.Claimed[0]
	}
	require.EqualValues(t, 1, claimed)
}

// During a rolling upgrade, the previous release counts hours without the times of resolves, and takes entries from the
// queue of changed hours.
func TestHoursOfTheReleaseBeforeAreCountedAgain(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(statements ...string) {
		for _, sql := range statements {
			_, err := d.Pool().Exec(t.Context(), sql)
			require.NoError(t, err)
		}
	}
	exec(`insert into users (name) values ('ann')`, `insert into applications (name) values ('demo')`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0)`,
		`insert into incidents (plan_id, application_id, created_at, updated_at, active, resolved) select 1, id, now() - interval '3 days', now() - interval '3 days' + interval '2 hours', false, true
			from applications where name = 'demo'`,
		`insert into messages (bucket, application_id, mode, state, attempt, settled_at, created_at, target, class, purpose, incident_id, plan_id, user_id, recipient)
			select 0, a.id, 'sms', 'sent', 1, now() - interval '2 days', now() - interval '2 days', 'ann', 1, 'primary', i.id, 1, 1, 'user:1' from applications a, incidents i where a.name = 'demo'`)
	s := pg.NewStatistics(d)
	require.NoError(t, s.Count(t.Context(), 0))
	exec(`delete from statistics_changes`, `delete from statistics_attempts`,
		`delete from statistics_pages`, // as the previous release counts both hours
		`create temporary table i as select at, application_id, plan_id, incidents, claimed, claim_seconds from statistics_incidents`,
		`create temporary table m as select at, application_id, mode, sent, delivered, failed, tried from statistics_messages`)
	exec(`delete from statistics_incidents`, `delete from statistics_messages`,
		`insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds) select * from i`,
		`insert into statistics_messages (at, application_id, mode, sent, delivered, failed, tried) select * from m`)
	require.NoError(t, s.Count(t.Context(), 0))
	f, err := s.Figures(t.Context(), applications.FigureQuery{From: time.Now().Add(-7 * 24 * time.Hour),
		To: time.Now(), Unit: applications.ByMonth, Zone: "Europe/Berlin"})
	require.NoError(t, err)
	require.InEpsilon(t, 7200, float64(f.Plans[0].ResolveMedian), 0.035)
	var pages, parts int
	require.NoError(t, d.Pool().QueryRow(t.Context(), `select (select count(*) from statistics_pages),
		(select count(*) from statistics_incidents where not complete) + (select count(*) from statistics_messages where not complete)`).Scan(&pages, &parts))
	require.Equal(t, 1, pages)
	require.Zero(t, parts)
}

// BenchmarkFigures has the counts of 3,000,000 incidents of 396 days: 7,600 incidents and 23,000 messages a day.
func BenchmarkFigures(b *testing.B) {
	d := pgtest.New(b)
	conn, err := d.Pool().Acquire(b.Context())
	require.NoError(b, err)
	defer conn.Release()
	for _, sql := range []string{
		`set statement_timeout = 0`,
		`insert into users (name, time_zone) select 'user' || n, (array['UTC', 'Asia/Tokyo', 'America/New_York'])[1 + n % 3] from generate_series(1, 500) n`,
		`insert into applications (name) select 'app' || n from generate_series(1, 20) n`,
		`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) select 'p' || n, 1, 0, 0, 0, 0 from generate_series(1, 300) n`,
		`insert into statistics_progress (counted_to, days_to) values (date_trunc('hour', now()), date_trunc('day', now() - interval '50 days'))`,
		`insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds, resolve_seconds)
			select h, 2 + n % 20, 1 + n, 2, 2, array[random() * 900, random() * 900], array[random() * 9000, random() * 9000]
			from generate_series(date_trunc('day', now() - interval '50 days') + interval '1 hour', date_trunc('hour', now()), interval '1 hour') h, generate_series(0, 158) n`,
		`insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds)
			select h, 2 + n % 20, 1 + n, 25, 20, '{}' from generate_series(date_trunc('day', now() - interval '396 days'), date_trunc('day', now() - interval '50 days'), interval '1 day') h, generate_series(0, 299) n`,
		`insert into statistics_messages (at, application_id, mode, sent, delivered, failed, tried)
			select h, 2 + n % 20, (array['email', 'sms', 'call', 'slack'])[1 + n % 4], 20, 10, 1, 21 from generate_series(date_trunc('day', now() - interval '50 days') + interval '1 hour', date_trunc('hour', now()), interval '1 hour') h, generate_series(0, 39) n`,
		`insert into statistics_attempts (at, application_id, mode, vendor, account, attempts, failed)
			select h, 2 + n % 20, 'sms', 'twilio', 'main', 20, 1 from generate_series(date_trunc('day', now() - interval '50 days') + interval '1 hour', date_trunc('hour', now()), interval '1 hour') h, generate_series(0, 39) n`,
		`insert into statistics_pages (at, user_id, application_id, plan_id, pages, interruptions)
			select h, 1 + (n * 7 + extract(hour from h)::int) % 500, 2 + n % 20, 1 + n % 300, 2, 1 from generate_series(date_trunc('day', now() - interval '50 days') + interval '1 hour', date_trunc('hour', now()), interval '1 hour') h, generate_series(0, 449) n`,
		`vacuum analyze`,
	} {
		_, err := conn.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	s := pg.NewStatistics(d)
	require.NoError(b, s.Pack(b.Context(), 0))
	b.Run("reading ahead", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, pg.NewStatistics(d).Warm(b.Context(), 0))
		}
	})
	for _, days := range []int{1, 7, 30, 91, -30, -91} { // below 0: a process that has kept nothing
		b.Run(fmt.Sprintf("%d days", days), func(b *testing.B) {
			for b.Loop() {
				if days < 0 {
					s = pg.NewStatistics(d)
				}
				days := max(days, -days)
				_, err := s.Figures(b.Context(), applications.FigureQuery{From: time.Now().AddDate(0, 0, -days),
					To: time.Now(), Unit: applications.ByDay, Zone: "Europe/Berlin"})
				require.NoError(b, err)
			}
		})
	}
}
