package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// memory replaces the database in worker tests with fake time: queue, ledger, rescuer, limiter and directory.
type memory struct {
	mu       sync.Mutex
	next     messages.ID
	rows     map[messages.ID]*row
	limits   map[string]time.Time
	pauses   []account.Pause
	people   map[users.ID]users.Responder
	allowed  map[users.Mode]bool
	down     bool          // the database cannot be reached
	slowMark time.Duration // how long MarkSending takes
	slowLook time.Duration // how long StillOpen takes
	// steadfast makes Record fail for every change of mode.
	steadfast bool
	lostMark  int // MarkSending fails once: 1 after its commit, 2 before it, 3 together with the take before it
	// recordFrom is when outcomes can be stored again. Zero = now.
	recordFrom time.Time
	silenced   map[messages.ID]bool
	// silencedLate are messages whose incident is acknowledged after their mark was decided.
	silencedLate map[messages.ID]bool
	restarts     bool  // the escalation of an incident starts again as soon as a message was refused
	takes        []int // the number of messages of each take that was not empty
}

type row struct {
	delivery.Claimed
	state     messages.State
	available time.Time
	made      time.Time
	since     time.Time // when the current mode began
	asked     bool
	asks      int // how often a fallback was requested
	forGood   bool
	why       []string
	attempts  []attempt
}

type attempt struct {
	vendor string
	key    string
	result messages.Result
	at     time.Time
}

var errDown = fault.New(fault.Unavailable, "the database cannot be reached")

func newMemory() *memory {
	m := &memory{
		rows: map[messages.ID]*row{}, limits: map[string]time.Time{}, people: map[users.ID]users.Responder{},
		allowed: map[users.Mode]bool{}, silenced: map[messages.ID]bool{}, silencedLate: map[messages.ID]bool{},
	}
	for _, mode := range users.Modes {
		m.allowed[mode] = true
	}
	m.people[1] = users.Responder{Contacts: map[users.Mode]string{users.Email: "e", users.SMS: "s", users.Slack: "k"}}
	return m
}

// add puts a message into the queue.
func (m *memory) add(mode users.Mode, class messages.Class, app int64, change ...func(*delivery.Claimed)) messages.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	now := time.Now()
	r := &row{
		Claimed: delivery.Claimed{
			ID: m.next, Bucket: int(m.next % 8), IncidentID: 1, ApplicationID: app, ApplicationName: "shop", Class: class, Mode: mode,
			UserID: 1, Target: "ana", Purpose: messages.Primary, Allowed: true, CreatedAt: now, IncidentAt: now, Recipient: "user:1",
		},
		state: messages.Pending, available: now, made: now, since: now,
	}
	for _, c := range change {
		c(&r.Claimed)
	}
	m.rows[r.ID] = r
	return r.ID
}

func (m *memory) row(id messages.ID) row {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := *m.rows[id]
	r.attempts, r.why = slices.Clone(r.attempts), slices.Clone(r.why)
	return r
}

func (m *memory) count(s messages.State) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, r := range m.rows {
		if r.state == s {
			n++
		}
	}
	return n
}

func (m *memory) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *memory) Waiting(_ context.Context, bs []int, _ time.Time) (delivery.Found, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return delivery.Found{}, errDown
	}
	type place struct {
		lane   rate.Lane
		bucket int
	}
	due := map[place]time.Duration{}
	for _, r := range m.rows {
		if r.state != messages.Pending || !slices.Contains(bs, r.Bucket) {
			continue
		}
		p := place{rate.Lane{Mode: r.Mode, Class: r.Class, Application: r.ApplicationID}, r.Bucket}
		if d, seen := due[p]; !seen || time.Until(r.available) < d {
			due[p] = time.Until(r.available)
		}
	}
	found := delivery.Found{Clock: time.Now()}
	for p, d := range due {
		found.Waiting = append(found.Waiting, rate.Waiting{Lane: p.lane, ApplicationName: "shop", Bucket: p.bucket,
			DueIn: d})
	}
	return found, nil
}

