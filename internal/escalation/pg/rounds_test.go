package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// finish carries an incident on until its plan ends. Every message is sent at once.
func finish(e *pgtest.Escalating, id int64) {
	for range 20 {
		e.Pass()
		e.Settle(id, "sent")
		if !e.Progress(id).Active {
			return
		}
		e.Later(time.Minute)
	}
}

func TestAPlanIsRepeatedAndThenPagesTheFallback(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("twice",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "low", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set settings = '{"repeat": 1}' where id = $1`, plan)
	e.FallbackTo("applications", e.App, "user", "boss")
	id := e.Open(plan)
	finish(e, id)
	require.Equal(t, []string{"1.0.0 primary ana email sent", "2.0.0 primary bo sms sent",
		"3.0.0 primary ana email sent",
		"4.0.0 primary bo sms sent", "5.0.0 fallback boss sms sent"}, e.Pages(id))
	lines := e.Timeline(id)
	require.Equal(t, "step: step 4 (step 2 of repeat 1): paging bo by sms (high, named in the plan)", lines[3])
	require.Equal(t, "fallback: step 5 (fallback): nobody acknowledged in any step; paging boss by sms instead (fallback of application shop, boss)", lines[4])
	require.Equal(t, "exhausted: plan twice is exhausted: 2 steps are over, 1 repeat included, and nobody acknowledged; nobody is paged any more", lines[5])
	require.Equal(t, "alert", e.Text(`select template from messages where incident_id = $1 and step = 5`, id))
}

func TestAnAcknowledgementInARepeatContinuesThere(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("twice", pgtest.Intent{Step: 1, Role: "round-robin", Target: "db", Priority: "high",
		Wait: time.Hour})
	e.Exec(`update plans set settings = '{"repeat": 2}' where id = $1`, plan)
	id := e.Open(plan)
	e.Pass()
	e.Settle(id, "sent")
	e.Later(time.Hour)
	e.Pass()
	require.Equal(t, 2, e.Progress(id).Step)
	e.Acknowledge(id)
	e.Pass() // cancels the page of the repeat
	e.Reopen(id)
	e.Pass()
	require.Len(t, e.Pages(id), 3)
	require.EqualValues(t, 2, e.ID(`select count(distinct target) from messages where incident_id = $1`, id),
		"each round pages the next member")
	e.Settle(id, "sent")
	e.Later(time.Hour)
	e.Pass()
	require.Equal(t, 3, e.Progress(id).Step)
}

func TestTheFirstStepWaitsForTheDelay(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("later", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	e.Exec(`update plans set settings = '{"delay_seconds": 300}' where id = $1`, plan)
	id := e.Open(plan)
	e.Pass()
	require.Empty(t, e.Pages(id))
	require.Equal(t, pgtest.Progress{Active: true, HasDue: true, Due: 5 * time.Minute}, e.Progress(id))
	e.Exec(`update incidents set due_at = $2 where id = $1`, id, e.Now) // for another reason
	e.Pass()
	require.Len(t, e.Timeline(id), 1, "the delay is said once")
	e.Later(5 * time.Minute)
	e.Pass()
	require.Len(t, e.Pages(id), 1)
}

func TestAPageWaitsUntilSomebodyIsOnCall(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	team := e.ID(`insert into teams (name) values ('empty') returning id`)
	plan := e.Plan("queue",
		pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "empty", Priority: "high", Wait: time.Minute},
		pgtest.Intent{Step: 1, Role: "user", Target: "cy", Priority: "low", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute})
	e.Exec(`update plans set settings = '{"wait_for_on_call": true}' where id = $1`, plan)
	e.FallbackTo("plans", plan, "user", "boss")
	id := e.Open(plan)
	for range 5 {
		e.Pass()
		e.Settle(id, "sent")
		e.Later(time.Minute)
	}
	require.Equal(t, []string{"1.1.0 primary cy email sent"}, e.Pages(id), "the step is not over")
	require.Len(t, e.Timeline(id), 2)
	require.Contains(t, e.Timeline(id), "held: step 1: nobody is on call for oncall-primary of empty; the page waits until somebody is")
	e.Exec(`insert into team_members (team_id, user_id, position) values ($1, $2, 0)`, team, e.People["ana"])
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 primary ana sms pending")
	e.Settle(id, "sent")
	e.Later(time.Minute)
	e.Pass()
	require.Contains(t, e.Pages(id), "2.0.0 primary bo sms pending")
}

func TestAStepIsLeftOutWhenItsConditionDoesNotHold(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Now = time.Date(2030, 1, 4, 22, 30, 0, 0, time.UTC) // a Friday; Saturday in Berlin
	plan := e.Plan("weekdays",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute})
	e.Exec(`update teams set time_zone = 'Europe/Berlin' where name = 'db'`)
	when := func(conditions string) {
		e.Exec(`update plans set conditions = replace($2, 'DB', (select target_id::text from teams where name = 'db'))::jsonb where id = $1`, plan, conditions)
	}
	when(`[{"step": 1, "team_target_id": DB, "windows": [{"days": ["mon", "tue", "wed", "thu", "fri"], "from": "09:00", "to": "23:00"}]}]`)
	id := e.Open(plan)
	finish(e, id)
	require.Equal(t, []string{"2.0.0 primary bo sms sent"}, e.Pages(id))
	require.Equal(t, "skipped: step 1 is left out: it applies mon, tue, wed, thu, fri 09:00 to 23:00 Europe/Berlin",
		e.Timeline(id)[0])

	when(`[{"step": 1, "windows": [{"days": ["sun"]}]}, {"step": 2, "windows": [{"days": ["sun"]}]}]`)
	id = e.Open(plan)
	finish(e, id)
	require.Equal(t, []string{"3.0.0 fallback owner sms sent"}, e.Pages(id),
		"somebody is paged, the creator of the plan at last")
	require.Equal(t, pgtest.Progress{Step: 3}, e.Progress(id))
}
