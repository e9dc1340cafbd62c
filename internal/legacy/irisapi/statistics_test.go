package irisapi_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// past adds incidents and messages. The application demo has four incidents: two of yesterday, one claimed after 90
// seconds and one without an owner, and two of last week, claimed after 30 and 200 seconds. The application other has
// an old one. The messages, in the queue and in history, are in all states.
const past = `
insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset, created_at)
	values ('quiet', 1, 0, 0, 0, 0, now() - interval '10 days');
insert into incidents (plan_id, application_id, created_at, updated_at, active, owner_id)
	select p.id, a.id, date_trunc('hour', now()) - x.age, date_trunc('hour', now()) - x.age + x.took, false, case when x.claimed then 1 end
	from (values ('demo', 'pager', interval '1 day', interval '5 hours', true), ('demo', 'quiet', interval '1 day', interval '0', false),
		('demo', 'pager', interval '8 days', interval '30 seconds', true), ('demo', 'pager', interval '9 days', interval '200 seconds', true),
		('other', 'quiet', interval '300 days', interval '0', false), ('demo', 'pager', interval '-1 second', interval '0', false)) x (app, plan, age, took, claimed)
	join applications a on a.name = x.app join plans p on p.name = x.plan
	order by x.age;
insert into timeline_entries (incident_id, at, kind, text)
	select i.id, i.created_at + x.after, 'acknowledged', 'x' from incidents i, (values (interval '90 seconds'), (interval '10 minutes')) x (after)
	where i.updated_at - i.created_at = interval '5 hours';
insert into notification_requests (application_id) select id from applications where name = 'demo';
insert into messages (bucket, request_id, application_id, recipient, target, class, mode, state, attempt, settled_at)
	select 1, 1, a.id, 'literal:' || x.n, 'x', 2, x.mode, x.state, x.attempt, date_trunc('hour', now()) - interval '1 hour'
	from applications a, (values (1, 'email', 'sent', 1), (2, 'email', 'failed', 3), (3, 'sms', 'delivered', 1), (4, 'call', 'sent', 2),
		(5, 'call', 'delivered', 1), (6, 'drop', 'dropped', 0), (7, 'email', 'cancelled', 0)) x (n, mode, state, attempt)
	where a.name = 'demo';
insert into attempts (message_id, attempt, mode, vendor, destination, process_id, started_at)
	select m.id, n, 'call', 'twilio', 'x', 'p', date_trunc('hour', now()) - interval '2 hours' from messages m, generate_series(1, 2) n where m.recipient = 'literal:4';
insert into message_history (id, created_at, bucket, application_id, reopen_count, step, position, repeat, recipient, purpose, target, class, mode,
	state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
	select 1000 + x.weeks, date_trunc('hour', now()) - x.weeks * interval '7 days' - interval '1 hour', 1, a.id, 0, 0, 0, 0, 'user:1', 'primary', 'ann', 1,
		'call', 'failed', 3, true, date_trunc('hour', now()) - x.weeks * interval '7 days' - interval '1 hour', '', '', '', '', '', jsonb_build_array(
		jsonb_build_object('attempt', 1, 'mode', 'sms', 'started_at', now()), jsonb_build_object('attempt', 2, 'mode', 'call', 'started_at',
			date_trunc('hour', now()) - x.weeks * interval '7 days' - interval '1 hour'), jsonb_build_object('attempt', 3, 'mode', 'call', 'started_at',
			date_trunc('hour', now()) - x.weeks * interval '7 days' - interval '1 hour'))
	from applications a, (values (0), (1), (20)) x (weeks) where a.name = 'other';`

// points decodes a page of figures into name -> values, newest first, and checks the instants.
func points(t *testing.T, body string) map[string][]string {
	t.Helper()
	var page map[string][]map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &page), body)
	out := map[string][]string{}
	for name, at := range page {
		out[name] = values(t, at)
	}
	return out
}

