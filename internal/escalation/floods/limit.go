package floods

import (
	"cmp"
	"maps"
	"slices"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Policy is the set of quotas and rules that apply now.
type Policy struct {
	Quotas   map[int64]messages.Quota // by application
	Standard *messages.Quota          // of the other applications; nil = none
	Exempt   int64                    // the application that reports breaches: the standard quota does not apply to it
	People   int64                    // the application iris, whose openers have quotas of their own
	Rules    bool                     // at least one person has rules of reprioritisation
	Quiet    bool                     // at least one person, or PerDay, limits calls and texts or working days
	PerDay   int                      // calls and texts of a person on one day, unless the person has a limit; 0 = no limit
}

// Applies reports whether there is any quota or rule.
func (p Policy) Applies() bool { return len(p.Quotas) > 0 || p.Standard != nil || p.Rules }

// Spender is what a quota counts: the messages of an application, or those of one opener of the application iris.
type Spender struct {
	Application int64
	Opener      string // "" = the application itself
}

func spenderOf(m *Message) Spender { return Spender{m.ApplicationID, m.Opener} }

// Quota returns the quota of a spender; false when it has none. Each opener has the whole quota of the application.
func (p Policy) Quota(s Spender) (messages.Quota, bool) {
	if q, ok := p.Quotas[s.Application]; ok {
		return q, true
	}
	if p.Standard != nil && (s.Application != p.Exempt || s.Opener != "") {
		return *p.Standard, true
	}
	return messages.Quota{}, false
}

// Rules are people's rules of reprioritisation, as they apply to messages of an application.
type Rules map[users.ResponderKey][]messages.Reprioritisation

// of returns the rules that apply to a message; nil if no rule applies to its mode.
func (r Rules) of(m *Message) []messages.Reprioritisation {
	rules := r[RecipientOf(m)]
	if !slices.ContainsFunc(rules, func(rule messages.Reprioritisation) bool { return rule.From == m.Mode }) {
		return nil
	}
	return rules
}

// RecipientOf returns the person and the application of a message. The person is 0 for a message to a literal address.
func RecipientOf(m *Message) users.ResponderKey {
	user, _ := m.Recipient.User()
	return users.ResponderKey{User: user, Application: m.ApplicationID}
}

// UserMode is the key of a person's count: the person and a mode.
type UserMode struct {
	User users.ID
	Mode users.Mode
}

// Counts are how many messages people and applications got recently.
type Counts struct {
	Windows map[UserMode]*messages.Window
	Usage   map[Spender]*messages.Usage
	Days    map[users.ID]*DayCount
}

// Leaving returns the messages that are about to be sent. It leaves out held messages and those in mode drop.
func Leaving(news []Message) []*Message {
	out := make([]*Message, 0, len(news))
	for i := range news {
		if m := &news[i]; m.Held.IsZero() && m.Mode != users.Drop {
			out = append(out, m)
		}
	}
	return out
}

// Counts returns the counts that the decision needs, all zero. The caller fills them from storage.
func (p Policy) Counts(news []*Message, rules Rules) Counts {
	c := Counts{Windows: map[UserMode]*messages.Window{}, Usage: map[Spender]*messages.Usage{}}
	for _, m := range news {
		for _, r := range rules.of(m) {
			c.Windows[UserMode{RecipientOf(m).User, r.From}] = &messages.Window{}
		}
		if _, ok := p.Quota(spenderOf(m)); ok {
			c.Usage[spenderOf(m)] = &messages.Usage{}
		}
	}
	return c
}

// Limit changes the modes of messages by the rules of their recipients and the quotas of their applications, and counts
// the messages. It returns lines for the timelines, and the exceeded quotas.
func (p Policy) Limit(news []*Message, rules Rules, c Counts, tally Tally) ([]Entry, []*Breach) {
	entries := reprioritise(news, rules, c, tally)
	return entries, p.ration(news, c, tally)
}

// reprioritise applies the rules of people whose count in a mode exceeds the rule's limit.
func reprioritise(news []*Message, rules Rules, c Counts, tally Tally) []Entry {
	var entries []Entry
	for _, m := range news {
		applied := rules.of(m)
		if len(applied) == 0 {
			continue
		}
		windows := map[users.Mode]*messages.Window{}
		for _, r := range applied {
			windows[r.From] = c.Windows[UserMode{RecipientOf(m).User, r.From}]
		}
		mode := messages.Reprioritise(m.Mode, applied, windows, m.At)
		if mode == m.Mode || !m.Purpose.Allows(mode) {
			continue
		}
		old := m.setMode(mode, messages.ReprioritisationText)
		tally[Reprioritised]++
		if m.IncidentID != 0 {
			entries = append(entries, Entry{m.IncidentID, escalation.RuledEntry(m.Target, mode, old, m.At)})
		}
	}
	return entries
}

// ration drops the messages that exceed the quotas of their applications and openers, the least urgent first.
func (p Policy) ration(news []*Message, c Counts, tally Tally) []*Breach {
	bySpender := map[Spender][]*Message{}
	for _, m := range news {
		if m.Mode != users.Drop {
			bySpender[spenderOf(m)] = append(bySpender[spenderOf(m)], m)
		}
	}
	var breaches []*Breach
	order := func(a, b Spender) int {
		return cmp.Or(cmp.Compare(a.Application, b.Application), cmp.Compare(a.Opener, b.Opener))
	}
	for _, s := range slices.SortedFunc(maps.Keys(bySpender), order) {
		quota, ok := p.Quota(s)
		if !ok {
			continue
		}
		list, usage := bySpender[s], c.Usage[s]
		slices.SortStableFunc(list, func(x, y *Message) int { return cmp.Compare(x.Class, y.Class) })
		b := &Breach{Application: s.Application, quota: quota, usage: usage, at: list[0].At,
			mailedBefore: usage.TextedAt}
		for _, m := range list[usage.Allowed(quota, len(list), b.at):] {
			b.dropped = append(b.dropped, drop{m, m.setMode(users.Drop, messages.QuotaDropText)})
			tally[QuotaHard]++
		}
		b.soft = usage.TextDue(quota, b.at)
		if b.soft || b.hard() {
			breaches = append(breaches, b)
		}
	}
	return breaches
}
