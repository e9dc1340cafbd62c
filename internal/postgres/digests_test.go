package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// aggregate makes a plan bundle what exceeds so many pages in a minute, every minute, until a minute passes without one.
func aggregatePlan(e *escalating, plan int64, threshold int) {
	e.t.Helper()
	e.exec(`update plans set threshold_window = 60, threshold_count = $2, aggregation_window = 60, aggregation_reset = 60 where id = $1`, plan, threshold)
}

func TestAFloodBecomesADigest(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("storm", intent{step: 1, role: "user", target: "ana", priority: "high"},
		intent{step: 2, role: "user", target: "bo", priority: "low", wait: time.Hour})
	aggregatePlan(e, plan, 2)
	var ids []int64
	for range 6 {
		ids = append(ids, e.open(plan))
		e.pass()
		e.later(time.Second)
	}
	for i, id := range ids {
		want := []string{"1.0.0 primary ana sms pending"}
		if i >= 2 {
			want = []string{"1.0.0 primary ana sms aggregated"}
		}
		if got := e.pages(id); i < 2 {
			require.Equal(t, want, got, "never the first ones")
		} else {
			require.Equal(t, want, got[:1])
		}
	}
	held := ids[2]
	require.Contains(t, e.timeline(held), "held: page to ana held: more than 2 pages of this plan and priority within 1 min; it leaves in a digest within 1 min")
	require.Equal(t, "sent-change|aggregated|Aggregated with key ("+fmt.Sprint(plan)+", shop, high, ana)", e.text(`select c.change_type || '|' || c.new || '|' || c.description
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1 and m.target = 'ana'`, held))
	e.pass()
	require.Equal(t, 2, e.standing(held).Step, "a held page counts as sent for its step")

	e.acknowledge(ids[3])
	e.pass()
	require.Contains(t, e.pages(ids[3]), "1.0.0 primary ana sms cancelled", "what is acknowledged leaves the set")

	// Another process takes over; nothing is lost, nothing leaves early.
	e.holder = e.own("heir")
	e.runner = e.start(e.holder)
	e.later(30 * time.Second)
	e.pass()
	require.Zero(t, e.id(`select count(*) from messages where purpose = 'digest'`))
	e.later(30 * time.Second)
	e.woken = buckets.Set{}
	e.pass()
	require.False(t, e.woken.Empty(), "delivery hears of it")
	batch := e.text(`select batch from messages where purpose = 'digest'`)
	require.Regexp(t, `^[0-9a-f]{32}$`, batch)
	require.Equal(t, "ana sms high pending 3", e.text(`select format('%s %s %s %s %s', target, mode, priority, state, batch_size) from messages where purpose = 'digest'`))
	for _, id := range []int64{ids[2], ids[4], ids[5]} {
		require.Equal(t, "[shop] 3 messages from plan storm|Batch ID: "+batch+"|ana@sms", e.text(`select c.subject || '|' || c.body || '|' || c.destination
			from messages m join message_contents c on c.message_id = m.id where m.incident_id = $1 and m.batch = $2 and m.template is null`, id, batch))
		require.Contains(t, e.timeline(id), "held: telling ana by sms of 3 pages in one digest (batch "+batch+")")
	}
	found, err := postgres.NewResponses(e.db).Batch(e.ctx(), batch)
	require.NoError(t, err)
	require.Equal(t, []incidents.ID{incidents.ID(ids[2]), incidents.ID(ids[4]), incidents.ID(ids[5])}, found)

	waiting, err := postgres.NewResponses(e.db).Waiting(e.ctx(), append(found, incidents.ID(ids[3]), 1<<40))
	require.NoError(t, err)
	require.Equal(t, found, waiting, "but not what was acknowledged")

	asked, err := postgres.NewResponses(e.db).AskedBatch(e.ctx(), strings.ToUpper(batch))
	require.NoError(t, err)
	require.Equal(t, e.id(`select id from messages where purpose = 'digest'`), int64(asked.MessageID))
	require.Equal(t, batch, asked.Batch)
	part, err := postgres.NewResponses(e.db).Asked(e.ctx(), messages.ID(e.id(`select id from messages where incident_id = $1 and target = 'ana'`, ids[2])))
	require.NoError(t, err)
	require.Empty(t, part.Batch, "an answer to a page is about its incident")
	_, err = postgres.NewResponses(e.db).ByContact(e.ctx(), users.Slack, "a\x00\xff")
	require.Equal(t, fault.NotFound, fault.KindOf(err), "what cannot be stored is nobody's")
	_, err = postgres.NewResponses(e.db).AskedBatch(e.ctx(), strings.Repeat("0", 32))
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	e.later(time.Minute)
	e.pass()
	require.Equal(t, int64(1), e.id(`select count(*) from messages where purpose = 'digest' and target = 'ana'`), "once")
	quiet := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(quiet), "after a longer gap it is back to immediate")
}

