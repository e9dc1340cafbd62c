package runner

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// failedPage is a page of incident 3 to demo (user 1) that failed in every mode.
func failedPage(set func(*escalation.Failed)) escalation.Failed {
	f := escalation.Failed{ID: 70, Lease: buckets.Lease{Bucket: 3, Epoch: 1}, Open: true, Made: messages.New{
		IncidentID: 3, ApplicationID: 5, PlanID: 1, Step: 1, Recipient: "user:1", Target: "demo",
		Purpose: messages.Primary, Priority: users.High, Class: messages.ClassUrgent, Mode: users.SMS,
	}}
	if set != nil {
		set(&f)
	}
	return f
}

func outOfBand(f *escalation.Failed) {
	f.Made.IncidentID, f.Made.PlanID, f.Made.Step, f.Open = 0, 0, 0, false
}

func TestFallbackOfAFailedPage(t *testing.T) {
	t.Parallel()
	const nobody = "Every mode failed and there is no further fallback: "
	for name, c := range map[string]struct {
		failed  func(*escalation.Failed)
		plan    func(*escalation.Plan)
		app     *escalation.Target
		to      messages.Recipient // "" = nobody
		mode    users.Mode
		entry   string // "" = none
		changed string // the description in the failed message's audit log; "" = none
	}{
		"the creator is notified": {to: "user:9", mode: users.Email,
			changed: "Every mode failed; notifying creator of plan demo-plan",
			entry:   "fallback: step 1: demo could not be reached in any mode; paging creator by email because there is no sms contact instead (creator of plan demo-plan)"},
		"nothing after an acknowledgement": {failed: func(f *escalation.Failed) { f.Open = false }},
		"a tracking address has none": {failed: func(f *escalation.Failed) { f.Made.Purpose = messages.TrackingMsg },
			entry: "delivery: the plan's tracking address could not be reached"},
		"the fallback is the same person": {plan: func(p *escalation.Plan) { p.CreatorID = 1 }, changed: nobody +
			"creator of plan demo-plan: the same person",
			entry: "fallback: step 1: demo could not be reached in any mode and there is no further fallback (creator of plan demo-plan: the same person)"},
		"the fallback failed, too": {failed: func(f *escalation.Failed) {
			f.Others = []escalation.OtherMessage{{Recipient: "user:9", Fate: escalation.PastFailed}}
		}, changed: nobody + "creator of plan demo-plan: could not be reached either",
			entry: "fallback: step 1: demo could not be reached in any mode and there is no further fallback (creator of plan demo-plan: could not be reached either)"},
		"the fallback is paged already": {failed: func(f *escalation.Failed) {
			f.Others = []escalation.OtherMessage{{Recipient: "user:9", Fate: escalation.PastLeft}}
		},
			entry: "fallback: step 1: demo could not be reached in any mode; creator is paged already (creator of plan demo-plan)"},
		"the fallback's page is on its way": {failed: func(f *escalation.Failed) {
			f.Others = []escalation.OtherMessage{{Recipient: "user:9", Fate: escalation.PastOnItsWay}}
		},
			entry: "fallback: step 1: demo could not be reached in any mode; creator is paged already (creator of plan demo-plan)"},
		"there is none": {plan: func(p *escalation.Plan) { p.CreatorID = 0 }, changed: nobody + "none is configured",
			entry: "fallback: step 1: demo could not be reached in any mode and there is no further fallback (none is configured)"},
		"the plan's comes first": {plan: func(p *escalation.Plan) { p.Fallback = user("second", 2) }, to: "user:2",
			mode:    users.SMS,
			changed: "Every mode failed; notifying fallback of plan demo-plan, second",
			entry:   "fallback: step 1: demo could not be reached in any mode; paging second by sms instead (fallback of plan demo-plan, second)"},
		"the next one after one who cannot be notified": {plan: func(p *escalation.Plan) {
			p.Fallback = user("mute",
				3)
		}, to: "user:9", mode: users.Email,
			changed: "Every mode failed; notifying creator of plan demo-plan",
			entry: "fallback: step 1: demo could not be reached in any mode; paging creator by email because there is no sms contact instead (creator of plan demo-plan); " +
				"tried before: fallback of plan demo-plan, mute: no contact that the application may use"},
		"out of band there is no timeline": {failed: outOfBand, plan: func(p *escalation.Plan) { p.CreatorID = 0 },
			app: user("second", 2),
			to:  "user:2", mode: users.SMS, changed: "Every mode failed; notifying fallback of application shop, second"},
		"a digest tells its incidents": {failed: func(f *escalation.Failed) { outOfBand(f); f.Made.Batch = "b" },
			plan: func(p *escalation.Plan) { p.CreatorID = 0 }, app: user("second", 2),
			to: "user:2", mode: users.SMS, changed: "Every mode failed; notifying fallback of application shop, second",
			entry: "fallback: demo could not be reached in any mode; paging second by sms instead (fallback of application shop, second)"},
		"without a priority the mode is kept": {failed: func(f *escalation.Failed) { outOfBand(f); f.Made.Priority = "" }, app: user("second", 2),
			to: "user:2", mode: users.SMS, changed: "Every mode failed; notifying fallback of application shop, second"},
		"without a priority and that mode it is low": {failed: func(f *escalation.Failed) { outOfBand(f); f.Made.Priority, f.Made.Mode = "", users.Slack }, app: user("second", 2),
			to: "user:2", mode: users.Email, changed: "Every mode failed; notifying fallback of application shop, second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, Config{})
			g.person(2, "second", users.SMS, users.Email)
			g.person(3, "mute")
			if c.plan != nil {
				g.plan(c.plan, g.plans[1].Steps...)
			}
			app := g.apps[5]
			app.Fallback = c.app
			g.apps[5] = app
			g.failed = []escalation.Failed{failedPage(c.failed)}
			require.NoError(t, g.runner.Pass(t.Context()))
			require.Len(t, g.replaced, 1)
			got := g.replaced[0]
			if c.entry == "" {
				require.Empty(t, got.Entries)
			} else {
				require.Equal(t, []string{c.entry}, texts(got.Entries))
			}
			if c.changed == "" {
				require.Empty(t, got.Changes)
			} else {
				require.Equal(t, c.changed, got.Changes[0].Description)
				require.Equal(t, "demo", got.Changes[0].Old)
			}
			if c.to == "" {
				require.Empty(t, got.Messages)
				require.True(t, g.woken.Empty())
				return
			}
			require.Equal(t, buckets.Of(3), g.woken)
			require.Len(t, got.Messages, 1)
			m := got.Messages[0]
			name := g.people[map[messages.Recipient]users.ID{"user:2": 2, "user:9": 9}[c.to]].Name
			require.Equal(t, c.to, m.Recipient)
			require.Equal(t, c.mode, m.Mode)
			require.Equal(t, name, m.Target)
			require.Equal(t, messages.Fallback, m.Purpose)
			require.Equal(t, messages.ID(70), m.FallbackOf)
			require.Equal(t, messages.Change{Type: "target-change", Old: "demo", New: name,
				Description: "Every mode failed for demo"}, m.Changes[0])
			require.Equal(t, name, got.Changes[0].New)
		})
	}
}

