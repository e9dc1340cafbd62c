package simulation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// theatre is a small installation in memory. The real runner works in it, with a clock that jumps from one due instant
// to the next. Its delivery sends every message at once.
type theatre struct {
	plan       escalation.Plan
	app        escalation.Application
	people     map[users.ID]users.Responder
	teams      map[int64]oncall.Team // by target number
	calendar   oncall.Fixed
	dynamic    map[int]escalation.Target
	rules      map[users.ID][]messages.Reprioritisation
	quiet      map[users.ID]floods.QuietLimits
	days       map[users.ID]*floods.DayCount
	priorities map[users.Priority]users.Mode // default modes of the installation

	now      time.Time
	due      escalation.Due
	progress []byte
	facts    []escalation.RoundFact
	floods   map[escalation.AggregationKey]*floods.Flood
	counts   map[users.ID]map[users.Mode]*messages.Window
	did      []string
}

func (th *theatre) ProcessID() string          { return "me" }
func (th *theatre) Leases() []buckets.Lease    { return []buckets.Lease{{Bucket: 0, Epoch: 1}} }
func (th *theatre) Lost(buckets.Set)           {}
func (th *theatre) resolver() *oncall.Resolver { return oncall.NewResolver(th, th.calendar, time.Hour) }

func (th *theatre) Due(context.Context, []buckets.Lease, runner.Ask) ([]escalation.Due, error) {
	if !th.due.Active || th.due.DueAt.After(th.now) {
		return nil, nil
	}
	d := th.due
	var err error
	if d.Progress, err = escalation.DecodeProgress(th.progress); err != nil {
		return nil, err
	}
	d.Progress.Step, d.Progress.StepAt = th.due.Progress.Step, th.due.Progress.StepAt
	d.ReadAt = th.now
	d.Seen = escalation.Observe(&d.Progress, th.facts)
	return []escalation.Due{d}, nil
}

// Commit writes changes as PostgreSQL does, and delivers their messages.
func (th *theatre) Commit(_ context.Context, _ string, _ []buckets.Lease, changes []escalation.Change) ([]incidents.ID, error) {
	c := changes[0]
	var err error
	if th.progress, err = escalation.EncodeProgress(c.Progress); err != nil {
		return nil, err
	}
	th.due.Progress, th.due.Active, th.due.DueAt = c.Progress, c.Active, c.DueAt
	th.tell(c.Entries...)
	var ruled []incidents.Entry
	held := map[escalation.PageKey]bool{}
	for _, m := range c.Messages {
		mode, followUp := m.Mode, m.Purpose.Kind() == messages.FollowUp
		if followUp && held[escalation.PageOf(m)] {
			continue
		}
		k, ok := floods.Of(m)
		if ok && c.Aggregation != nil {
			if th.floods[k] == nil {
				th.floods[k] = &floods.Flood{}
			}
			if th.floods[k].Hold(*c.Aggregation, c.At) {
				m.Held, held[escalation.PageOf(m)] = c.At, true
				th.tell(escalation.HeldEntry(m.Target, *c.Aggregation, c.At))
			}
		}
		if user, ok := m.Recipient.User(); ok && m.Held.IsZero() {
			if q, limited := th.quiet[user]; limited {
				if th.days[user] == nil {
					th.days[user] = &floods.DayCount{}
				}
				if until, why := q.Hold(m, th.days[user], c.At); !until.IsZero() {
					th.tell(floods.QuietEntry(m, why, until, c.At))
					if followUp {
						continue
					}
					m.Held, held[escalation.PageOf(m)] = c.At, true
				}
			}
		}
		if user, ok := m.Recipient.User(); ok && m.Held.IsZero() && mode != users.Drop {
			if th.counts[user] == nil {
				th.counts[user] = map[users.Mode]*messages.Window{}
			}
			if m.Mode = messages.Reprioritise(mode, th.rules[user], th.counts[user], c.At); m.Mode != mode {
				ruled = append(ruled, escalation.RuledEntry(m.Target, m.Mode, mode, c.At))
			}
		}
		th.did = append(th.did, pageWords(m, c.At.Add(m.After)))
		if followUp {
			continue
		}
		th.facts = append(th.facts, escalation.RoundFact{Step: m.Step, Position: m.Position, Repeat: m.Repeat,
			SettledAt: c.At})
		if end := c.At.Add(m.Wait); th.due.Active && end.Before(th.due.DueAt) {
			th.due.DueAt = end
		}
	}
	th.tell(ruled...)
	return []incidents.ID{c.ID}, nil
}

