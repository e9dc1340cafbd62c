package pg_test

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
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
)

func TestRunnerPagesWaitsAndPagesTheNextStep(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("night",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "medium", Wait: time.Minute},
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "team", Target: "db", Priority: "urgent", Wait: time.Minute})
	id := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana email pending", "1.1.0 primary ana sms pending"}, e.Pages(id))
	require.Equal(t, []string{"step: step 1: paging ana by email and sms (high and medium, named in the plan)"},
		e.Timeline(id))
	require.True(t, e.Woken.Has(int(id&255)))
	require.Equal(t, pgtest.Progress{Step: 1, Active: true, HasDue: true, Due: 2 * time.Minute}, e.Progress(id),
		"high waits 2 min for what does not leave")

	e.Later(5 * time.Second)
	e.Settle(id, "sent")
	require.Equal(t, time.Minute, e.Progress(id).Due)
	e.Later(59 * time.Second)
	e.Pass()
	require.Len(t, e.Pages(id), 2, "not before the wait is over")
	e.Later(time.Second)
	e.Pass()
	require.Equal(t, []string{
		"1.0.0 primary ana email sent", "1.1.0 primary ana sms sent",
		"2.0.0 primary ana call pending", "2.0.0 primary bo call pending", "2.0.0 primary cy call pending",
	}, e.Pages(id))
	require.Equal(t, "step: step 2: paging ana, bo and cy by call (urgent, everybody in team db)", e.Timeline(id)[1])

	e.Settle(id, "sent")
	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, pgtest.Progress{Step: 2}, e.Progress(id))
	require.Equal(t, "exhausted: plan night is exhausted: 2 steps are over and nobody acknowledged; nobody is paged any more", e.Timeline(id)[2])
}

func TestRunnerLogsRepeatsOnTheTimeline(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("again", pgtest.Intent{Step: 1, Role: "oncall-secondary", Target: "db", Priority: "high",
		Wait: time.Minute, Repeat: 1}))
	e.Pass()
	e.Settle(id, "sent")
	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary bo sms sent", "1.0.1 primary bo sms pending"}, e.Pages(id))
	require.Equal(t, []string{
		"step: step 1: paging bo by sms (high, secondary of team db: second in its fixed order)",
		"repeat: step 1: repeat 1, paging bo by sms (high, secondary of team db: second in its fixed order)",
	}, e.Timeline(id))
}

func TestRunnerEscalatesWhenAMessageIsNotSent(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("stuck",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "urgent", Wait: 30 * time.Second},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "urgent", Wait: time.Second}))
	e.Pass()
	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana call pending"}, e.Pages(id))
	require.Equal(t, "late: step 1 not delivered yet, escalating: 1 page is not settled, the wait begins anyway",
		e.Timeline(id)[1])
	e.Later(30 * time.Second)
	e.Pass()
	require.Len(t, e.Pages(id), 2)
	e.Later(10 * time.Minute)
	e.Pass()
	require.True(t, e.Progress(id).Active, "pages that are still on their way keep the incident open")
	e.Settle(id, "sent")
	e.Later(time.Minute)
	e.Pass()
	require.False(t, e.Progress(id).Active)
}

