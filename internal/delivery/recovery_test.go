package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// A receipt refuses the mode after the call: the message is back in the queue in a mode that is already refused.
func TestARefusingReceiptMovesTheMessageToAnotherMode(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	text := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS, users.Call}}
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	w, _ := o.work(o.deps(o.own("me", 0, 256), text, mail), delivery.Config{})
	incident, message := o.incident(users.SMS, messages.ClassUrgent)
	w.Wake(buckets.All())
	o.eventually("the text left", func() bool { return o.state(messages.ID(message)) == "sent" })
	_, err := pg.NewReceipts(o.db).Apply(t.Context(), messages.Receipt{
		Vendor: "twilio", VendorMessageID: "v" + o.text(`select id::text from messages where id = $1`,
			message), Status: "undelivered",
		Outcome: messages.OutcomeRejected, Detail: "30005",
	})
	require.NoError(t, err)
	w.Wake(buckets.All())
	o.eventually("an e-mail left", func() bool { return mail.count() == 1 })
	o.eventually("and is recorded", func() bool { return o.state(messages.ID(message)) == "sent" })
	require.Equal(t, 1, text.count())
	require.Equal(t, "email {sms} 2", o.text(`select format('%s %s %s', mode, refused_modes, attempt) from messages where id = $1`, message))
	require.Equal(t, "The sms to ana was not delivered (undelivered 30005). It is tried another way. / SMS to ana was not delivered. Trying email next.",
		o.text(`select string_agg(text, ' / ' order by id) from timeline_entries where incident_id = $1`, incident))
}