func (m *memory) Take(_ context.Context, r delivery.TakeRequest) ([]delivery.Claimed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, errDown
	}
	ids := make([]messages.ID, 0, len(m.rows))
	for id := range m.rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []delivery.Claimed
	for _, t := range r.Takes {
		n := 0
		for _, id := range ids {
			x := m.rows[id]
			lane := rate.Lane{Mode: x.Mode, Class: x.Class, Application: x.ApplicationID}
			if n == t.Max || x.state != messages.Pending || lane != t.Lane || x.available.After(time.Now()) || !slices.Contains(t.Buckets, x.Bucket) {
				continue
			}
			waited := t.Waited
			if !x.asked {
				waited = t.FirstWaited
			}
			if t.Waited > 0 && time.Since(x.since) < waited && time.Since(x.made) < t.Older {
				continue
			}
			n++
			x.state = messages.Taken
			x.Takes++
			c := x.Claimed
			c.Age, c.Waited = time.Since(x.made), time.Since(x.since)
			if c.ModeAttempt > 0 {
				c.InMode = time.Since(x.since)
			}
			c.Allowed = m.allowed[x.Mode]
			if c.UserID != 0 {
				c.Destination = m.people[c.UserID].Contacts[c.Mode]
				if c.Destination != "" { // each message counts as one to another recipient
					c.Destination += fmt.Sprint("+", c.ID)
				}
			}
			c.FallbackAsked = x.asked
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		m.takes = append(m.takes, len(out))
	}
	return out, nil
}

func (m *memory) Release(_ context.Context, _ string, ids []messages.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errDown
	}
	for _, id := range ids {
		r := m.rows[id]
		switch {
		case r.state != messages.Taken:
		case m.silenced[id]:
			r.state = messages.Cancelled
		default:
			r.state = messages.Pending
			r.Takes--
		}
	}
	return nil
}

func (m *memory) Turn(_ context.Context, _ string, turns []stage.Turn) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errDown
	}
	for _, t := range turns {
		if r := m.rows[t.ID]; r.state == messages.Taken {
			r.Takes--
			r.move(t.Verdict)
		}
	}
	return nil
}

func (r *row) move(v stage.Verdict) {
	r.state = v.State
	r.available = time.Now().Add(v.RetryIn)
	if v.Mode != "" {
		if v.Mode != r.Mode {
			r.KeyAttempt = 0
		}
		r.Mode, r.Tried, r.ModeAttempt, r.since = v.Mode, v.Tried, 0, time.Now()
	}
	if len(v.Refused) > 0 {
		r.Refused = v.Refused
	}
	r.asked = r.asked || v.AskFallback
	if v.AskFallback {
		r.asks++
	}
	r.forGood = v.ForGood
	if v.Why != "" {
		r.why = append(r.why, v.Why)
	}
}

