package delivery_test

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/system"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// These tests check the behaviour of the PostgreSQL queue on which delivery relies.

func (o *office) request(h *holder, lane rate.Lane, n int, bs ...int) delivery.TakeRequest {
	if len(bs) == 0 {
		bs = buckets.All().List()
	}
	return delivery.TakeRequest{
		ProcessID: h.id, Leases: h.leases, ClaimFor: 5 * time.Second,
		Takes: []delivery.Take{{Lane: lane, Max: n, Buckets: bs}},
	}
}

func (o *office) lane(m users.Mode, c messages.Class) rate.Lane {
	return rate.Lane{Mode: m, Class: c, Application: o.app}
}

func (o *office) take(h *holder, lane rate.Lane, n int) []delivery.Claimed {
	o.t.Helper()
	got, err := pg.New(o.db).Take(o.t.Context(), o.request(h, lane, n))
	require.NoError(o.t, err)
	return got
}

func start(c delivery.Claimed) stage.Start {
	return stage.Start{
		ID: c.ID, IncidentID: c.IncidentID, Vendor: "smtp", Account: "main", Destination: c.Destination, Key: "k",
		CallFor: 10 * time.Second, Subject: "s", Body: "b",
	}
}

func (o *office) mark(h *holder, cs ...delivery.Claimed) map[messages.ID]int {
	o.t.Helper()
	starts := make([]stage.Start, len(cs))
	for i, c := range cs {
		starts[i] = start(c)
	}
	got, err := pg.New(o.db).MarkSending(o.t.Context(), h.id, starts)
	require.NoError(o.t, err)
	return got
}

func outcome(c delivery.Claimed, attempt int, r messages.Outcome, v stage.Verdict) stage.Outcome {
	return stage.Outcome{
		Turn:    stage.Turn{ID: c.ID, IncidentID: c.IncidentID, Mode: c.Mode, Verdict: v},
		Attempt: attempt, Result: messages.Result{Outcome: r, Detail: "said so", VendorMessageID: "v1"},
	}
}

func (o *office) record(outs ...stage.Outcome) []messages.ID {
	o.t.Helper()
	late, err := pg.New(o.db).Record(o.t.Context(), outs)
	require.NoError(o.t, err)
	return late
}

func (o *office) state(id messages.ID) string {
	o.t.Helper()
	return o.text(`select state from messages where id = $1`, int64(id))
}

func TestQueueFindsLanes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	q := pg.New(o.db)
	incident, _ := o.incident(users.SMS, messages.ClassUrgent)
	o.flood(3, users.Email)
	o.exec(`update messages set available_at = clock_timestamp() + interval '10 seconds' where mode = 'sms'`)

	found, err := q.Waiting(t.Context(), buckets.All().List(), time.Time{})
	require.NoError(t, err)
	require.Len(t, found.Waiting, 4)
	byMode := map[users.Mode]int{}
	for _, w := range found.Waiting {
		byMode[w.Mode]++
		require.Equal(t, "shop", w.ApplicationName)
		if w.Mode == users.SMS {
			require.Equal(t, int(incident&255), w.Bucket)
			require.InDelta(t, 10, w.DueIn.Seconds(), 1)
			continue
		}
		require.LessOrEqual(t, w.DueIn, time.Duration(0))
	}
	require.Equal(t, map[users.Mode]int{users.SMS: 1, users.Email: 3}, byMode)

	found, err = q.Waiting(t.Context(), buckets.All().List(), found.Clock.Add(time.Second))
	require.NoError(t, err)
	require.Len(t, found.Waiting, 1, "what was there before the watermark is overlooked")

	o.exec(`update applications set paused = true`)
	found, err = q.Waiting(t.Context(), buckets.All().List(), time.Time{})
	require.NoError(t, err)
	require.Empty(t, found.Waiting)
}

