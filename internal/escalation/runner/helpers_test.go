package runner

import (
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
)

var noon = time.Date(2025, 3, 30, 0, 59, 0, 0, time.UTC) // a minute before the clocks change in Europe

func note(p users.Priority, wait time.Duration, repeat int) escalation.Notification {
	return escalation.Notification{
		Priority: p, Wait: wait, Repeat: repeat, Target: &escalation.Target{Role: "user", Name: "demo", TargetID: 1},
	}
}

func step(ns ...escalation.Notification) escalation.Step { return escalation.Step{Notifications: ns} }
