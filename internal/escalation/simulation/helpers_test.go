package simulation

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

var noon = time.Date(2025, 3, 30, 0, 59, 0, 0, time.UTC) // a minute before the clocks change in Europe

func note(p users.Priority, wait time.Duration, repeat int) escalation.Notification {
	return escalation.Notification{
		Priority: p, Wait: wait, Repeat: repeat, Target: &escalation.Target{Role: "user", Name: "demo", TargetID: 1},
	}
}

func step(ns ...escalation.Notification) escalation.Step { return escalation.Step{Notifications: ns} }

// hanging is a calendar that does not answer for teams with a number above 1,000.
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
