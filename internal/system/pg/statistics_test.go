package pg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// The direct computation: reads all incidents and messages.
const (
	directIncidents = `
		with high as (
			select distinct plan_id from plan_notifications where priority in ('urgent', 'high')
		)
		select i.application_id, least(7, floor(extract(epoch from $1::timestamptz - i.created_at) / 604800))::int as week,
			count(*) as incidents, count(*) filter (where i.owner_id is not null or i.source_acknowledged is not null or exists (
				select from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged')) as claimed, count(h.plan_id) as high
		from incidents i
		left join high h on h.plan_id = i.plan_id
		where i.created_at < $1::timestamptz
		group by 1, 2`
	directMedians = `
		select coalesce(x.application_id, 0)::bigint as application_id, x.week, (percentile_cont(0.5) within group (order by x.seconds))::float8 as median
		from (
			select i.application_id, floor(extract(epoch from $1::timestamptz - i.created_at) / 604800)::int as week,
				greatest(0, extract(epoch from coalesce(
					(select min(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'), i.updated_at
				) - i.created_at))::float8 as seconds
			from incidents i
			where i.created_at >= $1::timestamptz - interval '49 days' and i.created_at < $1::timestamptz
				and (i.owner_id is not null or i.source_acknowledged is not null or exists (
					select from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'))
		) x
		group by grouping sets ((x.application_id, x.week), (x.week))`
	directMessages = `
		select x.application_id, x.mode, least(7, floor(extract(epoch from $1::timestamptz - x.at) / 604800))::int as week,
			count(*) filter (where x.state in ('sent', 'delivered') or x.mode = 'drop' and x.state = 'dropped') as sent,
			count(*) filter (where x.state = 'delivered') as delivered,
			count(*) filter (where x.state = 'failed' and x.attempt > 0) as failed,
			count(*) filter (where x.attempt > 0) as tried
		from (
			select m.application_id, m.mode, m.state, m.attempt, coalesce(m.settled_at, m.created_at) as at from messages m
			where m.state not in ('pending', 'taken', 'sending')
			union all
			select h.application_id, h.mode, h.state, h.attempt, coalesce(h.settled_at, h.created_at) from message_history h
		) x
		where x.at < $1::timestamptz
		group by 1, 2, 3`
)

// rowsOf returns the rows of a query.
func rowsOf[R any](t *testing.T, d *postgres.DB, sql string, hour time.Time) []R {
	t.Helper()
	rows, err := d.Pool().Query(t.Context(), sql, hour)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[R])
	require.NoError(t, err)
	return out
}

// direct computes the figures that incidents and messages have, without reading what was counted.
func direct(t *testing.T, d *postgres.DB, like applications.Statistics) applications.Statistics {
	t.Helper()
	s := applications.NewStatistics(like.Hour)
	s.Plans, s.Users, s.Applications = like.Plans, like.Users, like.Applications
	for _, r := range rowsOf[struct {
		Application              int64
		Week                     int
		Incidents, Claimed, High int64
	}](t, d, directIncidents, s.Hour) {
		f := s.Of(r.Application)
		f.Incidents[r.Week], f.Claimed[r.Week], f.High[r.Week] = r.Incidents, r.Claimed, r.High
	}
	for _, r := range rowsOf[struct {
		Application int64
		Week        int
		Median      float64
	}](t, d, directMedians, s.Hour) {
		switch {
		case r.Week >= applications.Points:
		case r.Application == 0:
			s.ClaimMedian[r.Week] = r.Median
		default:
			s.Of(r.Application).ClaimMedian[r.Week] = r.Median
		}
	}
	for _, r := range rowsOf[struct {
		Application                    int64
		Mode                           string
		Week                           int
		Sent, Delivered, Failed, Tried int64
	}](t, d, directMessages, s.Hour) {
		m := s.Of(r.Application).Mode(users.Mode(r.Mode))
		m.Sent[r.Week], m.Delivered[r.Week], m.Failed[r.Week], m.Tried[r.Week] = r.Sent, r.Delivered, r.Failed, r.Tried
	}
	for id, f := range like.ByID {
		s.Of(id).CallRetries = f.CallRetries
	}
	return s
}