func TestQueueTakesTheRequestedLanes(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	_, message := o.incident(users.Email, messages.ClassUrgent)
	o.flood(20, users.Email)

	got := o.take(h, o.lane(users.Email, messages.ClassUrgent), 10)
	require.Len(t, got, 1)
	c := got[0]
	require.Equal(t, messages.ID(message), c.ID)
	require.Equal(t, "email:ana", c.Destination)
	require.True(t, c.Allowed)
	require.Equal(t, 1, c.Takes)
	require.Equal(t, users.ID(o.user), c.UserID)
	require.False(t, c.IncidentAt.IsZero())
	require.False(t, c.Expired)
	require.Len(t, o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 12), 12)
	require.Len(t, o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 12), 8, "each is taken once")
	require.Empty(t, o.take(h, o.lane(users.SMS, messages.ClassOutOfBand), 12))
}

func TestQueueTakesNothingUnderAStaleLease(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	old := o.own("old", 0, 256)
	o.flood(50, users.Email)
	lane := o.lane(users.Email, messages.ClassOutOfBand)
	fresh := o.own("fresh", 0, 128)

	got := o.take(old, lane, 100)
	for _, c := range got {
		require.GreaterOrEqual(t, c.Bucket, 128, "bucket lost")
	}
	again := o.own("old", 0, 128) // the same owner with a new epoch
	stale := &holder{id: "old", leases: old.leases}
	require.Empty(t, o.take(stale, lane, 100))
	require.Empty(t, o.take(fresh, lane, 100))
	require.Len(t, o.take(again, lane, 100), 50-len(got))
}

func TestQueueWaitsForARunningBucketTransfer(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(10, users.Email)
	tx, err := o.db.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `update bucket_leases set owner = 'other', epoch = epoch + 1`)
	require.NoError(t, err)

	done := make(chan []delivery.Claimed, 1)
	go func() {
		got, _ := pg.New(o.db).Take(context.Background(), o.request(h, o.lane(users.Email, messages.ClassOutOfBand),
			10))
		done <- got
	}()
	o.eventually("the take waits for the lease", func() bool {
		return o.number(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) > 0
	})
	require.NoError(t, tx.Commit(t.Context()))
	require.Empty(t, <-done, "the lease it waited for is another's")
}

func TestTwoWorkersNeverTakeTheSameMessage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	const n = 400
	o.flood(n, users.Email)
	var mu sync.Mutex
	seen := map[messages.ID]int{}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				got, err := pg.New(o.db).Take(context.Background(),
					o.request(h, o.lane(users.Email, messages.ClassOutOfBand), 7))
				if err != nil || len(got) == 0 {
					return
				}
				mu.Lock()
				for _, c := range got {
					seen[c.ID]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for len(seen) < n {
		got := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 100)
		require.NotEmpty(t, got)
		for _, c := range got {
			seen[c.ID]++
		}
	}
	for id, times := range seen {
		require.Equal(t, 1, times, "message %d", id)
	}
}

func TestAcknowledgementBetweenTakeAndCallStopsTheCall(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	lane := o.lane(users.Email, messages.ClassUrgent)
	acknowledged, _ := o.incident(users.Email, messages.ClassUrgent)
	resolved, _ := o.incident(users.Email, messages.ClassUrgent)
	exhausted, sent := o.incident(users.Email, messages.ClassUrgent)
	snoozed, _ := o.incident(users.Email, messages.ClassUrgent)
	_, open := o.incident(users.Email, messages.ClassUrgent)
	got := o.take(h, lane, 10)
	require.Len(t, got, 5)
	o.exec(`update incidents set active = false, owner_id = $2 where id = $1`, acknowledged, o.user)
	o.exec(`update incidents set active = false, resolved = true where id = $1`, resolved)
	o.exec(`update incidents set active = false, snoozed_until = clock_timestamp() + interval '1 hour' where id = $1`,
		snoozed)
	o.exec(`update incidents set active = false, exhausted_at = clock_timestamp() where id = $1`, exhausted)

	begun := o.mark(h, got...)
	require.Equal(t, map[messages.ID]int{messages.ID(open): 1, messages.ID(sent): 1}, begun)
	require.Equal(t, int64(2), o.number(`select count(*) from attempts`))
}

