package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// failMessages fails every pending message of an incident permanently, as delivery records it.
func failMessages(e *pgtest.Escalating, incident int64) {
	e.T.Helper()
	e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and state = 'pending'`, incident, e.Now)
}

func TestFallbacksTryTheWholeChain(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("chain", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	e.FallbackTo("plans", plan, "user", "bo")
	e.FallbackTo("applications", e.App, "user", "cy")
	id := e.Open(plan)
	e.Pass()
	for range 4 {
		failMessages(e, id)
		e.Pass()
	}
	require.Equal(t, []string{
		"fallback: step 1: ana could not be reached in any mode; paging bo by sms instead (fallback of plan chain, bo)",
		"fallback: step 1: bo could not be reached in any mode; paging cy by sms instead (fallback of application shop, cy); " +
			"tried before: fallback of plan chain, bo: the same person",
		"fallback: step 1: cy could not be reached in any mode; paging owner by sms instead (creator of plan chain); " +
			"tried before: fallback of plan chain, bo: could not be reached either; fallback of application shop, cy: the same person",
		"fallback: step 1: owner could not be reached in any mode and there is no further fallback (fallback of plan chain, bo: " +
			"could not be reached either; fallback of application shop, cy: could not be reached either; creator of plan chain: the same person)",
	}, e.Timeline(id)[1:])
	require.Len(t, e.Pages(id), 4)

	// A person who cannot be resolved is replaced in the same way.
	e.Exec(`update users set active = false where name in ('ana', 'bo')`)
	second := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 fallback cy sms pending"}, e.Pages(second))
	require.Equal(t, "fallback: step 1: ana cannot be paged: user ana is not active; paging cy by sms instead (fallback of application shop, cy); "+
		"tried before: fallback of plan chain, bo: user bo is not active", e.Timeline(second)[0])
}

func TestAStepWhoseMessagesAllFailedIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("lost",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour, Repeat: 2},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Hour})
	lost, away := e.Open(plan), e.Open(plan)
	e.Pass()
	for range 2 { // ana, then the creator of the plan
		failMessages(e, lost)
		failMessages(e, away)
		e.Exec(`update messages set failed_for_good = true where incident_id = $1 and state = 'failed'`, lost)
		e.Pass()
	}
	e.Pass() // due because of the last failure
	require.Equal(t, []string{"1.0.0 primary ana sms failed", "1.0.0 fallback owner sms failed",
		"2.0.0 primary bo sms pending"}, e.Pages(lost))
	require.Contains(t, e.Timeline(lost),
		"skipped: step 1: every page of notification 1 failed for good; it is neither waited for nor repeated")
	require.Equal(t, 1, e.Progress(away).Step, "an outage is waited for")
	e.Later(time.Hour)
	e.Pass()
	require.Contains(t, e.Pages(away), "1.0.1 primary ana sms pending", "and its round is repeated")
}

func TestAFallbackRecipientWhoWasPagedIsNotPagedAgain(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("both", pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high", Wait: time.Minute})
	e.FallbackTo("plans", plan, "user", "bo")
	id := e.Open(plan)
	e.Pass()
	e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'ana'`, id, e.Now)
	e.Pass()
	require.Len(t, e.Pages(id), 3)
	require.Equal(t, "fallback: step 1: ana could not be reached in any mode; bo is paged already (fallback of plan both, bo)", e.Timeline(id)[1])
	// When Bo's message fails as well, the next fallback is paged.
	e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'bo'`, id, e.Now)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 fallback owner sms pending")
}

func TestAFallbackCancelledByAnAcknowledgementIsSentAfterReopening(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("stopped", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	e.Pass()
	failMessages(e, id)
	e.Acknowledge(id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms failed"}, e.Pages(id), "nobody is paged after an acknowledgement")
	e.Reopen(id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms failed", "1.0.0 primary ana sms pending/1"}, e.Pages(id),
		"nobody heard of it yet")

	// The incident is reopened before the runner saw the acknowledgement: only the fallback is still missing.
	quick := e.Open(e.Plan("quick", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	e.Pass()
	failMessages(e, quick)
	e.Acknowledge(quick)
	e.Reopen(quick)
	e.Pass()
	require.Equal(t, []string{"1.0.0 fallback owner sms pending/1", "1.0.0 primary ana sms failed"},
		sorted(e.Pages(quick)))
}

func TestAnExhaustedIncidentGetsItsFallback(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("late", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high"}))
	e.Pass()
	e.Settle(id, "sent")
	e.Pass()
	require.False(t, e.Progress(id).Active)
	// The vendor reports only now that it could not deliver. Every other mode failed as well.
	e.Exec(`update messages set state = 'failed', needs_fallback = true where incident_id = $1`, id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 fallback owner sms pending", "1.0.0 primary ana sms failed"}, sorted(e.Pages(id)))

	ana := users.User{ID: users.ID(e.People["ana"]), Name: "ana"}
	_, err := pgincidents.New(e.DB).Acknowledge(t.Context(),
		incidents.Change{IDs: []incidents.ID{incidents.ID(id)}, Actor: "ana"}, ana)
	require.NoError(t, err)
	e.Later(time.Minute)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 fallback owner sms cancelled",
		"an acknowledgement silences it all the same")
}

func TestADelayedIncidentIsDueAfterAnAcknowledgement(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("raced", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	store := pg.NewRunner(e.DB)
	due, err := store.Due(t.Context(), e.Holder.Held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.Now})
	require.NoError(t, err)
	require.Len(t, due, 1)
	e.Acknowledge(id)
	require.NoError(t, store.Delay(t.Context(), "me", due[0], time.Hour,
		incidents.Entry{Kind: incidents.EntryFailure, Text: "no"}, e.Now))
	require.Zero(t, e.Progress(id).Due, "it is looked at now")
	due, err = store.Due(t.Context(), e.Holder.Held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.Now,
		Excluded: []int64{id}})
	require.NoError(t, err)
	require.Len(t, due, 1, "also while it is left alone for its failures")
	require.Empty(t, e.Timeline(id))
	require.True(t, e.Holder.LostSet.Empty())
}

func TestABucketFullOfFailuresIsProcessedInOnePass(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.FallbackTo("applications", e.App, "user", "boss")
	e.Exec(`with r as (insert into notification_requests (id, application_id, subject) select n * 256 + 7, $1, 'x' from generate_series(1, 300) n returning id, bucket)
		insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, needs_fallback, settled_at)
		select bucket, id, $1, 'user:' || $2::bigint, $2::bigint, 'ana', 2, 'slack', 'failed', true, clock_timestamp() from r`, e.App, e.People["ana"])
	e.Pass()
	require.Zero(t, e.ID(`select count(*) from messages where needs_fallback`))
	require.Equal(t, int64(300), e.ID(`select count(*) from messages where purpose = 'fallback' and target = 'boss'`))
}

// During a vendor's outage several people of the chain are retried, and the next person of the chain was already
// requested for them. They must not count as notified.
func TestTheFallbackChainContinuesWhileEarlierPeopleAreRetried(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("outage", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	e.FallbackTo("plans", plan, "user", "bo")
	e.FallbackTo("applications", e.App, "user", "cy")
	id := e.Open(plan)
	e.Pass()
	for range 3 {
		// As delivery records it: every mode was tried once and is retried.
		e.Exec(`update messages set needs_fallback = true, cycles = 1 where incident_id = $1 and cycles = 0`, id)
		e.Pass()
	}
	require.Equal(t, []string{"1.0.0 fallback bo sms pending", "1.0.0 fallback cy sms pending",
		"1.0.0 fallback owner sms pending",
		"1.0.0 primary ana sms pending"}, sorted(e.Pages(id)))
}

// A page that was in flight during an acknowledgement fails after the incident was reopened. The fallback that the
// acknowledgement cancelled must not prevent the fallback of this failure.
func TestACancelledFallbackDoesNotBlockANewOneAfterReopening(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("hidden", pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high", Wait: time.Hour})
	e.FallbackTo("plans", plan, "user", "boss")
	id := e.Open(plan)
	e.Pass()
	e.Exec(`update messages set state = 'sent', settled_at = $2 where incident_id = $1 and target = 'cy'`, id, e.Now)
	e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'bo'`, id, e.Now)
	e.Exec(`update messages set state = 'sending', claim_by = 'me' where incident_id = $1 and target = 'ana'`, id)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 fallback boss sms pending")
	e.Acknowledge(id)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 fallback boss sms cancelled")
	e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'ana'`, id, e.Now)
	e.Reopen(id)
	e.Exec(`update incidents set due_at = due_at + interval '1 hour' where id = $1`, id) // due later
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 fallback boss sms pending/1", "P8: %v", e.Timeline(id))
}