func TestRunnerCancelsMessagesOnAcknowledgementAndRecreatesThemAfterReopening(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("twice",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "medium", Wait: time.Hour}))
	e.Pass()
	e.Exec(`update messages set state = 'sent', settled_at = $2 where incident_id = $1 and position = 1 and target in ('ana', 'bo')`, id, e.Now)
	e.Acknowledge(id)
	e.Pass()
	require.Equal(t, []string{
		"1.0.0 primary ana sms cancelled", "1.1.0 primary ana email sent", "1.1.0 primary bo email sent", "1.1.0 primary cy email cancelled",
	}, e.Pages(id))
	require.Equal(t, "cancelled: 2 pages that were not sent yet were cancelled", e.Timeline(id)[1])
	require.Equal(t, pgtest.Progress{Step: 1}, e.Progress(id))

	e.Later(time.Minute)
	e.Reopen(id)
	e.Pass()
	require.Equal(t, []string{
		"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms pending/1",
		"1.1.0 primary ana email sent", "1.1.0 primary bo email sent", "1.1.0 primary cy email cancelled", "1.1.0 primary cy email pending/1",
	}, e.Pages(id))
	require.Equal(t, "step: step 1: paging again after the reopening, because the earlier page did not arrive: "+
		"ana by sms (high, named in the plan); cy by email (medium, everybody in team db)", e.Timeline(id)[2])
	e.Pass()
	require.Len(t, e.Pages(id), 6, "once")
}

func TestRunnerRecreatesMessagesThatWereMovedToHistory(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("old", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour}))
	e.Pass()
	e.Acknowledge(id)
	e.Pass()
	e.Exec(`with gone as (delete from messages where incident_id = $1 returning *)
		insert into message_history (id, created_at, bucket, incident_id, application_id, plan_id, reopen_count, step, position,
			repeat, recipient, purpose, user_id, target, priority, class, mode, template, state, attempt, mode_changed, settled_at,
			destination, subject, body, email_html, render_error, attempts)
		select id, created_at, bucket, incident_id, application_id, plan_id, reopen_count, step, position, repeat, recipient, purpose,
			user_id, target, priority, class, mode, template, state, attempt, mode_changed, settled_at, '', '', '', '', '', '[]' from gone`, id)
	e.Reopen(id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending/1"}, e.Pages(id))
}

func TestRunnerKeepsMessagesWhenReopenedBeforeTheCancel(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("quick", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	e.Pass()
	e.Acknowledge(id)
	e.Reopen(id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(id))
	require.Equal(t, "reopened: escalation continues at step 1; messages that were sent before count",
		e.Timeline(id)[1])
}

func TestRunnerPagesTheFallback(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Person("mute")
	e.Exec(`insert into teams (name) values ('empty')`)
	e.Exec(`insert into teams (name) values ('gone')`)
	plan := e.Plan("holes",
		pgtest.Intent{Step: 1, Role: "manager", Target: "empty", Priority: "high", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "team", Target: "empty", Priority: "high", Wait: time.Hour, Optional: true},
		pgtest.Intent{Step: 1, Role: "user", Target: "mute", Priority: "urgent", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "team", Target: "gone", Priority: "low", Wait: time.Hour})
	e.Exec(`delete from teams where name = 'gone'`)
	id := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{
		"1.0.0 fallback owner sms pending", "1.2.0 fallback owner call pending", "1.3.0 fallback owner email pending",
	}, e.Pages(id))
	lines := e.Timeline(id)
	require.Equal(t, []string{
		"fallback: step 1: manager of empty cannot be paged: team empty has no manager; paging owner by sms instead (creator of plan holes)",
		"skipped: step 1: team empty cannot be paged: team empty has no active member; it is optional and left out",
		"fallback: step 1: mute cannot be paged in any mode: there is no call contact; paging owner by call instead (creator of plan holes)",
	}, lines[:3])
	require.Contains(t, lines[3], "does not exist; paging owner by email instead")

	e.Exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss') where id = $1`, plan)
	second := e.Open(plan)
	e.Pass()
	require.Equal(t, "1.0.0 fallback boss sms pending", e.Pages(second)[0])
	require.Contains(t, e.Timeline(second)[0], "paging boss by sms instead (fallback of plan holes, boss)")
	var audit string
	require.NoError(t, e.DB.Pool().QueryRow(t.Context(),
		`select format('%s %s %s', c.change_type, c.old, c.new) from message_changes c
		join messages m on m.id = c.message_id where m.incident_id = $1 order by c.id limit 1`, second).Scan(&audit))
	require.Equal(t, "target-change manager|empty boss", audit)
}

