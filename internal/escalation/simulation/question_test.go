package simulation

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// numbers is a Names that has every name.
type numbers struct{}

func (numbers) PlanNumber(context.Context, string) (escalation.PlanID, error) { return 1, nil }

func (numbers) ApplicationNumber(context.Context, string) (int64, error) { return 5, nil }

func (numbers) TargetNumber(_ context.Context, _, name string) (int64, error) {
	return int64(len(name)), nil
}

func TestReadTypedQuestion(t *testing.T) {
	t.Parallel()
	s := &Simulator{deps: SimulatorDeps{Names: numbers{}}}
	ask := func(change func(*TypedQuestion)) (Question, error) {
		a := TypedQuestion{Plan: "p", Zone: time.UTC}
		change(&a)
		return s.read(t.Context(), a, noon)
	}
	q, err := ask(func(a *TypedQuestion) {
		a.Application, a.Targets = " shop ", []string{" User:demo", "oncall-primary:db"}
	})
	require.NoError(t, err)
	require.Equal(t, int64(5), q.Application)
	require.Equal(t, map[int]escalation.Target{0: {Role: "user", Name: "demo", TargetID: 4},
		1: {Role: "oncall-primary", Name: "db", TargetID: 2}}, q.Dynamic)
	_, err = ask(func(a *TypedQuestion) { a.Targets = many(maxTargets) })
	require.NoError(t, err)

	for name, change := range map[string]func(*TypedQuestion){
		"too many targets": func(a *TypedQuestion) { a.Targets = many(maxTargets + 1) },
		"no role":          func(a *TypedQuestion) { a.Targets = []string{":demo"} },
		"no name":          func(a *TypedQuestion) { a.Targets = []string{"user:"} },
		"no colon":         func(a *TypedQuestion) { a.Targets = []string{"demo"} },
	} {
		_, err := ask(change)
		require.Equal(t, fault.Invalid, fault.KindOf(err), name)
		require.ErrorContains(t, err, "target", name)
	}
	for text, want := range map[string]time.Duration{"": 0, "no-ack": 0, " No-Ack ": 0, "ack-after=5m": 5 * time.Minute, "ACK-AFTER=90s": 90 * time.Second} {
		got, err := assumption(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"ack", "ack-after=", "ack-after=0s", "ack-after=-1m", "ack-after=soon"} {
		_, err := assumption(text)
		require.Equal(t, fault.Invalid, fault.KindOf(err), text)
	}
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "user:demo"
	}
	return out
}

func TestReportOfASimulation(t *testing.T) {
	t.Parallel()
	s := Simulation{
		Plan:     escalation.Plan{ID: 1, Name: "p"},
		Question: Question{At: noon, AcknowledgedAfter: 5 * time.Minute, Application: 5},
		Pages: []SimulatedPage{
			{At: noon.Add(90 * time.Second), New: messages.New{Step: 1, Position: 1, Target: "demo",
				Purpose: messages.Primary, Mode: users.SMS}},
			{At: noon, New: messages.New{Step: 1, Target: "creator", Mode: users.Email}, Wanted: users.SMS,
				HeldUntil: noon.Add(time.Minute)},
		},
		Timeline: []incidents.Entry{{At: noon, Kind: incidents.EntryStep, Text: "paging"}},
	}
	s.Application.Name = "shop"
	r := s.Report()
	require.Equal(t, "ack-after=5m0s", r.Assume)
	require.Equal(t, "shop", *r.Application)
	require.Equal(t, []int64{90, 0}, []int64{r.Pages[0].After, r.Pages[1].After})
	require.Equal(t, []string{"sms", "sms"}, []string{r.Pages[0].WantedMode, r.Pages[1].WantedMode})
	require.Equal(t, 2, r.Pages[0].Notification, "people count from 1")
	require.Nil(t, r.Pages[0].HeldUntil)
	require.Equal(t, noon.Add(time.Minute), *r.Pages[1].HeldUntil)
	require.Equal(t, []ReportLine{{At: noon, Kind: "step", Text: "paging"}}, r.Timeline)

	s.Question = Question{At: noon}
	require.Equal(t, "no-ack", s.Report().Assume)
	require.Nil(t, s.Report().Application)
}
