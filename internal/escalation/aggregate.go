package escalation

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Aggregation is a plan's settings for floods of pages to one person (docs/reference/escalation.md 7).
type Aggregation struct {
	Threshold int           // pages within Window that are sent at once; at least one
	Window    time.Duration // span in which pages are counted
	Every     time.Duration // time after which held pages are sent as one digest
	Reset     time.Duration // a gap longer than this ends the flood
}

// Aggregation returns the plan's settings; false if the plan does not aggregate. A window of 0 means it does not.
func (p Plan) Aggregation() (Aggregation, bool) {
	a := Aggregation{Threshold: max(p.ThresholdCount, 1), Window: p.ThresholdWindow, Every: p.AggregationWindow,
		Reset: p.AggregationReset}
	return a, p.ThresholdWindow > 0 && p.AggregationWindow > 0
}

// AggregationKey identifies a flood: its pages are counted together.
type AggregationKey struct {
	PlanID        PlanID
	ApplicationID int64
	Priority      users.Priority
	UserID        users.ID
}

// IsQuiet reports whether the key is that of the pages to one person which a quiet-time limit holds.
func (k AggregationKey) IsQuiet() bool { return k.PlanID == 0 && k.ApplicationID == 0 }