func (th *theatre) tell(entries ...incidents.Entry) {
	for _, e := range entries {
		th.did = append(th.did, entryWords(e))
	}
}

func entryWords(e incidents.Entry) string {
	return fmt.Sprintf("%s %s: %s", e.At.Format(time.RFC3339), e.Kind, e.Text)
}

func pageWords(m messages.New, at time.Time) string {
	return fmt.Sprintf("%s %d.%d.%d %s %s %s %s wait %s held %t template %s %v", at.Format(time.RFC3339), m.Step,
		m.Position, m.Repeat,
		m.Recipient, m.Purpose, m.Mode, m.Priority, m.Wait, !m.Held.IsZero(), m.Template, m.Changes)
}

func (th *theatre) NextDue(context.Context, []buckets.Lease, time.Time) (time.Duration, error) {
	return time.Hour, nil
}
func (th *theatre) Resume(context.Context, time.Time) (int, error) { return 0, nil }
func (th *theatre) Failed(context.Context, []buckets.Lease, runner.Ask) ([]escalation.Failed, error) {
	return nil, nil
}
func (th *theatre) Cancel(context.Context, string, []buckets.Lease, []incidents.ID, time.Time) error {
	return nil
}
func (th *theatre) Delay(_ context.Context, _ string, _ escalation.Due, _ time.Duration, e incidents.Entry, _ time.Time) error {
	return fmt.Errorf("put off: %s", e.Text)
}
func (th *theatre) CommitFallbacks(context.Context, string, []buckets.Lease, []escalation.FallbackChange, time.Time) error {
	return nil
}
func (th *theatre) Releases(context.Context, []buckets.Lease, time.Time) ([]runner.Release, error) {
	return nil, nil
}
func (th *theatre) Release(context.Context, string, runner.Digest, time.Time) (buckets.Set, error) {
	return buckets.Set{}, nil
}
func (th *theatre) Fire(context.Context, string, []buckets.Lease, time.Time) (buckets.Set, error) {
	return buckets.Set{}, nil
}
func (th *theatre) Added(context.Context, []buckets.Lease, runner.Ask) ([]escalation.Added, error) {
	return nil, nil
}
func (th *theatre) CommitAdded(context.Context, string, escalation.AddedChange) error { return nil }
func (th *theatre) CancelDigests(context.Context, string, []buckets.Lease) (int, error) {
	return 0, nil
}

func (th *theatre) Plans(context.Context, []escalation.PlanID) (map[escalation.PlanID]escalation.Plan, error) {
	return map[escalation.PlanID]escalation.Plan{th.plan.ID: th.plan}, nil
}

func (th *theatre) Applications(context.Context, []int64) (map[int64]escalation.Application, error) {
	return map[int64]escalation.Application{th.app.ID: th.app}, nil
}

func (th *theatre) Responders(_ context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
	out := map[users.ResponderKey]users.Responder{}
	for _, k := range keys {
		if p, ok := th.people[k.User]; ok {
			out[k] = p
		}
	}
	return out, nil
}

func (th *theatre) DefaultModes(context.Context) (map[users.Priority]users.Mode, error) {
	return th.priorities, nil
}

func (th *theatre) Rules(_ context.Context, keys []users.ResponderKey) (map[users.ResponderKey][]messages.Reprioritisation, error) {
	out := map[users.ResponderKey][]messages.Reprioritisation{}
	for _, k := range keys {
		out[k] = th.rules[k.User]
	}
	return out, nil
}

