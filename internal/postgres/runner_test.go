package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
)

func TestRunnerPagesWaitsAndPagesTheNextStep(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("night",
		intent{step: 1, role: "user", target: "ana", priority: "medium", wait: time.Minute},
		intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute},
		intent{step: 2, role: "team", target: "db", priority: "urgent", wait: time.Minute})
	id := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana email pending", "1.1.0 primary ana sms pending"}, e.pages(id))
	require.Equal(t, []string{"step: step 1: paging ana by email and sms (high and medium, named in the plan)"}, e.timeline(id))
	require.True(t, e.woken.Has(int(id&255)))
	require.Equal(t, standing{Step: 1, Active: true, HasDue: true, Due: 2 * time.Minute}, e.standing(id), "high waits 2 min for what does not leave")

	e.later(5 * time.Second)
	e.settle(id, "sent")
	require.Equal(t, time.Minute, e.standing(id).Due)
	e.later(59 * time.Second)
	e.pass()
	require.Len(t, e.pages(id), 2, "not before the wait is over")
	e.later(time.Second)
	e.pass()
	require.Equal(t, []string{
		"1.0.0 primary ana email sent", "1.1.0 primary ana sms sent",
		"2.0.0 primary ana call pending", "2.0.0 primary bo call pending", "2.0.0 primary cy call pending",
	}, e.pages(id))
	require.Equal(t, "step: step 2: paging ana, bo and cy by call (urgent, everybody in team db)", e.timeline(id)[1])

	e.settle(id, "sent")
	e.later(time.Minute)
	e.pass()
	require.Equal(t, standing{Step: 2}, e.standing(id))
	require.Equal(t, "exhausted: plan night is exhausted: 2 steps are over and nobody acknowledged; nobody is paged any more", e.timeline(id)[2])
}

func TestRunnerRepeatsAndSaysSo(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("again", intent{step: 1, role: "oncall-secondary", target: "db", priority: "high", wait: time.Minute, repeat: 1}))
	e.pass()
	e.settle(id, "sent")
	e.later(time.Minute)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary bo sms sent", "1.0.1 primary bo sms pending"}, e.pages(id))
	require.Equal(t, []string{
		"step: step 1: paging bo by sms (high, secondary of team db: second in its fixed order)",
		"repeat: step 1: repeat 1, paging bo by sms (high, secondary of team db: second in its fixed order)",
	}, e.timeline(id))
}

func TestRunnerEscalatesWhatDoesNotLeave(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("stuck",
		intent{step: 1, role: "user", target: "ana", priority: "urgent", wait: 30 * time.Second},
		intent{step: 2, role: "user", target: "bo", priority: "urgent", wait: time.Second}))
	e.pass()
	e.later(time.Minute)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana call pending"}, e.pages(id))
	require.Equal(t, "late: step 1 not delivered yet, escalating: 1 page is still on the way, the wait starts all the same", e.timeline(id)[1])
	e.later(30 * time.Second)
	e.pass()
	require.Len(t, e.pages(id), 2)
	e.later(10 * time.Minute)
	e.pass()
	require.True(t, e.standing(id).Active, "pages that are still on their way keep the incident open")
	e.settle(id, "sent")
	e.later(time.Minute)
	e.pass()
	require.False(t, e.standing(id).Active)
}

