package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// fail lets every waiting message of an incident fail for good, as delivery records it.
func failMessages(e *escalating, incident int64) {
	e.t.Helper()
	e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and state = 'pending'`, incident, e.now)
}

func TestFallbacksGoThroughTheWholeChain(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("chain", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute})
	e.fallbackTo("plans", plan, "user", "bo")
	e.fallbackTo("applications", e.app, "user", "cy")
	id := e.open(plan)
	e.pass()
	for range 4 {
		failMessages(e, id)
		e.pass()
	}
	require.Equal(t, []string{
		"fallback: step 1: ana could not be reached in any mode; paging bo by sms instead (fallback of plan chain, bo)",
		"fallback: step 1: bo could not be reached in any mode; paging cy by sms instead (fallback of application shop, cy); " +
			"tried before: fallback of plan chain, bo: the same person",
		"fallback: step 1: cy could not be reached in any mode; paging owner by sms instead (creator of plan chain); " +
			"tried before: fallback of plan chain, bo: could not be reached either; fallback of application shop, cy: the same person",
		"fallback: step 1: owner could not be reached in any mode and there is no further fallback (fallback of plan chain, bo: " +
			"could not be reached either; fallback of application shop, cy: could not be reached either; creator of plan chain: the same person)",
	}, e.timeline(id)[1:])
	require.Len(t, e.pages(id), 4)

	// Somebody who cannot be resolved goes the same way.
	e.exec(`update users set active = false where name in ('ana', 'bo')`)
	second := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 fallback cy sms pending"}, e.pages(second))
	require.Equal(t, "fallback: step 1: ana cannot be paged: user ana is not active; paging cy by sms instead (fallback of application shop, cy); "+
		"tried before: fallback of plan chain, bo: user bo is not active", e.timeline(second)[0])
}

func TestAStepWhereEverybodyFailedForGoodIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("lost",
		intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour, repeat: 2},
		intent{step: 2, role: "user", target: "bo", priority: "high", wait: time.Hour})
	lost, away := e.open(plan), e.open(plan)
	e.pass()
	for range 2 { // ana, then the plan's creator
		failMessages(e, lost)
		failMessages(e, away)
		e.exec(`update messages set failed_for_good = true where incident_id = $1 and state = 'failed'`, lost)
		e.pass()
	}
	e.pass() // the last failure made it due
	require.Equal(t, []string{"1.0.0 primary ana sms failed", "1.0.0 fallback owner sms failed", "2.0.0 primary bo sms pending"}, e.pages(lost))
	require.Contains(t, e.timeline(lost), "skipped: step 1: every page of notification 1 failed for good; it is neither waited for nor repeated")
	require.Equal(t, 1, e.standing(away).Step, "an outage is waited for")
	e.later(time.Hour)
	e.pass()
	require.Contains(t, e.pages(away), "1.0.1 primary ana sms pending", "and its round is repeated")
}

func TestAFallbackWhoIsPagedAlreadyIsNotPagedTwice(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("both", intent{step: 1, role: "team", target: "db", priority: "high", wait: time.Minute})
	e.fallbackTo("plans", plan, "user", "bo")
	id := e.open(plan)
	e.pass()
	e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'ana'`, id, e.now)
	e.pass()
	require.Len(t, e.pages(id), 3)
	require.Equal(t, "fallback: step 1: ana could not be reached in any mode; bo is paged already (fallback of plan both, bo)", e.timeline(id)[1])
	// Bo's own failure goes on from there.
	e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'bo'`, id, e.now)
	e.pass()
	require.Contains(t, e.pages(id), "1.0.0 fallback owner sms pending")
}

func TestAFallbackThatAnAcknowledgementStoppedIsMadeUpForAfterReopening(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("stopped", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	failMessages(e, id)
	e.acknowledge(id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms failed"}, e.pages(id), "nobody is paged after an acknowledgement")
	e.reopen(id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms failed", "1.0.0 primary ana sms pending/1"}, e.pages(id), "nobody heard of it yet")

	// Reopened before the acknowledgement was noticed: the fallback is still to be made, and only that.
	quick := e.open(e.plan("quick", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	failMessages(e, quick)
	e.acknowledge(quick)
	e.reopen(quick)
	e.pass()
	require.Equal(t, []string{"1.0.0 fallback owner sms pending/1", "1.0.0 primary ana sms failed"}, sorted(e.pages(quick)))
}

func TestAnExhaustedIncidentStillGetsItsFallback(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("late", intent{step: 1, role: "user", target: "ana", priority: "high"}))
	e.pass()
	e.settle(id, "sent")
	e.pass()
	require.False(t, e.standing(id).Active)
	// The vendor says only now that it could not deliver, and every other mode failed as well.
	e.exec(`update messages set state = 'failed', needs_fallback = true where incident_id = $1`, id)
	e.pass()
	require.Equal(t, []string{"1.0.0 fallback owner sms pending", "1.0.0 primary ana sms failed"}, sorted(e.pages(id)))

	ana := users.User{ID: users.ID(e.people["ana"]), Name: "ana"}
	_, err := postgres.NewIncidents(e.db).Acknowledge(t.Context(), incidents.Change{IDs: []incidents.ID{incidents.ID(id)}, Actor: "ana"}, ana)
	require.NoError(t, err)
	e.later(time.Minute)
	e.pass()
	require.Contains(t, e.pages(id), "1.0.0 fallback owner sms cancelled", "an acknowledgement silences it all the same")
}

func TestPuttingOffDoesNotHideAnAcknowledgement(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("raced", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	store := postgres.NewRunner(e.db)
	due, err := store.Due(t.Context(), e.holder.held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.now})
	require.NoError(t, err)
	require.Len(t, due, 1)
	e.acknowledge(id)
	require.NoError(t, store.Delay(t.Context(), "me", due[0], time.Hour, incidents.Entry{Kind: incidents.EntryFailure, Text: "no"}, e.now))
	require.Zero(t, e.standing(id).Due, "it is looked at now")
	due, err = store.Due(t.Context(), e.holder.held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.now, Excluded: []int64{id}})
	require.NoError(t, err)
	require.Len(t, due, 1, "also while it is left alone for its failures")
	require.Empty(t, e.timeline(id))
	require.True(t, e.holder.lostSet.Empty())
}

func TestABucketFullOfFailuresIsDoneInOnePass(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.fallbackTo("applications", e.app, "user", "boss")
	e.exec(`with r as (insert into notification_requests (id, application_id, subject) select n * 256 + 7, $1, 'x' from generate_series(1, 300) n returning id, bucket)
		insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, needs_fallback, settled_at)
		select bucket, id, $1, 'user:' || $2::bigint, $2::bigint, 'ana', 2, 'slack', 'failed', true, clock_timestamp() from r`, e.app, e.people["ana"])
	e.pass()
	require.Zero(t, e.id(`select count(*) from messages where needs_fallback`))
	require.Equal(t, int64(300), e.id(`select count(*) from messages where purpose = 'fallback' and target = 'boss'`))
}

// A vendor's outage takes whole parts of the chain: those who are tried again and again, and for whom the next one was
// asked already, must not be taken for told.
func TestTheChainGoesOnPastThoseWhoAreTriedInVain(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("outage", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute})
	e.fallbackTo("plans", plan, "user", "bo")
	e.fallbackTo("applications", e.app, "user", "cy")
	id := e.open(plan)
	e.pass()
	for range 3 {
		// As delivery records it: every mode was tried once, and is tried again.
		e.exec(`update messages set needs_fallback = true, cycles = 1 where incident_id = $1 and cycles = 0`, id)
		e.pass()
	}
	require.Equal(t, []string{"1.0.0 fallback bo sms pending", "1.0.0 fallback cy sms pending", "1.0.0 fallback owner sms pending",
		"1.0.0 primary ana sms pending"}, sorted(e.pages(id)))
}

// A page that was on its way during an acknowledgement that was taken back fails: the fallback that the acknowledgement
// had cancelled is not in the way of the one that is called for now.
func TestAFallbackAfterReopeningIsNotHiddenByACancelledOne(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("hidden", intent{step: 1, role: "team", target: "db", priority: "high", wait: time.Hour})
	e.fallbackTo("plans", plan, "user", "boss")
	id := e.open(plan)
	e.pass()
	e.exec(`update messages set state = 'sent', settled_at = $2 where incident_id = $1 and target = 'cy'`, id, e.now)
	e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'bo'`, id, e.now)
	e.exec(`update messages set state = 'sending', claim_by = 'me' where incident_id = $1 and target = 'ana'`, id)
	e.pass()
	require.Contains(t, e.pages(id), "1.0.0 fallback boss sms pending")
	e.acknowledge(id)
	e.pass()
	require.Contains(t, e.pages(id), "1.0.0 fallback boss sms cancelled")
	e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and target = 'ana'`, id, e.now)
	e.reopen(id)
	e.exec(`update incidents set due_at = due_at + interval '1 hour' where id = $1`, id) // its turn comes later
	e.pass()
	require.Contains(t, e.pages(id), "1.0.0 fallback boss sms pending/1", "P8: %v", e.timeline(id))
}
