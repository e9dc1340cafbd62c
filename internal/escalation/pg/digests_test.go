package pg_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// aggregatePlan makes a plan aggregate the pages beyond threshold in a minute. A digest is sent every minute until a
// minute has no page.
func aggregatePlan(e *pgtest.Escalating, plan int64, threshold int) {
	e.T.Helper()
	e.Exec(`update plans set threshold_window = 60, threshold_count = $2, aggregation_window = 60, aggregation_reset = 60 where id = $1`, plan, threshold)
}

func TestAFloodBecomesADigest(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("storm", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high"},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "low", Wait: time.Hour})
	aggregatePlan(e, plan, 2)
	var ids []int64
	for range 6 {
		ids = append(ids, e.Open(plan))
		e.Pass()
		e.Later(time.Second)
	}
	for i, id := range ids {
		want := []string{"1.0.0 primary ana sms pending"}
		if i >= 2 {
			want = []string{"1.0.0 primary ana sms aggregated"}
		}
		if got := e.Pages(id); i < 2 {
			require.Equal(t, want, got, "never the first ones")
		} else {
			require.Equal(t, want, got[:1])
		}
	}
	held := ids[2]
	require.Contains(t, e.Timeline(held),
		"held: page to ana held: more than 2 pages of this plan and priority within 1 min; it is sent in a digest within 1 min")
	require.Equal(t, "sent-change|aggregated|Aggregated with key ("+fmt.Sprint(plan)+", shop, high, ana)",
		e.Text(`select c.change_type || '|' || c.new || '|' || c.description
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1 and m.target = 'ana'`, held))
	e.Pass()
	require.Equal(t, 2, e.Progress(held).Step, "a held page counts as sent for its step")

	e.Acknowledge(ids[3])
	e.Pass()
	require.Contains(t, e.Pages(ids[3]), "1.0.0 primary ana sms cancelled", "what is acknowledged leaves the set")

	// Another process takes over: it loses no page and sends none early.
	e.Holder = e.Own("heir")
	e.Runner = e.Start(e.Holder)
	e.Later(30 * time.Second)
	e.Pass()
	require.Zero(t, e.ID(`select count(*) from messages where purpose = 'digest'`))
	e.Later(30 * time.Second)
	e.Woken = buckets.Set{}
	e.Pass()
	require.False(t, e.Woken.Empty(), "delivery hears of it")
	batch := e.Text(`select batch from messages where purpose = 'digest'`)
	require.Regexp(t, `^[0-9a-f]{32}$`, batch)
	require.Equal(t, "ana sms high pending 3",
		e.Text(`select format('%s %s %s %s %s', target, mode, priority, state, batch_size) from messages where purpose = 'digest'`))
	for _, id := range []int64{ids[2], ids[4], ids[5]} {
		require.Equal(t, "[shop] 3 messages from plan storm|Batch ID: "+batch+"|ana@sms",
			e.Text(`select c.subject || '|' || c.body || '|' || c.destination
			from messages m join message_contents c on c.message_id = m.id where m.incident_id = $1 and m.batch = $2 and m.template is null`, id, batch))
		require.Contains(t, e.Timeline(id), "held: notifying ana by sms of 3 pages in one digest (batch "+batch+")")
	}
	found, err := pgincidents.NewResponses(e.DB).Batch(e.Ctx(), batch)
	require.NoError(t, err)
	require.Equal(t, []incidents.ID{incidents.ID(ids[2]), incidents.ID(ids[4]), incidents.ID(ids[5])}, found)

	waiting, err := pgincidents.NewResponses(e.DB).Waiting(e.Ctx(), append(found, incidents.ID(ids[3]), 1<<40))
	require.NoError(t, err)
	require.Equal(t, found, waiting, "but not what was acknowledged")

	asked, err := pgincidents.NewResponses(e.DB).AskedBatch(e.Ctx(), strings.ToUpper(batch))
	require.NoError(t, err)
	require.Equal(t, e.ID(`select id from messages where purpose = 'digest'`), int64(asked.MessageID))
	require.Equal(t, batch, asked.Batch)
	part, err := pgincidents.NewResponses(e.DB).Asked(e.Ctx(),
		messages.ID(e.ID(`select id from messages where incident_id = $1 and target = 'ana'`, ids[2])))
	require.NoError(t, err)
	require.Empty(t, part.Batch, "an answer to a page is about its incident")
	_, err = pgincidents.NewResponses(e.DB).ByContact(e.Ctx(), users.Slack, "a\x00\xff")
	require.Equal(t, fault.NotFound, fault.KindOf(err), "what cannot be stored is nobody's")
	_, err = pgincidents.NewResponses(e.DB).AskedBatch(e.Ctx(), strings.Repeat("0", 32))
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, int64(1), e.ID(`select count(*) from messages where purpose = 'digest' and target = 'ana'`),
		"once")
	quiet := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(quiet),
		"after a longer gap it is back to immediate")
}

