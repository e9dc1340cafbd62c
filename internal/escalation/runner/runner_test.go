package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// memory is a store and directory in memory: incidents with plan 1 by default, user 1 is demo.
type memory struct {
	mu          sync.Mutex
	due         map[incidents.ID]escalation.Due
	changes     []escalation.Change
	delays      map[incidents.ID]incidents.Entry
	looks       []buckets.Set
	reads       int
	readErr     error
	commitErr   func([]escalation.Change) error
	changed     incidents.ID // its changes are left out of commits
	fallbackErr func([]escalation.FallbackChange) error
	plans       map[escalation.PlanID]escalation.Plan
	apps        map[int64]escalation.Application
	people      map[users.ID]users.Responder
	panicFor    users.ID
	lost        buckets.Set
	leases      []buckets.Lease
	failed      []escalation.Failed
	next        time.Duration
	replaced    []escalation.FallbackChange
	cancelled   []incidents.ID
	floods      []Release
	digests     []Digest
	releaseErr  func(Digest) error
	added       []escalation.Added
	addedPages  []escalation.AddedChange
	addedErr    error
}

func newMemory() *memory {
	supported := map[users.Mode]bool{users.Email: true, users.SMS: true}
	m := &memory{
		next: time.Hour, changed: -1,
		apps: map[int64]escalation.Application{5: {ID: 5, Name: "shop", Modes: users.AppModes{Supported: supported}}},
		due:  map[incidents.ID]escalation.Due{}, delays: map[incidents.ID]incidents.Entry{}, people: map[users.ID]users.Responder{},
		plans: map[escalation.PlanID]escalation.Plan{1: {ID: 1, Name: "demo-plan", CreatorID: 9,
			Steps: []escalation.Step{step(note(users.High, time.Minute, 0))}}},
	}
	for b := range 8 {
		m.leases = append(m.leases, buckets.Lease{Bucket: b, Epoch: 1})
	}
	m.person(1, "demo", users.SMS, users.Email)
	m.person(9, "creator", users.Email)
	return m
}

func (m *memory) person(id users.ID, name string, modes ...users.Mode) {
	p := users.Responder{User: users.User{ID: id, TargetID: int64(id), Name: name, Active: true},
		Contacts: map[users.Mode]string{}}
	for _, mode := range modes {
		p.Contacts[mode] = name + "@" + string(mode)
	}
	m.people[id] = p
}

func (m *memory) open(id incidents.ID) escalation.Due {
	d := escalation.Due{ID: id, Lease: m.leases[int(id)%len(m.leases)], PlanID: 1, ApplicationID: 5, Active: true,
		CreatedAt: noon, DueAt: noon, ReadAt: noon}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.due[id] = d
	return d
}

// seen returns the number of reads so far, the buckets of each read, and the number of written changes.
func (m *memory) seen() (reads int, looks []buckets.Set, changes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads, slices.Clone(m.looks), len(m.changes)
}

func (m *memory) ProcessID() string { return "me" }

func (m *memory) Leases() []buckets.Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leases
}

// hold replaces the held leases and returns the old ones.
func (m *memory) hold(leases []buckets.Lease) []buckets.Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.leases
	m.leases = leases
	return before
}

func (m *memory) Lost(bs buckets.Set) { m.lost.Union(bs) }

func (m *memory) Due(_ context.Context, leases []buckets.Lease, ask Ask) ([]escalation.Due, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if m.readErr != nil {
		return nil, m.readErr
	}
	var set buckets.Set
	for _, l := range leases {
		set.Add(l.Bucket)
	}
	m.looks = append(m.looks, set)
	var out []escalation.Due
next:
	for _, l := range leases {
		for id := range incidents.ID(1000) {
			d, ok := m.due[id]
			if !ok || d.Lease.Bucket != l.Bucket || len(out) == ask.Limit {
				continue
			}
			for _, e := range ask.Excluded {
				if e == int64(id) {
					continue next
				}
			}
			out = append(out, d)
		}
	}
	return out, nil
}