func TestADeactivatedUserIsNotNotified(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	_, message := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update users set active = false`)
	o.work(o.deps(o.own("me", 0, 256), mail), delivery.Config{})
	o.eventually("given up", func() bool { return o.state(messages.ID(message)) == "failed" })
	require.Zero(t, mail.count())
	require.Equal(t, int64(1), o.number(`select count(*) from messages where needs_fallback`))
	require.Equal(t, "ana is no longer active and is not notified.", o.text(`select text from timeline_entries`))
}

// growing is a process that gains buckets while it works.
type growing struct {
	holder
	mu sync.Mutex
}

func (g *growing) Leases() []buckets.Lease {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leases
}

func (g *growing) gain(all []buckets.Lease) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leases = all
}

// The backlog of a dead process is older than all messages that the next owner has seen. It must still be found at
// once.
func TestAnOldBacklogIsFoundWhenItsBucketIsGained(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	whole := o.own("me", 0, 256)
	g := &growing{holder: holder{id: "me", leases: whole.leases[:128]}}
	deps := o.deps(whole, mail)
	deps.Leases = g
	w, _ := o.work(deps, delivery.Config{Poll: 50 * time.Millisecond})
	own := func(bucket int) int64 {
		request := o.number(`insert into notification_requests (id, application_id, subject, body) values ($1, $2, 's', 'b') returning id`, bucket, o.app)
		return o.number(`insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, available_at)
			values ($1::bigint & 255, $2, $3, 'user:' || $4::bigint, $4::bigint, 'ana', 2, 'email', clock_timestamp() - make_interval(mins => $5)) returning id`,
			bucket, request, o.app, o.user, bucket/128*10)
	}
	own(1)
	w.Wake(buckets.All())
	o.eventually("work in its own buckets", func() bool { return mail.count() == 1 })
	old := own(200)
	g.gain(whole.leases)
	w.Wake(buckets.Of(200))
	o.eventually("the old message", func() bool { return o.state(messages.ID(old)) == "sent" })
}

// A process that loses the database during a mark retracts the attempt once the database is back. By then another
// process may be making an attempt with the same number.
func TestARetractionChangesOnlyTheAttemptOfItsProcess(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := o.own("first", 0, 256)
	_, id := o.incident(users.Email, messages.ClassUrgent)
	c := o.take(first, o.lane(users.Email, messages.ClassUrgent), 1)
	require.Len(t, c, 1)
	o.kill("first")
	second := o.own("second", 0, 256)
	require.Equal(t, 1, o.mark(second, o.take(second, o.lane(users.Email, messages.ClassUrgent),
		1)...)[messages.ID(id)])

	retraction := outcome(c[0], 1, messages.OutcomeCancelled,
		stage.Verdict{State: messages.Pending, Unstarted: true})
	retraction.ProcessID = "first"
	require.Equal(t, []messages.ID{messages.ID(id)}, o.record(retraction))
	require.Equal(t, "sending", o.state(messages.ID(id)))
	require.Equal(t, int64(1), o.number(`select count(*) from attempts where outcome is null and not late`))
	require.Empty(t, o.record(outcome(c[0], 1, messages.OutcomeSent, stage.Verdict{State: messages.Sent})))
	require.Equal(t, "sent", o.state(messages.ID(id)))
}

// When every mode has failed, the message restarts with all modes and requests a fallback.
func TestARestartWithAllModesIsStored(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	_, id := o.incident(users.SMS, messages.ClassUrgent)
	lane := o.lane(users.SMS, messages.ClassUrgent)
	c := o.take(h, lane, 1)
	require.Equal(t, 1, o.mark(h, c...)[messages.ID(id)])
	again := stage.Verdict{State: messages.Pending, Mode: users.SMS, AskFallback: true,
		Why: "Every mode was tried; beginning again with sms."}
	require.Empty(t, o.record(outcome(c[0], 1, messages.OutcomeUnavailable, again)))
	require.Equal(t, "pending sms {} 1 t",
		o.text(`select format('%s %s %s %s %s', state, mode, tried_modes, cycles, needs_fallback) from messages where id = $1`, id))

	c = o.take(h, lane, 1)
	require.Len(t, c, 1)
	require.NoError(t, pgdelivery.New(o.db).Turn(t.Context(), "me",
		[]stage.Turn{{ID: c[0].ID, IncidentID: c[0].IncidentID, Mode: c[0].Mode, Verdict: again}}))
	require.Equal(t, "pending sms {} 2 t",
		o.text(`select format('%s %s %s %s %s', state, mode, tried_modes, cycles, needs_fallback) from messages where id = $1`, id))
}

// A message whose verdict cannot be stored must not be sent again every few seconds. Therefore at least its state is
// stored.
func TestAtLeastTheStateIsStoredIfTheVerdictCannotBe(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.steadfast = true
		text, mail := texts(always(messages.OutcomeRejected)), smtp(nil)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail, text)
		s.after(300 * time.Millisecond)
		r := s.row(id)
		require.NotEqual(t, messages.Sending, r.state)
		require.NotEmpty(t, r.attempts[0].result.Detail)
	})
}

// brokenWords is a renderer that fails every batch that contains the template "poison".
type brokenWords struct{ words }

func (b brokenWords) Render(ctx context.Context, reqs []messages.Request) ([]messages.Content, error) {
	for _, r := range reqs {
		if r.Template == "poison" {
			return nil, errors.New("a row that nobody can read")
		}
	}
	return b.words.Render(ctx, reqs)
}

func TestAFailedRenderDelaysOnlyItsMessage(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.deps.Renderer = brokenWords{}
		mail := smtp(nil)
		var others []messages.ID
		poison := s.add(users.Email, messages.ClassUrgent, 1, func(c *delivery.Claimed) { c.Template = "poison" })
		for range 40 {
			others = append(others, s.add(users.Email, messages.ClassUrgent, 1))
		}
		s.run(delivery.Config{}, mail)
		s.after(time.Second)
		for _, id := range others {
			require.Equal(t, messages.Sent, s.row(id).state)
		}
		s.after(2 * time.Minute)
		require.True(t, s.row(poison).asked, "somebody else is told")
	})
}