func TestASingleHeldPageIsSentUnchanged(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("pair", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high"})
	aggregatePlan(e, plan, 1)
	e.Open(plan)
	e.Pass()
	held := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.Pages(held))
	e.Pass()
	require.False(t, e.Progress(held).Active, "it counts as sent, and the plan is over")
	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(held))
	require.Equal(t, "held: the held page to ana is sent by sms alone: no others came",
		e.Timeline(held)[len(e.Timeline(held))-1])
	// The digest is sent although the plan is exhausted, but not after an acknowledgement.
	queue := pg.New(e.DB)
	claimed := pgtest.TakeMessages(e, queue)
	require.Len(t, claimed, 2)
	e.Acknowledge(held)
	marked, err := queue.MarkSending(e.Ctx(), "me", pgtest.Starts(claimed))
	require.NoError(t, err)
	require.Len(t, marked, 1)
}

// makeDigest puts two incidents into one digest for ana.
func makeDigest(e *pgtest.Escalating) (first, second int64, batch string) {
	e.T.Helper()
	plan := e.Plan("storm", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	aggregatePlan(e, plan, 1)
	e.Open(plan)
	e.Pass()
	first, second = e.Open(plan), e.Open(plan)
	e.Pass()
	e.Later(time.Minute)
	e.Pass()
	e.Exec(`update messages set state = 'sent', settled_at = $1 where state = 'pending' and purpose <> 'digest'`, e.Now)
	return first, second, e.Text(`select batch from messages where purpose = 'digest'`)
}

func TestADigestIsSentUntilAllItsIncidentsAreAcknowledged(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	first, second, batch := makeDigest(e)
	queue := pg.New(e.DB)
	e.Acknowledge(first)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.Pages(first), "it is part of the digest already")
	claimed := pgtest.TakeMessages(e, queue)
	require.Len(t, claimed, 1)
	require.Equal(t, batch, claimed[0].Batch)
	require.Equal(t, 2, claimed[0].BatchSize)
	e.Acknowledge(second)
	marked, err := queue.MarkSending(e.Ctx(), "me", pgtest.Starts(claimed))
	require.NoError(t, err)
	require.Empty(t, marked, "P4: nobody waits any more")
	e.Pass()
	require.Equal(t, "cancelled", e.Text(`select state from messages where purpose = 'digest'`))
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, e.Pages(second))
	e.Reopen(second)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms aggregated/1"}, e.Pages(second),
		"the page never left: it is made again, and held, for the flood goes on")
}

func TestADigestThatCannotBeDeliveredGoesToTheFallbacks(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.FallbackTo("applications", e.App, "user", "bo")
	first, second, batch := makeDigest(e)
	for range 4 {
		e.Exec(`update messages set state = 'failed', settled_at = $1, needs_fallback = true where state = 'pending'`,
			e.Now)
		e.Pass()
	}
	require.Equal(t, "ana digest, bo fallback, owner fallback",
		e.Text(`select string_agg(target || ' ' || purpose, ', ' order by id) from messages where batch = $1 and incident_id is null`, batch))
	require.Zero(t, e.ID(`select count(*) from messages where needs_fallback`))
	for _, id := range []int64{first, second} {
		lines := e.Timeline(id)
		require.Contains(t, lines, "fallback: ana could not be reached in any mode; paging bo by sms instead (fallback of application shop, bo)")
		require.Contains(t, lines[len(lines)-1],
			"owner could not be reached in any mode and there is no further fallback")
	}
}

func TestDigestsBecomeHistory(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	first, second, batch := makeDigest(e)
	e.Exec(`update messages set state = 'sent', settled_at = clock_timestamp() - interval '1 hour' where purpose = 'digest'`)
	e.Exec(`update messages set settled_at = clock_timestamp() - interval '1 hour' where settled_at is not null`)
	e.Exec(`update incidents set active = false, due_at = null`)
	carrier := e.ID(`select id from messages where purpose = 'digest'`)
	inDigest := func() (of []int64) {
		found, err := pgincidents.NewMessages(e.DB).List(e.Ctx(), filters.Query{Conditions: []filters.Condition{
			{Field: "batch", Op: filters.Eq, Values: []any{batch}}}})
		require.NoError(t, err)
		for _, m := range found {
			of = append(of, int64(m.IncidentID))
		}
		return of
	}
	require.Equal(t, []int64{first, second}, inDigest(), "the pages in it, not what carried them")
	_, err := pg.NewHistory(e.DB).Move(e.Ctx(), time.Minute, 100)
	require.NoError(t, err)
	require.Zero(t, e.ID(`select count(*) from messages`))
	require.Equal(t, []int64{first, second}, inDigest())
	digest, err := pgincidents.NewMessages(e.DB).Get(e.Ctx(), messages.ID(carrier))
	require.NoError(t, err)
	require.Equal(t, batch, digest.Batch)
	list, err := pgincidents.NewMessages(e.DB).ByIncident(e.Ctx(), incidents.ID(first))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, messages.Aggregated, list[0].State)
	require.Equal(t, batch, list[0].Batch)
	require.False(t, list[0].SentAt.IsZero(), "it left with its digest")
	require.Equal(t, "Batch ID: "+batch, list[0].Body)
}
