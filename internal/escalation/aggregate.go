package escalation

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Aggregation is what a plan says about a flood of pages for one person (docs/reference/escalation.md 7).
type Aggregation struct {
	Threshold int           // pages within Window that leave at once; never less than one
	Window    time.Duration // span in which pages are counted
	Every     time.Duration // after so long, what was held leaves as one digest
	Reset     time.Duration // a gap longer than this ends the holding
}

// Aggregation returns what the plan asks for; false when it asks for nothing: a window of 0 means never.
func (p Plan) Aggregation() (Aggregation, bool) {
	a := Aggregation{Threshold: max(p.ThresholdCount, 1), Window: p.ThresholdWindow, Every: p.AggregationWindow, Reset: p.AggregationReset}
	return a, p.ThresholdWindow > 0 && p.AggregationWindow > 0
}

// AggregationKey names whose flood of what is counted.
type AggregationKey struct {
	PlanID        PlanID
	ApplicationID int64
	Priority      users.Priority
	UserID        users.ID
}

// FloodOf returns whose flood a page of a plan that aggregates is counted in; false for what is never held.
func FloodOf(m messages.New) (AggregationKey, bool) {
	user, ok := m.Recipient.User()
	if !ok || m.Purpose == messages.TrackingMsg {
		return AggregationKey{}, false
	}
	return AggregationKey{PlanID: PlanID(m.PlanID), ApplicationID: m.ApplicationID, Priority: m.Priority, UserID: user}, true
}

// Flood is what is known of the pages of one key. It is stored as JSON.
type Flood struct {
	Recent  messages.Window `json:"w"`
	Holding bool            `json:"h,omitempty"`
	LastAt  time.Time       `json:"l,omitzero"` // of the last page while holding
}

// Hold counts a page made at now and reports whether it is held for the digest. The first Threshold pages within Window
// never are; from the next one on all are, as long as no gap between two is longer than Reset. After such a gap the count
// begins anew.
func (f *Flood) Hold(a Aggregation, now time.Time) bool {
	if f.Holding {
		if now.Sub(f.LastAt) <= a.Reset {
			f.LastAt = instant.Later(f.LastAt, now)
			return true
		}
		*f = Flood{}
	}
	f.Recent.Add(now, 1, a.Window)
	if f.Recent.Within(now, a.Window) <= a.Threshold {
		return false
	}
	*f = Flood{Holding: true, LastAt: now}
	return true
}

// AggregatedText is what the audit log of a held page says.
func AggregatedText(k AggregationKey, application, target string) string {
	return fmt.Sprintf("Aggregated with key (%d, %s, %s, %s)", k.PlanID, application, k.Priority, target)
}
