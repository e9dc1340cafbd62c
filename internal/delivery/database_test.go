package delivery_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// office is a test database with an application, a user and a plan.
type office struct {
	t    testing.TB
	db   *postgres.DB
	app  int64
	user int64
	plan int64
}

func newOffice(t testing.TB) *office {
	t.Helper()
	o := &office{t: t, db: pgtest.Open(t, pgtest.URL(t), postgres.Config{KeyedPlans: true})}
	o.seed()
	return o
}

func (o *office) seed() {
	o.t.Helper()
	o.app = o.number(`insert into applications (name) values ('shop') returning id`)
	o.exec(`insert into application_modes (application_id, mode) select $1, name from modes where name <> 'drop'`,
		o.app)
	o.user = o.number(`insert into users (name) values ('ana') returning id`)
	o.exec(`insert into user_contacts (user_id, mode, destination)
		select $1, m, m || ':ana' from unnest(array['email', 'sms', 'slack']) m`, o.user)
	o.plan = o.number(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		values ('p', $1, 0, 0, 0, 0) returning id`, o.user)
}

func (o *office) exec(sql string, args ...any) {
	o.t.Helper()
	_, err := o.db.Pool().Exec(context.Background(), sql, args...)
	require.NoError(o.t, err)
}

func (o *office) number(sql string, args ...any) (n int64) {
	o.t.Helper()
	require.NoError(o.t, o.db.Pool().QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

func (o *office) text(sql string, args ...any) (s string) {
	o.t.Helper()
	require.NoError(o.t, o.db.Pool().QueryRow(context.Background(), sql, args...).Scan(&s))
	return s
}

// incident opens an incident and makes one message for its first step.
func (o *office) incident(mode users.Mode, class messages.Class) (incident, message int64) {
	o.t.Helper()
	incident = o.number(`insert into incidents (plan_id, application_id, current_step) values ($1, $2, 1) returning id`, o.plan, o.app)
	o.exec(`insert into incident_contexts (incident_id, context) values ($1, '{}')`, incident)
	message = o.number(`insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, user_id, target,
			priority, class, mode, template, wait_seconds)
		values ($1::bigint & 255, $1::bigint, $2, $3, 1, 'user:' || $4::bigint, $4::bigint, 'ana', 'high', $5, $6, 't', 60) returning id`,
		incident, o.app, o.plan, o.user, int(class), string(mode))
	return incident, message
}

// flood makes n out-of-band messages.
func (o *office) flood(n int, mode users.Mode) {
	o.t.Helper()
	o.exec(`with r as (
			insert into notification_requests (application_id, subject, body)
			select $1, 's', 'b' from generate_series(1, $2) returning id, bucket)
		insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, expires_at)
		select bucket, id, $1, 'user:' || $3::bigint, $3::bigint, 'ana', 2, $4, clock_timestamp() + interval '1 hour' from r`,
		o.app, n, o.user, string(mode))
}

// holder is a process that holds leases.
type holder struct {
	id     string
	leases []buckets.Lease
	others []buckets.StandIn
}

func (h *holder) ProcessID() string       { return h.id }
func (h *holder) Leases() []buckets.Lease { return h.leases }

func (h *holder) StandIns() []buckets.StandIn { return h.others }

// own makes a live process that owns the buckets from..to-1. It takes them from other processes.
func (o *office) own(id string, from, to int) *holder {
	o.t.Helper()
	o.exec(`insert into members (process_id, host, version, data_shape, heartbeat_at)
		values ($1, 'h', 'v', 1, clock_timestamp() + interval '1 hour')
		on conflict (process_id) do nothing`, id)
	rows, err := o.db.Pool().Query(context.Background(), `update bucket_leases set owner = $1, epoch = epoch + 1
		where bucket >= $2 and bucket < $3 returning bucket, epoch`, id, from, to)
	require.NoError(o.t, err)
	h := &holder{id: id}
	byBucket := map[int]int64{}
	for rows.Next() {
		var b int
		var epoch int64
		require.NoError(o.t, rows.Scan(&b, &epoch))
		byBucket[b] = epoch
	}
	require.NoError(o.t, rows.Err())
	for b := from; b < to; b++ {
		h.leases = append(h.leases, buckets.Lease{Bucket: b, Epoch: byBucket[b]})
	}
	return h
}

// kill makes a process count as dead.
func (o *office) kill(id string) {
	o.exec(`update members set heartbeat_at = clock_timestamp() - interval '1 minute' where process_id = $1`, id)
}

// post is a vendor that records its messages and returns the configured answers.
type post struct {
	name, account string
	modes         []users.Mode
	answer        func(n int, m messages.Outbound) messages.Result

	mu    sync.Mutex
	calls []call
}

type call struct {
	at time.Time
	m  messages.Outbound
}

func (p *post) Name() string        { return p.name }
func (p *post) Account() string     { return p.account }
func (p *post) Modes() []users.Mode { return p.modes }

func (p *post) Send(ctx context.Context, m messages.Outbound) messages.Result {
	p.mu.Lock()
	p.calls = append(p.calls, call{time.Now(), m})
	n := len(p.calls)
	p.mu.Unlock()
	if p.answer == nil {
		return messages.Result{Outcome: messages.OutcomeSent, VendorMessageID: fmt.Sprint("v", m.MessageID)}
	}
	return p.answer(n, m)
}

func (p *post) all() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call{}, p.calls...)
}

func (p *post) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls)
}

type words struct{}

func (words) Render(_ context.Context, reqs []messages.Request) ([]messages.Content, error) {
	out := make([]messages.Content, len(reqs))
	for i, r := range reqs {
		out[i] = messages.Content{Subject: "subject", Body: fmt.Sprintf("message %d", r.MessageID), Application: "shop"}
	}
	return out, nil
}

type links struct{}

func (links) AckURL(incidents.ID, messages.ID, users.ID) string { return "https://iris.test/ack/x" }
func (links) IncidentURL(id incidents.ID) string {
	return fmt.Sprint("https://iris.test/incidents/", id)
}

func (o *office) deps(h *holder, vendors ...messages.Vendor) delivery.Deps {
	q := pg.New(o.db)
	level := zap.WarnLevel
	if _, isBenchmark := o.t.(*testing.B); isBenchmark {
		level = zap.ErrorLevel
	}
	return delivery.Deps{
		Queue: q, Ledger: q, Rescuer: q, Limits: pg.NewLimits(o.db), Leases: h, Renderer: words{},
		Directory: pgescalation.NewReach(o.db), Links: links{}, Vendors: vendors, Log: zaptest.NewLogger(o.t,
			zaptest.Level(level)),
	}
}

// work runs a worker until the returned function is called.
func (o *office) work(deps delivery.Deps, cfg delivery.Config) (w *delivery.Worker, stop func()) {
	o.t.Helper()
	w, err := delivery.New(deps, cfg)
	require.NoError(o.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(o.t, <-done)
		})
	}
	o.t.Cleanup(stop)
	return w, stop
}

func (o *office) eventually(what string, ok func() bool) {
	o.t.Helper()
	require.Eventually(o.t, ok, 15*time.Second, 10*time.Millisecond, what)
}

// BenchmarkPipeline measures messages per second from pending to recorded. The vendor answers at once, rendering costs
// nothing, and PostgreSQL commits durably, as configured.
func BenchmarkPipeline(b *testing.B) {
	o := newOffice(b)
	h := o.own("me", 0, 256)
	p := &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}}
	n := max(b.N, 1)
	o.flood(n, users.Email)
	deps := o.deps(h, p)
	b.ResetTimer()
	began := time.Now()
	_, stop := o.work(deps, delivery.Config{})
	require.Eventually(b, func() bool { return p.count() >= n }, 5*time.Minute, 5*time.Millisecond)
	stop()
	b.ReportMetric(float64(n)/time.Since(began).Seconds(), "messages/s")
	require.Equal(b, int64(n), o.number(`select count(*) from messages where state = 'sent'`))
}
