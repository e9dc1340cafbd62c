package simulation

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

type served struct {
	modes   []users.Mode
	unknown bool
}

func (s served) Served(context.Context) ([]users.Mode, bool, error) { return s.modes, !s.unknown, nil }

// until is the instant up to which calendars are populated.
type until struct{ at time.Time }

func (u until) NotPopulated(_ context.Context, _ escalation.Target, role string, at time.Time) (bool, error) {
	return role == "primary" && !at.Before(u.at), nil
}

func TestSimulateUsesOnlyModesWithAVendor(t *testing.T) {
	t.Parallel()
	simulate := func(v Vendors, tracking users.Mode) Simulation {
		th := small(step(note(users.High, time.Minute, 0)), step(note(users.Low, time.Minute, 0)))
		th.plan.Tracking = &escalation.Tracking{Mode: tracking, Key: "log@example.com"}
		th.plan.Tracking.Template = []byte(`{"shop": {"body": "x"}}`)
		s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver,
			Vendors: v})
		require.NoError(t, err)
		sim, err := s.Simulate(t.Context(), Question{Plan: 3, Application: 5, At: noon})
		require.NoError(t, err)
		return sim
	}
	modes := func(sim Simulation) (out []users.Mode) {
		for _, p := range sim.Pages {
			out = append(out, p.Mode)
		}
		return out
	}
	sim := simulate(served{modes: []users.Mode{users.Email}}, users.Email)
	require.Equal(t, []users.Mode{users.Email, users.Email, users.Email}, modes(sim))
	require.Equal(t, users.SMS, sim.Pages[1].Wanted)
	require.Contains(t, sim.Timeline[1].Text, "no processor has a vendor for sms")

	sim = simulate(served{modes: []users.Mode{users.Call}}, users.Email)
	require.Empty(t, sim.Pages)
	require.True(t, slices.ContainsFunc(sim.Timeline, func(e incidents.Entry) bool {
		return e.Text == "log@example.com cannot be notified: no processor has a vendor for email"
	}))
	require.Equal(t, EndExhausted, sim.End)
	require.Equal(t, noon.Add(time.Minute), sim.EndedAt, "steps that reach nobody are not waited for")

	sim = simulate(served{unknown: true}, users.Email)
	require.Equal(t, []users.Mode{users.Email, users.SMS, users.Email}, modes(sim))
	require.Contains(t, sim.Notes[0], "not known which modes have a vendor")
}

func TestSimulateNotesACalendarThatIsNotPopulated(t *testing.T) {
	t.Parallel()
	n := note(users.High, time.Hour, 2)
	n.Target = &escalation.Target{Role: "oncall-primary", Name: "db", TargetID: 50}
	th := small(step(n))
	th.teams[50] = oncall.Team{ID: 50, TargetID: 50, Name: "db", Active: true}
	s, err := NewSimulator(SimulatorDeps{Reader: th, Rules: th, Names: th, Clock: th, Resolver: th.resolver,
		Populated: func() Populated { return until{noon.Add(time.Hour)} }})
	require.NoError(t, err)
	sim, err := s.Simulate(t.Context(), Question{Plan: 3, Application: 5, At: noon})
	require.NoError(t, err)
	require.Equal(t, []string{"The calendar of team db has no shifts for the role primary at 2025-03-30 01:59:00 UTC yet: " +
		"its schedule is not populated so far. Who is paged then can still change."}, sim.Notes)
}
