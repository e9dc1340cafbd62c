package messages

import (
	"slices"
	"time"
)

// exactEvents is how many instants a Window stores exactly. Beyond it, neighbours within a 64th of the span are merged.
const exactEvents = 128

// Window counts events of the latest span of time. Up to exactEvents instants it is exact; beyond, an event may count
// for up to a 64th of the span too long. It is stored as JSON and has a bounded size.
type Window struct {
	Events []Event `json:"e,omitempty"`
}

// Event is the number of events at an instant.
type Event struct {
	At    int64 `json:"t"` // Unix milliseconds
	Count int   `json:"n"`
}

// Add counts n events at now and drops those older than span. If now is before the latest event, it uses that event's
// instant, because clocks differ a little.
func (w *Window) Add(now time.Time, n int, span time.Duration) {
	at := now.UnixMilli()
	if last := len(w.Events) - 1; last >= 0 && w.Events[last].At >= at {
		at = w.Events[last].At
		w.Events[last].Count += n
	} else {
		w.Events = append(w.Events, Event{At: at, Count: n})
	}
	oldest := at - span.Milliseconds()
	w.Events = slices.DeleteFunc(w.Events, func(e Event) bool { return e.At <= oldest })
	if len(w.Events) > exactEvents {
		w.merge(max(1, span.Milliseconds()/64))
	}
}

// merge merges events of the same time cell, at the instant of the latest of them.
func (w *Window) merge(cell int64) {
	out := w.Events[:0]
	for _, e := range w.Events {
		if last := len(out) - 1; last >= 0 && out[last].At/cell == e.At/cell {
			out[last] = Event{At: e.At, Count: out[last].Count + e.Count}
			continue
		}
		out = append(out, e)
	}
	w.Events = out
}

// Within returns how many events happened less than span before now.
func (w *Window) Within(now time.Time, span time.Duration) int {
	oldest, n := now.UnixMilli()-span.Milliseconds(), 0
	for _, e := range w.Events {
		if e.At > oldest {
			n += e.Count
		}
	}
	return n
}