func TestALonelyHeldPageLeavesAsItIs(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("pair", intent{step: 1, role: "user", target: "ana", priority: "high"})
	aggregatePlan(e, plan, 1)
	e.open(plan)
	e.pass()
	held := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.pages(held))
	e.pass()
	require.False(t, e.standing(held).Active, "it counts as sent, and the plan is over")
	e.later(time.Minute)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(held))
	require.Equal(t, "held: the page to ana that was held leaves by sms: no others came", e.timeline(held)[len(e.timeline(held))-1])
	// It is sent although the plan is exhausted, but not once somebody has it.
	queue := postgres.NewQueue(e.db)
	claimed := takeMessages(e, queue)
	require.Len(t, claimed, 2)
	e.acknowledge(held)
	marked, err := queue.MarkSending(e.ctx(), "me", starts(claimed))
	require.NoError(t, err)
	require.Len(t, marked, 1)
}

// digest brings two incidents into one digest for ana.
func makeDigest(e *escalating) (first, second int64, batch string) {
	e.t.Helper()
	plan := e.plan("storm", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	aggregatePlan(e, plan, 1)
	e.open(plan)
	e.pass()
	first, second = e.open(plan), e.open(plan)
	e.pass()
	e.later(time.Minute)
	e.pass()
	e.exec(`update messages set state = 'sent', settled_at = $1 where state = 'pending' and purpose <> 'digest'`, e.now)
	return first, second, e.text(`select batch from messages where purpose = 'digest'`)
}

func TestADigestLeavesAsLongAsOneOfItsIncidentsWaits(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	first, second, batch := makeDigest(e)
	queue := postgres.NewQueue(e.db)
	e.acknowledge(first)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.pages(first), "it is part of the digest already")
	claimed := takeMessages(e, queue)
	require.Len(t, claimed, 1)
	require.Equal(t, batch, claimed[0].Batch)
	require.Equal(t, 2, claimed[0].BatchSize)
	e.acknowledge(second)
	marked, err := queue.MarkSending(e.ctx(), "me", starts(claimed))
	require.NoError(t, err)
	require.Empty(t, marked, "P4: nobody waits any more")
	e.pass()
	require.Equal(t, "cancelled", e.text(`select state from messages where purpose = 'digest'`))
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, e.pages(second))
	e.reopen(second)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms aggregated/1"}, e.pages(second),
		"the page never left: it is made again, and held, for the flood goes on")
}

func TestADigestThatCannotBeDeliveredGoesToTheFallbacks(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.fallbackTo("applications", e.app, "user", "bo")
	first, second, batch := makeDigest(e)
	for range 4 {
		e.exec(`update messages set state = 'failed', settled_at = $1, needs_fallback = true where state = 'pending'`, e.now)
		e.pass()
	}
	require.Equal(t, "ana digest, bo fallback, owner fallback", e.text(`select string_agg(target || ' ' || purpose, ', ' order by id) from messages where batch = $1 and incident_id is null`, batch))
	require.Zero(t, e.id(`select count(*) from messages where needs_fallback`))
	for _, id := range []int64{first, second} {
		lines := e.timeline(id)
		require.Contains(t, lines, "fallback: ana could not be reached in any mode; paging bo by sms instead (fallback of application shop, bo)")
		require.Contains(t, lines[len(lines)-1], "owner could not be reached in any mode and there is no further fallback")
	}
}

func TestDigestsBecomeHistory(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	first, second, batch := makeDigest(e)
	e.exec(`update messages set state = 'sent', settled_at = clock_timestamp() - interval '1 hour' where purpose = 'digest'`)
	e.exec(`update messages set settled_at = clock_timestamp() - interval '1 hour' where settled_at is not null`)
	e.exec(`update incidents set active = false, due_at = null`)
	carrier := e.id(`select id from messages where purpose = 'digest'`)
	inDigest := func() (of []int64) {
		found, err := postgres.NewMessages(e.db).List(e.ctx(), filters.Query{Conditions: []filters.Condition{
			{Field: "batch", Op: filters.Eq, Values: []any{batch}}}})
		require.NoError(t, err)
		for _, m := range found {
			of = append(of, int64(m.IncidentID))
		}
		return of
	}
	require.Equal(t, []int64{first, second}, inDigest(), "the pages in it, not what carried them")
	_, _, err := postgres.NewHistory(e.db).Move(e.ctx(), delivery.Cursor{}, time.Minute, 100)
	require.NoError(t, err)
	require.Zero(t, e.id(`select count(*) from messages`))
	require.Equal(t, []int64{first, second}, inDigest())
	digest, err := postgres.NewMessages(e.db).Get(e.ctx(), messages.ID(carrier))
	require.NoError(t, err)
	require.Equal(t, batch, digest.Batch)
	list, err := postgres.NewMessages(e.db).ByIncident(e.ctx(), incidents.ID(first))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, messages.Aggregated, list[0].State)
	require.Equal(t, batch, list[0].Batch)
	require.False(t, list[0].SentAt.IsZero(), "it left with its digest")
	require.Equal(t, "Batch ID: "+batch, list[0].Body)
}
