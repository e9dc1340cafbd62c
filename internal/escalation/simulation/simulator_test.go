package simulation

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// small is a theatre with one person who has a phone, and a creator.
func small(steps ...escalation.Step) *theatre {
	person := func(id users.ID, name string) users.Responder {
		return users.Responder{User: users.User{ID: id, TargetID: int64(id), Name: name, Active: true},
			Contacts: map[users.Mode]string{users.SMS: "+1", users.Email: "x@example.com"}}
	}
	return &theatre{
		people: map[users.ID]users.Responder{1: person(1, "demo"), 2: person(2, "creator")},
		teams:  map[int64]oncall.Team{}, calendar: oncall.Fixed{},
		app: escalation.Application{ID: 5, Name: "shop",
			Modes: users.AppModes{Supported: map[users.Mode]bool{users.Email: true, users.SMS: true}}},
		plan: escalation.Plan{ID: 3, Name: "night", Active: true, CreatorID: 2, Steps: steps},
	}
}

func (th *theatre) ask(t *testing.T, q Question) Simulation {
	t.Helper()
	s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver})
	require.NoError(t, err)
	q.Plan, q.At = th.plan.ID, noon
	sim, err := s.Simulate(t.Context(), q)
	require.NoError(t, err)
	return sim
}

func TestSimulateReportsPagesTimesModesAndReasons(t *testing.T) {
	t.Parallel()
	sim := small(step(note(users.High, time.Minute, 1)), step(note(users.Low, time.Minute, 0))).ask(t,
		Question{Application: 5})
	type row struct {
		after          time.Duration
		step, repeat   int
		target         string
		mode           users.Mode
		rule, modeRule string
	}
	var got []row
	for _, p := range sim.Pages {
		got = append(got, row{p.At.Sub(noon), p.Step, p.Repeat, p.Target, p.Mode, p.Rule, p.ModeRule})
	}
	require.Equal(t, []row{
		{0, 1, 0, "demo", users.SMS, "named in the plan", "the priority's default"},
		{time.Minute, 1, 1, "demo", users.SMS, "named in the plan", "the priority's default"},
		{2 * time.Minute, 2, 0, "demo", users.Email, "named in the plan", "the priority's default"},
	}, got)
	require.Equal(t, EndExhausted, sim.End)
	require.Equal(t, noon.Add(3*time.Minute), sim.EndedAt)
	require.Equal(t, []string{"A resolve after all these pages notifies demo by email."}, sim.Notes)
}

func TestSimulateEndsWithAnAcknowledgement(t *testing.T) {
	t.Parallel()
	th := small(step(note(users.High, time.Minute, 5)))
	sim := th.ask(t, Question{Application: 5, AcknowledgedAfter: 150 * time.Second})
	require.Len(t, sim.Pages, 3)
	require.Equal(t, EndAcknowledged, sim.End)
	require.Equal(t, noon.Add(150*time.Second), sim.EndedAt)
	require.Equal(t, incidents.EntryAcknowledged, sim.Timeline[len(sim.Timeline)-1].Kind)
	require.Equal(t, EndExhausted, th.ask(t, Question{Application: 5, AcknowledgedAfter: time.Hour}).End,
		"the plan is over by then")
}

func TestSimulateStopsAtTheMaximumNumberOfPages(t *testing.T) {
	t.Parallel()
	sim := small(step(note(users.High, time.Minute, escalation.MaxRepeat))).ask(t, Question{Application: 5})
	require.Equal(t, EndCut, sim.End)
	require.Len(t, sim.Pages, maxSimulated)
	require.Equal(t, []string{"The plan goes on for longer than is foreseen: cut after 1000 pages."}, sim.Notes)
}

// TestSimulateStopsAtTheMaximumDuration: imported plans may wait for up to 2^31-1 seconds.
func TestSimulateStopsAtTheMaximumDuration(t *testing.T) {
	t.Parallel()
	sim := small(step(note(users.High, math.MaxInt32*time.Second, escalation.MaxRepeat))).ask(t,
		Question{Application: 5})
	require.Equal(t, EndCut, sim.End)
	require.Len(t, sim.Notes, 1)
	require.Regexp(t, `^The plan goes on for longer than is foreseen: cut after \d\d\d pages.$`, sim.Notes[0])
}

