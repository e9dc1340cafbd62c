package floods

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
)

// Flood is the state of one flood, and when the digest of its held messages is sent.
type Flood struct {
	State
	Release time.Time // zero = nothing is held
}

// Keys returns the keys of the floods in which the messages count, without duplicates, ascending.
func Keys(news []Message) []escalation.AggregationKey {
	var keys []escalation.AggregationKey
	for _, m := range news {
		if k, ok := floodOf(m); ok {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b escalation.AggregationKey) int {
		return cmp.Or(cmp.Compare(a.PlanID, b.PlanID), cmp.Compare(a.ApplicationID, b.ApplicationID),
			cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.UserID, b.UserID))
	})
	return slices.Compact(keys)
}

func floodOf(m Message) (escalation.AggregationKey, bool) {
	if m.Aggregation == nil {
		return escalation.AggregationKey{}, false
	}
	return Of(m.New)
}

// Hold decides which messages are held for a digest, and changes them. It counts the messages in floods, which must
// have every key of Keys. It returns the messages without the follow-ups of held pages, and lines for the timelines.
func Hold(news []Message, floods map[escalation.AggregationKey]*Flood, tally Tally) ([]Message, []Entry) {
	var entries []Entry
	held := map[escalation.PageKey]bool{}
	for i := range news {
		m := &news[i]
		k, ok := floodOf(*m)
		if !ok {
			continue
		}
		f := floods[k]
		if !f.Hold(*m.Aggregation, m.At) {
			continue
		}
		if f.Release.IsZero() {
			f.Release = m.At.Add(m.Aggregation.Every)
		}
		m.Held = m.At
		m.change(messages.Change{
			Type: "sent-change", New: string(messages.Aggregated), Description: AggregatedText(k, m.Application,
				m.Target),
		})
		entries = append(entries, Entry{m.IncidentID, escalation.HeldEntry(m.Target, *m.Aggregation, m.At)})
		tally[Held]++
		held[escalation.PageOf(m.New)] = true
	}
	return slices.DeleteFunc(news, func(m Message) bool {
		return m.Purpose.Kind() == messages.FollowUp &&
			held[escalation.PageOf(m.New)]
	}), entries
}

// DueSooner returns the changes whose incident becomes due earlier because a message is held. A held message counts as
// sent: its wait begins now, because delivery will not report it.
func DueSooner(changes []escalation.Change, news []Message) []escalation.Change {
	ends := map[incidents.ID]time.Time{}
	for _, m := range news {
		if m.Held.IsZero() {
			continue
		}
		if end := m.Held.Add(m.Wait); ends[m.IncidentID].IsZero() || end.Before(ends[m.IncidentID]) {
			ends[m.IncidentID] = end
		}
	}
	var out []escalation.Change
	for _, c := range changes {
		if end, ok := ends[c.ID]; ok && !c.DueAt.IsZero() && end.Before(c.DueAt) {
			c.DueAt = end
			out = append(out, c)
		}
	}
	return out
}