func TestAFallbackByAnotherModeNamesTheMode(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.failed = []escalation.Failed{failedPage(func(f *escalation.Failed) { f.Made.Literal = "+15550000" })}
	require.NoError(t, g.runner.Pass(t.Context()))
	m := g.replaced[0].Messages[0]
	require.Empty(t, m.Literal, "the address was the first one's")
	require.Equal(t, messages.ModeFailure(users.SMS, users.Email), m.Changes[1])
	require.JSONEq(t, `{"pages":[{"step":1,"position":0,"repeat":0,"target":"creator","priority":"high","mode":"email","wanted_mode":"sms",
		"mode_rule":"the priority's default"}]}`, string(g.replaced[0].Entries[0].Detail))
}

func TestAFailedFallbackLookupIsRetriedAFewTimes(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.plan(func(p *escalation.Plan) {
		p.Fallback = &escalation.Target{Role: "oncall-primary", Name: "db", TargetID: 100}
	}, g.plans[1].Steps...)
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(teams{g.memory}, calendarFunc(func() (oncall.Answer, bool, error) {
		return oncall.Answer{}, false, errors.New("calendar out of order")
	}), 0))
	g.failed = []escalation.Failed{failedPage(nil)}
	for range escalation.MaxLookups {
		require.NoError(t, g.runner.Pass(t.Context()))
		require.Empty(t, g.replaced)
		g.runner.failedMessages.cases[70].until = time.Now().Add(-time.Second)
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.replaced, 1)
	require.Equal(t, messages.Recipient("user:9"), g.replaced[0].Messages[0].Recipient)
	require.Contains(t, g.replaced[0].Entries[0].Text,
		"tried before: fallback of plan demo-plan, oncall-primary of db: look up oncall-primary of db: read the calendar of team db: calendar out of order")
	require.Zero(t, g.runner.failedMessages.len(), "forgotten when it succeeds")
}

func TestFallbacksUnderALostLeaseAreLeftToTheNewHolder(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.failed = []escalation.Failed{failedPage(nil)}
	g.fallbackErr = func([]escalation.FallbackChange) error { return &buckets.LostError{Buckets: buckets.Of(3)} }
	require.NoError(t, g.runner.fallbacks(t.Context(), g.leases))
	require.Equal(t, buckets.Of(3), g.lost)
	require.Empty(t, g.replaced)
	require.Zero(t, g.runner.failedMessages.len(), "nothing is wrong with the message")
}

func TestFallbacksWaitUntilTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.failed = []escalation.Failed{failedPage(nil)}
	away := fault.New(fault.Unavailable, "the database cannot be reached")
	g.fallbackErr = func([]escalation.FallbackChange) error { return away }
	require.ErrorIs(t, g.runner.fallbacks(t.Context(), g.leases), away)
	require.Zero(t, g.runner.failedMessages.len())
}

func TestAFailedMessageThatCannotBeStoredDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	for id := range messages.ID(4) {
		g.failed = append(g.failed, failedPage(func(f *escalation.Failed) {
			f.ID, f.Made.IncidentID = id+1,
				incidents.ID(id+1)
		}))
	}
	g.fallbackErr = func(cs []escalation.FallbackChange) error {
		for _, c := range cs {
			if c.Failed.ID == 3 {
				return fault.New(fault.Invalid, "a value cannot be stored")
			}
		}
		return nil
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.replaced, 3)
	require.Equal(t, 1, g.runner.failedMessages.len())
}
