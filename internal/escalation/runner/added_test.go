package runner

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// added returns an added page for users by number, on an incident at step 1.
func added(m *memory, ids ...int64) escalation.Added {
	a := escalation.Added{ID: 1, Number: 2, IncidentID: 3, Lease: m.leases[3], PlanID: 1, ApplicationID: 5,
		Actor: "eve", ReadAt: noon, Step: 1, Open: true,
		Addition: escalation.Addition{Kind: escalation.ForResponders, Priority: users.Urgent}}
	for _, id := range ids {
		a.Targets = append(a.Targets, escalation.Target{Role: "user", Name: m.people[users.ID(id)].Name, TargetID: id})
	}
	return a
}

func TestAddedPages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change   func(*escalation.Added, *memory)
		messages []string
		timeline []string
		nobody   int
	}{
		"of an escalating incident": {
			messages: []string{"creator by email, primary, 1.-40.0 urgent with page"},
			timeline: []string{"added: eve paged also creator: creator by email because the application may not use call (urgent, named by eve)"},
		},
		"the same person twice": {
			change:   func(a *escalation.Added, _ *memory) { a.Targets = append(a.Targets, a.Targets[0]) },
			messages: []string{"creator by email, primary, 1.-40.0 urgent with page"},
			timeline: []string{"added: eve paged also creator: creator by email because the application may not use call (urgent, named by eve)"},
		},
		"of an incident that was acknowledged before": {
			change:   func(a *escalation.Added, _ *memory) { a.Open, a.Stopped, a.Template = false, true, "other" },
			messages: []string{"creator by email, direct, 1.-40.0 urgent with other"},
			timeline: []string{"added: eve paged also creator: creator by email because the application may not use call (urgent, named by eve)"},
		},
		"with follow-ups, which nobody would stop if the incident was acknowledged before": {
			change: func(a *escalation.Added, m *memory) {
				p := m.people[1]
				p.FollowUps = map[users.Priority][]users.FollowUp{users.Urgent: {{Mode: users.SMS, After: time.Minute}}}
				m.people[1] = p
				a.Open, a.Stopped, a.Targets = false, true, []escalation.Target{{Role: "user", Name: "demo",
					TargetID: 1}}
			},
			messages: []string{"demo by email, direct, 1.-40.0 urgent with page"},
			timeline: []string{"added: eve paged also demo: demo by email because the application may not use call (urgent, named by eve)"},
		},
		"to a new owner": {
			change: func(a *escalation.Added, _ *memory) {
				a.Open, a.Stopped, a.Kind = false, true,
					escalation.ForNewOwner
			},
			messages: []string{"creator by email, direct, 1.-40.0 urgent with page"},
			timeline: []string{"added: paging the new owner creator: creator by email because the application may not use call (urgent, named by eve)"},
		},
		"of an incident that was acknowledged meanwhile": {
			change:   func(a *escalation.Added, _ *memory) { a.Open = false },
			timeline: []string{"cancelled: eve paged also creator: nobody is paged, because somebody stopped the escalation meanwhile"},
		},
		"of an incident that is over": {
			change:   func(a *escalation.Added, _ *memory) { a.Stopped, a.Over = true, true },
			timeline: []string{"cancelled: eve paged also creator: nobody is paged, because the incident is over"},
		},
		"to somebody without a contact": {
			change: func(a *escalation.Added, m *memory) {
				m.person(2, "mute")
				a.Stopped, a.Targets = true, []escalation.Target{{Role: "user", Name: "mute", TargetID: 2}}
			},
			messages: []string{"creator by email, direct, 1.-40.0 urgent with page"},
			timeline: []string{"added: eve paged also mute",
				"fallback: step 1: mute cannot be paged in any mode: the application may not use call; paging creator by email because the application may not use call instead (creator of plan demo-plan)"},
		},
		"to nobody": {
			change: func(a *escalation.Added, m *memory) {
				m.person(2, "mute")
				m.person(9, "creator")
				a.Targets = []escalation.Target{{Role: "user", Name: "mute", TargetID: 2}}
			},
			timeline: []string{"added: eve paged also mute",
				"fallback: step 1: mute cannot be paged in any mode: the application may not use call, and no fallback can be paged either (creator of plan demo-plan: no contact that the application may use): this notification reaches NOBODY"},
			nobody: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newRig(t, Config{})
			g.plans[1].Steps[0].Notifications[0].Template = "page"
			a := added(g.memory, 9)
			if tc.change != nil {
				tc.change(&a, g.memory)
			}
			g.added = []escalation.Added{a}
			require.NoError(t, g.runner.Pass(t.Context()))
			require.Len(t, g.addedPages, 1)
			c := g.addedPages[0]
			var made, lines []string
			for _, m := range c.Messages {
				require.Equal(t, incidents.ID(3), m.IncidentID)
				require.Equal(t, messages.ClassUrgent, m.Class)
				made = append(made, fmt.Sprintf("%s by %s, %s, %d.%d.%d %s with %s", m.Target, m.Mode, m.Purpose,
					m.Step, m.Position, m.Repeat, m.Priority, m.Template))
			}
			for _, e := range c.Entries {
				lines = append(lines, string(e.Kind)+": "+e.Text)
			}
			require.Equal(t, tc.messages, made)
			require.Equal(t, tc.timeline, lines)
			require.Equal(t, tc.nobody, c.Nobody)
			require.Equal(t, tc.nobody, g.logs.FilterMessage("page reaches nobody").Len())
			require.Equal(t, len(made) > 0, g.woken.Has(3))
		})
	}
}

// The reason is in the message's text.
func TestAddedPagesSayWhy(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.added = []escalation.Added{added(g.memory, 9)}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Contains(t, g.addedPages[0].Messages[0].Changes,
		messages.Change{Type: "target-change", New: "creator", Description: "eve added you to the incident"})
}

// A failing page delays nothing else.
func TestAnAddedPageThatFailsIsPostponedAlone(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	g.added, g.addedErr = []escalation.Added{added(g.memory, 9)}, errors.New("a bad row")
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Equal(t, 1, g.logs.FilterLevelExact(zap.ErrorLevel).Len())
	require.Equal(t, 1, g.runner.failedAdded.failures(1))
	g.runner.addedAt = noon
	g.added, g.addedErr = []escalation.Added{added(g.memory, 9)}, &buckets.LostError{Buckets: buckets.Of(3)}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.True(t, g.lost.Has(3))
	g.runner.addedAt = noon
	g.added, g.addedErr = []escalation.Added{added(g.memory, 9)}, fault.New(fault.Unavailable, "away")
	require.Error(t, g.runner.Pass(t.Context()))
}