func (th *theatre) Quiet(_ context.Context, id users.ID, _ time.Time) (floods.QuietLimits, bool, error) {
	q, ok := th.quiet[id]
	return q, ok, nil
}

func (th *theatre) Teams(context.Context, []int64) (map[int64]oncall.Team, error) {
	return th.teams, nil
}

func (th *theatre) Lists(context.Context, []int64) (map[int64]oncall.List, error) { return nil, nil }

func (th *theatre) UsersByTarget(_ context.Context, ids []int64) (map[int64]users.User, error) {
	out := map[int64]users.User{}
	for _, id := range ids {
		if p, ok := th.people[users.ID(id)]; ok {
			out[id] = p.User
		}
	}
	return out, nil
}

func (th *theatre) UsersByID(_ context.Context, ids []users.ID) (map[users.ID]users.User, error) {
	out := map[users.ID]users.User{}
	for _, id := range ids {
		if p, ok := th.people[id]; ok {
			out[id] = p.User
		}
	}
	return out, nil
}

// The functions below draw a random theatre.

func genTheatre(t *rapid.T) *theatre {
	th := &theatre{
		people: map[users.ID]users.Responder{}, teams: map[int64]oncall.Team{}, calendar: oncall.Fixed{},
		rules: map[users.ID][]messages.Reprioritisation{}, floods: map[escalation.AggregationKey]*floods.Flood{},
		counts: map[users.ID]map[users.Mode]*messages.Window{}, now: noon,
		quiet: map[users.ID]floods.QuietLimits{}, days: map[users.ID]*floods.DayCount{},
	}
	modes := []users.Mode{users.Email, users.SMS, users.Call, users.Slack, users.Drop}
	for id := users.ID(1); id <= 6; id++ {
		th.people[id] = genPerson(t, id, modes)
		if rapid.Bool().Draw(t, "quiet") {
			th.quiet[id] = floods.QuietLimits{Limited: rapid.Bool().Draw(t, "limited"),
				PerDay: rapid.IntRange(0, 3).Draw(t, "per day"), Zone: time.UTC,
				WorkingDays: []users.Priority{rapid.SampledFrom(users.Priorities).Draw(t, "on working days")}}
		}
		for range rapid.IntRange(0, 2).Draw(t, "rules") {
			from := rapid.SampledFrom(modes[:4]).Draw(t, "from")
			if slices.ContainsFunc(th.rules[id], func(r messages.Reprioritisation) bool { return r.From == from }) {
				continue
			}
			th.rules[id] = append(th.rules[id], messages.Reprioritisation{From: from,
				To:    rapid.SampledFrom(modes).Draw(t, "to"),
				Count: rapid.IntRange(0, 3).Draw(t, "many"), Within: time.Duration(rapid.IntRange(1, 20).Draw(t,
					"within")) * time.Minute,
				Usable: rapid.Bool().Draw(t, "usable")})
		}
	}
	for team := int64(1); team <= 3; team++ {
		genTeam(t, th, team)
	}
	th.app = escalation.Application{ID: 5, Name: "shop", Modes: users.AppModes{Supported: map[users.Mode]bool{},
		Defaults: map[users.Priority]users.Mode{}}}
	for _, m := range modes[:4] {
		th.app.Modes.Supported[m] = rapid.IntRange(0, 3).Draw(t, "supported") > 0
	}
	if rapid.Bool().Draw(t, "default") {
		th.app.Modes.Defaults[rapid.SampledFrom(users.Priorities).Draw(t,
			"priority")] = rapid.SampledFrom(modes).Draw(t, "mode")
	}
	if rapid.Bool().Draw(t, "application's fallback") {
		target := genTarget(t)
		th.app.Fallback = &target
	}
	genPlan(t, th)
	// A simulation knows no number of an incident, so the incident has the number 0: it decides whose turn it is.
	th.due = escalation.Due{Lease: buckets.Lease{Epoch: 1}, PlanID: th.plan.ID, ApplicationID: 5, CreatedAt: noon,
		DueAt: noon, Active: true, Dynamic: th.dynamic}
	return th
}