func TestRunnerCancelsWhatAnAcknowledgementStopsAndMakesItAgainAfterReopening(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("twice",
		intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour},
		intent{step: 1, role: "team", target: "db", priority: "medium", wait: time.Hour}))
	e.pass()
	e.exec(`update messages set state = 'sent', settled_at = $2 where incident_id = $1 and position = 1 and target in ('ana', 'bo')`, id, e.now)
	e.acknowledge(id)
	e.pass()
	require.Equal(t, []string{
		"1.0.0 primary ana sms cancelled", "1.1.0 primary ana email sent", "1.1.0 primary bo email sent", "1.1.0 primary cy email cancelled",
	}, e.pages(id))
	require.Equal(t, "cancelled: 2 pages that had not left yet were cancelled", e.timeline(id)[1])
	require.Equal(t, standing{Step: 1}, e.standing(id))

	e.later(time.Minute)
	e.reopen(id)
	e.pass()
	require.Equal(t, []string{
		"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms pending/1",
		"1.1.0 primary ana email sent", "1.1.0 primary bo email sent", "1.1.0 primary cy email cancelled", "1.1.0 primary cy email pending/1",
	}, e.pages(id))
	require.Equal(t, "step: step 1: paging again after the reopening, because the earlier page did not arrive: "+
		"ana by sms (high, named in the plan); cy by email (medium, everybody in team db)", e.timeline(id)[2])
	e.pass()
	require.Len(t, e.pages(id), 6, "once")
}