func (m *memory) NextDue(context.Context, []buckets.Lease, time.Time) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next, nil
}

func (m *memory) Resume(context.Context, time.Time) (int, error) { return 0, nil }

func (m *memory) Commit(_ context.Context, _ string, _ []buckets.Lease, changes []escalation.Change) ([]incidents.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.commitErr != nil {
		if err := m.commitErr(changes); err != nil {
			return nil, err
		}
	}
	var ids []incidents.ID
	for _, c := range changes {
		if c.ID == m.changed {
			continue
		}
		delete(m.due, c.ID)
		ids = append(ids, c.ID)
		m.changes = append(m.changes, c)
	}
	return ids, nil
}

func (m *memory) Cancel(_ context.Context, _ string, _ []buckets.Lease, ids []incidents.ID, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range ids {
		delete(m.due, id)
	}
	m.cancelled = append(m.cancelled, ids...)
	return nil
}

func (m *memory) Delay(_ context.Context, _ string, d escalation.Due, _ time.Duration, e incidents.Entry, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delays[d.ID] = e
	return nil
}

func (m *memory) Failed(_ context.Context, _ []buckets.Lease, ask Ask) ([]escalation.Failed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.failed),
		func(f escalation.Failed) bool { return slices.Contains(ask.Excluded, int64(f.ID)) }), nil
}

func (m *memory) CommitFallbacks(_ context.Context, _ string, _ []buckets.Lease, changes []escalation.FallbackChange, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fallbackErr != nil {
		if err := m.fallbackErr(changes); err != nil {
			return err
		}
	}
	m.replaced = append(m.replaced, changes...)
	m.failed = slices.DeleteFunc(m.failed, func(f escalation.Failed) bool {
		return slices.ContainsFunc(changes, func(c escalation.FallbackChange) bool { return c.Failed.ID == f.ID })
	})
	return nil
}

func (m *memory) Releases(context.Context, []buckets.Lease, time.Time) ([]Release, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.floods), nil
}

func (m *memory) Release(_ context.Context, _ string, d Digest, _ time.Time) (buckets.Set, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.releaseErr != nil {
		if err := m.releaseErr(d); err != nil {
			return buckets.Set{}, err
		}
	}
	m.digests = append(m.digests, d)
	m.floods = slices.DeleteFunc(m.floods, func(r Release) bool { return r.Key == d.Key })
	return buckets.Of(d.Lease.Bucket), nil
}

func (m *memory) Fire(context.Context, string, []buckets.Lease, time.Time) (buckets.Set, error) {
	return buckets.Set{}, nil
}

func (m *memory) Added(context.Context, []buckets.Lease, Ask) ([]escalation.Added, error) {
	added := m.added
	m.added = nil
	return added, nil
}

func (m *memory) CommitAdded(_ context.Context, _ string, c escalation.AddedChange) error {
	if m.addedErr != nil {
		return m.addedErr
	}
	m.addedPages = append(m.addedPages, c)
	return nil
}

func (m *memory) CancelDigests(context.Context, string, []buckets.Lease) (int, error) { return 0, nil }

func (m *memory) Plans(_ context.Context, ids []escalation.PlanID) (map[escalation.PlanID]escalation.Plan, error) {
	return m.plans, nil
}

func (m *memory) Applications(_ context.Context, ids []int64) (map[int64]escalation.Application, error) {
	return m.apps, nil
}

func (m *memory) Responders(_ context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
	out := map[users.ResponderKey]users.Responder{}
	for _, k := range keys {
		if k.User == m.panicFor {
			panic("nobody expects this")
		}
		if p, ok := m.people[k.User]; ok {
			out[k] = p
		}
	}
	return out, nil
}

func (m *memory) Teams(context.Context, []int64) (map[int64]oncall.Team, error) { return nil, nil }