func TestRunnerWhenNobodyCanBePaged(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Exec(`update users set active = false where name = 'owner'`)
	e.Exec(`insert into teams (name) values ('empty')`)
	id := e.Open(e.Plan("void",
		pgtest.Intent{Step: 1, Role: "manager", Target: "empty", Priority: "high", Wait: time.Hour, Repeat: 5},
		pgtest.Intent{Step: 2, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour}))
	e.Pass()
	require.Equal(t, []string{"2.0.0 primary ana sms pending"}, e.Pages(id),
		"a step that reached nobody holds nothing up")
	require.Equal(t, "fallback: step 1: manager of empty cannot be paged: team empty has no manager, and no fallback can be paged either "+
		"(creator of plan void: not active): this notification reaches NOBODY", e.Timeline(id)[0])
}

func TestRunnerReplacesMessagesThatFailedInEveryMode(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("failing", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set fallback_role = 'user', fallback_target_id = (select target_id from users where name = 'boss') where id = $1`, plan)
	id := e.Open(plan)
	e.Pass()
	fail := func() {
		e.Exec(`update messages set state = 'failed', settled_at = $2, needs_fallback = true where incident_id = $1 and state = 'pending'`, id, e.Now)
		e.Exec(`update incidents set due_at = $2 where id = $1`, id, e.Now)
	}
	fail()
	e.Pass()
	require.Equal(t, []string{"1.0.0 fallback boss sms pending", "1.0.0 primary ana sms failed"}, sorted(e.Pages(id)))
	require.Equal(t, "fallback: step 1: ana could not be reached in any mode; paging boss by sms instead (fallback of plan failing, boss)", e.Timeline(id)[1])
	require.Equal(t, 1, e.Progress(id).Step, "the fallback's page must leave before the wait starts")
	fail()
	e.Pass()
	require.Equal(t, "1.0.0 fallback owner sms pending", sorted(e.Pages(id))[1])
	fail()
	e.Pass()
	require.Len(t, e.Pages(id), 3)
	require.Equal(t, "fallback: step 1: owner could not be reached in any mode and there is no further fallback (fallback of plan failing, boss: could not be reached either; creator of plan failing: the same person)", e.Timeline(id)[3])
	e.Later(time.Minute)
	e.Pass()
	require.Equal(t, 2, e.Progress(id).Step)
	require.Zero(t, e.ID(`select count(*) from messages where needs_fallback`))
}

func TestRunnerReplacesOutOfBandMessages(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	request := e.ID(`insert into notification_requests (application_id, subject) values ($1, 'hello') returning id`,
		e.App)
	failed := e.ID(`insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, needs_fallback, settled_at)
		values ($1 & 255, $1, $2, 'user:' || $3::bigint, $3::bigint, 'ana', 2, 'slack', 'failed', true, $4) returning id`, request, e.App, e.People["ana"], e.Now)
	e.Pass()
	require.Zero(t, e.ID(`select count(*) from messages where needs_fallback`))
	require.Equal(t, int64(1), e.ID(`select count(*) from message_changes where message_id = $1 and description like 'Every mode failed and%none is configured'`, failed))

	e.Exec(`update applications set fallback_role = 'manager', fallback_target_id = (select target_id from teams where name = 'db') where id = $1`, e.App)
	e.Exec(`update messages set needs_fallback = true where id = $1`, failed)
	e.Pass()
	require.Equal(t, failed, e.ID(`select fallback_of from messages where request_id = $1 and purpose = 'fallback' and target = 'boss'
		and mode = 'slack' and class = 2 and bucket = $1 & 255`, request))
}

func TestRunnerStaleEpochWritesNothing(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("fenced", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	other := e.Own("other")
	e.Pass()
	require.Empty(t, e.Pages(id))
	require.Empty(t, e.Timeline(id))
	require.Zero(t, e.Progress(id).Step)
	require.True(t, e.Holder.LostSet.Has(int(id&255)), "the holder is told")
	require.NoError(t, e.Start(other).Pass(t.Context()))
	require.Len(t, e.Pages(id), 1)
	e.Acknowledge(id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(id), "a stale owner cancels nothing either")
}

func TestRunnerTwoProcessesMakeOneSetOfMessages(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("race", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	for range 300 {
		e.Open(plan)
	}
	first := e.Runner
	started := make(chan error, 1)
	go func() { started <- first.Pass(context.WithoutCancel(t.Context())) }()
	second := e.Start(e.Own("second")) // during the pass of the first runner, or before it
	require.NoError(t, second.Pass(t.Context()))
	require.NoError(t, <-started)
	require.NoError(t, second.Pass(t.Context()))
	require.Equal(t, int64(300), e.ID(`select count(*) from messages`))
	require.Equal(t, int64(300), e.ID(`select count(*) from timeline_entries`))
	require.Equal(t, int64(300), e.ID(`select count(*) from incidents where current_step = 1 and version = 1`))
}

func TestRunnerSeesMessagesThatSettleWhileItDecides(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	id := e.Open(e.Plan("between", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "low",
		Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "low", Wait: time.Minute}))
	e.Pass()
	e.Exec(`update incidents set due_at = $2 where id = $1`, id, e.Now) // due for another reason
	store := pg.NewRunner(e.DB)
	due, err := store.Due(t.Context(), e.Holder.Held, runner.Ask{Limit: 10, PerBucket: 10, Now: e.Now})
	require.NoError(t, err)
	require.Len(t, due, 1)
	e.Settle(id, "sent")
	d := due[0]
	written, err := store.Commit(t.Context(), "me", []buckets.Lease{d.Lease}, []escalation.Change{{
		ID: d.ID, Lease: d.Lease, Version: d.Version, Seen: d.Seen, Progress: d.Progress, Active: true, DueAt: e.Now.Add(15 * time.Minute),
	}})
	require.NoError(t, err)
	require.Empty(t, written, "built on what is no longer true")
	e.Pass()
	require.Equal(t, time.Minute, e.Progress(id).Due)
}

func TestRunnerDelaysOnlyTheIncidentThatFails(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	good := e.Plan("good", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	bad := e.Plan("bad", pgtest.Intent{Step: 1, Role: "user", Target: "bo", Priority: "high", Wait: time.Hour})
	e.Exec(`alter table messages add constraint poison check (target <> 'bo')`)
	ids := []int64{}
	for i := range 40 {
		plan := good
		if i%20 == 7 {
			plan = bad
		}
		ids = append(ids, e.Open(plan))
	}
	e.Pass()
	for i, id := range ids {
		if i%20 == 7 {
			require.Empty(t, e.Pages(id))
			require.Len(t, e.Timeline(id), 1)
			require.Contains(t, e.Timeline(id)[0], "failure: escalation failed (1 time so far), trying again in")
			require.Positive(t, e.Progress(id).Due)
			continue
		}
		require.Len(t, e.Pages(id), 1)
	}
}

func TestRunnerHandlesUnreadableProgressAndMissingSteps(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("broken", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	unreadable, beyond, none := e.Open(plan), e.Open(plan), e.Open(e.Plan("nothing"))
	e.Exec(`update incidents set current_step = 1, progress = '{"n": "?"}' where id = $1`, unreadable)
	e.Exec(`update incidents set current_step = 7, progress = '{"n": []}' where id = $1`, beyond)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(unreadable))
	require.Contains(t, e.Timeline(unreadable)[0], "failure: the stored progress cannot be read")
	require.Equal(t, []string{"exhausted: the incident is at step 7, but plan broken has only 1 step: escalation ends here"}, e.Timeline(beyond))
	require.False(t, e.Progress(beyond).Active)
	require.Equal(t, []string{"1.0.0 fallback owner sms pending"}, e.Pages(none))
	require.Contains(t, strings.Join(e.Timeline(none), "\n"),
		"fallback: step 1: plan nothing has no steps; paging owner by sms instead (creator of plan nothing)")
	require.Contains(t, strings.Join(e.Timeline(none), "\n"),
		"exhausted: plan nothing has no steps: escalation ends here")
	require.False(t, e.Progress(none).Active)
}

func TestRunnerTracking(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("tracked", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set tracking_type = 'email', tracking_key = 'log@example.com', tracking_template = $2 where id = $1`, plan,
		json.RawMessage(`{"Shop": {"email_subject": "s"}}`))
	id := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"0.0.0 tracking log@example.com email pending", "1.0.0 primary ana sms pending"},
		e.Pages(id))
	require.Equal(t, []string{"step: notifying the plan's tracking address by email",
		"step: step 1: paging ana by sms (high, named in the plan)"}, e.Timeline(id))
	e.Settle(id, "sent")
	e.Later(time.Minute)
	e.Pass()
	require.Len(t, e.Pages(id), 2)
	require.False(t, e.Progress(id).Active)

	e.Exec(`update plans set tracking_type = 'call' where id = $1`, plan)
	called := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(called))
}

