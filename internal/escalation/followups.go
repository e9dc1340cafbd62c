package escalation

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// PageKey identifies a page to one person. A message and its follow-ups have the same key.
type PageKey struct {
	IncidentID             incidents.ID
	Reopen                 int
	Step, Position, Repeat int
	Recipient              messages.Recipient
}

// PageOf returns the key of the page that a message belongs to.
func PageOf(m messages.New) PageKey {
	return PageKey{m.IncidentID, m.Reopen, m.Step, m.Position, m.Repeat, m.Recipient}
}

// newPage returns the page of one person. Only the first round of a notification has follow-ups: a plan that repeats
// the notification notifies the person again anyway.
func newPage(round Round, person users.Responder, choice users.Choice, p users.Priority, app users.AppModes, rule string) page {
	out := page{round: round, responder: person, choice: choice, priority: p, rule: rule}
	if round.Repeat == 0 {
		out.followUps = users.FollowUps(person, p, app, choice.Mode)
	}
	return out
}

// followUpMessages returns the follow-ups of a page as messages. They are made with the page, wait in the queue until
// they are due, and are cancelled with all other messages of the incident.
func followUpMessages(m messages.New, followUps []users.PlannedFollowUp) []messages.New {
	out := make([]messages.New, len(followUps))
	for i, f := range followUps {
		m.Purpose, m.Mode, m.After = messages.FollowUpNumber(f.Number), f.Mode, f.After
		m.FallbackOf, m.Changes = 0, nil
		out[i] = m
	}
	return out
}

// addFollowUps adds the follow-ups of a page to the change.
func (b *changeBuilder) addFollowUps(m messages.New, rule string, followUps []users.PlannedFollowUp) {
	for i, f := range followUpMessages(m, followUps) {
		b.Messages = append(b.Messages, f)
		b.Reasons = append(b.Reasons, Reason{Rule: rule, Wanted: f.Mode, ModeRule: "own follow-up, " +
			followUps[i].String()})
	}
}

// withoutFollowUps returns the messages that Next decides on, and the cancelled follow-ups.
func withoutFollowUps(past []Past) (pages, cancelled []Past) {
	for _, m := range past {
		switch {
		case m.Purpose.Kind() != messages.FollowUp:
			pages = append(pages, m)
		case m.Fate == PastCancelled:
			cancelled = append(cancelled, m)
		}
	}
	return pages, cancelled
}

// followAgain makes the follow-ups again that an acknowledgement cancelled, if it was taken back. Their delays begin
// again. It leaves out people who are paged with follow-ups in this decision.
func (r *Decider) followAgain(ctx context.Context, b *changeBuilder) error {
	for _, m := range b.cancelled {
		id, ok := m.Recipient.User()
		if !ok || m.Step < 1 || m.Step > min(b.Progress.Step, len(b.plan.Steps)) || m.Position < 0 ||
			m.Position >= len(b.plan.Steps[m.Step-1].Notifications) {
			continue
		}
		if slices.ContainsFunc(b.Messages, func(n messages.New) bool {
			return n.Recipient == m.Recipient && n.Step == m.Step && n.Position == m.Position &&
				n.Repeat == m.Repeat && n.Purpose == m.Purpose
		}) {
			continue
		}
		people, _, err := r.read(ctx, []users.ID{id}, b.app.ID)
		if err != nil {
			return err
		}
		n := b.plan.Steps[m.Step-1].Notifications[m.Position]
		for _, person := range people {
			planned := slices.DeleteFunc(users.FollowUps(person, n.Priority, b.app.Modes, ""), func(f users.PlannedFollowUp) bool {
				return messages.FollowUpNumber(f.Number) != m.Purpose
			})
			if len(planned) == 0 {
				continue
			}
			again := page{round: Round{Step: m.Step, Position: m.Position, Repeat: m.Repeat}, responder: person,
				priority: n.Priority}
			b.addFollowUps(b.message(n, again, messages.Primary, nil), "the acknowledgement was taken back", planned)
			b.add(incidents.EntryStep, nil, "%s: %s is notified by %s, because the acknowledgement was taken back",
				b.plan.StepName(m.Step), person.Name, planned[0])
		}
	}
	return nil
}

// followUpText lists follow-ups: "sms after 2 min and call after 5 min".
func followUpText(followUps []users.PlannedFollowUp) string {
	texts := make([]string, len(followUps))
	for i, f := range followUps {
		texts[i] = f.String()
	}
	return list(texts)
}

// followUpDetail is the machine-readable form of a follow-up on the timeline.
type followUpDetail struct {
	Mode         users.Mode `json:"mode"`
	DelaySeconds int64      `json:"delay_seconds"`
}

func followUpDetails(followUps []users.PlannedFollowUp) []followUpDetail {
	var out []followUpDetail
	for _, f := range followUps {
		out = append(out, followUpDetail{f.Mode, int64(f.After.Seconds())})
	}
	return out
}