func (m *memory) Lists(context.Context, []int64) (map[int64]oncall.List, error) { return nil, nil }

func (m *memory) UsersByTarget(_ context.Context, ids []int64) (map[int64]users.User, error) {
	out := map[int64]users.User{}
	for _, id := range ids {
		out[id] = m.people[users.ID(id)].User
	}
	return out, nil
}

func (m *memory) UsersByID(_ context.Context, ids []users.ID) (map[users.ID]users.User, error) {
	out := map[users.ID]users.User{}
	for _, id := range ids {
		out[id] = users.User{ID: id, Name: m.people[id].Name, Active: true}
	}
	return out, nil
}

type calendarFunc func() (oncall.Answer, bool, error)

func (f calendarFunc) OnCall(context.Context, oncall.Team, string, time.Time) (oncall.Answer, bool, error) {
	return f()
}

func (f calendarFunc) NextOnCall(context.Context, oncall.Team, string, time.Time) (oncall.Answer, bool, error) {
	return f()
}

type rig struct {
	*memory
	runner *Runner
	wakes  sync.Mutex
	woken  buckets.Set
	logs   *observer.ObservedLogs

	registry *prometheus.Registry
}

func (g *rig) wake(bs buckets.Set) {
	g.wakes.Lock()
	defer g.wakes.Unlock()
	g.woken.Union(bs)
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	g := &rig{memory: newMemory(), logs: logs, registry: prometheus.NewRegistry()}
	if cfg.Keep == 0 {
		cfg.Keep = -1
	}
	r, err := New(Deps{
		Store: g.memory, Reader: g.memory, Resolver: oncall.NewResolver(g.memory, nil, 0), Holder: g.memory,
		Waker: g.wake, Log: zap.New(core), Registerer: g.registry,
	}, cfg)
	require.NoError(t, err)
	g.runner = r
	return g
}

func TestNewRejectsInvalidDependenciesAndConfig(t *testing.T) {
	t.Parallel()
	_, err := New(Deps{}, Config{})
	require.Error(t, err)
	m := newMemory()
	deps := Deps{Store: m, Reader: m,
		Resolver: oncall.NewResolver(m, nil, 0), Holder: m, Log: zap.NewNop(), Registerer: prometheus.NewRegistry()}
	_, err = New(deps, Config{Batch: -1})
	require.Error(t, err)
	_, err = New(deps, Config{})
	require.NoError(t, err)
	_, err = New(deps, Config{})
	require.ErrorContains(t, err, "metrics", "twice on one registry")
}

func TestPassMakesPages(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.open(3)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 1)
	c := g.changes[0]
	require.Equal(t, "step 1: paging demo by sms (high, named in the plan)", c.Entries[0].Text)
	require.JSONEq(t, `{"pages":[{"step":1,"position":0,"repeat":0,"target":"demo","rule":"named in the plan","priority":"high",
		"mode":"sms","mode_rule":"the priority's default"}]}`, string(c.Entries[0].Detail))
	require.Equal(t, []messages.New{{
		IncidentID: 3, ApplicationID: 5, PlanID: 1, Step: 1, Recipient: "user:1", Purpose: messages.Primary, Target: "demo",
		Priority: users.High, Class: messages.ClassUrgent, Mode: users.SMS, Wait: time.Minute,
	}}, c.Messages)
	require.Equal(t, buckets.Of(3), g.woken)
	require.InDelta(t, 1, testutil.ToFloat64(g.runner.metrics.decisions.WithLabelValues("step")), 0)
	require.WithinDuration(t, time.Now(), g.runner.LastPass(), time.Minute)
}