func genPerson(t *rapid.T, id users.ID, modes []users.Mode) users.Responder {
	p := users.Responder{
		User: users.User{ID: id, TargetID: int64(id), Name: "p" + strconv.Itoa(int(id)),
			Active: rapid.IntRange(0, 4).Draw(t, "active") > 0},
		Contacts: map[users.Mode]string{}, Modes: map[users.Priority]users.Mode{}, AppModes: map[users.Priority]users.Mode{},
	}
	for _, m := range modes[:4] {
		if rapid.IntRange(0, 2).Draw(t, "contact") > 0 {
			p.Contacts[m] = "x"
		}
	}
	p.FollowUps = map[users.Priority][]users.FollowUp{}
	for range rapid.IntRange(0, 3).Draw(t, "follow-ups") {
		priority := rapid.SampledFrom(users.Priorities).Draw(t, "priority")
		p.FollowUps[priority] = append(p.FollowUps[priority],
			users.FollowUp{Mode: rapid.SampledFrom(modes[:4]).Draw(t, "later mode"),
				After: time.Duration(rapid.IntRange(1, 900).Draw(t, "delay")) * time.Second})
	}
	for _, choices := range []map[users.Priority]users.Mode{p.Modes, p.AppModes} {
		if rapid.Bool().Draw(t, "choice") {
			choices[rapid.SampledFrom(users.Priorities).Draw(t, "priority")] = rapid.SampledFrom(modes).Draw(t, "mode")
		}
	}
	return p
}

// genTeam draws a team and its calendar. Shifts begin and end at any second of the hours in which plans run.
func genTeam(t *rapid.T, th *theatre, number int64) {
	team := oncall.Team{ID: number, TargetID: 100 + number, Name: "t" + strconv.Itoa(int(number)),
		TimeZone: "Europe/Zurich",
		Active:   rapid.IntRange(0, 5).Draw(t, "team active") > 0, ManagerID: users.ID(rapid.IntRange(0, 6).Draw(t,
			"manager"))}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		team.Members = append(team.Members, users.ID(rapid.IntRange(1, 7).Draw(t, "member")))
	}
	th.teams[team.TargetID] = team
	if rapid.IntRange(0, 3).Draw(t, "no calendar") == 0 {
		return
	}
	var shifts []oncall.Shift
	for range rapid.IntRange(0, 8).Draw(t, "shifts") {
		start := noon.Add(time.Duration(rapid.IntRange(-3600, 7200).Draw(t, "start")) * time.Second)
		shifts = append(shifts, oncall.Shift{TeamID: number,
			Role: rapid.SampledFrom([]string{"primary", "secondary", "manager"}).Draw(t, "duty"),
			User: users.ID(rapid.IntRange(1, 7).Draw(t,
				"holder")), Start: start,
			End: start.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "length")) * time.Second)})
	}
	th.calendar[number] = oncall.NewTeamCalendar(number, noon.Add(-24*time.Hour), noon.Add(48*time.Hour), shifts)
}

func genTarget(t *rapid.T) escalation.Target {
	if rapid.Bool().Draw(t, "a person") {
		id := rapid.Int64Range(1, 7).Draw(t, "person") // 7 does not exist
		return escalation.Target{Role: "user", Name: "p" + strconv.Itoa(int(id)), TargetID: id}
	}
	id := rapid.Int64Range(101, 104).Draw(t, "team") // 104 does not exist
	return escalation.Target{Role: rapid.SampledFrom([]string{"team", "manager", "oncall", "oncall-primary",
		"oncall-secondary", "round-robin", "next-on-call", "witch"}).Draw(t, "role"),
		Name: "t" + strconv.Itoa(int(id-100)), TargetID: id}
}

