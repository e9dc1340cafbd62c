package incidents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Threshold is what a rule of an integration says about events that open an incident only when several have come.
type Threshold struct {
	Key    string // equal for the events that are counted together, within the integration
	Name   string // of these events, for people: cluster="prod"
	Events int    // so many events in In open an incident
	In     time.Duration
	Title  string // of this event
}

// HeldEvent is an event that opened no incident, because there were not enough of them.
type HeldEvent struct {
	At    time.Time
	Title string
}

// maxHeldTitles is how many events that were held back the first line of the timeline names.
const maxHeldTitles = 10

// Hold adds an event to those that are held back, oldest first. Events that came more than In ago do not count. The
// result is false if there are enough events to open an incident.
func (t Threshold) Hold(held []HeldEvent, now time.Time) (kept []HeldEvent, holds bool) {
	kept = slices.DeleteFunc(slices.Clone(held), func(e HeldEvent) bool { return now.Sub(e.At) > t.In })
	kept = append(kept, HeldEvent{At: now, Title: humanize.Shorten(t.Title, 200)})
	return kept, len(kept) < t.Events
}

// OpenText is what the timeline says about an incident that was opened by the last of these events.
func (t Threshold) OpenText(held []HeldEvent) string {
	before := held[:len(held)-1]
	var titles []string
	for _, e := range before[max(0, len(before)-maxHeldTitles):] {
		titles = append(titles, e.At.UTC().Format("15:04:05 UTC")+" "+e.Title)
	}
	return fmt.Sprintf("event %d in %s of %s opened it; held back before: %s", len(held), Brief(t.In), t.Name,
		strings.Join(titles, ", "))
}

// HeldText says for people that so many events came, and how many are needed.
func (t Threshold) HeldText(events int) string {
	return fmt.Sprintf("event %d in %s of %s; event %d opens an incident", events, Brief(t.In), t.Name, t.Events)
}

// Worse reports whether severity a is higher than b. An unknown severity is the lowest.
func Worse(a, b string) bool { return rank(a) < rank(b) }

func rank(severity string) int {
	if n := slices.Index(Severities, severity); n >= 0 {
		return n
	}
	return len(Severities)
}

// Brief formats a duration in whole seconds: 6m, 1m30s.
func Brief(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
