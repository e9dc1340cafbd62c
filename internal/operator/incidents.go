package operator

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/postgres/incidents"
)

// Snooze ends the escalation of an incident for some time, and returns when the plan begins again. The processors see it within a second.
func (o *Operator) Snooze(ctx context.Context, id int64, d time.Duration) (time.Time, error) {
	until := time.Now().Add(d).Truncate(time.Second)
	return until, incidents.Found(incidents.New(o.db).Snooze(ctx, incidents.ChangeOf(id, operatorName), until))
}

// EndSnooze ends a snooze now.
func (o *Operator) EndSnooze(ctx context.Context, id int64) error {
	return incidents.Found(incidents.New(o.db).EndSnooze(ctx, incidents.ChangeOf(id, operatorName)))
}
