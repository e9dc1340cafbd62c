package processor

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/intake/monitor"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/program/server"
)

// heartbeats creates the monitor of heartbeats. What it reports is not limited: each heartbeat has at most one open
// incident.
func (p *Processor) heartbeats(parts *processorParts, s *server.Stores, log *zap.Logger) (*monitor.Monitor, error) {
	receiver, err := receiving.New(receiving.Deps{
		Incidents: s.Incidents, Load: unlimited{}, Wake: parts.wakeAfter, Log: log, Registerer: p.reg, Types: sources.Types(),
		Chooser: receiving.NewChooser(s.Plans, s.Notifications, p.cfg.Intake.CatchAllPlan, log),
	})
	if err != nil {
		return nil, err
	}
	return monitor.New(monitor.Deps{Heartbeats: s.Heartbeats, Integrations: s.Integrations,
		Applications: s.Applications, Receiver: receiver,
		Leases: parts.holder, Log: log, Registerer: p.reg})
}

// unlimited is a receiving.Load without a limit.
type unlimited struct{}

// Overloaded implements receiving.Load.
func (unlimited) Overloaded(context.Context, auth.Application) (time.Duration, error) { return 0, nil }

// Accepted implements receiving.Load.
func (unlimited) Accepted(int64, int) {}
