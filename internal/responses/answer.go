package responses

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Texts that people and clients know (docs/reference/iris-v0.md 8).
const (
	textUnknownSource = "Failed to identify owner for the incident."
	textNothing       = "No active incidents to claim."
	textUnknown       = "Unknown command."
	textSorry         = "Sincerest apologies"
	textHelp          = "Iris did not understand that. Reply with the number of the message and the word claim, or with: claim all, claim last."
)

// from is the person who answers, and the channel.
type from struct {
	mode   users.Mode
	source string // the person's address, number or name at the vendor
	via    incidents.Via
}

// obey carries out a reply for the owner of the contact and returns the text of the answer. It stores in kept which message
// or batch the reply was about.
func (s *Responses) obey(ctx context.Context, f from, r messages.Reply, kept *messages.Answer) (string, error) {
	kept.MessageID = r.MessageID
	if r.Command == messages.CommandSorry {
		return textSorry, nil
	}
	if r.MessageID != 0 || r.Batch == "" && r.Command == messages.CommandOther {
		if _, err := s.asked(ctx, r.MessageID); err != nil {
			return "", err
		}
	}
	if r.Command == messages.CommandOther {
		return textUnknown, nil
	}
	user, err := s.identify(ctx, f, r)
	if fault.Is(err, fault.NotFound) {
		return textUnknownSource, nil
	}
	if err != nil {
		return "", err
	}
	return s.obeyUser(ctx, user, f.via, r, kept)
}

// identify finds who answers: the person who has the contact verified, or else the recipient of the message that the answer
// quotes, if that message went to the same contact. A NotFound fault when there is none.
func (s *Responses) identify(ctx context.Context, f from, r messages.Reply) (users.User, error) {
	user, err := s.d.Pages.ByContact(ctx, f.mode, f.source)
	if !fault.Is(err, fault.NotFound) {
		return user, err
	}
	id := r.MessageID
	if id == 0 && r.Batch != "" {
		m, err := s.d.Pages.AskedBatch(ctx, r.Batch)
		if err != nil {
			return user, err
		}
		id = m.MessageID
	}
	if id == 0 {
		return user, err
	}
	return s.d.Pages.ByMessage(ctx, id, f.mode, f.source)
}

// obeyUser carries out a reply for user, if the caller may pass on answers of that user.
func (s *Responses) obeyUser(ctx context.Context, user users.User, via incidents.Via, r messages.Reply, kept *messages.Answer) (string, error) {
	if err := wire.Actor(ctx).MayPassOn(user, s.d.Openings); err != nil {
		return "", err
	}
	kept.UserID = user.ID
	said, incident, err := s.execute(ctx, user, via, r)
	kept.IncidentID = incident
	return said, err
}

// execute carries out a reply and returns the text of the answer. It stores in kept what the reply was about.
func (s *Responses) execute(ctx context.Context, user users.User, via incidents.Via, r messages.Reply) (string, incidents.ID, error) {
	switch r.Command {
	case messages.CommandSorry:
		return textSorry, 0, nil
	case messages.CommandClaim:
		if r.Batch != "" {
			text, err := s.claimBatch(ctx, user, via, r.Batch)
			return text, 0, err
		}
		return s.claimMessage(ctx, user, via, r.MessageID)
	case messages.CommandClaimLast:
		m, ok, err := s.d.Pages.Newest(ctx, user.ID)
		if err != nil {
			return "", 0, err
		}
		if !ok {
			return textNothing, 0, nil
		}
		text, err := s.claim(ctx, user, via, m.IncidentID)
		return text, m.IncidentID, err
	case messages.CommandClaimAll:
		text, err := s.claimAll(ctx, user, via)
		return text, 0, err
	case messages.CommandOther:
	}
	return textUnknown, 0, nil
}

// asked finds the message that is answered.
func (s *Responses) asked(ctx context.Context, id messages.ID) (messages.AnsweredMessage, error) {
	m, err := s.d.Pages.Asked(ctx, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.Newf(fault.Invalid, "Invalid message(%d): no application found.", id)
	}
	return m, err
}