func TestOnlyTheHolderOfAValidClaimMaySend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h, other := o.own("me", 0, 256), &holder{id: "other"}
	o.flood(3, users.Email)
	got := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 3)
	require.Empty(t, o.mark(other, got...))
	o.exec(`update messages set claim_until = clock_timestamp() where id = $1`, int64(got[0].ID))
	o.exec(`update messages set state = 'cancelled' where id = $1`, int64(got[1].ID))
	require.Equal(t, map[messages.ID]int{got[2].ID: 1}, o.mark(h, got...))
	require.Empty(t, o.mark(h, got[2]), "not twice")
}

func TestAnOutcomeSettlesItsMessage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update incidents set due_at = null where id = $1`, incident)
	c := o.take(h, o.lane(users.Email, messages.ClassUrgent), 1)[0]
	o.mark(h, c)
	require.Equal(t, "sending", o.state(c.ID))
	require.Empty(t, o.record(outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent})))
	require.Equal(t, "sent", o.state(c.ID))
	require.Equal(t, "sent v1 false false",
		o.text(`select outcome || ' ' || vendor_message_id || ' ' || late || ' ' || in_doubt
		from attempts where message_id = $1 and finished_at is not null`, int64(c.ID)))
	require.Equal(t, int64(1), o.number(`select count(*) from incidents i join messages m on m.incident_id = i.id
		where i.id = $1 and i.due_at = m.settled_at + interval '60 seconds'`, incident), "the wait began")
	require.Equal(t, "b", o.text(`select body from message_contents where message_id = $1`, int64(c.ID)))
}

// The runner decides about an incident while an outcome of its message is being recorded. The runner commits first. The
// record must read that commit and still begin the wait.
func TestAnOutcomeReadsTheCurrentIncident(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update incidents set due_at = clock_timestamp(), active = false, exhausted_at = clock_timestamp() where id = $1`, incident)
	c := o.take(h, o.lane(users.Email, messages.ClassUrgent), 1)[0]
	o.mark(h, c)
	tx, err := o.db.Pool().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `update incidents set due_at = clock_timestamp() + interval '1 hour', active = true where id = $1`, incident)
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() {
		_, err := pg.New(o.db).Record(context.Background(),
			[]stage.Outcome{outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent})})
		done <- err
	}()
	o.eventually("the record waits for the incident", func() bool {
		return o.number(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) > 0
	})
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-done)
	require.Equal(t, "sent", o.state(c.ID))
	require.Equal(t, int64(1), o.number(`select count(*) from incidents i join messages m on m.incident_id = i.id
		where i.id = $1 and i.due_at = m.settled_at + interval '60 seconds'`, incident), "the wait began")
}

