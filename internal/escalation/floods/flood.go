package floods

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
)

// Of returns the flood in which a page counts; false for a message that is never held. A follow-up is not counted: it
// is about a page that is.
func Of(m messages.New) (escalation.AggregationKey, bool) {
	user, ok := m.Recipient.User()
	if !ok || m.Purpose == messages.TrackingMsg || m.Purpose.Kind() == messages.FollowUp {
		return escalation.AggregationKey{}, false
	}
	return escalation.AggregationKey{PlanID: escalation.PlanID(m.PlanID), ApplicationID: m.ApplicationID,
		Priority: m.Priority, UserID: user}, true
}

// State is the state of one key's pages. It is stored as JSON.
type State struct {
	Recent  messages.Window `json:"w"`
	Holding bool            `json:"h,omitempty"`
	LastAt  time.Time       `json:"l,omitzero"` // of the last page while holding
}

// Hold counts a page made at now. It reports whether the page is held for the digest. The first Threshold pages within
// Window are not held. Later pages are, until a gap between two pages is longer than Reset; then the count begins
// again.
func (f *State) Hold(a escalation.Aggregation, now time.Time) bool {
	if f.Holding {
		if now.Sub(f.LastAt) <= a.Reset {
			f.LastAt = clock.Later(f.LastAt, now)
			return true
		}
		*f = State{}
	}
	f.Recent.Add(now, 1, a.Window)
	if f.Recent.Within(now, a.Window) <= a.Threshold {
		return false
	}
	*f = State{Holding: true, LastAt: now}
	return true
}

// AggregatedText is the text for the audit log of a held page.
func AggregatedText(k escalation.AggregationKey, application, target string) string {
	return fmt.Sprintf("Aggregated with key (%d, %s, %s, %s)", k.PlanID, application, k.Priority, target)
}
