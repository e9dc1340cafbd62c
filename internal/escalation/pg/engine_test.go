package pg_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/account"
	pgqueue "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// pipeline is every part between an accepted incident and a vendor, in one process. Another process shares the
// database.
type pipeline struct {
	runner *runner.Runner
	worker *delivery.Worker
}

func newEngine(e *pgtest.Escalating, h *pgtest.Holding, log *zap.Logger, vendors ...messages.Vendor) *pipeline {
	e.T.Helper()
	x := &pipeline{}
	dir := pg.NewDirectory(e.DB)
	var err error
	quick := account.Budget{PerMode: 300 * time.Millisecond, Total: time.Second, GiveUp: 4 * time.Second,
		FirstGap: 30 * time.Millisecond, MostGap: 200 * time.Millisecond}
	queue := pgqueue.New(e.DB)
	x.worker, err = delivery.New(delivery.Deps{
		Queue: queue, Ledger: queue, Rescuer: queue, Limits: pgqueue.NewLimits(e.DB), Leases: h, Renderer: anyWords{},
		Directory: pg.NewReach(e.DB), Links: noLinks{}, Vendors: vendors, Log: log,
	}, delivery.Config{Budgets: [3]account.Budget{quick, quick, quick}, BreakAfter: 1000, StopWithin: 3 * time.Second})
	require.NoError(e.T, err)
	store := pg.NewRunner(e.DB)
	x.runner, err = runner.New(runner.Deps{
		Store: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, time.Second), Holder: h,
		Waker: func(bs buckets.Set) { x.worker.Wake(bs) }, Log: log,
	}, runner.Config{Batch: 20})
	require.NoError(e.T, err)
	return x
}

func (x *pipeline) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return x.runner.Run(ctx) })
	group.Go(func() error { return x.worker.Run(ctx) })
	return group.Wait()
}

type anyWords struct{}

func (anyWords) Render(_ context.Context, reqs []messages.Request) ([]messages.Content, error) {
	return make([]messages.Content, len(reqs)), nil
}

type noLinks struct{}

func (noLinks) AckURL(incidents.ID, messages.ID, users.ID) string { return "" }
func (noLinks) IncidentURL(incidents.ID) string                   { return "" }

// moody is a vendor that gives every kind of answer, and later sends receipts that contradict some answers.
type moody struct {
	name  string
	modes []users.Mode
	calls *callLog
}

type callLog struct {
	mu       sync.Mutex
	began    map[messages.ID][]time.Time
	accepted map[messages.ID]int
	later    []messages.Receipt
}

func (m *moody) Name() string        { return m.name }
func (m *moody) Account() string     { return "main" }
func (m *moody) Modes() []users.Mode { return m.modes }

func (m *moody) Send(ctx context.Context, out messages.Outbound) messages.Result {
	m.calls.mu.Lock()
	m.calls.began[out.MessageID] = append(m.calls.began[out.MessageID], time.Now())
	m.calls.mu.Unlock()
	select {
	case <-ctx.Done():
		return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "cut off"}
	case <-time.After(time.Duration(rand.IntN(60)) * time.Millisecond):
	}
	number := fmt.Sprintf("%s-%d-%d", m.name, out.MessageID, out.Attempt)
	switch rand.IntN(20) {
	case 0, 1, 2:
		return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "busy"}
	case 3:
		return messages.Result{Outcome: messages.OutcomeRejected, Detail: "no such number"}
	case 4:
		return messages.Result{Outcome: messages.OutcomeThrottled, Detail: "slow down",
			RetryAfter: 20 * time.Millisecond}
	}
	m.calls.mu.Lock()
	defer m.calls.mu.Unlock()
	m.calls.accepted[out.MessageID]++
	switch rand.IntN(12) {
	case 0:
		return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "no answer"}
	case 1:
		m.calls.later = append(m.calls.later, messages.Receipt{Vendor: m.name, VendorMessageID: number,
			Status: "undelivered", Outcome: messages.OutcomeRejected})
	case 2:
		m.calls.later = append(m.calls.later, messages.Receipt{Vendor: m.name, VendorMessageID: number,
			Status: "delivered", Outcome: messages.OutcomeSent, Delivered: true})
	}
	return messages.Result{Outcome: messages.OutcomeSent, VendorMessageID: number}
}