func TestRunnerMakesAgainWhatWasMovedToHistory(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("old", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	e.acknowledge(id)
	e.pass()
	e.exec(`with gone as (delete from messages where incident_id = $1 returning *)
		insert into message_history (id, created_at, bucket, incident_id, application_id, plan_id, reopen_count, step, position,
			repeat, recipient, purpose, user_id, target, priority, class, mode, template, state, attempt, mode_changed, settled_at,
			destination, subject, body, email_html, render_error, attempts)
		select id, created_at, bucket, incident_id, application_id, plan_id, reopen_count, step, position, repeat, recipient, purpose,
			user_id, target, priority, class, mode, template, state, attempt, mode_changed, settled_at, '', '', '', '', '', '[]' from gone`, id)
	e.reopen(id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending/1"}, e.pages(id))
}

func TestRunnerReopensBeforeAnythingWasCancelled(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("quick", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	e.acknowledge(id)
	e.reopen(id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(id))
	require.Equal(t, "reopened: escalation goes on at step 1; what was sent before counts", e.timeline(id)[1])
}

func TestRunnerPagesTheFallback(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.person("mute")
	e.exec(`insert into teams (name) values ('empty')`)
	e.exec(`insert into teams (name) values ('gone')`)
	plan := e.plan("holes",
		intent{step: 1, role: "manager", target: "empty", priority: "high", wait: time.Hour},
		intent{step: 1, role: "team", target: "empty", priority: "high", wait: time.Hour, optional: true},
		intent{step: 1, role: "user", target: "mute", priority: "urgent", wait: time.Hour},
		intent{step: 1, role: "team", target: "gone", priority: "low", wait: time.Hour})
	e.exec(`delete from teams where name = 'gone'`)
	id := e.open(plan)
	e.pass()
	require.Equal(t, []string{
		"1.0.0 fallback owner sms pending", "1.2.0 fallback owner call pending", "1.3.0 fallback owner email pending",
	}, e.pages(id))
	lines := e.timeline(id)
	require.Equal(t, []string{
		"fallback: step 1: manager of empty cannot be paged: team empty has no manager; paging owner by sms instead (creator of plan holes)",
		"skipped: step 1: team empty cannot be paged: team empty has no active member; it is optional and left out",
		"fallback: step 1: mute cannot be paged in any mode: there is no call contact; paging owner by call instead (creator of plan holes)",
	}, lines[:3])
	require.Contains(t, lines[3], "does not exist; paging owner by email instead")

	e.exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss') where id = $1`, plan)
	second := e.open(plan)
	e.pass()
	require.Equal(t, "1.0.0 fallback boss sms pending", e.pages(second)[0])
	require.Contains(t, e.timeline(second)[0], "paging boss by sms instead (fallback of plan holes, boss)")
	var audit string
	require.NoError(t, e.db.Pool().QueryRow(t.Context(), `select format('%s %s %s', c.change_type, c.old, c.new) from message_changes c
		join messages m on m.id = c.message_id where m.incident_id = $1 order by c.id limit 1`, second).Scan(&audit))
	require.Equal(t, "target-change manager|empty boss", audit)
}

func TestRunnerNobodyAtAll(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.exec(`update users set active = false where name = 'owner'`)
	e.exec(`insert into teams (name) values ('empty')`)
	id := e.open(e.plan("void",
		intent{step: 1, role: "manager", target: "empty", priority: "high", wait: time.Hour, repeat: 5},
		intent{step: 2, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	e.pass()
	require.Equal(t, []string{"2.0.0 primary ana sms pending"}, e.pages(id), "a step that reached nobody holds nothing up")
	require.Equal(t, "fallback: step 1: manager of empty cannot be paged: team empty has no manager, and no fallback can be paged either "+
		"(creator of plan void: not active): this notification reaches NOBODY", e.timeline(id)[0])
}

func TestRunnerReplacesMessagesThatFailedInEveryMode(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("failing", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute},
		intent{step: 2, role: "user", target: "bo", priority: "high", wait: time.Minute})
	e.exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss') where id = $1`, plan)
	id := e.open(plan)
	e.pass()
	fail := func() {
		e.exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and state = 'pending'`, id, e.now)
		e.exec(`update incidents set due_at = $2 where id = $1`, id, e.now)
	}
	fail()
	e.pass()
	require.Equal(t, []string{"1.0.0 fallback boss sms pending", "1.0.0 primary ana sms failed"}, sorted(e.pages(id)))
	require.Equal(t, "fallback: step 1: ana could not be reached in any mode; paging boss by sms instead (fallback of plan failing, boss)", e.timeline(id)[1])
	require.Equal(t, 1, e.standing(id).Step, "the fallback's page must leave before the wait starts")
	fail()
	e.pass()
	require.Equal(t, "1.0.0 fallback owner sms pending", sorted(e.pages(id))[1])
	fail()
	e.pass()
	require.Len(t, e.pages(id), 3)
	require.Equal(t, "fallback: step 1: owner could not be reached in any mode and there is no further fallback (fallback of plan failing, boss: could not be reached either; creator of plan failing: the same person)", e.timeline(id)[3])
	e.later(time.Minute)
	e.pass()
	require.Equal(t, 2, e.standing(id).Step)
	require.Zero(t, e.id(`select count(*) from messages where needs_fallback`))
}

func TestRunnerReplacesOutOfBandMessages(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	request := e.id(`insert into notification_requests (application_id, subject) values ($1, 'hello') returning id`, e.app)
	failed := e.id(`insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, needs_fallback, settled_at)
		values ($1 & 255, $1, $2, 'user:' || $3::bigint, $3::bigint, 'ana', 2, 'slack', 'failed', true, $4) returning id`, request, e.app, e.people["ana"], e.now)
	e.pass()
	require.Zero(t, e.id(`select count(*) from messages where needs_fallback`))
	require.Equal(t, int64(1), e.id(`select count(*) from message_changes where message_id = $1 and description like 'Every mode failed and%none is configured'`, failed))

	e.exec(`update applications set fallback_role = 'manager', fallback_target_id = (select target_id from teams where name = 'db') where id = $1`, e.app)
	e.exec(`update messages set needs_fallback = true where id = $1`, failed)
	e.pass()
	require.Equal(t, failed, e.id(`select fallback_of from messages where request_id = $1 and purpose = 'fallback' and target = 'boss'
		and mode = 'slack' and class = 2 and bucket = $1 & 255`, request))
}

func TestRunnerStaleEpochWritesNothing(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("fenced", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour}))
	other := e.own("other")
	e.pass()
	require.Empty(t, e.pages(id))
	require.Empty(t, e.timeline(id))
	require.Zero(t, e.standing(id).Step)
	require.True(t, e.holder.lostSet.Has(int(id&255)), "the holder is told")
	require.NoError(t, e.start(other).Pass(t.Context()))
	require.Len(t, e.pages(id), 1)
	e.acknowledge(id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(id), "a stale owner cancels nothing either")
}

func TestRunnerTwoProcessesMakeOneSetOfMessages(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("race", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	for range 300 {
		e.open(plan)
	}
	first := e.runner
	started := make(chan error, 1)
	go func() { started <- first.Pass(context.WithoutCancel(t.Context())) }()
	second := e.start(e.own("second")) // in the middle of the first one's pass, or before it
	require.NoError(t, second.Pass(t.Context()))
	require.NoError(t, <-started)
	require.NoError(t, second.Pass(t.Context()))
	require.Equal(t, int64(300), e.id(`select count(*) from messages`))
	require.Equal(t, int64(300), e.id(`select count(*) from timeline_entries`))
	require.Equal(t, int64(300), e.id(`select count(*) from incidents where current_step = 1 and version = 1`))
}

func TestRunnerDoesNotOverlookWhatSettlesWhileItDecides(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	id := e.open(e.plan("between", intent{step: 1, role: "user", target: "ana", priority: "low", wait: time.Minute},
		intent{step: 2, role: "user", target: "bo", priority: "low", wait: time.Minute}))
	e.pass()
	e.exec(`update incidents set due_at = $2 where id = $1`, id, e.now) // a look for another reason
	store := postgres.NewRunner(e.db)
	due, err := store.Due(t.Context(), e.holder.held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.now})
	require.NoError(t, err)
	require.Len(t, due, 1)
	e.settle(id, "sent")
	d := due[0]
	written, err := store.Commit(t.Context(), "me", []buckets.Lease{d.Lease}, []escalation.Change{{
		ID: d.ID, Lease: d.Lease, Version: d.Version, Seen: d.Seen, Progress: d.Progress, Active: true, DueAt: e.now.Add(15 * time.Minute),
	}})
	require.NoError(t, err)
	require.Empty(t, written, "built on what is no longer true")
	e.pass()
	require.Equal(t, time.Minute, e.standing(id).Due)
}

func TestRunnerPutsAPoisonedIncidentOffAlone(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	good := e.plan("good", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	bad := e.plan("bad", intent{step: 1, role: "user", target: "bo", priority: "high", wait: time.Hour})
	e.exec(`alter table messages add constraint poison check (target <> 'bo')`)
	ids := []int64{}
	for i := range 40 {
		plan := good
		if i%20 == 7 {
			plan = bad
		}
		ids = append(ids, e.open(plan))
	}
	e.pass()
	for i, id := range ids {
		if i%20 == 7 {
			require.Empty(t, e.pages(id))
			require.Len(t, e.timeline(id), 1)
			require.Contains(t, e.timeline(id)[0], "failure: escalation failed (1 time so far), trying again in")
			require.Positive(t, e.standing(id).Due)
			continue
		}
		require.Len(t, e.pages(id), 1)
	}
}

func TestRunnerBrokenProgressAndSteps(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("broken", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	unreadable, beyond, none := e.open(plan), e.open(plan), e.open(e.plan("nothing"))
	e.exec(`update incidents set current_step = 1, progress = '{"n": "?"}' where id = $1`, unreadable)
	e.exec(`update incidents set current_step = 7, progress = '{"n": []}' where id = $1`, beyond)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(unreadable))
	require.Contains(t, e.timeline(unreadable)[0], "failure: the stored progress cannot be read")
	require.Equal(t, []string{"exhausted: the incident stands at step 7, but plan broken has only 1 step: escalation ends here"}, e.timeline(beyond))
	require.False(t, e.standing(beyond).Active)
	require.Equal(t, []string{"1.0.0 fallback owner sms pending"}, e.pages(none))
	require.Contains(t, strings.Join(e.timeline(none), "\n"), "fallback: step 1: plan nothing has no steps; paging owner by sms instead (creator of plan nothing)")
	require.Contains(t, strings.Join(e.timeline(none), "\n"), "exhausted: plan nothing has no steps: escalation ends here")
	require.False(t, e.standing(none).Active)
}

func TestRunnerTracking(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("tracked", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute})
	e.exec(`update plans set tracking_type = 'email', tracking_key = 'log@example.com', tracking_template = $2 where id = $1`, plan,
		json.RawMessage(`{"Shop": {"email_subject": "s"}}`))
	id := e.open(plan)
	e.pass()
	require.Equal(t, []string{"0.0.0 tracking log@example.com email pending", "1.0.0 primary ana sms pending"}, e.pages(id))
	require.Equal(t, []string{"step: telling the plan's tracking address by email", "step: step 1: paging ana by sms (high, named in the plan)"}, e.timeline(id))
	e.settle(id, "sent")
	e.later(time.Minute)
	e.pass()
	require.Len(t, e.pages(id), 2)
	require.False(t, e.standing(id).Active)

	e.exec(`update plans set tracking_type = 'call' where id = $1`, plan)
	called := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(called))
}

func TestRunnerDynamicTargets(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	zero, one := 0, 1
	plan := e.plan("dynamic",
		intent{step: 1, priority: "high", wait: time.Minute, dynamic: &zero},
		intent{step: 1, priority: "low", wait: time.Minute, dynamic: &one})
	id := e.open(plan)
	e.exec(`insert into incident_dynamic_targets values ($1, 0, 'manager', (select target_id from teams where name = 'db'))`, id)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary boss sms pending", "1.1.0 fallback owner email pending"}, e.pages(id))
	require.Contains(t, strings.Join(e.timeline(id), "\n"), "the incident names no target number 1")
}

func TestRunnerPaused(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	plan := e.plan("paused", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute})
	e.exec(`update plans set paused = true where id = $1`, plan)
	id := e.open(plan)
	for range 3 {
		e.pass()
		require.Empty(t, e.pages(id))
		e.later(10 * time.Second)
	}
	require.Equal(t, []string{"operator: escalation waits: plan paused is paused"}, e.timeline(id))
	e.exec(`update plans set paused = false where id = $1`, plan)
	e.pass()
	require.Len(t, e.pages(id), 1)
	require.Equal(t, "operator: escalation goes on", e.timeline(id)[1])
}

func TestRunnerModeChange(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	e.person("mail-only", "email")
	id := e.open(e.plan("modes", intent{step: 1, role: "user", target: "mail-only", priority: "urgent", wait: time.Minute}))
	e.pass()
	require.Equal(t, []string{"1.0.0 primary mail-only email pending"}, e.pages(id))
	require.Equal(t, []string{"step: step 1: paging mail-only by email because there is no call contact (urgent, named in the plan)"}, e.timeline(id))
	require.Equal(t, int64(1), e.id(`select count(*) from messages m join message_changes c on c.message_id = m.id
		where m.mode_changed and c.change_type = 'mode-change' and c.old = 'call' and c.new = 'email'`))
}

func TestRunnerFindsNothingWhenNothingIsDue(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	store := postgres.NewRunner(e.db)
	next, err := store.NextDue(t.Context(), e.holder.held, e.now)
	require.NoError(t, err)
	require.Equal(t, time.Hour, next)
	id := e.open(e.plan("soon", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Minute}))
	e.exec(`update incidents set due_at = $2 where id = $1`, id, e.now.Add(1500*time.Millisecond))
	next, err = store.NextDue(t.Context(), e.holder.held, e.now)
	require.NoError(t, err)
	require.Equal(t, 1500*time.Millisecond, next)
	e.exec(`update incidents set due_at = clock_timestamp() - interval '40 seconds' where id = $1`, id)
	oldest, err := store.OldestDue(t.Context())
	require.NoError(t, err)
	require.Len(t, oldest, 1)
	require.Equal(t, incidents.ID(id), oldest[0].IncidentID)
	require.InDelta(t, 40, oldest[0].Age.Seconds(), 5, fmt.Sprint(oldest[0]))
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
