package pg_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// periodic are the statements that processes run again and again, on tables that grow: by file, statement and
// arguments, with the most rows that they may read while nothing is due. A new one belongs here.
func periodic() map[string]map[string]map[string]any {
	all := make([]int, 256)
	for b := range all {
		all[b] = b
	}
	none, now, ago := []int64{}, any(nil), time.Now().Add(-time.Hour)
	year := map[string]any{"retention_us": int64(365 * 86_400_000_000)}
	return map[string]map[string]map[string]any{
		"runner.sql": {
			"DueIncidents":            {"now": now, "buckets": all, "excluded": none, "per_bucket": 64, "total": 1000},
			"NextDueIncident":         {"now": now, "buckets": all},
			"OldestDueByBucket":       nil,
			"WakeResumed":             {"now": now, "most": 5000},
			"MessagesNeedingFallback": {"buckets": all, "excluded": none, "per_bucket": 64, "total": 1000},
		},
		"queue.sql": {
			"WaitingLanes":   {"buckets": all, "low": ago},
			"OverdueSending": {"process_id": "me", "buckets": all},
			"ExpiredBuckets": {"buckets": all},
		},
		"queues.sql": {"QueueDepths": nil, "PendingByApplication": nil},
		"watch.sql": {"OldestUnsent": nil, "NoteUnsent": {"low": ago, "after_us": int64(30_000_000),
			"buckets": all}},
		"floods.sql":      {"DueAggregations": {"now": now, "buckets": all}},
		"added_pages.sql": {"WaitingPages": {"now": now, "buckets": all, "excluded": none, "most": 100}},
		"deliveries.sql": {"DueTimers": {"now": now, "buckets": all}, "ForgetResolvedGroups": nil,
			"ForgetEarlyResolves": {"keep_seconds": 120.0},
			"ForgetRestarts":      nil},
		"held.sql":     {"ForgetHeldEvents": nil},
		"groups.sql":   {"ForgetEventGroups": nil},
		"receipts.sql": {"EarlyReceipts": nil},
		"silences.sql": {
			"EndedSilences": {"buckets": all, "most": 500},
			"AboutToPage":   {"application_id": 0, "any_plan": true, "plan_ids": none},
		},
		"audit.sql":       {"ForgetAudit": year, "ForgetOncallAudit": year},
		"statistics.sql":  {"TakeChangedHours": nil, "StatisticsCountedTo": nil},
		"idempotency.sql": {"ExpireIdempotencyKeys": {"keep_seconds": 86_400.0, "most": 1000}},
	}
}

// While incidents sleep, silences hide some, and messages are finished, no periodic statement reads them.
func TestPeriodicStatementsReadOnlyWhatIsDue(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	plain, keyed := pgtest.Open(t, url, postgres.Config{}), pgtest.Open(t, url, postgres.Config{KeyedPlans: true})
	fillSized(t, plain, 20_000)
	_, err := plain.Pool().Exec(t.Context(),
		`insert into incidents (plan_id, application_id, active, silenced_until) select 1, 2, false, clock_timestamp() + interval '1 day' from generate_series(1, 20000);
		insert into messages (bucket, incident_id, reopen_count, step, position, repeat, application_id, recipient, user_id, target, class, mode, state, settled_at)
			select n & 255, n, 0, 1, 0, 0, 2, 'user:1', 1, 'ann', 0, 'email', 'sent', clock_timestamp() from generate_series(1, 20000) n;
		insert into timeline_entries (incident_id, kind, actor, text) select n, 'step', '', 'x' from generate_series(1, 20000) n;
		insert into audit_log (actor, action, object) select 'ann', 'plan.created', 'plan ' || n from generate_series(1, 20000) n;
		insert into idempotency_keys (application_id, route, key, body_hash, status, created_at) select 2, 'r', n::text, '', 200, clock_timestamp() from generate_series(1, 20000) n;
		insert into incident_timers (incident_id, due_at, reason) select n, clock_timestamp() + interval '1 day', 'snooze' from generate_series(1, 20000) n;
		insert into silences (match, starts_at, ends_at, recurrence, zone, comment, author)
			select 'team="t' || n || '"', clock_timestamp(), clock_timestamp() + interval '1 hour', '', 'UTC', 'c', 'ann' from generate_series(1, 1000) n`)
	require.NoError(t, err)
	_, err = plain.Pool().Exec(t.Context(), "vacuum (analyze)")
	require.NoError(t, err)
	for role, d := range map[string]*postgres.DB{"iris-api": plain, "message-processor": keyed} {
		for file, statements := range periodic() {
			for name, args := range statements {
				require.LessOrEqual(t, pgtest.Scanned(t, d, file, name, args), 600, "%s %s, as planned in %s", file,
					name, role)
			}
		}
		read := pgtest.Scanned(t, d, "silences.sql", "Silences",
			map[string]any{"counted": false, "id": 0, "kept": true, "before": int64(1) << 60, "most": 10_000})
		require.LessOrEqual(t, read, 5_000, "%s: the list of 1,000 silences, not what they hide", role)
	}
}

// Of the escalating incidents that a silence may hide at once, only the newest are read, also if an application or a
// plan has few.
func TestASilenceReadsABoundedNumberOfIncidents(t *testing.T) {
	t.Parallel()
	d := newSized(t, 40_000)
	for _, args := range []map[string]any{
		{"application_id": 0, "any_plan": true, "plan_ids": []int64{}, "most": 500},
		{"application_id": 2, "any_plan": true, "plan_ids": []int64{}, "most": 500},
		{"application_id": 0, "any_plan": false, "plan_ids": []int64{1}, "most": 500},
		{"application_id": 2, "any_plan": false, "plan_ids": slices.Repeat([]int64{1}, 3), "most": 500},
		{"application_id": 1, "any_plan": true, "plan_ids": []int64{}, "most": 500},
		{"application_id": 0, "any_plan": false, "plan_ids": []int64{77}, "most": 500},
	} {
		require.LessOrEqual(t, pgtest.Scanned(t, d, "silences.sql", "NewestEscalating", args), 500, args)
	}
}