// Two engines run over one database, one of them with a stale lease. A vendor gives every kind of answer and late
// receipts. People acknowledge, resolve and reopen at the same time. At the end every incident and message has its
// correct final state, and no send began later than a second after an acknowledgement.
func TestTheEngineWithUnreliableVendorsAndConcurrentEdits(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("busy",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "urgent", Repeat: 1},
		pgtest.Intent{Step: 1, Role: "team", Target: "db", Priority: "high", Wait: time.Second},
		pgtest.Intent{Step: 2, Role: "user", Target: "bo", Priority: "medium"},
		pgtest.Intent{Step: 2, Role: "manager", Target: "db", Priority: "high", Optional: true},
		pgtest.Intent{Step: 3, Role: "user", Target: "cy", Priority: "urgent"})
	e.FallbackTo("plans", plan, "user", "boss")
	e.FallbackTo("applications", e.App, "team", "db")
	const count = 80
	var ids []incidents.ID
	for range count {
		ids = append(ids, incidents.ID(e.ID(`insert into incidents (plan_id, application_id, due_at) values ($1, $2, clock_timestamp()) returning id`, plan, e.App)))
	}
	core, logs := observer.New(zap.ErrorLevel)
	calls := &callLog{began: map[messages.ID][]time.Time{}, accepted: map[messages.ID]int{}}
	phone := &moody{"twilio", []users.Mode{users.SMS, users.Call}, calls}
	mail := &moody{"smtp", []users.Mode{users.Email}, calls}
	chat := &moody{"slack", []users.Mode{users.Slack}, calls}
	e.Exec(`insert into members (process_id, host, version, data_shape, heartbeat_at) select p, 'h', 'v', 1, clock_timestamp() + interval '1 hour'
		from unnest(array['stale', 'owner']) p`)
	stale := newEngine(e, e.Own("stale"), zap.New(core), phone, mail, chat)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() error { return stale.run(gctx) })
	require.Eventually(t, func() bool { return len(calls.snapshot()) > 10 }, 10*time.Second, 5*time.Millisecond)
	owner := newEngine(e, e.Own("owner"), zap.New(core), phone, mail, chat)
	group.Go(func() error { return owner.run(gctx) })

	receipts := pgincidents.NewReceipts(e.DB)
	group.Go(func() error {
		for gctx.Err() == nil {
			select {
			case <-gctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
			for _, r := range calls.take() {
				if _, err := receipts.Apply(gctx, r); err != nil && gctx.Err() == nil {
					return err
				}
			}
			if _, err := receipts.Match(gctx); err != nil && gctx.Err() == nil {
				return err
			}
		}
		return nil
	})

	// At the same time people are deactivated and activated, lose their phone numbers, and the application loses the
	// mode sms.
	group.Go(func() error {
		for gctx.Err() == nil {
			for _, change := range []string{
				`update users set active = not active where name = 'cy'`,
				`delete from user_contacts where user_id = (select id from users where name = 'bo') and mode in ('email', 'slack')`,
				`delete from application_modes where application_id = (select id from applications where name = 'shop') and mode = 'sms'`,
				`update users set active = not active where name = 'boss'`,
				`insert into user_contacts (user_id, mode, destination) select u.id, m, 'x' from users u, unnest(array['email', 'slack']) m where u.name = 'bo' on conflict do nothing`,
				`insert into application_modes (application_id, mode) select id, 'sms' from applications where name = 'shop' on conflict do nothing`,
			} {
				select {
				case <-gctx.Done():
				case <-time.After(150 * time.Millisecond):
				}
				if _, err := e.DB.Pool().Exec(gctx, change); err != nil && gctx.Err() == nil {
					return err
				}
			}
		}
		return nil
	})

	answers := pgincidents.New(e.DB)
	ana := users.User{ID: users.ID(e.People["ana"]), Name: "ana"}
	silent := map[incidents.ID]time.Time{}
	var mu sync.Mutex
	var people errgroup.Group
	for who := range 4 {
		people.Go(func() error {
			for range 40 {
				id := ids[rand.IntN(count/8)*4+who] // the other half is not changed
				c := incidents.Change{IDs: []incidents.ID{id}, Actor: "ana", Via: incidents.ViaAPI}
				mu.Lock()
				delete(silent, id)
				mu.Unlock()
				var err error
				if rand.IntN(3) == 0 {
					_, err = answers.Resolve(ctx, c, true)
				} else {
					_, err = answers.Acknowledge(ctx, c, ana)
				}
				at := time.Now()
				if err == nil && rand.IntN(2) == 0 {
					_, err = answers.Resolve(ctx, c, false)
					if err == nil {
						_, err = answers.Reopen(ctx, c)
					}
				} else {
					mu.Lock()
					silent[id] = at
					mu.Unlock()
				}
				if err != nil {
					return err
				}
				owner.runner.Wake(buckets.Of(int(id & 255)))
			}
			return nil
		})
	}
	require.NoError(t, people.Wait())
	defer func() {
		if t.Failed() {
			logIncidents(e)
		}
	}()
	require.Eventually(t, func() bool {
		calls.mu.Lock()
		waiting := len(calls.later)
		calls.mu.Unlock()
		return waiting == 0 && e.ID(`select (select count(*) from incidents where active or due_at is not null)
			+ (select count(*) from messages where state in ('pending', 'taken', 'sending') or needs_fallback)`) == 0
	}, 60*time.Second, 50*time.Millisecond)
	stop()
	require.NoError(t, group.Wait())
	for _, l := range logs.All() {
		if cause, ok := l.ContextMap()["error"].(string); ok && strings.Contains(cause, "changed 5 times in a row") {
			continue // people were faster than the runner; the incident was postponed, and what follows is about it too
		}
		t.Errorf("an error in the log: %s %v", l.Message, l.ContextMap())
	}

	require.Zero(t, e.ID(`select count(*) from attempts where outcome is null`), "every attempt has its outcome")
	require.Zero(t, e.ID(`select count(*) from (select from messages
		group by incident_id, reopen_count, step, repeat, position, recipient, purpose having count(*) > 1) twice`), "P3")
	for id, began := range calls.snapshot() {
		require.LessOrEqual(t, int64(len(began)), e.ID(`select count(*) from attempts where message_id = $1`,
			int64(id)), "P3: every call is on record")
		incident := incidents.ID(e.ID(`select incident_id from messages where id = $1`, int64(id)))
		notice := e.ID(`select count(*) from messages where id = $1 and purpose like '%-notice'`, int64(id)) > 0
		if at, ok := silent[incident]; ok && !notice {
			for _, b := range began {
				require.False(t, b.After(at.Add(time.Second)), "P4: message %d began %s after the acknowledgement", id,
					b.Sub(at))
			}
		}
	}
	for _, id := range ids[count/2:] {
		require.Equal(t, int64(4), e.ID(`select count(distinct step) from messages where incident_id = $1 and state <> 'cancelled'`, int64(id)), "P1: every step fired, and then the fallback")
		require.Zero(t, e.ID(`select count(*) from messages where incident_id = $1 and state = 'cancelled'`, int64(id)))
		// If a person could not be reached in any mode, another person was paged instead, or the timeline says that
		// nobody is left.
		require.Zero(t, e.ID(`select count(*) from messages m where m.incident_id = $1 and m.state = 'failed' and not exists (
			select from timeline_entries t where t.incident_id = m.incident_id and t.kind in ('fallback', 'delivery') and t.text like '%' || m.target || '%')`, int64(id)), "P8")
	}
}

