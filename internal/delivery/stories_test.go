package delivery_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Tests of workers with PostgreSQL.

func TestMessagesOfADeadProcessAreDelivered(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	dead := o.own("dead", 0, 256)
	incident, _ := o.incident(users.Email, messages.ClassUrgent)
	_, _ = o.incident(users.Email, messages.ClassUrgent)
	cs := o.take(dead, o.lane(users.Email, messages.ClassUrgent), 2)
	slices.SortFunc(cs, func(a, b delivery.Claimed) int { return int(a.IncidentID - b.IncidentID) })
	o.mark(dead, cs[0])
	o.exec(`update messages set claim_until = clock_timestamp() + interval '500 milliseconds' where state = 'sending'`)
	o.kill("dead")

	p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	o.work(o.deps(o.own("next", 0, 256), p), delivery.Config{})
	o.eventually("both are delivered", func() bool {
		return o.number(`select count(*) from messages where state = 'sent'`) == 2
	})
	require.Len(t, p.all(), 2)
	require.Equal(t, "1 unknown true false, 2 sent false false", o.text(`select string_agg(
		attempt || ' ' || outcome || ' ' || in_doubt || ' ' || late, ', ' order by attempt) from attempts where message_id = $1`, int64(cs[0].ID)))
	require.Equal(t, int64(1), o.number(`select count(*) from attempts where message_id = $1`, int64(cs[1].ID)),
		"it had not left: no doubt")
	require.Contains(t, o.text(`select text from timeline_entries where incident_id = $1`, incident),
		"may or may not have left")
	for _, c := range p.all() {
		if c.m.MessageID == cs[0].ID {
			require.Equal(t, 2, c.m.Attempt)
			require.Contains(t, c.m.IdempotencyKey, "-1", "the key of the first attempt")
		}
	}
}

func TestProcessesShareARate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.flood(300, users.Email)
	const perSecond = 60
	cfg := delivery.Config{Limits: map[string]rate.Limit{delivery.ModeKey(users.Email): {PerSecond: perSecond}}}
	p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	gossip := &gossip{}
	for _, h := range []*holder{o.own("a", 0, 40), o.own("b", 40, 256), o.own("c", 0, 0)} {
		deps := o.deps(h, p)
		deps.Hints = gossip.node(h.id)
		w, _ := o.work(deps, cfg)
		gossip.join(h.id, w)
	}
	o.eventually("a few seconds of the rate", func() bool { return p.count() >= 150 })
	calls := p.all()
	slices.SortFunc(calls, func(a, b call) int { return a.at.Compare(b.at) })
	// The allowed jitter is large because the machine may be busy. The arithmetic is tested in fake time.
	const interval, jitter = time.Second / perSecond, 300 * time.Millisecond
	empty := calls[0].at
	for i, c := range calls {
		if c.at.After(empty) {
			empty = c.at
		}
		empty = empty.Add(interval)
		require.LessOrEqual(t, empty.Sub(c.at), interval+jitter, "call %d", i)
	}
}

func TestAVendorAnswerWithInvalidTextIsCleanedAndStored(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.flood(5, users.Email)
	p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}, answer: func(n int, m messages.Outbound) messages.Result {
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "\x00\xff", VendorMessageID: "id\x00"}
	}}
	o.work(o.deps(o.own("me", 0, 256), p), delivery.Config{})
	o.eventually("all are recorded", func() bool { return o.number(`select count(*) from messages where state = 'sent'`) == 5 })
}

func TestAMessageIsSentByTheNextModeAndRecorded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	text := &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS, users.Call}, answer: func(int, messages.Outbound) messages.Result {
		return messages.Result{Outcome: messages.OutcomeRejected, Detail: "no such number"}
	}}
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	w, stop := o.work(o.deps(o.own("me", 0, 256), text, mail), delivery.Config{})
	incident, message := o.incident(users.SMS, messages.ClassUrgent)
	w.Wake(buckets.Of(int(incident & 255)))
	o.eventually("delivered in the next mode", func() bool { return o.state(messages.ID(message)) == "sent" })
	stop()
	require.Equal(t, "email true", o.text(`select mode || ' ' || mode_changed from messages where id = $1`, message))
	require.Equal(t, "rejected sms:ana, sent email:ana",
		o.text(`select string_agg(outcome || ' ' || destination, ', ' order by attempt)
		from attempts where message_id = $1`, message))
	require.Equal(t, "subject message", o.text(`select subject || ' ' || left(body, 7) from message_contents where message_id = $1`, message))
	require.Equal(t, int64(1), o.number(`select count(*) from timeline_entries where incident_id = $1`, incident))
}

func TestAnUnreachableRecipientCausesAFallback(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.exec(`delete from user_contacts`)
	mail := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	o.work(o.deps(o.own("me", 0, 256), mail), delivery.Config{})
	_, message := o.incident(users.Email, messages.ClassUrgent)
	o.eventually("given up", func() bool { return o.state(messages.ID(message)) == "failed" })
	require.Equal(t, int64(1), o.number(`select count(*) from messages where needs_fallback and settled_at is not null`))
	require.Equal(t, int64(1), o.number(`select count(*) from incidents where due_at is not null`))
}

// gossip carries hints between the workers of a test.
type gossip struct {
	mu sync.Mutex
	ws map[string]*delivery.Worker
}

func (g *gossip) join(id string, w *delivery.Worker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ws == nil {
		g.ws = map[string]*delivery.Worker{}
	}
	g.ws[id] = w
}

func (g *gossip) node(id string) *mouth { return &mouth{g, id} }

// mouth is the gossip of one process.
type mouth struct {
	g  *gossip
	id string
}

func (m *mouth) Demand(hint []byte) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	for id, w := range m.g.ws {
		if id != m.id {
			w.UpdatePeer(m.id, hint)
		}
	}
}