func (s *Responses) claimMessage(ctx context.Context, user users.User, via incidents.Via, id messages.ID) (string, incidents.ID, error) {
	m, err := s.asked(ctx, id)
	if err != nil {
		return "", 0, err
	}
	if m.Batch != "" {
		text, err := s.claimBatch(ctx, user, via, m.Batch)
		return text, 0, err
	}
	if m.IncidentID == 0 {
		return fmt.Sprintf("Failed to match incident for message(%d).", id), 0, nil
	}
	text, err := s.claim(ctx, user, via, m.IncidentID)
	return text, m.IncidentID, err
}

// claimBatch acknowledges every incident of a digest.
func (s *Responses) claimBatch(ctx context.Context, user users.User, via incidents.Via, batch string) (string, error) {
	ids, err := s.d.Pages.Batch(ctx, batch)
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		return "", fault.Newf(fault.Invalid, "Invalid message(%s): no application found.", batch)
	}
	if _, err := s.acknowledge(ctx, user, via, ids...); err != nil {
		return "", err
	}
	return fmt.Sprintf("All iris incidents claimed for batch id %s.", batch), nil
}

func (s *Responses) claim(ctx context.Context, user users.User, via incidents.Via, id incidents.ID) (string, error) {
	done, err := s.acknowledge(ctx, user, via, id)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Iris incident(%d) claimed", id)
	if p := done[0].PreviousOwner; p != "" {
		text += ", previously claimed by " + p
	}
	return text + ".", nil
}

// acknowledge is the only place in which an answer changes incidents.
func (s *Responses) acknowledge(ctx context.Context, user users.User, via incidents.Via, ids ...incidents.ID) ([]incidents.Acknowledged, error) {
	return s.takeOver(ctx, user, incidents.Change{IDs: ids, Actor: user.Name, Via: via})
}

// takeOver acknowledges as c says.
func (s *Responses) takeOver(ctx context.Context, user users.User, c incidents.Change) ([]incidents.Acknowledged, error) {
	if user.ReadOnly {
		return nil, fault.Newf(fault.Forbidden, "%s may only read, and cannot acknowledge", user.Name)
	}
	done, err := s.d.Incidents.Acknowledge(ctx, c, user)
	if err != nil {
		return nil, err
	}
	var woken buckets.Set
	for _, a := range done {
		if a.Found {
			woken.Add(int(int64(a.ID) % buckets.Count))
		}
	}
	if woken.Empty() {
		return nil, fault.New(fault.NotFound, "Invalid claim: no matching incident id")
	}
	s.d.Wake(woken)
	return done, nil
}

func (s *Responses) claimAll(ctx context.Context, user users.User, via incidents.Via) (string, error) {
	open, err := s.d.Pages.Active(ctx, user.ID)
	if err != nil {
		return "", err
	}
	if len(open) == 0 {
		return textNothing, nil
	}
	ids := make([]incidents.ID, len(open))
	for i, o := range open {
		ids[i] = o.IncidentID
	}
	done, err := s.acknowledge(ctx, user, via, ids...)
	if err != nil {
		return "", err
	}
	claimed := map[incidents.ID]bool{}
	for _, a := range done {
		claimed[a.ID] = a.Found
	}
	return claimedTexts(open, claimed), nil
}

// claimedTexts is one line for what was claimed and one for what was not, per application when there are several.
func claimedTexts(open []messages.AnsweredMessage, claimed map[incidents.ID]bool) string {
	var apps []string
	byApp := map[string][2][]string{}
	for _, o := range open {
		if _, ok := byApp[o.Application]; !ok {
			apps = append(apps, o.Application)
		}
		lists := byApp[o.Application]
		n := 1
		if claimed[o.IncidentID] {
			n = 0
		}
		lists[n] = append(lists[n], fmt.Sprint(o.IncidentID))
		byApp[o.Application] = lists
	}
	slices.Sort(apps)
	var lines []string
	for _, app := range apps {
		prefix := ""
		if len(apps) > 1 {
			prefix = app + ": "
		}
		for n, word := range []string{"claimed", "failed to claim"} {
			if ids := byApp[app][n]; len(ids) > 0 {
				lines = append(lines, fmt.Sprintf("%sIris Incidents %s (%d): %s", prefix, word, len(ids), strings.Join(ids, ", ")))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// explained reports whether an error is a mistake of the person, which the answer explains, and not a failure of Iris.
func explained(err error) bool {
	return fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden)
}
