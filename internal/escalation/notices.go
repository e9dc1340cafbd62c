// This file decides who is notified about an incident without being paged: people who were paged, of its resolve, and
// its owner, of news. internal/incidents/pg stores the decisions. It is pure.

package escalation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// Grace is the time between a resolve and its notices. An undo in this time cancels all of them.
	Grace = 5 * time.Second
	// Pause is the least time between two notices to the owner of an incident.
	Pause = 5 * time.Minute
	// Life is how long it is tried to send a notice.
	Life = 24 * time.Hour
)

// PastMessage is a message of the incident: a page or an earlier notice.
type PastMessage struct {
	Recipient messages.Recipient
	Target    string // name of the recipient
	Mode      users.Mode
	Purpose   messages.Purpose
	State     messages.State
	At        time.Time // when it was sent, or if it was not sent yet, when it was made
}

// Notice is a message to be made.
type Notice struct {
	Recipient messages.Recipient
	Target    string
	Mode      users.Mode
	// Number counts the notices of the same purpose to the recipient about the incident, from 0. It is part of the
	// message's key (promise P3).
	Number int
	After  time.Duration // how long after it was made it may be sent
}

// Resolved returns the notices of a resolve, by the names of their recipients: one to each person and address that was
// paged since the last such notice. Its mode is that of the last page whose mode the settings allow. Without such a
// page there is no notice, and neither is one to by, who resolved the incident.
func Resolved(past []PastMessage, s Settings, by string) []Notice {
	notified := map[messages.Recipient]time.Time{}
	number := map[messages.Recipient]int{}
	for _, m := range past {
		if m.Purpose == messages.ResolvedNotice {
			number[m.Recipient]++
			if m.State != messages.Cancelled && m.At.After(notified[m.Recipient]) {
				notified[m.Recipient] = m.At
			}
		}
	}
	last := map[messages.Recipient]PastMessage{}
	for _, m := range past {
		if pages(m) && Allows(s, m.Mode) && m.At.After(notified[m.Recipient]) && !m.At.Before(last[m.Recipient].At) && !strings.EqualFold(m.Target, by) {
			last[m.Recipient] = m
		}
	}
	out := make([]Notice, 0, len(last))
	for to, m := range last {
		out = append(out, Notice{Recipient: to, Target: m.Target, Mode: m.Mode, Number: number[to], After: Grace})
	}
	slices.SortFunc(out, func(a, b Notice) int {
		return cmp.Or(strings.Compare(a.Target, b.Target), cmp.Compare(a.Recipient, b.Recipient))
	})
	return out
}

// pages reports whether a message paged somebody alone. Pages in a digest do not count: a digest stands for many
// incidents, and a notice for each of them would be the flood that the digest prevented.
func pages(m PastMessage) bool {
	switch m.Purpose.Kind() {
	case messages.Primary, messages.Copy, messages.Fallback, messages.Direct, messages.FollowUp:
		return m.State == messages.Sending || m.State == messages.Sent || m.State == messages.Delivered
	}
	return false
}

// Allows reports whether resolves are notified by a mode. Without a choice of the plan e-mail is the only such mode: it
// answers the e-mail that paged, and rings nobody.
func Allows(s Settings, m users.Mode) bool {
	if on, chosen := s.ResolvedNotice[m]; chosen {
		return on && m != users.Drop
	}
	return m == users.Email
}

// Owner returns the notice of news to the owner of an incident, and false if there is none: the settings name no mode,
// or an earlier notice still waits; that one will have the latest news.
func Owner(past []PastMessage, s Settings, id users.ID, name string, now time.Time) (Notice, bool) {
	n := Notice{Recipient: messages.ToUser(id), Target: name, Mode: s.NotifyOwner}
	if s.NotifyOwner == "" {
		return n, false
	}
	for _, m := range past {
		if m.Purpose != messages.OwnerNotice {
			continue
		}
		if m.Recipient == n.Recipient {
			n.Number++
		}
		switch m.State {
		case messages.Pending, messages.Taken:
			return n, false
		case messages.Cancelled:
		default:
			n.After = max(n.After, Pause-now.Sub(m.At))
		}
	}
	return n, true
}

// Cancels returns the purpose of the notices that a change of the state cancels, and false if it cancels none.
func Cancels(t incidents.Transition) (messages.Purpose, bool) {
	before := t.Before.State()
	if before == t.After.State() {
		return "", false
	}
	switch before {
	case incidents.StateResolved:
		return messages.ResolvedNotice, true
	case incidents.StateAcknowledged:
		return messages.OwnerNotice, true
	}
	return "", false
}

// Line says on the timeline who is notified of a resolve; "" if nobody is.
func Line(ns []Notice) string {
	if len(ns) == 0 {
		return ""
	}
	return "notifying of the resolve: " + Names(ns)
}

// Names lists the recipients and their modes: "ana by email, bo by slack".
func Names(ns []Notice) string {
	names := make([]string, len(ns))
	for k, n := range ns {
		names[k] = n.Target + " by " + string(n.Mode)
	}
	return strings.Join(names, ", ")
}

// OwnerLine says on the timeline that the owner is notified of news.
func OwnerLine(n Notice) string {
	line := "notifying the owner of the news: " + n.Target + " by " + string(n.Mode)
	if n.After > 0 {
		line += " in " + humanize.Duration(n.After) + " (at most every " + humanize.Duration(Pause) + ")"
	}
	return line
}
