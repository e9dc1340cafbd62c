package pg_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// A flood of incidents goes through two engines, one of them with a stale lease. Vendors are unreliable, people
// acknowledge and reopen, and there are a reprioritisation rule and a quota that is never reached. At the end no page
// is held. For every incident that nobody changed, the page or its digest was sent, or a fallback was paged.
func TestAFloodWithUnreliableVendorsAndConcurrentEdits(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("flood",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high"},
		pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "medium"},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "urgent"})
	e.Exec(`update plans set threshold_window = 30, threshold_count = 5, aggregation_window = 1, aggregation_reset = 30`)
	e.FallbackTo("plans", plan, "user", "boss")
	addRule(e, "cy", "email", "slack", 3)
	setQuota(e, 100_000, 50_000)
	const count = 60
	core, logs := observer.New(zap.ErrorLevel)
	calls := &callLog{began: map[messages.ID][]time.Time{}, accepted: map[messages.ID]int{}}
	vendors := []messages.Vendor{&moody{"twilio", []users.Mode{users.SMS, users.Call}, calls},
		&moody{"smtp", []users.Mode{users.Email}, calls},
		&moody{"slack", []users.Mode{users.Slack}, calls}}
	e.Exec(`insert into members (process_id, host, version, data_shape, heartbeat_at) select p, 'h', 'v', 1, clock_timestamp() + interval '1 hour'
		from unnest(array['stale', 'owner']) p`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	group, gctx := errgroup.WithContext(ctx)
	stale := newEngine(e, e.Own("stale"), zap.New(core), vendors...)
	group.Go(func() error { return stale.run(gctx) })
	var ids []incidents.ID
	open := func(n int) {
		for range n {
			ids = append(ids, incidents.ID(e.ID(`insert into incidents (plan_id, application_id, due_at) values ($1, $2, clock_timestamp()) returning id`, plan, e.App)))
		}
	}
	open(count / 2)
	require.Eventually(t, func() bool { return e.ID(`select count(*) from messages where held_at is not null`) > 0 },
		10*time.Second, 5*time.Millisecond)
	owner := newEngine(e, e.Own("owner"), zap.New(core), vendors...)
	group.Go(func() error { return owner.run(gctx) })
	open(count / 2)

	answers := pgincidents.New(e.DB)
	ana := users.User{ID: users.ID(e.People["ana"]), Name: "ana"}
	silent := map[incidents.ID]bool{}
	for range 60 {
		id := ids[rand.IntN(count/2)*2] // every second incident is not changed
		c := incidents.Change{IDs: []incidents.ID{id}, Actor: "ana", Via: incidents.ViaAPI}
		_, err := answers.Acknowledge(ctx, c, ana)
		require.NoError(t, err)
		silent[id] = true
		if rand.IntN(3) == 0 {
			_, err = answers.Reopen(ctx, c)
			require.NoError(t, err)
			delete(silent, id)
		}
	}
	defer func() {
		if t.Failed() {
			logIncidents(e)
		}
	}()
	require.Eventually(t, func() bool {
		return e.ID(`select (select count(*) from incidents where active or due_at is not null)
			+ (select count(*) from messages where state in ('pending', 'taken', 'sending') or needs_fallback or (state = 'aggregated' and batch is null))
			+ (select count(*) from aggregations where release_at is not null)`) == 0
	}, 90*time.Second, 50*time.Millisecond)
	stop()
	require.NoError(t, group.Wait())
	for _, l := range logs.All() {
		t.Errorf("an error in the log: %s %v", l.Message, l.ContextMap())
	}

	require.Positive(t, e.ID(`select count(*) from messages where purpose = 'digest'`))
	require.Zero(t, e.ID(`select count(*) from attempts where outcome is null`), "every attempt has its outcome")
	require.Zero(t, e.ID(`select count(*) from (select from messages where incident_id is not null
		group by incident_id, reopen_count, step, repeat, position, recipient, purpose having count(*) > 1) twice`), "P3")
	require.Zero(t, e.ID(`select count(*) from messages m where m.batch is not null and m.incident_id is not null
		and not exists (select from batch_incidents b where b.batch = m.batch and b.incident_id = m.incident_id)`), "a digest answers for all its pages")
	for i, id := range ids {
		if i%2 == 0 {
			continue
		}
		require.Equal(t, int64(3), e.ID(`select count(distinct step) from messages where incident_id = $1`, int64(id)),
			"P1: every step fired, and then the fallback")
		require.Zero(t, e.ID(`select count(*) from messages where incident_id = $1 and state = 'cancelled'`, int64(id)))
		require.Zero(t, e.ID(`select count(*) from messages m where m.incident_id = $1 and m.state = 'aggregated' and not exists (
			select from messages d where d.batch = m.batch and d.purpose = 'digest' and d.state in ('sent', 'delivered', 'failed'))`, int64(id)),
			"what was held left with its digest")
	}
	require.Zero(t, e.ID(`select count(*) from messages d where d.purpose = 'digest' and d.state = 'failed' and not exists (
		select from messages f where f.fallback_of = d.id) and not exists (
		select from batch_incidents b join timeline_entries t on t.incident_id = b.incident_id where b.batch = d.batch and t.kind = 'fallback')`), "P8")
	require.Positive(t, e.ID(`select count(*) from message_changes where description = $1`,
		messages.ReprioritisationText))
	require.Equal(t, e.ID(`select count(*) from messages where held_at is null and mode <> 'drop' and request_id is null and fallback_of is null`),
		e.ID(`select sum((x->>'n')::int) from sliding_counts c, jsonb_array_elements(c.state->'w'->'e') x where c.key = 'quota:' || $1::bigint`, e.App)-
			e.ID(`select count(*) from timeline_entries where kind = 'held' and text like '%no others came'`), "each message was counted once")
}
