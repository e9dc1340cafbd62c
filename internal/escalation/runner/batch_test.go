package runner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// decide returns the decision about incident 1 of plan 1.
func (g *rig) decide(t *testing.T, set func(*escalation.Due)) escalation.Change {
	t.Helper()
	d := g.open(1)
	if set != nil {
		set(&d)
	}
	c, err := g.runner.decideSafely(t.Context(), d, escalation.Facts{Plans: g.plans, Applications: g.apps})
	require.NoError(t, err)
	if !d.PlanPaused && !d.ApplicationPaused {
		require.Equal(t, len(c.Entries) > 0, c.Visible, "clients see as an update what stands on the timeline")
	}
	return c
}

// plan replaces the steps of plan 1. set may change the rest of the plan.
func (g *rig) plan(set func(*escalation.Plan), steps ...escalation.Step) {
	p := g.plans[1]
	p.Steps = steps
	if set != nil {
		set(&p)
	}
	g.plans[1] = p
}

func texts(entries []incidents.Entry) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, string(e.Kind)+": "+e.Text)
	}
	return out
}

func user(name string, id int64) *escalation.Target {
	return &escalation.Target{Role: "user", Name: name, TargetID: id}
}

func TestAPausedIncidentWaitsWithOneTimelineEntry(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	for what, pause := range map[string]func(*escalation.Due){
		"plan demo-plan":   func(d *escalation.Due) { d.PlanPaused = true },
		"application shop": func(d *escalation.Due) { d.ApplicationPaused = true },
	} {
		c := g.decide(t, pause)
		require.Equal(t, []string{"operator: escalation waits: " + what + " is paused"}, texts(c.Entries))
		require.Empty(t, c.Messages)
		require.True(t, c.Active)
		require.False(t, c.DueAt.Before(noon.Add(time.Hour)))
		require.Zero(t, c.Progress.Step)

		again := g.decide(t, func(d *escalation.Due) { pause(d); d.Progress = c.Progress })
		require.Empty(t, again.Entries)
		require.Equal(t, c.DueAt, again.DueAt)

		on := g.decide(t, func(d *escalation.Due) { d.Progress = c.Progress })
		require.Equal(t, []string{"operator: escalation continues",
			"step: step 1: paging demo by sms (high, named in the plan)"}, texts(on.Entries))
		require.False(t, on.Progress.Paused)
	}
}

func TestAPausedPlanDoesNotResolveOnCallTargets(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.panicFor = 1
	for _, pause := range []func(*escalation.Due){func(d *escalation.Due) { d.PlanPaused = true }, func(d *escalation.Due) { d.ApplicationPaused = true }} {
		d := g.open(1)
		pause(&d)
		require.NotPanics(t, func() {
			g.runner.decider.Prefetch(t.Context(), []escalation.Due{d},
				escalation.Facts{Plans: g.plans, Applications: g.apps})
		})
	}
}

func TestUnreadableProgressRestartsTheStep(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	c := g.decide(t, func(d *escalation.Due) { d.ProgressErr, d.Progress.Step = errors.New("torn"), 1 })
	require.Equal(t, "failure: the stored progress cannot be read (torn); step 1 begins again, and nobody is paged twice", texts(c.Entries)[0])
	require.Len(t, c.Messages, 1)
}

