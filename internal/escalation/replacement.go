package escalation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// ReplaceFailed decides who is paged in place of the recipient of a failed message. attempts is how often this decision
// failed before.
//
//   - If somebody acknowledged or resolved the incident, nobody is paged. Reopening the incident makes the round again
//     if no page arrived.
//   - A tracking message has no fallback.
//   - Otherwise the fallbacks are tried in order, without people whom the same round could not reach either. The search
//     ends at the first fallback who is paged, now or already. If that page fails too, its own failure continues the
//     search.
func (r *Decider) ReplaceFailed(ctx context.Context, f Failed, plan Plan, app Application, at time.Time, attempts int) (FallbackChange, error) {
	c := FallbackChange{Failed: f}
	b := &changeBuilder{plan: plan, app: app, due: Due{ReadAt: at}}
	switch {
	case !f.OutOfBand() && !f.Open:
		return c, nil
	case f.Made.Purpose == messages.TrackingMsg:
		c.log(incidents.EntryDelivery, nil, "the plan's tracking address could not be reached")
		return c, nil
	}
	where := "" // out of band there is no step
	if !f.OutOfBand() {
		where = plan.AllRounds(app).StepName(f.Made.Step) + ": "
	}
	who := f.Made.Target
	var tried []string
	for _, candidate := range fallbackChain(plan, app) {
		people, why, err := r.candidate(ctx, b, candidate)
		if err != nil {
			if attempts < MaxLookups {
				return c, err
			}
			why = clean(err.Error())
		}
		round := Round{Step: f.Made.Step, Position: f.Made.Position, Repeat: f.Made.Repeat}
		pages := usableInstead(people, round, f, app.Modes)
		if len(pages) == 0 {
			tried = append(tried, fmt.Sprintf("%s: %s", candidate.name, whyNot(people, f, why)))
			continue
		}
		known := pages
		pages = slices.DeleteFunc(slices.Clone(pages),
			func(p page) bool { return f.knows(p.responder.ID, PastOnItsWay, PastLeft) })
		if len(pages) == 0 {
			c.log(incidents.EntryFallback, nil, "%s%s could not be reached in any mode; %s is paged already (%s)%s",
				where, who, names(known), candidate.name, afterAll(tried))
			return c, nil
		}
		for _, p := range pages {
			m := instead(f, p)
			c.Messages = append(append(c.Messages, m), followUpMessages(m, p.followUps)...)
			c.Changes = append(c.Changes, messages.Change{
				Type: "target-change", Old: who, New: p.responder.Name,
				Description: "Every mode failed; notifying " + candidate.name,
			})
		}
		c.log(incidents.EntryFallback, pageDetails(pages),
			"%s%s could not be reached in any mode; paging %s instead (%s)%s",
			where, who, byMode(pages), candidate.name, afterAll(tried))
		return c, nil
	}
	if len(tried) == 0 {
		tried = []string{"none is configured"}
	}
	why := strings.Join(tried, "; ")
	c.Nobody = true
	trying := ""
	if f.Trying {
		trying = "; it is tried again"
	}
	c.log(incidents.EntryFallback, nil, "%s%s could not be reached in any mode and there is no further fallback (%s)%s", where, who, why, trying)
	c.Changes = append(c.Changes, messages.Change{
		Type: "target-change", Old: who, Description: "Every mode failed and there is no further fallback: " + why,
	})
	return c, nil
}

// whyNot returns why nobody behind a fallback can be paged.
func whyNot(people []users.Responder, f Failed, otherwise string) string {
	same := func(p users.Responder) bool { return messages.ToUser(p.ID) == f.Made.Recipient }
	tried := func(p users.Responder) bool { return same(p) || f.knows(p.ID, PastFailed) }
	switch {
	case len(people) == 0:
		return otherwise
	case !slices.ContainsFunc(people, func(p users.Responder) bool { return !same(p) }):
		return "the same person"
	case !slices.ContainsFunc(people, func(p users.Responder) bool { return !tried(p) }):
		return "could not be reached either"
	}
	return otherwise
}

// log adds a line to the timeline of the message's incident, or of every incident of its digest. An out-of-band message
// has none.
func (c *FallbackChange) log(kind incidents.EntryKind, detail []byte, format string, args ...any) {
	if !c.Failed.OutOfBand() || c.Failed.Made.Batch != "" {
		c.Entries = append(c.Entries, incidents.Entry{Kind: kind, Text: clean(fmt.Sprintf(format, args...)),
			Detail: detail})
	}
}

// usableInstead returns pages for the people who can be reached, without the recipient of the failed message and
// without people whom the round could not reach either. If there is no priority, the mode of the failed message is kept
// where it can be used.
func usableInstead(people []users.Responder, round Round, f Failed, app users.AppModes) []page {
	var out []page
	failed := f.Made
	for _, person := range people {
		if messages.ToUser(person.ID) == failed.Recipient || f.knows(person.ID, PastFailed) {
			continue
		}
		priority := failed.Priority
		if priority == "" && users.CanUse(person, app, failed.Mode) {
			choice := users.Choice{Mode: failed.Mode, Wanted: failed.Mode, Rule: "the mode asked for"}
			out = append(out, page{round: round, responder: person, choice: choice})
			continue
		}
		if priority == "" {
			priority = users.Low
		}
		if choice, ok := users.Choose(person, priority, app); ok {
			instead := newPage(round, person, choice, priority, app, "")
			if f.OutOfBand() {
				instead.followUps = nil
			}
			out = append(out, instead)
		}
	}
	return out
}

// instead returns the fallback message: the decision and template of the failed message, for another person.
func instead(f Failed, p page) messages.New {
	m := f.Made
	m.Recipient = messages.ToUser(p.responder.ID)
	if m.Purpose != messages.Direct {
		m.Purpose = messages.Fallback
	}
	m.Target = p.responder.Name
	m.Mode = p.choice.Mode
	m.Literal = ""
	m.FallbackOf = f.ID
	m.Changes = []messages.Change{{
		Type: "target-change", Old: f.Made.Target, New: p.responder.Name,
		Description: "Every mode failed for " + f.Made.Target,
	}}
	if p.choice.Changed() {
		m.Changes = append(m.Changes, modeChange(p.choice))
	}
	return m
}