func (c *callLog) snapshot() map[messages.ID][]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[messages.ID][]time.Time, len(c.began))
	for id, at := range c.began {
		out[id] = append([]time.Time{}, at...)
	}
	return out
}

func (c *callLog) take() []messages.Receipt {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.later
	c.later = nil
	return out
}

// logIncidents logs the incidents that have not ended.
func logIncidents(e *pgtest.Escalating) {
	rows, err := e.DB.Pool().Query(context.Background(),
		`select format('%s active %s owner %s resolved %s due %s step %s reopened %s: %s', i.id, i.active, i.owner_id,
		i.resolved, i.due_at - clock_timestamp(), i.current_step, i.reopen_count, (select string_agg(format('%s/%s.%s.%s %s %s %s %s%s %s %s', m.id, m.step, m.position, m.repeat, m.purpose, m.target, m.mode,
		m.state, case when m.needs_fallback then '!' end, m.claim_by, m.available_at - clock_timestamp()), ', ' order by m.id) from messages m where m.incident_id = i.id
		and (m.needs_fallback or m.state in ('pending', 'taken', 'sending'))))
		from incidents i where i.active or i.due_at is not null or exists (select from messages m where m.incident_id = i.id
		and (m.needs_fallback or m.state in ('pending', 'taken', 'sending')))`)
	if err != nil {
		e.T.Log(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if rows.Scan(&line) == nil {
			e.T.Log(line)
		}
	}
}