func TestSimulateNotesInactiveAndPausedPlans(t *testing.T) {
	t.Parallel()
	th := small(step(note(users.High, 0, 0)))
	th.plan.Active, th.plan.Paused = false, true
	th.rules = map[users.ID][]messages.Reprioritisation{1: {{From: users.SMS, To: users.Email, Within: time.Hour}}}
	sim := th.ask(t, Question{})
	require.Equal(t, []string{
		"No application is named: the simulation takes one that may use every mode and sets nothing for its people.",
		"Version 3 of plan night is not the active one; new incidents use another, or none.",
		"Plan night is paused now: nobody is paged until it goes on. The simulation takes it as going on.",
		"A resolve after all these pages notifies demo by email.",
	}, sim.Notes)
	require.Len(t, sim.Pages, 1)
	require.Equal(t, users.SMS, sim.Pages[0].Wanted)
	require.Equal(t, users.Email, sim.Pages[0].Mode, "their rule forbids texts, and any application may send e-mail")
	require.Equal(t, "own rule, because there are too many by sms", sim.Pages[0].ModeRule)
	require.Equal(t, "limited", string(sim.Timeline[1].Kind))
}

func TestSimulateReportsHeldPages(t *testing.T) {
	t.Parallel()
	th := small(step(note(users.High, time.Minute, 2)))
	th.plan.ThresholdCount, th.plan.ThresholdWindow = 1, time.Hour
	th.plan.AggregationWindow, th.plan.AggregationReset = 10*time.Minute, time.Hour
	sim := th.ask(t, Question{Application: 5})
	require.Zero(t, sim.Pages[0].HeldUntil)
	require.Equal(t, noon.Add(11*time.Minute), sim.Pages[1].HeldUntil)
	require.Equal(t, noon.Add(11*time.Minute), sim.Pages[2].HeldUntil)
}

func TestSimulateUsesTheDefaultModesOfTheInstallation(t *testing.T) {
	t.Parallel()
	th := small(step(note(users.High, time.Minute, 0)), step(note(users.Low, time.Minute, 0)))
	modes := func() (out []string) {
		for _, p := range th.ask(t, Question{}).Pages {
			out = append(out, string(p.Wanted))
		}
		require.NotEmpty(t, out)
		return out
	}
	require.NotContains(t, modes(), "webhook")
	th.priorities = map[users.Priority]users.Mode{users.Urgent: users.Webhook, users.High: users.Webhook,
		users.Medium: users.Webhook, users.Low: users.Webhook}
	for _, m := range modes() {
		require.Equal(t, "webhook", m)
	}
}

func TestSimulateOfMissingObjectsFails(t *testing.T) {
	t.Parallel()
	th := small()
	s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver})
	require.NoError(t, err)
	_, err = s.Simulate(t.Context(), Question{Plan: 99, At: noon})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.Simulate(t.Context(), Question{Plan: 3, Application: 99, At: noon})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = NewSimulator(SimulatorDeps{})
	require.Error(t, err)
}

func (th *theatre) PlanNumber(_ context.Context, name string) (escalation.PlanID, error) {
	if name != th.plan.Name {
		return 0, fault.New(fault.NotFound, "no such plan")
	}
	return th.plan.ID, nil
}

func (th *theatre) ApplicationNumber(_ context.Context, name string) (int64, error) {
	if name != th.app.Name {
		return 0, fault.New(fault.NotFound, "no such application")
	}
	return th.app.ID, nil
}

func (th *theatre) Clock(context.Context) (time.Time, error) { return noon, nil }

func (th *theatre) TargetNumber(_ context.Context, _, name string) (int64, error) {
	for _, p := range th.people {
		if p.Name == name {
			return p.TargetID, nil
		}
	}
	return 0, fault.Invalidf("target", "Target %s not found", name)
}