// A page that reaches nobody is also logged as an error: people read the timeline only after they were paged.
func TestAPageThatReachesNobodyIsLoggedAsAnError(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(1, "demo")
	g.person(9, "creator")
	g.open(3)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Contains(t, g.changes[0].Entries[0].Text, "reaches NOBODY")
	require.InDelta(t, 1, testutil.ToFloat64(g.runner.metrics.nobody), 0)
	told := g.logs.FilterMessage("page reaches nobody").All()
	require.Len(t, told, 1)
	require.Equal(t, zap.ErrorLevel, told[0].Level)
	require.EqualValues(t, 3, told[0].ContextMap()["incident_id"])

	// A page that failed in every mode and has no fallback.
	g.failed = []escalation.Failed{{
		ID: 8, Lease: buckets.Lease{Bucket: 3, Epoch: 1}, Open: true,
		Made: messages.New{IncidentID: 3, ApplicationID: 5, PlanID: 1, Step: 1, Recipient: "user:1", Target: "demo",
			Priority: users.High},
	}}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.InDelta(t, 2, testutil.ToFloat64(g.runner.metrics.nobody), 0)
	told = g.logs.FilterMessage("page reaches nobody").All()
	require.Len(t, told, 2)
	require.EqualValues(t, 8, told[1].ContextMap()["message_id"])

	require.Equal(t, "demo", told[1].ContextMap()["target"])

	// Its vendors are unavailable and it is still being retried: it may still arrive.
	first := g.replaced[0].Failed
	trying := first
	trying.Trying = true
	g.failed = []escalation.Failed{trying}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.logs.FilterMessage("page reaches nobody").All(), 2)
	require.InDelta(t, 2, testutil.ToFloat64(g.runner.metrics.nobody), 0)
	require.Len(t, g.logs.FilterMessage("page could not be sent in any mode yet and has no fallback: it is tried again").All(), 1)

	outOfBand := first
	outOfBand.Made.IncidentID, outOfBand.Open = 0, false
	g.failed = []escalation.Failed{outOfBand}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.logs.FilterMessage("page reaches nobody").All(), 2, "what is out of band is nobody's page")
}

func TestOneIncidentThatPanicsDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	poisoned := g.plans[1]
	poisoned.ID, poisoned.Steps = 2, []escalation.Step{step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "user", TargetID: 7}})}
	g.plans[2] = poisoned
	g.person(7, "poison", users.SMS)
	g.panicFor = 7
	for id := range incidents.ID(5) {
		d := g.open(id)
		if id == 2 {
			d.PlanID = 2
			g.due[id] = d
		}
	}
	g.runner.decider = escalation.NewDecider(g.runner.deps.Resolver, oncall.NewRecent(0, func(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
		if len(keys) > 1 {
			return nil, errors.New("only one at a time, so that the panic happens in the decision")
		}
		return g.Responders(ctx, keys)
	}), func(incidents.ID) bool { return false })
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 4)
	require.Equal(t, incidents.EntryFailure, g.delays[2].Kind)
	require.Contains(t, g.delays[2].Text, "escalation failed (1 time so far), trying again in")
	require.Contains(t, g.delays[2].Text, "nobody expects this")
}

func TestABatchIsSplitUntilTheFailingIncidentIsAlone(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	for id := range incidents.ID(100) {
		g.open(id)
	}
	tries := 0
	g.commitErr = func(cs []escalation.Change) error {
		tries++
		for _, c := range cs {
			if c.ID == 42 {
				return fault.New(fault.Invalid, "a value cannot be stored")
			}
		}
		return nil
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 99)
	require.Len(t, g.delays, 1)
	require.Contains(t, g.delays[42].Text, "a value cannot be stored")
	require.Less(t, tries, 20)
	require.Equal(t, 1, g.runner.failedIncidents.len())
	g.commitErr = nil
	g.runner.failedIncidents.cases[42].until = time.Now().Add(-time.Second)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 100)
	require.Zero(t, g.runner.failedIncidents.len(), "forgotten when it succeeds")
}

