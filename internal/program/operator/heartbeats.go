package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
)

// AddHeartbeat adds a heartbeat to an integration. It returns a Conflict fault if the name exists, or if the type of
// the integration has no heartbeats. severity is as people write it; "" = that of the integration.
func (s *Senders) AddHeartbeat(ctx context.Context, integration string, c heartbeats.Content, severity string) error {
	c.Severity, c.Enabled = intake.Severity(severity), true
	if err := c.Check(); err != nil {
		return err
	}
	i, err := s.store.ByName(ctx, integration)
	if err != nil {
		return err
	}
	if err := heartbeats.CheckType(i); err != nil {
		return err
	}
	if err := s.chooser().CheckPlan(ctx, "plan", c.Plan); err != nil {
		return err
	}
	return s.heartbeats.Save(ctx, i, heartbeats.Heartbeat{}, c, senderName)
}
