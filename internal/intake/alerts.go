package intake

import (
	"encoding/json"
	"time"
)

// Alert is an incident of an integration, as its sender sees it.
type Alert struct {
	Incident           int64
	Key                string // the dedup key of its event
	Grouped            bool   // the event is one of several of the incident
	Context            json.RawMessage
	Severity           string
	Open               bool
	Owner              string    // who acknowledged it; "" = nobody
	SourceAcknowledged bool      // its source acknowledged it
	SnoozedUntil       time.Time // zero = not snoozed
	CreatedAt          time.Time
	UpdatedAt          time.Time
}

// Acknowledged reports whether a person or the source acknowledged the alert.
func (a Alert) Acknowledged() bool { return a.Owner != "" || a.SourceAcknowledged }

// AlertQuery selects alerts of an integration, newest first. Nil = both.
type AlertQuery struct {
	Open, Acknowledged *bool
	Key                string    // "" = every key
	Priority           string    // of the payload; "" = every priority
	Tags               []string  // of the payload: all of them
	CreatedFrom        time.Time // zero = since ever
	CreatedBefore      time.Time // zero = until now
	Limit, Offset      int
}

// Searched is how many of the newest alerts that match everything else are searched for tags and a priority.
const Searched = 10_000

// AlertEdit is the new context of an alert. It applies only while the context is Before.
type AlertEdit struct {
	Incident      int64
	Before, After json.RawMessage
	Severity      string
	Actor, Text   string // for the timeline
}