func TestAChangeThatIsAlwaysLeftOutBecomesAFailureOfItsIncident(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.changed = 3
	for id := range incidents.ID(5) {
		g.open(id)
	}
	for range maxLeftOut - 1 {
		require.NoError(t, g.runner.Pass(t.Context()))
	}
	require.Empty(t, g.delays, "people may change an incident while it is decided")
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Contains(t, g.delays[3].Text, "the incident or its messages changed 5 times in a row")
	require.Len(t, g.delays, 1)
	require.Equal(t, 1, g.logs.FilterMessage("incident cannot be escalated, retrying later").Len())
	g.runner.failedIncidents.cases[3].until = time.Now().Add(-time.Second)
	g.changed = -1
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 5)
	require.Zero(t, g.runner.leftOut.len(), "forgotten when it succeeds")

	g.changed = 3
	for range 2 * maxLeftOut {
		g.open(3)
		require.NoError(t, g.runner.Pass(t.Context()))
		require.Equal(t, 1, g.runner.leftOut.failures(3), "old counts are forgotten")
		g.runner.leftOut.cases[3].until = time.Now().Add(-24 * time.Hour)
	}
	require.Equal(t, 1, g.logs.FilterMessage("incident cannot be escalated, retrying later").Len(),
		"and cause no failure")
}

func TestAnOutageOfTheDatabasePostponesNoIncident(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.open(1)
	g.open(2)
	away := fault.New(fault.Unavailable, "the database cannot be reached")
	g.commitErr = func([]escalation.Change) error { return away }
	for range 3 {
		require.ErrorIs(t, g.runner.Pass(t.Context()), away)
	}
	require.Empty(t, g.delays)
	g.commitErr = func(cs []escalation.Change) error {
		if cs[0].ID == 2 || len(cs) == 2 {
			return away
		}
		return nil
	}
	require.NoError(t, g.runner.Pass(t.Context()), "reads succeed and one write never does: it is the incident")
	require.Len(t, g.changes, 1)
	require.Contains(t, g.delays, incidents.ID(2))
}

func TestALostLeaseIsReportedAndOtherIncidentsAreCommitted(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.open(1)
	g.open(2)
	g.commitErr = func(cs []escalation.Change) error {
		for _, c := range cs {
			if c.Lease.Bucket == 2 {
				return &buckets.LostError{Buckets: buckets.Of(2)}
			}
		}
		return nil
	}
	_, err := g.runner.pass(t.Context(), buckets.All())
	require.NoError(t, err)
	require.Equal(t, buckets.Of(2), g.lost)
	require.Len(t, g.changes, 1)
	require.Equal(t, incidents.ID(1), g.changes[0].ID)
	require.Empty(t, g.delays)
}

func TestInactiveIncidentsAreCancelled(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	d := g.open(1)
	d.Active = false
	g.due[1] = d
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Equal(t, []incidents.ID{1}, g.cancelled)
	require.Empty(t, g.changes)
}

func TestLargeTeamsAreWrittenInSeveralTransactions(t *testing.T) {
	t.Parallel()
	change := func(n int) escalation.Change { return escalation.Change{Messages: make([]messages.New, n)} }
	require.Equal(t, 1, fitting([]escalation.Change{change(9000), change(1)}))
	require.Equal(t, 2, fitting([]escalation.Change{change(1000), change(1000), change(1)}))
	require.Equal(t, 3, fitting([]escalation.Change{change(0), change(0), change(0)}))
}

func TestAnUnavailableCalendarDelaysAPageForABoundedTime(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	plan := g.plans[1]
	plan.Steps = []escalation.Step{step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "oncall-primary", Name: "db", TargetID: 100}})}
	g.plans[1] = plan
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(teams{g.memory}, calendarFunc(func() (oncall.Answer, bool, error) {
		return oncall.Answer{}, false, errors.New("calendar out of order")
	}), 0))
	g.open(1)
	for range escalation.MaxLookups {
		require.NoError(t, g.runner.Pass(t.Context()))
		require.Empty(t, g.changes)
		g.runner.failedIncidents.cases[1].until = time.Time{}.Add(time.Hour)
		g.runner.failedIncidents.cases[1].until = time.Now().Add(-time.Millisecond)
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 1)
	require.Equal(t, "step 1: oncall-primary of db cannot be paged: read the calendar of team db: calendar out of order; "+
		"paging creator by email because there is no sms contact instead (creator of plan demo-plan)", g.changes[0].Entries[0].Text)
}