func (m *memory) MarkSending(_ context.Context, _ string, starts []stage.Start) (map[messages.ID]int, error) {
	m.mu.Lock()
	slow := m.slowMark
	m.mu.Unlock()
	wait(slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down || m.lostMark >= 2 {
		for _, s := range starts {
			if m.lostMark == 3 {
				m.rows[s.ID].state = messages.Pending
			}
		}
		m.lostMark = 0
		return nil, errDown
	}
	out := map[messages.ID]int{}
	for _, s := range starts {
		r := m.rows[s.ID]
		if r.state != messages.Taken || m.silenced[s.ID] {
			m.restart(s.ID)
			continue
		}
		r.state = messages.Sending
		r.Attempt++
		r.ModeAttempt++
		r.Takes = 0
		r.attempts = append(r.attempts, attempt{vendor: s.Vendor + "/" + s.Account, key: s.Key, at: time.Now()})
		out[s.ID] = r.Attempt
	}
	if m.lostMark == 1 {
		m.lostMark = 0
		return nil, errDown
	}
	return out, nil
}

func (m *memory) StillOpen(_ context.Context, _ string, ids []messages.ID) (map[messages.ID]bool, time.Time, error) {
	m.mu.Lock()
	slow := m.slowLook
	m.mu.Unlock()
	at := time.Now()
	wait(slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, at, errDown
	}
	open := map[messages.ID]bool{}
	for _, id := range ids {
		if open[id] = m.rows[id].state == messages.Sending && !m.silenced[id] && !m.silencedLate[id]; !open[id] {
			m.restart(id)
		}
	}
	return open, at, nil
}

// restart starts the escalation of a message's incident again. The caller holds the lock.
func (m *memory) restart(id messages.ID) {
	if m.restarts {
		delete(m.silenced, id)
		delete(m.silencedLate, id)
	}
}

// wait waits in fake time. It makes no timer that is due at once, because receiving from such a timer in a synctest
// bubble crashes the race detector of Go 1.26.
func wait(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

func (m *memory) Record(_ context.Context, outs []stage.Outcome) ([]messages.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down || time.Now().Before(m.recordFrom) {
		return nil, errDown
	}
	for _, o := range outs {
		if o.Result.Detail == "poison" || m.steadfast && o.Verdict.Mode != "" {
			return nil, errors.New("this cannot be stored")
		}
	}
	var late []messages.ID
	for _, o := range outs {
		r := m.rows[o.ID]
		if o.Attempt > len(r.attempts) {
			late = append(late, o.ID)
			continue
		}
		r.attempts[o.Attempt-1].result = o.Result
		if r.state != messages.Sending || r.Attempt != o.Attempt {
			late = append(late, o.ID)
			continue
		}
		switch {
		case o.Verdict.SameKey && r.KeyAttempt == 0:
			r.KeyAttempt = r.Attempt
		case o.Verdict.Unstarted:
		case !o.Verdict.SameKey:
			r.KeyAttempt = 0
		}
		r.move(o.Verdict)
	}
	return late, nil
}

func (m *memory) Sending(context.Context, string, []int) ([]delivery.Recovered, error) {
	return nil, nil
}
func (m *memory) Doubt(context.Context, []delivery.Recovered) error { return nil }
func (m *memory) NoteUnsent(context.Context, []int, time.Duration, time.Time) ([]delivery.Unsent, error) {
	return nil, nil
}
func (m *memory) Expire(context.Context, []buckets.Lease, string) (int, error) { return 0, nil }

func (m *memory) Reserve(_ context.Context, r rate.Reservation) (rate.Granted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	g := rate.Granted{Before: now, Clock: now}
	free := m.limits[r.Key]
	if r.OnlyIfWithin == 0 || !free.After(now.Add(r.OnlyIfWithin)) {
		for i, o := range r.Offsets {
			wanted := now.Add(o)
			if len(r.Instants) > 0 {
				wanted = r.Instants[i]
			}
			if free.After(wanted.Add(r.Tolerance)) {
				continue
			}
			if earliest := wanted.Add(-time.Duration(r.Burst-1) * r.Interval); free.Before(earliest) {
				free = earliest
			}
			at := wanted
			if free.After(at) {
				at = free
			}
			g.Index, g.Slots = append(g.Index, i), append(g.Slots, at)
			free = free.Add(r.Interval)
		}
		m.limits[r.Key] = free
	}
	g.Next, g.Lead = free, r.Lead
	return g, nil
}

func (m *memory) Pauses(context.Context) ([]account.Pause, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.pauses), nil
}

func (m *memory) SetPause(_ context.Context, key string, d time.Duration, why string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pauses = append(m.pauses, account.Pause{Key: key, For: d, Reason: why})
	return nil
}

func (m *memory) Reach(_ context.Context, user users.ID, _ int64) (users.Responder, users.AppModes, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.people[user]
	return r, users.AppModes{Supported: m.allowed}, ok, nil
}

// bubble is a worker with a memory, in a bubble of synctest.
type bubble struct {
	*memory
	t      *testing.T
	deps   delivery.Deps
	worker *delivery.Worker
	stop   func()
}

func inBubble(t *testing.T, f func(*bubble)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		h := &holder{id: "me"}
		for b := range 8 {
			h.leases = append(h.leases, buckets.Lease{Bucket: b, Epoch: 1})
		}
		s := &bubble{memory: m, t: t, deps: delivery.Deps{
			Queue: m, Ledger: m, Rescuer: m, Limits: m, Leases: h, Renderer: words{}, Directory: m, Links: links{},
			Log: zaptest.NewLogger(t, zaptest.Level(zap.FatalLevel)),
		}}
		defer func() {
			if s.stop != nil {
				s.stop() // also after a failure, because a bubble ends only with its last goroutine
			}
		}()
		f(s)
	})
}

func (s *bubble) run(cfg delivery.Config, vendors ...messages.Vendor) {
	s.deps.Vendors = vendors
	w, err := delivery.New(s.deps, cfg)
	require.NoError(s.t, err)
	s.worker = w
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			require.NoError(s.t, <-done)
		})
	}
}

// after lets time pass.
func (s *bubble) after(d time.Duration) {
	wait(d)
	synctest.Wait()
}

func smtp(answer func(n int, m messages.Outbound) messages.Result) *post {
	return &post{name: "smtp", account: "main", modes: []users.Mode{users.Email}, answer: answer}
}

func texts(answer func(n int, m messages.Outbound) messages.Result) *post {
	return &post{name: "twilio", account: "main", modes: []users.Mode{users.SMS}, answer: answer}
}

func always(o messages.Outcome) func(int, messages.Outbound) messages.Result {
	return func(int, messages.Outbound) messages.Result {
		return messages.Result{Outcome: o, Detail: "no " + string(o)}
	}
}
