package escalation

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/messages"
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
	a := Aggregation{Threshold: max(p.ThresholdCount, 1), Window: p.ThresholdWindow, Every: p.AggregationWindow, Reset: p.AggregationReset}
	return a, p.ThresholdWindow > 0 && p.AggregationWindow > 0
}

// AggregationKey identifies a flood: its pages are counted together.
type AggregationKey struct {
	PlanID        PlanID
	ApplicationID int64
	Priority      users.Priority
	UserID        users.ID
}

// FloodOf returns the flood in which a page counts; false for a message that is never held. A follow-up is not counted: it is
// about a page that is.
func FloodOf(m messages.New) (AggregationKey, bool) {
	user, ok := m.Recipient.User()
	if !ok || m.Purpose == messages.TrackingMsg || m.Purpose.Kind() == messages.FollowUp {
		return AggregationKey{}, false
	}
	return AggregationKey{PlanID: PlanID(m.PlanID), ApplicationID: m.ApplicationID, Priority: m.Priority, UserID: user}, true
}

// Flood is the state of one key's pages. It is stored as JSON.
type Flood struct {
	Recent  messages.Window `json:"w"`
	Holding bool            `json:"h,omitempty"`
	LastAt  time.Time       `json:"l,omitzero"` // of the last page while holding
}

// Hold counts a page made at now. It reports whether the page is held for the digest. The first Threshold pages within
// Window are not held. Later pages are, until a gap between two pages is longer than Reset; then the count begins
// again.
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

// AggregatedText is the text for the audit log of a held page.
func AggregatedText(k AggregationKey, application, target string) string {
	return fmt.Sprintf("Aggregated with key (%d, %s, %s, %s)", k.PlanID, application, k.Priority, target)
}