func genPlan(t *rapid.T, th *theatre) {
	p := escalation.Plan{ID: 3, Name: "night", Active: true,
		CreatorID: users.ID(rapid.IntRange(0, 6).Draw(t, "creator"))}
	if rapid.IntRange(0, 2).Draw(t, "aggregates") == 0 {
		p.ThresholdCount, p.ThresholdWindow = rapid.IntRange(0, 4).Draw(t, "threshold"), 10*time.Minute
		p.AggregationWindow, p.AggregationReset = 5*time.Minute, time.Duration(rapid.IntRange(0, 20).Draw(t,
			"reset"))*time.Minute
	}
	if rapid.IntRange(0, 3).Draw(t, "tracks") == 0 {
		p.Tracking = &escalation.Tracking{Mode: users.Email, Key: "log@example.com",
			Template: []byte(`{"shop": {"body": "x"}}`)}
	}
	if rapid.Bool().Draw(t, "plan's fallback") {
		target := genTarget(t)
		p.Fallback = &target
	}
	th.dynamic = map[int]escalation.Target{}
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		var s escalation.Step
		for range rapid.IntRange(0, 3).Draw(t, "notifications") {
			n := escalation.Notification{
				Priority: rapid.SampledFrom(users.Priorities).Draw(t, "priority"), Template: "alert",
				Wait: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 60, 61, 300, 900}).Draw(t,
					"wait")) * time.Second,
				Repeat:   rapid.IntRange(0, 3).Draw(t, "repeat"),
				Optional: rapid.IntRange(0, 3).Draw(t, "optional") == 0,
			}
			target := genTarget(t)
			if rapid.IntRange(0, 4).Draw(t, "dynamic") == 0 {
				index := rapid.IntRange(0, 2).Draw(t, "index")
				n.DynamicIndex = &index
				if index < 2 { // the incident does not name the third target
					th.dynamic[index] = target
				}
			} else {
				n.Target = &target
			}
			s.Notifications = append(s.Notifications, n)
		}
		p.Steps = append(p.Steps, s)
	}
	th.plan = p
}

// perform lets the real runner escalate the incident until its plan ends.
func (th *theatre) perform(t require.TestingT, ctx context.Context) {
	r, err := runner.New(runner.Deps{Store: th, Reader: th,
		Resolver: th.resolver(), Holder: th, Log: zap.NewNop()},
		runner.Config{Keep: -1, Now: func() time.Time { return th.now }})
	require.NoError(t, err)
	for looks := 0; th.due.Active; looks++ {
		require.Less(t, looks, 5000)
		if th.due.DueAt.After(th.now) {
			th.now = th.due.DueAt
		}
		require.NoError(t, r.Pass(ctx))
	}
}

// foresee simulates the incident. It returns the pages and the timeline as text, and the simulation.
func (th *theatre) foresee(t require.TestingT, ctx context.Context) ([]string, Simulation) {
	s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver})
	require.NoError(t, err)
	sim, err := s.Simulate(ctx, Question{Plan: th.plan.ID, Application: th.app.ID, Dynamic: th.dynamic, At: noon})
	require.NoError(t, err)
	var out []string
	for _, p := range sim.Pages {
		out = append(out, pageWords(p.New, p.At))
	}
	for _, e := range sim.Timeline {
		out = append(out, entryWords(e))
	}
	return out, sim
}

// For any plan, people, settings and calendar, the simulated timeline equals the timeline of the real runner.
func TestSimulationAgreesWithTheRunner(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		th := genTheatre(rt)
		foreseen, sim := th.foresee(rt, t.Context())
		th.perform(rt, t.Context())
		require.ElementsMatch(rt, th.did, foreseen)
		require.Equal(rt, EndExhausted, sim.End)
		require.Equal(rt, th.now, sim.EndedAt)
		require.True(rt, slices.IsSortedFunc(sim.Pages, func(a, b SimulatedPage) int { return a.At.Compare(b.At) }))
	})
}