func TestRunnerDynamicTargets(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	zero, one := 0, 1
	plan := e.Plan("dynamic",
		pgtest.Intent{Step: 1, Priority: "high", Wait: time.Minute, Dynamic: &zero},
		pgtest.Intent{Step: 1, Priority: "low", Wait: time.Minute, Dynamic: &one})
	id := e.Open(plan)
	e.Exec(`insert into incident_dynamic_targets values ($1, 0, 'manager', (select target_id from teams where name = 'db'))`, id)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary boss sms pending", "1.1.0 fallback owner email pending"}, e.Pages(id))
	require.Contains(t, strings.Join(e.Timeline(id), "\n"), "the incident names no target number 1")
}

func TestRunnerPaused(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("paused", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set paused = true where id = $1`, plan)
	id := e.Open(plan)
	for range 3 {
		e.Pass()
		require.Empty(t, e.Pages(id))
		e.Later(10 * time.Second)
	}
	require.Equal(t, []string{"operator: escalation waits: plan paused is paused"}, e.Timeline(id))
	e.Exec(`update plans set paused = false where id = $1`, plan)
	e.Pass()
	require.Len(t, e.Pages(id), 1)
	require.Equal(t, "operator: escalation continues", e.Timeline(id)[1])
}

func TestRunnerModeChange(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Person("mail-only", "email")
	id := e.Open(e.Plan("modes", pgtest.Intent{Step: 1, Role: "user", Target: "mail-only", Priority: "urgent",
		Wait: time.Minute}))
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary mail-only email pending"}, e.Pages(id))
	require.Equal(t, []string{"step: step 1: paging mail-only by email because there is no call contact (urgent, named in the plan)"}, e.Timeline(id))
	require.Equal(t, int64(1), e.ID(`select count(*) from messages m join message_changes c on c.message_id = m.id
		where m.mode_changed and c.change_type = 'mode-change' and c.old = 'call' and c.new = 'email'`))
}

func TestRunnerFindsNothingWhenNothingIsDue(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	store := pg.NewRunner(e.DB)
	next, err := store.NextDue(t.Context(), e.Holder.Held, e.Now)
	require.NoError(t, err)
	require.Equal(t, time.Hour, next)
	id := e.Open(e.Plan("soon", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Minute}))
	e.Exec(`update incidents set due_at = $2 where id = $1`, id, e.Now.Add(1500*time.Millisecond))
	next, err = store.NextDue(t.Context(), e.Holder.Held, e.Now)
	require.NoError(t, err)
	require.Equal(t, 1500*time.Millisecond, next)
	e.Exec(`update incidents set due_at = clock_timestamp() - interval '40 seconds' where id = $1`, id)
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