// The team has members in a fixed order; the plan's setting decides whether the order fills a gap in the calendar.
func TestAPageInAGapOfTheCalendar(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"oncall-primary", oncall.RoleNextOnCall} {
		for waits, pages := range map[bool]int{true: 0, false: 1} {
			g := newRig(t, Config{})
			g.plan(func(p *escalation.Plan) { p.WaitForOnCall = waits }, step(escalation.Notification{
				Priority: users.High, Target: &escalation.Target{Role: role, Name: "db", TargetID: 100}}))
			g.runner.decider = g.runner.newDecider(oncall.NewResolver(teams{g.memory}, calendarFunc(func() (oncall.Answer, bool, error) {
				return oncall.Answer{Rule: "nobody has a shift", Gap: true}, false, nil
			}), 0))
			c := g.decide(t, nil)
			require.Len(t, c.Messages, pages, "%s %v", role, waits)
			if waits {
				require.Len(t, c.Entries, 1)
				text := "nobody is on call for oncall-primary of db"
				if role == oncall.RoleNextOnCall {
					text = "nobody is next on call in the calendar of db"
				}
				require.Equal(t, "step 1: "+text+"; the page waits until somebody is", c.Entries[0].Text)
			}
		}
	}
}

// teams adds a team to a memory's directory.
type teams struct{ *memory }

func (teams) Teams(context.Context, []int64) (map[int64]oncall.Team, error) {
	return map[int64]oncall.Team{100: {TargetID: 100, Name: "db", Active: true, Members: []users.ID{1}}}, nil
}

func TestAFallbackThatPanicsIsRetriedLater(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	failed := func(id messages.ID, incident incidents.ID) escalation.Failed {
		return escalation.Failed{ID: id, Lease: g.leases[1], Open: true, Made: messages.New{
			IncidentID: incident, ApplicationID: 5, PlanID: 1, Step: 1, Recipient: "user:1", Target: "demo",
			Purpose: messages.Primary, Priority: users.High, Class: messages.ClassUrgent, Mode: users.SMS,
		}}
	}
	g.failed = []escalation.Failed{failed(1, 1)}
	g.panicFor = 9
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Empty(t, g.replaced)
	require.Equal(t, 1, g.runner.failedMessages.len())
	g.panicFor = 0
	g.runner.failedMessages.cases[1].until = time.Now().Add(-time.Second)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.replaced, 1)
	m := g.replaced[0].Messages[0]
	require.Equal(t, messages.Recipient("user:9"), m.Recipient)
	require.Equal(t, messages.Fallback, m.Purpose)
	require.Equal(t, messages.ID(1), m.FallbackOf)
	require.Equal(t, buckets.Of(1), g.woken)
}

func TestAnExhaustedPlanIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	require.InDelta(t, 0, testutil.ToFloat64(g.runner.metrics.exhausted), 0)
	d := g.open(1)
	d.Progress.Step = 1
	d.Progress.Notifications = []escalation.Rounds{{Made: 1, Skipped: true}}
	g.memory.due[1] = d
	require.NoError(t, g.runner.Pass(t.Context()))
	require.InDelta(t, 1, testutil.ToFloat64(g.runner.metrics.exhausted), 0)
	lines := g.logs.FilterMessage("plan is exhausted: nobody acknowledged the incident").All()
	require.Len(t, lines, 1)
	require.Equal(t, zap.WarnLevel, lines[0].Level)
	require.EqualValues(t, 1, lines[0].ContextMap()["incident_id"])
	require.NotEmpty(t, lines[0].ContextMap()["plan"])
}
