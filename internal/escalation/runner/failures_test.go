package runner

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
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

// A panic outside the decision, for example while people are prefetched, must not end the process. Otherwise the next
// owner of the bucket would also end, and one incident would stop the whole cluster.
func TestAPanicDuringPrefetchDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	poisoned := g.plans[1]
	poisoned.ID, poisoned.Steps = 2, []escalation.Step{step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "user", TargetID: 7}})}
	g.plans[2] = poisoned
	plan := g.plans[1]
	plan.Steps = []escalation.Step{step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "user", TargetID: 1}})}
	g.plans[1] = plan
	g.person(7, "poison", users.SMS)
	g.panicFor = 7
	for id := range incidents.ID(5) {
		d := g.open(id)
		if id == 2 {
			d.PlanID = 2
			g.due[id] = d
		}
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 4)
	require.Contains(t, g.delays[2].Text, "nobody expects this")
	logged := g.logs.FilterMessage("incident cannot be escalated, retrying later").All()
	require.Len(t, logged, 1)
	require.Contains(t, logged[0].ContextMap()["errorVerbose"], "goroutine", "the log has the stack")
}

func TestAFallbackIsPagedForAMemberDeactivatedBetweenTwoReads(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	plan := g.plans[1]
	plan.Steps = []escalation.Step{step(escalation.Notification{Priority: users.High,
		Target: &escalation.Target{Role: "team", Name: "db", TargetID: 100}})}
	g.plans[1] = plan
	g.runner.decider = g.runner.newDecider(oncall.NewResolver(teams{g.memory}, calendarFunc(nothingToSay), 0))
	gone := g.people[1]
	gone.Active = false
	g.people[1] = gone // deactivated after the team was read
	g.open(1)
	require.NoError(t, g.runner.Pass(t.Context()))
	require.Len(t, g.changes, 1)
	require.Len(t, g.changes[0].Messages, 1, "somebody is paged")
	require.Equal(t, messages.ToUser(9), g.changes[0].Messages[0].Recipient)
	require.Equal(t, "step 1: demo cannot be paged: not active any more; paging creator by email because there is no sms contact instead "+
		"(creator of plan demo-plan)", g.changes[0].Entries[0].Text)
}

func nothingToSay() (oncall.Answer, bool, error) { return oncall.Answer{}, false, nil }

func TestARefusedFallbackDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := newRig(t, Config{})
	away := fault.New(fault.Unavailable, "the database did not answer in time")
	for id := range messages.ID(4) {
		g.failed = append(g.failed, escalation.Failed{ID: id + 1, Lease: g.leases[1], Open: true, Made: messages.New{
			IncidentID: incidents.ID(id + 1), ApplicationID: 5, PlanID: 1, Step: 1, Recipient: "user:1", Target: "demo",
			Purpose: messages.Primary, Priority: users.High, Class: messages.ClassUrgent, Mode: users.SMS,
		}})
	}
	g.fallbackErr = func(cs []escalation.FallbackChange) error {
		for _, c := range cs {
			if c.Failed.ID == 3 {
				return away
			}
		}
		return nil
	}
	for range 3 {
		require.ErrorIs(t, g.runner.Pass(t.Context()), away, "as long as it may be the database")
	}
	require.NoError(t, g.runner.Pass(t.Context()))
	var done []messages.ID
	for _, c := range g.replaced {
		done = append(done, c.Failed.ID)
	}
	require.ElementsMatch(t, []messages.ID{1, 2, 4}, done)
	require.Equal(t, 1, g.runner.failedMessages.len())
	require.Equal(t, buckets.Of(1), g.woken)
}

// crowds has a team for every number. The calendar of teams above 1000 never answers.
type crowds struct{ *memory }

func (crowds) Teams(_ context.Context, ids []int64) (map[int64]oncall.Team, error) {
	out := map[int64]oncall.Team{}
	for _, id := range ids {
		out[id] = oncall.Team{ID: id, TargetID: id, Name: fmt.Sprint("team-", id), Active: true, Members: []users.ID{1}}
	}
	return out, nil
}

type hanging struct{}

func (hanging) OnCall(ctx context.Context, team oncall.Team, _ string, _ time.Time) (oncall.Answer, bool, error) {
	if team.ID > 1000 {
		<-ctx.Done()
		return oncall.Answer{}, false, ctx.Err()
	}
	return oncall.Answer{}, false, nil
}

func (h hanging) NextOnCall(ctx context.Context, team oncall.Team, role string, at time.Time) (oncall.Answer, bool, error) {
	return h.OnCall(ctx, team, role, at)
}

func TestACalendarThatHangsDoesNotStopTheRunner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		g.runner.decider = g.runner.newDecider(oncall.NewResolver(crowds{g.memory}, hanging{}, time.Second))
		for id := range incidents.ID(200) {
			d := g.open(id)
			d.PlanID = escalation.PlanID(id + 1)
			g.due[id] = d
			team := int64(id) + 1
			if id%2 == 1 {
				team += 1000
			}
			g.plans[d.PlanID] = escalation.Plan{ID: d.PlanID, Name: "p", CreatorID: 9, Steps: []escalation.Step{step(escalation.Notification{
				Priority: users.High, Target: &escalation.Target{Role: "oncall-primary", Name: "x", TargetID: team},
			})}}
		}
		began := time.Now()
		require.NoError(t, g.runner.Pass(t.Context()))
		require.Less(t, time.Since(began), 10*time.Second, "else its heartbeats would stop")
		require.Len(t, g.changes, 100, "who can be looked up is paged")
		require.Len(t, g.delays, 100)
	})
}