func TestThePlansTrackingAddressIsNotifiedOnce(t *testing.T) {
	t.Parallel()
	content := []byte(`{"shop": {"body": "x"}}`)
	for name, c := range map[string]struct {
		tracking escalation.Tracking
		told     bool
	}{
		"paged": {escalation.Tracking{Mode: users.Email, Key: "team@x.test",
			Template: content}, true},
		"no mode call": {escalation.Tracking{Mode: users.Call, Key: "team@x.test",
			Template: content}, false},
		"no address": {escalation.Tracking{Mode: users.Email, Template: content}, false},
		"no content for the application": {escalation.Tracking{Mode: users.Email, Key: "team@x.test",
			Template: []byte(`{"other": {"body": "x"}}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, Config{})
			g.plan(func(p *escalation.Plan) { p.Tracking = &c.tracking }, step(note(users.High, time.Minute, 0)))
			got := g.decide(t, nil)
			pages := got.Messages
			if c.told {
				require.Equal(t, messages.New{
					IncidentID: 1, ApplicationID: 5, PlanID: 1, Recipient: "literal:team@x.test", Purpose: messages.TrackingMsg, Target: "team@x.test",
					Class: messages.ClassRoutine, Mode: users.Email, Literal: "team@x.test",
				}, pages[0])
				require.Equal(t, "step: notifying the plan's tracking address by email", texts(got.Entries)[0])
				pages = pages[1:]
			}
			require.Len(t, pages, 1)
			require.Equal(t, messages.Primary, pages[0].Purpose)
			require.Equal(t, len(got.Messages), got.Progress.Unsettled, "what is waited for")
			require.True(t, got.Progress.Tracked)
			require.Empty(t, g.decide(t, func(d *escalation.Due) { d.Progress = got.Progress }).Messages,
				"neither is paged twice")
		})
	}
}

func TestACancelledTrackingMessageIsMadeAgainAfterReopening(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.plan(func(p *escalation.Plan) {
		p.Tracking = &escalation.Tracking{Mode: users.Email, Key: "team@x.test",
			Template: []byte(`{"shop": {"body": "x"}}`)}
	}, step(note(users.High, time.Minute, 0)))
	c := g.decide(t, func(d *escalation.Due) {
		d.Progress = escalation.Progress{Step: 1, Tracked: true, Reopened: 2, Notifications: []escalation.Rounds{{Made: 1, At: noon, SettledAt: noon}}, Past: []escalation.Past{
			{Recipient: "literal:team@x.test", Purpose: messages.TrackingMsg, Fate: escalation.PastCancelled},
			{Step: 1, Recipient: "user:1", Purpose: messages.Primary, Fate: escalation.PastLeft},
		}}
	})
	require.Len(t, c.Messages, 1)
	require.Equal(t, messages.TrackingMsg, c.Messages[0].Purpose)
	require.Equal(t, 2, c.Messages[0].Reopen, "another message than the one that was cancelled")
	require.Equal(t, 1, c.Progress.Unsettled)
}

func TestAStepWaitsForEveryMemberOfATeam(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(2, "second", users.SMS)
	g.plan(nil, step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "team", Name: "db", TargetID: 100}, Wait: time.Minute}))
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(pair{g.memory}, nil, 0))
	c := g.decide(t, nil)
	require.Len(t, c.Messages, 2)
	require.Equal(t, 2, c.Progress.Unsettled)
	require.Equal(t, 2, c.Progress.Notifications[0].Unsettled)
	require.False(t, c.Progress.Notifications[0].Skipped)
}

// pair adds a team of users 1 and 2 to a memory's directory.
type pair struct{ *memory }

func (pair) Teams(context.Context, []int64) (map[int64]oncall.Team, error) {
	return map[int64]oncall.Team{100: {TargetID: 100, Name: "db", Active: true, Members: []users.ID{1, 2}}}, nil
}

func TestAnOptionalPageThatReachesNobodyDelaysNoStep(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(2, "mute")
	g.plan(nil, step(escalation.Notification{Priority: users.High, Target: user("mute", 2), Wait: time.Hour,
		Optional: true}), step(note(users.High, time.Minute, 0)))
	c := g.decide(t, nil)
	require.Equal(t, []string{
		"skipped: step 1: mute cannot be paged in any mode: " + missing(t, g) + "; it is optional and left out",
		"step: step 2: paging demo by sms (high, named in the plan)",
	}, texts(c.Entries))
	require.Equal(t, 2, c.Progress.Step, "the next step begins at once")
	require.Len(t, c.Messages, 1)
	require.Equal(t, 1, c.Progress.Unsettled)
}

// missing says why user 2 cannot be paged at high priority.
func missing(t *testing.T, g *rig) string {
	t.Helper()
	choice, ok := users.Choose(g.people[2], users.High, g.apps[5].Modes)
	require.False(t, ok)
	return choice.Missing
}

func TestFallbacksAreTriedInOrder(t *testing.T) {
	t.Parallel()
	mute := "step 1: mute cannot be paged in any mode: "
	for name, c := range map[string]struct {
		plan, app *escalation.Target
		creator   users.ID
		want      string
		to        messages.Recipient // "" = nobody
	}{
		"the plan's": {plan: user("demo", 1), app: user("creator", 9), creator: 9,
			want: "paging demo by sms instead (fallback of plan demo-plan, demo)", to: "user:1"},
		"the application's": {app: user("demo", 1), creator: 9,
			want: "paging demo by sms instead (fallback of application shop, demo)", to: "user:1"},
		"the creator": {creator: 1, want: "paging demo by sms instead (creator of plan demo-plan)",
			to: "user:1"},
		"after one is mute": {plan: user("mute", 2), creator: 1,
			want: "paging demo by sms instead (creator of plan demo-plan); tried before: fallback of plan demo-plan, mute: no contact that the application may use", to: "user:1"},
		"after one is absent": {plan: user("gone", 3), creator: 1,
			want: "paging demo by sms instead (creator of plan demo-plan); tried before: fallback of plan demo-plan, gone: user gone is not active", to: "user:1"},
		"nobody": {want: "and no fallback can be paged either (): this notification reaches NOBODY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, Config{})
			g.person(2, "mute")
			g.people[3] = users.Responder{User: users.User{ID: 3, TargetID: 3, Name: "gone"}}
			app := g.apps[5]
			app.Fallback = c.app
			g.apps[5] = app
			g.plan(func(p *escalation.Plan) { p.Fallback, p.CreatorID = c.plan, c.creator },
				step(escalation.Notification{Priority: users.High, Target: user("mute", 2), Wait: time.Minute}))
			got := g.decide(t, nil)
			if c.to == "" {
				require.Equal(t, "fallback: "+mute+missing(t, g)+", "+c.want, texts(got.Entries)[0])
				require.Empty(t, got.Messages)
				require.False(t, got.Active, "there is nobody to wait for")
				require.Zero(t, got.DueAt)
				require.Equal(t, "exhausted: plan demo-plan is exhausted: 1 step is over and nobody acknowledged; nobody is paged any more", texts(got.Entries)[1])
				return
			}
			require.Equal(t, "fallback: "+mute+missing(t, g)+"; "+c.want, texts(got.Entries)[0])
			require.Len(t, got.Messages, 1)
			m := got.Messages[0]
			require.Equal(t, c.to, m.Recipient)
			require.Equal(t, messages.Fallback, m.Purpose)
			require.Equal(t, []messages.Change{{Type: "target-change", Old: "user|mute", New: "demo",
				Description: "mute cannot be paged in any mode: " + missing(t, g)}}, m.Changes)
			require.Equal(t, 1, got.Progress.Unsettled)
		})
	}
}

func TestAFallbackThatIsAlreadyPagedIsNotPagedTwice(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(2, "second")
	g.plan(func(p *escalation.Plan) { p.CreatorID = 1 },
		step(escalation.Notification{Priority: users.High, Target: &escalation.Target{Role: "team", Name: "db",
			TargetID: 100}, Wait: time.Minute}))
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(pair{g.memory}, nil, 0))
	c := g.decide(t, nil)
	require.Contains(t, texts(c.Entries)[0], "; demo is paged already (creator of plan demo-plan)")
	require.Len(t, c.Messages, 1)
	require.Equal(t, 1, c.Progress.Unsettled)
}

func TestTwoNotificationsOfAStepMayHaveTheSameFallback(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(2, "mute")
	mute := escalation.Notification{Priority: users.High, Target: user("mute", 2), Wait: time.Minute}
	g.plan(func(p *escalation.Plan) { p.CreatorID = 1 }, step(mute, mute))
	c := g.decide(t, nil)
	require.Len(t, c.Messages, 2, "each has its own text")
	require.Equal(t, []int{0, 1}, []int{c.Messages[0].Position, c.Messages[1].Position})
}

func TestAPersonPagedBeforeTheReopeningIsNotPagedAgain(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.person(2, "second", users.SMS)
	g.plan(nil, step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "team", Name: "db", TargetID: 100}, Wait: time.Minute}))
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(pair{g.memory}, nil, 0))
	c := g.decide(t, func(d *escalation.Due) {
		d.Progress = escalation.Progress{Step: 1, Reopened: 1, Notifications: []escalation.Rounds{{Made: 1, At: noon, SettledAt: noon}}, Past: []escalation.Past{
			{Step: 1, Recipient: "user:1", Purpose: messages.Primary, Fate: escalation.PastLeft},
			{Step: 1, Recipient: "user:2", Purpose: messages.Primary, Fate: escalation.PastCancelled},
		}}
	})
	require.Len(t, c.Messages, 1)
	require.Equal(t, messages.Recipient("user:2"), c.Messages[0].Recipient)
	require.Equal(t, 1, c.Messages[0].Reopen)
	require.Equal(t, 1, c.Progress.Unsettled)
}

func TestADynamicTargetComesFromTheIncident(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	one := 1
	g.plan(func(p *escalation.Plan) { p.CreatorID = 1 },
		step(escalation.Notification{Priority: users.High, DynamicIndex: &one, Wait: time.Minute}))
	c := g.decide(t, func(d *escalation.Due) { d.Dynamic = map[int]escalation.Target{1: *user("creator", 9)} })
	require.Equal(t, messages.Recipient("user:9"), c.Messages[0].Recipient)

	c = g.decide(t, nil)
	require.Equal(t, "fallback: step 1: nobody can be paged: the incident names no target number 1; paging demo by sms instead (creator of plan demo-plan)", texts(c.Entries)[0])
	require.Equal(t, "dynamic target", c.Messages[0].Changes[0].Old)
}

func TestAnIncidentWithoutItsPlanOrApplicationIsPostponed(t *testing.T) {
	t.Parallel()
	for want, set := range map[string]func(*escalation.Due){
		"plan 7 does not exist":        func(d *escalation.Due) { d.PlanID = 7 },
		"application 8 does not exist": func(d *escalation.Due) { d.ApplicationID = 8 },
	} {
		g := newRig(t, Config{})
		d := g.open(1)
		set(&d)
		g.due[1] = d
		require.NoError(t, g.runner.Pass(t.Context()))
		require.Empty(t, g.changes)
		require.Contains(t, g.delays[1].Text, want)
	}
}

func TestTheDelayOfTheFirstStepIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	samples := func() uint64 {
		families, err := g.registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() == "iris_escalation_first_step_seconds" {
				return f.GetMetric()[0].GetHistogram().GetSampleCount()
			}
		}
		return 0
	}
	g.open(1)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Equal(t, uint64(1), samples())
	d := g.open(1)
	d.Progress = g.changes[0].Progress
	g.due[1] = d
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 2)
	require.Equal(t, uint64(1), samples(), "what began before is not counted again")
}

func TestAWaitThatStartsWithUnsentPagesIsOnTheTimeline(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.plan(nil, step(note(users.High, time.Minute, 0)), step(note(users.High, time.Minute, 0)))
	c := g.decide(t, func(d *escalation.Due) {
		d.Progress = escalation.Progress{Step: 1, StepAt: noon.Add(-time.Hour), Unsettled: 2,
			Notifications: []escalation.Rounds{{Made: 1, At: noon.Add(-time.Hour), Unsettled: 2}}}
	})
	require.Equal(t, "late: step 1 not delivered yet, escalating: 2 pages are not settled, the wait begins anyway",
		texts(c.Entries)[0])
}

func TestDynamicTargetsCountsTheTargetsOfAPlan(t *testing.T) {
	t.Parallel()
	dynamic := func(index int) escalation.Notification { return escalation.Notification{DynamicIndex: &index} }
	require.Zero(t, escalation.Plan{Steps: []escalation.Step{step(note(users.High, 0, 0))}}.DynamicTargets())
	require.Equal(t, 1, escalation.Plan{Steps: []escalation.Step{step(dynamic(0))}}.DynamicTargets())
	require.Equal(t, 3, escalation.Plan{Steps: []escalation.Step{step(dynamic(2), note(users.High, 0, 0)),
		step(dynamic(1))}}.DynamicTargets())
}