func TestAskReadsATypedQuestion(t *testing.T) {
	t.Parallel()
	zero := 0
	th := small(step(escalation.Notification{Priority: users.High, DynamicIndex: &zero, Wait: time.Minute, Repeat: 5}))
	s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver})
	require.NoError(t, err)
	zone := time.FixedZone("", 3600)
	sim, err := s.Ask(t.Context(), TypedQuestion{Plan: "night", Application: " shop ", At: "2026-11-22 02:00",
		Assume:  "ack-after=90s",
		Targets: []string{"User:demo"}, Zone: zone})
	require.NoError(t, err)
	r := sim.Report()
	require.Equal(t, time.Unix(1795309200, 0).UTC(), r.At)
	require.Equal(t, "ack-after=1m30s", r.Assume)
	require.Equal(t, "shop", *r.Application)
	require.Equal(t, ReportPage{At: time.Unix(1795309260, 0).UTC(), After: 60, Step: 1, Notification: 1, Repeat: 1, Target: "demo",
		Purpose:  "primary",
		Priority: "high", Mode: "sms", WantedMode: "sms", Rule: "named in the plan", ModeRule: "the priority's default"}, r.Pages[1])
	require.Equal(t, EndAcknowledged, r.End)
	require.Equal(t, time.Unix(1795309290, 0).UTC(), r.EndedAt)

	sim, err = s.Ask(t.Context(), TypedQuestion{Plan: "night", Zone: zone})
	require.NoError(t, err)
	require.Equal(t, noon, sim.Report().At)
	require.Nil(t, sim.Report().Application)
	require.Contains(t, sim.Timeline[0].Text, "the incident names no target number 0; paging creator by sms instead")
	require.Equal(t, "creator of plan night", sim.Pages[0].Rule)

	for want, asked := range map[string]TypedQuestion{
		"no such plan":                  {Plan: "x"},
		"no such application":           {Plan: "night", Application: "x"},
		`"tomorrow" is no instant`:      {Plan: "night", At: "tomorrow"},
		`"never" cannot be assumed`:     {Plan: "night", Assume: "never"},
		`"ack-after=0s" cannot be assu`: {Plan: "night", Assume: "ack-after=0s"},
		`"demo" is no target`:           {Plan: "night", Targets: []string{"demo"}},
		"Target nobody not found":       {Plan: "night", Targets: []string{"user:nobody"}},
		"there are 101 targets":         {Plan: "night", Targets: make([]string, 101)},
	} {
		asked.Zone = zone
		_, err := s.Ask(t.Context(), asked)
		require.ErrorContains(t, err, want)
	}
}

func TestSimulateFailsIfACalendarDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		th := small(step(escalation.Notification{Priority: users.High,
			Target: &escalation.Target{Role: "oncall-primary", Name: "db", TargetID: 100}}))
		th.teams[100] = oncall.Team{ID: 1001, TargetID: 100, Name: "db", Active: true}
		s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: func() *oncall.Resolver {
			return oncall.NewResolver(th, hanging{}, time.Hour)
		}})
		require.NoError(t, err)
		_, err = s.Simulate(t.Context(), Question{Plan: 3, Application: 5, At: noon})
		require.True(t, fault.Is(err, fault.Unavailable), err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Simulate(ctx, Question{Plan: 3, Application: 5, At: noon})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// waiting is an incident whose next pages a simulator computes.
type waiting escalation.Due

func (w waiting) Ahead(context.Context, []incidents.ID) ([]escalation.Due, error) {
	w.ID = 1
	return []escalation.Due{escalation.Due(w)}, nil
}

func TestNextIsTheFirstPageOrTheEnd(t *testing.T) {
	t.Parallel()
	th := small(step(note(users.High, time.Minute, 0)), step(note(users.Low, time.Minute, 0)))
	next := func(w waiting) Next {
		s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver,
			Waiting: w})
		require.NoError(t, err)
		n, err := s.Next(t.Context(), []incidents.ID{1})
		require.NoError(t, err)
		return n[1]
	}
	w := waiting{PlanID: 3, ApplicationID: 5, CreatedAt: noon, DueAt: noon, ReadAt: noon, Active: true}
	n := next(w)
	require.Equal(t, noon, n.At)
	require.Equal(t, 1, n.Step)
	require.Len(t, n.Pages, 1)

	w.ReadAt, w.Progress = noon.Add(10*time.Second), escalation.Progress{Step: 1, StepAt: noon, Unsettled: 1,
		Notifications: []escalation.Rounds{{Made: 1, At: noon, Unsettled: 1}}}
	n = next(w)
	require.Equal(t, noon.Add(70*time.Second), n.At, "a message that is being sent counts as sent now")
	require.Equal(t, 2, n.Step)
	require.Equal(t, users.Email, n.Pages[0].Mode)
	require.Equal(t, 1, w.Progress.Notifications[0].Unsettled, "the incident is unchanged")

	w.Progress = escalation.Progress{Step: 2, StepAt: noon,
		Notifications: []escalation.Rounds{{Made: 1, At: noon, SettledAt: noon}}}
	n = next(w)
	require.True(t, n.Ends)
	require.Equal(t, noon.Add(time.Minute), n.At)
	w.PlanPaused = true
	require.Equal(t, Next{Paused: true}, next(w))
	require.Equal(t, Next{}, next(waiting{}), "it does not escalate")
}
