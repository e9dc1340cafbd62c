package floods

import (
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// QuietPeople are the people whose pages have a quiet-time limit.
type QuietPeople map[users.ID]QuietLimits

// Days returns the counts that Quiet needs, all zero. The caller fills them from storage.
func (p QuietPeople) Days(news []Message) map[users.ID]*DayCount {
	out := map[users.ID]*DayCount{}
	for i := range news {
		m := &news[i]
		if q, ok := p[RecipientOf(m).User]; ok && m.Held.IsZero() && q.Counts(m.New) {
			out[RecipientOf(m).User] = &DayCount{}
		}
	}
	return out
}

// Quiet decides which messages are held for the digest of a quiet-time limit, changes them, and counts the others in
// days. It returns the messages to be made, when the first held page of each person is sent, and lines for the
// timelines. A follow-up is not held: it is left out with its page, or if it is beyond the limit itself.
func Quiet(news []Message, people QuietPeople, days map[users.ID]*DayCount, tally Tally) ([]Message, map[users.ID]time.Time, []Entry) {
	kept, release, entries := make([]Message, 0, len(news)), map[users.ID]time.Time{}, []Entry(nil)
	held := map[escalation.PageKey]bool{}
	for _, m := range news {
		user := RecipientOf(&m).User
		q, ok := people[user]
		if !ok || !m.Held.IsZero() {
			kept = append(kept, m)
			continue
		}
		followUp := m.Purpose.Kind() == messages.FollowUp
		if followUp && held[escalation.PageOf(m.New)] {
			continue
		}
		until, why := q.Hold(m.New, days[user], m.At)
		if until.IsZero() {
			kept = append(kept, m)
			continue
		}
		entries = append(entries, Entry{m.IncidentID, QuietEntry(m.New, why, until, m.At)})
		tally[HeldQuiet]++
		if followUp {
			continue
		}
		held[escalation.PageOf(m.New)] = true
		m.Held, m.QuietUntil = m.At, until
		m.change(messages.Change{Type: "sent-change", New: string(messages.Aggregated), Description: "Held: " + why})
		release[user] = clock.Sooner(release[user], until)
		kept = append(kept, m)
	}
	return kept, release, entries
}
