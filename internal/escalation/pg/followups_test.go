package pg_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// followUps stores the follow-ups of a person for a priority, as pairs of mode and seconds.
func followUps(e *pgtest.Escalating, person, priority string, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		e.Exec(`insert into user_follow_ups values ($1, $2, $3, $4, $5)`, e.People[person], priority, i/2+1, pairs[i],
			pairs[i+1])
	}
}

// settlePages settles messages other than follow-ups as sent.
func settlePages(e *pgtest.Escalating, incident int64) {
	e.Exec(`update messages set purpose = 'x' || purpose, state = 'x' || state where purpose like 'follow-up-%'`)
	e.Settle(incident, "sent")
	e.Exec(`update messages set purpose = substr(purpose, 2), state = substr(state, 2) where purpose like 'xfollow-up-%'`)
}

func TestFollowUpsWaitInTheQueueAndDelayNoStep(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	followUps(e, "ana", "high", "slack", 120, "call", 300)
	id := e.Open(e.Plan("night",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute, Repeat: 1},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute}))
	e.Pass()
	pages := []string{"1.0.0 primary ana sms pending", "1.0.0 follow-up-1 ana slack pending",
		"1.0.0 follow-up-2 ana call pending"}
	require.ElementsMatch(t, pages, e.Pages(id))
	require.Equal(t, []string{"step: step 1: paging ana by sms (then slack after 2 min and call after 5 min) (high, named in the plan)"}, e.Timeline(id))
	require.Equal(t, "0 120 300", e.Text(`select string_agg(round(extract(epoch from available_at - created_at))::text, ' ' order by available_at) from messages`))
	require.JSONEq(t, `[{"mode": "slack", "delay_seconds": 120}, {"mode": "call", "delay_seconds": 300}]`,
		e.Text(`select detail -> 'pages' -> 0 -> 'follow_ups' from timeline_entries`))

	settlePages(e, id)
	e.Later(time.Minute)
	e.Pass()
	require.Len(t, e.Pages(id), 4, "the repeat is made after the wait, without follow-ups")
	settlePages(e, id)
	e.Later(time.Minute)
	e.Pass()
	settlePages(e, id)
	e.Later(time.Minute)
	e.Pass()
	require.False(t, e.Progress(id).Active, "follow-ups do not keep the plan from ending")
	require.Equal(t, int64(2), e.ID(`select count(*) from messages where state = 'pending'`),
		"they are still sent: nobody has acknowledged")

	require.Zero(t, e.ID(`select count(*) from messages m where m.settled_at is null and (m.held_at is null or m.mode_since <= statement_timestamp())`))
}

func TestAnAcknowledgementCancelsFollowUpsAndReopeningMakesThemAgain(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	followUps(e, "ana", "high", "slack", 120, "call", 300)
	id := e.Open(e.Plan("night", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	e.Pass()
	e.Exec(`update messages set state = 'sent', settled_at = $1 where purpose in ('primary', 'follow-up-1')`, e.Now)
	e.Acknowledge(id)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 follow-up-2 ana call cancelled")
	e.Reopen(id)
	e.Pass()
	require.ElementsMatch(t, []string{"1.0.0 primary ana sms sent", "1.0.0 follow-up-1 ana slack sent",
		"1.0.0 follow-up-2 ana call cancelled",
		"1.0.0 follow-up-2 ana call pending/1"}, e.Pages(id))
	require.Contains(t, e.Timeline(id), "step: step 1: ana is notified by call after 5 min, because the acknowledgement was taken back")
	require.Equal(t, time.Hour, e.Progress(id).Due, "the wait of the step is as before")
	e.Pass()
	require.Len(t, e.Pages(id), 4)
}

func TestAPlanThatBeginsAgainMakesNewFollowUps(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	followUps(e, "ana", "high", "slack", 120)
	id := e.Open(e.Plan("night", pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high", Wait: time.Hour}))
	e.Pass()
	settlePages(e, id)
	e.Acknowledge(id)
	e.Pass()
	require.Contains(t, e.Pages(id), "1.0.0 follow-up-1 ana slack cancelled")
	e.Exec(`update users set active = false where name = 'ana'`) // somebody else is meant now
	e.Exec(`update incidents set current_step = 0, progress = '{}' where id = $1`, id)
	e.Reopen(id)
	e.Pass()
	require.Equal(t, int64(0), e.ID(`select count(*) from messages where target = 'ana' and reopen_count = 1`))
	require.Equal(t, int64(2), e.ID(`select count(*) from messages where reopen_count = 1`))
}

func TestADigestHasNoFollowUps(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	followUps(e, "ana", "high", "slack", 120)
	plan := e.Plan("flood", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	e.Exec(`update plans set threshold_window = 600, threshold_count = 1, aggregation_window = 60, aggregation_reset = 600`)
	first := e.Open(plan)
	e.Pass()
	second := e.Open(plan)
	e.Pass()
	require.Len(t, e.Pages(first), 2)
	require.Equal(t, []string{"1.0.0 primary ana sms aggregated"}, e.Pages(second))
}

// sends is a vendor that accepts everything.
type sends struct{}

func (sends) Name() string        { return "smtp" }
func (sends) Account() string     { return "main" }
func (sends) Modes() []users.Mode { return []users.Mode{users.SMS, users.Call} }
func (sends) Send(context.Context, messages.Outbound) messages.Result {
	return messages.Result{Outcome: messages.OutcomeSent}
}

func TestFollowUpsAreSentWhenTheirTimeComes(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	followUps(e, "ana", "high", "call", 1)
	plan := e.Plan("night", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	e.Exec(`insert into members (process_id, host, version, data_shape, heartbeat_at) values ('owner', 'h', 'v', 1, clock_timestamp() + interval '1 hour')`)
	ctx, stop := context.WithCancel(t.Context())
	x := newEngine(e, e.Own("owner"), zap.NewNop(), sends{})
	ended := make(chan error, 1)
	go func() { ended <- x.run(ctx) }()
	id := e.ID(`insert into incidents (plan_id, application_id, due_at) values ($1, $2, clock_timestamp()) returning id`, plan, e.App)
	require.Eventually(t, func() bool {
		return e.ID(`select count(*) from messages where state = 'sent' and incident_id = $1`, id) == 2
	},
		20*time.Second, 20*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, int64(1), e.ID(`select count(*) from attempts a join messages m on m.id = a.message_id where m.mode = 'call' and a.started_at >= m.created_at + interval '1 second'`))
}
