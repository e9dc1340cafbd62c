package floods

import (
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Page is a held message.
type Page struct {
	ID         messages.ID
	IncidentID incidents.ID
	Mode       users.Mode
	Target     string
	Class      messages.Class
	Open       bool // nobody acknowledged or resolved the incident

	ApplicationID int64
	Priority      users.Priority
}

// Batch is the decision about the held messages of a flood whose wait is over.
type Batch struct {
	Cancelled []Page  // somebody acknowledged or resolved the incident
	Pages     []Page  // are sent: a single page as it is, several as one digest
	Message   Message // the message to send; empty without pages. Quotas and rules apply to it.
}

// Release decides which held messages are sent and which are cancelled.
func Release(d runner.Digest, held []Page) Batch {
	var b Batch
	for _, p := range held {
		if p.Open {
			b.Pages = append(b.Pages, p)
		} else {
			b.Cancelled = append(b.Cancelled, p)
		}
	}
	if len(b.Pages) == 0 {
		return b
	}
	last := b.Pages[len(b.Pages)-1]
	b.Message = Message{At: d.At, Application: d.Application, New: messages.New{
		ApplicationID: last.ApplicationID, Recipient: messages.ToUser(d.Key.UserID), Target: last.Target, Class: last.Class, Mode: last.Mode,
	}}
	if !b.IsDigest() {
		b.Message.IncidentID = last.IncidentID
		return b
	}
	b.Message.Bucket = d.Lease.Bucket
	b.Message.PlanID, b.Message.Purpose = int64(d.Key.PlanID), messages.Digest
	b.Message.Priority, b.Message.Class = last.Priority, messages.ClassOf(last.Priority)
	b.Message.Batch, b.Message.BatchSize = d.Batch, len(b.Pages)
	if d.Mode != "" {
		b.Message.Mode = d.Mode
	}
	return b
}

// IsDigest reports whether one message is sent for several pages.
func (b Batch) IsDigest() bool { return len(b.Pages) > 1 }

// Entries returns the lines for the timelines. sent is Message after quotas and rules were applied to it.
func (b Batch) Entries(sent Message, tally Tally) []Entry {
	if !b.IsDigest() {
		tally[Released]++
		return []Entry{{sent.IncidentID, escalation.ReleasedEntry(sent.Target, sent.Mode, sent.At)}}
	}
	tally[Digest]++
	var entries []Entry
	seen := map[incidents.ID]bool{}
	for _, p := range b.Pages {
		if seen[p.IncidentID] {
			continue
		}
		seen[p.IncidentID] = true
		entries = append(entries, Entry{p.IncidentID, escalation.DigestEntry(p.Target, len(b.Pages), sent.Mode,
			sent.Batch, sent.At)})
		for _, c := range sent.Changes { // a digest has no timeline of its own
			entries = append(entries, limited(p.IncidentID, sent.At, "the digest %s to %s goes by %s instead of %s: %s",
				sent.Batch, p.Target, c.New, c.Old, c.Description))
		}
	}
	return entries
}