func TestAnOutcomeDoesNotWriteAnIncidentThatIsDueEarlier(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update incidents set due_at = clock_timestamp() + interval '1 second' where id = $1`, incident)
	c := o.take(h, o.lane(users.Email, messages.ClassUrgent), 1)[0]
	o.mark(h, c)
	before := o.text(`select ctid || ' ' || due_at from incidents where id = $1`, incident)
	require.Empty(t, o.record(outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent})))
	require.Equal(t, before, o.text(`select ctid || ' ' || due_at from incidents where id = $1`, incident),
		"not even written")
}

func TestLateAndTimelyOutcomesAreRecordedTogether(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(3, users.Email)
	got := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 3)
	o.mark(h, got...)
	o.exec(`update messages set state = 'cancelled' where id = $1`, int64(got[1].ID))
	sent := stage.Verdict{State: messages.Sent}
	late := o.record(outcome(got[0], 1, messages.OutcomeSent, sent), outcome(got[1], 1, messages.OutcomeSent, sent),
		outcome(got[2], 1, messages.OutcomeUnknown, stage.Verdict{State: messages.Pending, SameKey: true}))
	require.Equal(t, []messages.ID{got[1].ID}, late)
	for i, want := range []string{"sent false false", "sent true false", "unknown false true"} {
		require.Equal(t, want, o.text(`select outcome || ' ' || late || ' ' || in_doubt from attempts where message_id = $1`, int64(got[i].ID)))
	}
}

// A database crash may lose a take without harm. It must not lose a mark, because a call follows it.
func TestOnlyTakesCommitAsynchronously(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(pgtest.URL(t))
	require.NoError(t, err)
	settings := at.Query()
	settings.Set("synchronous_commit", "on")
	at.RawQuery = settings.Encode()
	o := &office{t: t, db: pgtest.Open(t, at.String(), postgres.Config{KeyedPlans: true})}
	o.seed()
	h := o.own("me", 0, 256)
	o.exec(`create table noted (state text, commits text)`)
	o.exec(`create function note() returns trigger language plpgsql as $$
		begin insert into noted values (new.state, current_setting('synchronous_commit')); return new; end $$`)
	o.exec(`create trigger note before update on messages for each row execute function note()`)
	o.flood(1, users.Email)
	c := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 1)[0]
	o.mark(h, c)
	o.record(outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent}))
	require.Equal(t, "taken off, sending on, sent on",
		o.text(`select string_agg(state || ' ' || commits, ', ') from noted`))
}

func TestAModeChangeResetsAttemptsAndBudget(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	incident, _ := o.incident(users.SMS, messages.ClassUrgent)
	c := o.take(h, o.lane(users.SMS, messages.ClassUrgent), 1)[0]
	o.mark(h, c)
	o.record(outcome(c, 1, messages.OutcomeRejected, stage.Verdict{
		State: messages.Pending, Mode: users.Email, Tried: []users.Mode{users.SMS}, Refused: []users.Mode{users.SMS},
		Why: "SMS to ana failed (no such number). Trying email next.",
	}))
	require.Empty(t, o.take(h, o.lane(users.SMS, messages.ClassUrgent), 1))
	c = o.take(h, o.lane(users.Email, messages.ClassUrgent), 1)[0]
	require.Equal(t, []users.Mode{users.SMS}, c.Tried)
	require.Equal(t, []users.Mode{users.SMS}, c.Refused)
	require.Equal(t, "email:ana", c.Destination)
	require.Equal(t, 1, c.Attempt)
	require.Zero(t, c.ModeAttempt)
	require.Equal(t, "delivery SMS to ana failed (no such number). Trying email next.",
		o.text(`select kind || ' ' || text from timeline_entries where incident_id = $1`, incident))
	require.Equal(t, "mode-change sms email",
		o.text(`select change_type || ' ' || old || ' ' || new from message_changes`))
	require.Equal(t, int64(1), o.number(`select count(*) from messages where mode_changed`))
}

func TestALateOutcomeChangesOnlyItsAttempt(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(1, users.Email)
	lane := o.lane(users.Email, messages.ClassOutOfBand)
	c := o.take(h, lane, 1)[0]
	o.mark(h, c)
	o.exec(`update messages set claim_until = clock_timestamp() - interval '1 second'`)
	q := pg.New(o.db)
	o.kill("me")
	next := o.own("next", 0, 256)

	lost, err := q.Sending(t.Context(), "next", buckets.All().List())
	require.NoError(t, err)
	require.Len(t, lost, 1)
	require.NoError(t, q.Doubt(t.Context(), lost))
	require.Equal(t, "pending", o.state(c.ID))
	require.Equal(t, "unknown true", o.text(`select outcome || ' ' || in_doubt from attempts`))
	again := o.take(next, lane, 1)[0]
	require.Equal(t, 1, again.KeyAttempt, "the same idempotency key")
	o.mark(next, again)

	late := o.record(outcome(c, 1, messages.OutcomeRejected, stage.Verdict{State: messages.Failed}))
	require.Equal(t, []messages.ID{c.ID}, late)
	require.Equal(t, "sending", o.state(c.ID))
	require.Equal(t, "rejected true true",
		o.text(`select outcome || ' ' || in_doubt || ' ' || late from attempts where attempt = 1`))
	require.Empty(t, o.record(outcome(again, 2, messages.OutcomeSent, stage.Verdict{State: messages.Sent})))
	require.Equal(t, "sent", o.state(c.ID))
}

func TestALateSuccessPreventsASecondCall(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(1, users.Email)
	lane := o.lane(users.Email, messages.ClassOutOfBand)
	c := o.take(h, lane, 1)[0]
	o.mark(h, c)
	o.exec(`update messages set claim_until = clock_timestamp() - interval '1 second'`)
	o.kill("me")
	next := o.own("next", 0, 256)
	q := pg.New(o.db)
	require.NoError(t, q.Doubt(t.Context(), []delivery.Recovered{{ID: c.ID, Attempt: 1}}))
	again := o.take(next, lane, 1)[0]
	o.record(outcome(c, 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent}))
	require.Equal(t, "sent", o.state(c.ID))
	require.Empty(t, o.mark(next, again), "it has left already")
}

func TestAttemptsOfLiveProcessesAreNotInDoubt(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(1, users.Email)
	c := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 1)[0]
	o.mark(h, c)
	o.exec(`update messages set claim_until = clock_timestamp() - interval '1 second'`)
	o.own("next", 0, 256)
	q := pg.New(o.db)
	lost, err := q.Sending(t.Context(), "next", buckets.All().List())
	require.NoError(t, err)
	require.Empty(t, lost, "its sender lives")
	lost, err = q.Sending(t.Context(), "me", nil)
	require.NoError(t, err)
	require.Len(t, lost, 1, "the sender itself decides")
	o.exec(`update messages set claim_until = clock_timestamp() + interval '1 minute'`)
	o.kill("me")
	lost, err = q.Sending(t.Context(), "next", buckets.All().List())
	require.NoError(t, err)
	require.Empty(t, lost, "the call may still be running")
}

func TestClaimsExpire(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(3, users.Email)
	lane := o.lane(users.Email, messages.ClassOutOfBand)
	q := pg.New(o.db)
	require.Len(t, o.take(h, lane, 3), 3)
	require.Empty(t, o.take(h, lane, 3), "the claims are good")
	found, err := q.Waiting(t.Context(), buckets.All().List(), time.Time{})
	require.NoError(t, err)
	require.Empty(t, found.Waiting)
	o.exec(`update messages set claim_until = clock_timestamp() where id = (select min(id) from messages)`)
	found, err = q.Waiting(t.Context(), buckets.All().List(), time.Time{})
	require.NoError(t, err)
	require.Len(t, found.Waiting, 1)
	again := o.take(h, lane, 3)
	require.Len(t, again, 1)
	require.Equal(t, 2, again[0].Takes)
	o.kill("me")
	next := o.own("next", 0, 256)
	require.Empty(t, o.take(h, lane, 3), "a stale owner takes nothing")
	takes := map[int]int{}
	for _, c := range o.take(next, lane, 3) {
		takes[c.Takes]++
	}
	require.Equal(t, map[int]int{2: 2, 3: 1}, takes, "the others' process is dead")
	require.NoError(t, q.Release(t.Context(), "next",
		[]messages.ID{messages.ID(o.number(`select max(id) from messages`))}))
	require.Equal(t, 2, o.take(next, lane, 3)[0].Takes, "a release is not held against the template")
}

func TestMessagesExpire(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(2, users.Email)
	o.exec(`update messages set expires_at = clock_timestamp() - interval '1 second' where id = (select min(id) from messages)`)
	n, err := pg.New(o.db).Expire(t.Context(), h.leases, "me")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, "dropped", o.text(`select state from messages order by id limit 1`))
	require.Equal(t, int64(1), o.number(`select count(*) from message_changes where new = 'dropped'`))
}

func TestPendingMessagesArePurged(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	incident, message := o.incident(users.SMS, messages.ClassUrgent)
	o.exec(`update incidents set due_at = null`)
	o.flood(1500, users.Email)
	q := pgsystem.New(o.db)
	n, err := q.Purge(t.Context(), system.Purge{Application: o.text(`select name from applications where id = $1`,
		o.app), OutOfBand: true, Reason: "stale"}, "root")
	require.NoError(t, err)
	require.Equal(t, system.Purged{Dropped: 1500}, n)
	require.Equal(t, "pending", o.state(messages.ID(message)))
	n, err = q.Purge(t.Context(), system.Purge{Mode: users.SMS, Reason: "a rehearsal"}, "root")
	require.NoError(t, err)
	require.Equal(t, system.Purged{Dropped: 1}, n)
	require.Equal(t, "operator root The sms to ana was dropped: a rehearsal",
		o.text(`select kind || ' ' || actor || ' ' || text from timeline_entries where incident_id = $1`, incident))
	require.Equal(t, int64(1), o.number(`select count(*) from incidents where due_at is not null`))
	n, err = q.Purge(t.Context(), system.Purge{OlderThan: 3600}, "root")
	require.NoError(t, err)
	require.Equal(t, system.Purged{}, n)
}

func TestTextThatPostgreSQLRefusesIsCleaned(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	o.flood(1, users.Email)
	c := o.take(h, o.lane(users.Email, messages.ClassOutOfBand), 1)[0]
	o.mark(h, c)
	out := outcome(c, 1, messages.OutcomeRejected, stage.Verdict{State: messages.Failed, Why: "bad \x00 and \xff"})
	out.Result.Detail = "vendor says \x00 \xff\xfe"
	require.Empty(t, o.record(out), "what cannot be stored is cleaned")
	require.Equal(t, "failed", o.state(c.ID))
}

func TestPausesAreShared(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l := pg.NewLimits(o.db)
	require.NoError(t, l.SetPause(t.Context(), "account:twilio/main", time.Minute, "asked"))
	require.NoError(t, l.SetPause(t.Context(), "account:twilio/main", time.Second, "shorter"))
	ps, err := l.Pauses(t.Context())
	require.NoError(t, err)
	require.Len(t, ps, 1)
	require.Equal(t, "asked", ps[0].Reason)
	require.InDelta(t, 60, ps[0].For.Seconds(), 2)
	require.NoError(t, pgsystem.New(o.db).Pause(t.Context(), "account:twilio/main", time.Second,
		"an operator's pause replaces it"))
	require.NoError(t, pgsystem.New(o.db).EndPause(t.Context(), "account:twilio/main"))
	require.True(t, fault.Is(pgsystem.New(o.db).EndPause(t.Context(), "account:twilio/main"), fault.NotFound))
	require.Equal(t, "sending paused, sending resumed",
		o.text(`select string_agg(action, ', ' order by id) from audit_log where object = 'account:twilio/main'`))
}

func TestQueueTakesOnlyMessagesThatNeedNotWaitForALongPause(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	_, first := o.incident(users.SMS, messages.ClassUrgent)
	_, again := o.incident(users.SMS, messages.ClassUrgent)
	o.exec(`update messages set cycles = 1 where id = $1`, again)
	r := o.request(h, o.lane(users.SMS, messages.ClassUrgent), 10)
	r.Takes[0].Waited, r.Takes[0].Older = 20*time.Second, time.Minute
	got, err := pg.New(o.db).Take(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, got, 1, "a pause of an hour leaves no budget to wait for")
	require.Equal(t, messages.ID(first), got[0].ID)
}