// past adds 3,000 incidents and 2 messages for each, of the last 100 days. Some happened at full hours and at the ends
// of weeks. $1 makes the rows random.
const past = `
	with x as (
		select n, case n % 10 when 0 then date_trunc('hour', now()) - (n / 10) * interval '84 hours'
			else now() - random() ^ 3 * interval '100 days' end as at, random() as r, 2 + (random() * 2)::int as app
		from setseed($1), generate_series(1, 3000) n
	), i as (
		insert into incidents (plan_id, application_id, created_at, updated_at, active, owner_id)
		select 1 + n % 2, app, case when at > now() - interval '100 days' then at else now() - interval '90 days' end, at + r * interval '1 hour', r > 0.9, case when r < 0.5 then 1 end from x
		returning id, application_id, created_at, updated_at, owner_id
	), t as (
		insert into timeline_entries (incident_id, at, kind, text)
		select id, created_at + (updated_at - created_at) / 2, 'acknowledged', 'x' from i where owner_id is not null and id % 5 > 0
	), m as (
		select i.*, k, nextval('message_ids') as message_id, created_at + random() * interval '3 hours' as settled,
			(array['sent', 'delivered', 'failed', 'cancelled', 'dropped', 'pending'])[1 + (random() * 5)::int] as state,
			(array['email', 'sms', 'call', 'drop'])[1 + (random() * 3)::int] as mode, (random() * 2)::int as attempt
		from i, generate_series(1, 2) k
	), q as (
		insert into messages (id, bucket, incident_id, application_id, recipient, target, class, mode, state, attempt, created_at, settled_at)
		select message_id, id & 255, id, application_id, 'user:' || k, 'ann', 1, mode, state, attempt, created_at, case when state <> 'pending' then settled end
		from m where message_id % 3 = 0 or state = 'pending'
	)
	insert into message_history (id, created_at, bucket, incident_id, application_id, reopen_count, step, position, repeat, recipient, purpose, target, class,
		mode, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
	select message_id, created_at, id & 255, id, application_id, 0, 1, 0, 0, 'user:' || k, 'primary', 'ann', 1,
		mode, state, attempt, false, settled, '', '', '', '', '', '[]'
	from m where message_id % 3 > 0 and state <> 'pending'`

// The figures that are summed up from counted hours are those that a direct computation has, also after old incidents
// and messages have changed.
func TestCountedStatisticsEqualADirectComputation(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`insert into users (name) values ('ann')`)
	exec(`insert into applications (name) values ('one'), ('two'), ('three'), ('four')`)
	exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0), ('q', 1, 0, 0, 0, 0)`)
	exec(`insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat) select 1, 1, 0, 'high', 'user', target_id, 't', 0, 0 from users`)
	seed := rand.Float64()
	t.Log("seed", seed)
	exec(`select make_history_partition(now() - n * interval '1 month') from generate_series(0, 4) n`)
	exec(past, seed)
	s := pgsystem.NewStatistics(d)
	compare := func(what string) {
		t.Helper()
		exec(`delete from statistics_snapshots`)
		require.NoError(t, s.Count(t.Context(), 0))
		got, err := s.Current(t.Context())
		require.NoError(t, err)
		require.Equal(t, direct(t, d, got), got, what)
	}
	compare("first fill")

	exec(`update incidents set owner_id = 1, updated_at = now() where id % 7 = 0 and owner_id is null`)
	exec(`update incidents set owner_id = null where id % 11 = 0`)
	exec(`update incidents set updated_at = now() where id % 13 = 0`)
	exec(`update incidents set source_acknowledged = true where id % 19 = 0 and owner_id is null`)
	compare("incidents were acknowledged, reopened and resolved")

	// A receipt arrives for a message in the queue and for one in history.
	exec(`insert into attempts (message_id, attempt, mode, vendor, destination, process_id, vendor_message_id)
		select id, attempt, mode, 'twilio', '', 'p', 'q' || row_number() over () from messages where state = 'sent' and attempt > 0`)
	exec(`insert into vendor_messages (vendor, vendor_message_id, message_id, attempt, created_at)
		select 'twilio', 'h' || row_number() over (), id, attempt, created_at from message_history where state = 'sent'`)
	receipts := pgincidents.NewReceipts(d)
	for n := range 40 {
		for _, queue := range []string{"q", "h"} {
			r := messages.Receipt{Vendor: "twilio", VendorMessageID: fmt.Sprint(queue, n+1), Status: "delivered",
				Outcome: messages.OutcomeSent, Delivered: true}
			if n%3 == 0 {
				r.Status, r.Outcome, r.Delivered = "undelivered", messages.OutcomeRejected, false
			}
			known, err := receipts.Apply(t.Context(), r)
			require.NoError(t, err)
			require.True(t, known)
		}
	}
	compare("receipts arrived")

	_, err := pg.NewHistory(d).Move(t.Context(), time.Minute, 100_000)
	require.NoError(t, err)
	compare("messages moved to history")

	exec(`update statistics_progress set days_to = days_to - interval '5 days', counted_to = counted_to - interval '2 days'`)
	exec(`update incidents set owner_id = 1 where id % 17 = 0`)
	compare("the job was away for two days")

	_, err = pg.NewHistory(d).Forget(t.Context(), 60*24*time.Hour)
	require.NoError(t, err)
	compare("old messages were deleted")

	exec(past, seed/2)
	exec(`delete from statistics_progress`) // as an import does
	compare("rows were imported")
}
