package operator

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/postgres/incidents"
)

// Snooze ends the escalation of an incident for some time, and returns when the plan begins again. The processors see it within a second.
func (o *Operator) Snooze(ctx context.Context, id int64, d time.Duration) (time.Time, error) {
	until := time.Now().Add(d).Truncate(time.Second)
	return until, one(pgincidents.New(o.db).Snooze(ctx, byOperator(id), until))
}

// EndSnooze ends a snooze now.
func (o *Operator) EndSnooze(ctx context.Context, id int64) error {
	return one(pgincidents.New(o.db).EndSnooze(ctx, byOperator(id)))
}

func byOperator(id int64) incidents.Change {
	return incidents.Change{IDs: []incidents.ID{incidents.ID(id)}, Actor: operatorName}
}

// one returns a NotFound fault if the only incident of a change does not exist.
func one(done []incidents.Acknowledged, err error) error {
	if err == nil && (len(done) != 1 || !done[0].Found) {
		return fault.New(fault.NotFound, "there is no such incident")
	}
	return err
}