func values(t *testing.T, at []map[string]json.RawMessage) []string {
	t.Helper()
	require.Len(t, at, applications.Points)
	var out []string
	var last int64
	for i, p := range at {
		require.Len(t, p, 1)
		for instant, v := range p {
			n, err := strconv.ParseInt(instant, 10, 64)
			require.NoError(t, err)
			require.Zero(t, n%3600, "full hours")
			require.True(t, i == 0 || n == last-7*24*3600)
			last = n
			out = append(out, string(v))
		}
	}
	return out
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(past)
	f.exec(`update applications set created_at = now() - interval '1 year'; update users set created_at = now() - interval '10 days' where name = 'ann'`)
	global := points(t, f.ok(demo, get, "/v0/stats", ""))
	require.Len(t, global, 10)
	for name, want := range map[string][]string{
		"total_plans":                             {"2", "2", "1", "1", "1", "1", "1"},
		"total_incidents":                         {"5", "3", "1", "1", "1", "1", "1"},
		"total_incidents_last_week":               {"2", "2", "0", "0", "0", "0", "0"},
		"total_high_priority_incidents_last_week": {"1", "2", "0", "0", "0", "0", "0"},
		"total_messages_sent":                     {"4", "0", "0", "0", "0", "0", "0"},
		"total_messages_sent_last_week":           {"4", "0", "0", "0", "0", "0", "0"},
		"total_applications":                      {"4", "4", "4", "4", "4", "4", "4"},
		"total_active_users":                      {"5", "1", "0", "0", "0", "0", "0"},
		"pct_incidents_claimed_last_week":         {"50", "100", "null", "null", "null", "null", "null"},
		"median_seconds_to_claim_last_week":       {"90", "115", "null", "null", "null", "null", "null"},
	} {
		require.Equal(t, want, global[name], name)
	}
	require.Equal(t, []string{"total_plans"},
		sortedNames(points(t, f.ok(demo, get, "/v0/stats?fields=total_plans,nonsense", ""))))

	demoFigures := points(t, f.ok(demo, get, "/v0/applications/DEMO/stats", ""))
	require.Len(t, demoFigures, 24)
	for name, first := range map[string]string{
		"total_incidents": "4", "total_incidents_last_week": "2", "pct_incidents_claimed_last_week": "50", "median_seconds_to_claim_last_week": "90",
		"total_call_retry_last_week": "1", "high_priority_incidents_last_week": "1", "pct_email_success_last_week": "50",
		"pct_email_fail_last_week": "50", "pct_email_other_last_week": "0", "pct_sms_success_last_week": "100", "pct_call_success_last_week": "50",
		"pct_call_fail_last_week": "0", "pct_call_other_last_week": "50", "total_email_sent_last_week": "1", "total_sms_sent_last_week": "1",
		"total_call_sent_last_week": "2", "total_drop_sent_last_week": "1", "total_slack_sent_last_week": "0", "total_messages_sent": "4",
	} {
		require.Equal(t, first, demoFigures[name][0], name)
	}
	other := points(t, f.ok(demo, get, "/v0/applications/other/stats", ""))
	require.Equal(t, []string{"1", "1", "0", "0", "0", "0", "0"}, other["total_call_retry_last_week"])
	require.Equal(t, []string{"100", "100", "null", "null", "null", "null", "null"}, other["pct_call_fail_last_week"])
	require.Equal(t, "null", points(t, f.ok(demo, get, "/v0/applications/iris/stats",
		""))["pct_incidents_claimed_last_week"][0])
	f.want(400, title("Application nope not found"), demo, get, "/v0/applications/nope/stats", "")

	var single []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(f.ok(demo, get, "/v0/singlestats/total_incidents", "")), &single))
	require.Equal(t, []string{`[{"demo":4},{"other":1}]`, `[{"demo":2},{"other":1}]`, `[{"other":1}]`, `[{"other":1}]`,
		`[{"other":1}]`, `[{"other":1}]`, `[{"other":1}]`},
		values(t, single))
	for _, name := range []string{"total_messages_sent", "total_incidents_last_week", "total_messages_sent_last_week", "pct_incidents_claimed_last_week",
		"total_call_retry_last_week", "high_priority_incidents_last_week"} {
		require.NoError(t, json.Unmarshal([]byte(f.ok(demo, get, "/v0/singlestats/"+name, "")), &single))
		require.Contains(t, values(t, single)[0], `{"demo":`, name)
	}
	f.want(400, title("Stat total_plans not found"), demo, get, "/v0/singlestats/total_plans", "")
	require.Equal(t, 1, f.count("select count(*) from statistics_snapshots"))
}

func sortedNames(m map[string][]string) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	return out
}

// counted is a store that counts the reads of its statistics.
type counted struct {
	asked  chan struct{}
	answer func() (applications.Statistics, error)
}

func (c *counted) Current(context.Context) (applications.Statistics, error) {
	c.asked <- struct{}{}
	return c.answer()
}

func TestStatisticsAreReadOnceAMinute(t *testing.T) {
	t.Parallel()
	fresh := &counted{make(chan struct{}, 10), func() (applications.Statistics, error) {
		return applications.NewStatistics(time.Now().Truncate(time.Hour)), nil
	}}
	f := newFixture(t, func(d *parts) { d.Statistics = fresh })
	for range 3 {
		f.ok(demo, get, "/v0/stats", "")
	}
	require.LessOrEqual(t, len(fresh.asked), 2, "twice when an hour ended meanwhile")
	failing := &counted{make(chan struct{}, 10), func() (applications.Statistics, error) {
		return applications.Statistics{}, fault.New(fault.Unavailable, "the statistics cannot be computed now")
	}}
	f = newFixture(t, func(d *parts) { d.Statistics = failing })
	for range 3 {
		f.want(503, title("the statistics cannot be computed now"), demo, get, "/v0/stats", "")
	}
	require.Len(t, failing.asked, 1)
}
