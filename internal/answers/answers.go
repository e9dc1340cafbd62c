package answers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Texts that people and clients know (docs/reference/iris-v0.md 8).
const (
	textUnknownSource = "Failed to identify owner for the incident."
	textNothing       = "No active incidents to claim."
	textUnknown       = "Unknown command."
	textSorry         = "Sincerest apologies"
	textHelp          = "Iris did not understand that. Reply with the number of the message and the word ack, or with: ack all, ack last."
)

// Store finds what people answer, and who they are, and records their answers.
type Store interface {
	// Asked returns a message; a NotFound fault if there is no such message.
	Asked(ctx context.Context, id messages.ID) (messages.AnsweredMessage, error)
	// AskedBatch returns the digest with a number of 32 hexadecimal digits; a NotFound fault if there is no such
	// digest.
	AskedBatch(ctx context.Context, batch string) (messages.AnsweredMessage, error)
	// Batch returns the incidents of a digest; none if there is no such digest.
	Batch(ctx context.Context, batch string) ([]incidents.ID, error)
	// Newest returns the newest message of an active incident to the user; false if there is none.
	Newest(ctx context.Context, user users.ID) (messages.AnsweredMessage, bool, error)
	// Active returns the active incidents that paged the user, with their applications, oldest first.
	Active(ctx context.Context, user users.ID) ([]messages.AnsweredMessage, error)
	// Waiting returns those of the incidents that are neither acknowledged nor resolved.
	Waiting(ctx context.Context, ids []incidents.ID) ([]incidents.ID, error)
	// ByContact returns the active user with this verified contact; a NotFound fault if there is none. Phone numbers
	// are compared by their digits.
	ByContact(ctx context.Context, mode users.Mode, source string) (users.User, error)
	// ByMessage returns the active recipient of a message if the message was sent to source; a NotFound fault
	// otherwise.
	ByMessage(ctx context.Context, id messages.ID, mode users.Mode, source string) (users.User, error)
	Record(ctx context.Context, a messages.Answer) error
	// Mailbox returns the first of the addresses whose mails open incidents; false if there is none.
	Mailbox(ctx context.Context, addresses []string) (messages.Mailbox, bool, error)
	// SlackMessages returns the messages with the time stamp ts. claimed is the message that the button names; it may
	// be in history.
	SlackMessages(ctx context.Context, ts string, claimed messages.ID) ([]messages.ID, error)
	// SlackUnknown reports whether Slack may have posted the message under a time stamp that Iris does not have.
	SlackUnknown(ctx context.Context, id messages.ID) (bool, error)
}

// Incidents reads and acknowledges incidents. Acknowledge returns when the change is durable.
type Incidents interface {
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
}

// AnswerDeps are the dependencies of all answers.
type AnswerDeps struct {
	Store     Store
	Incidents Incidents
	// Openings: with SessionsActForAnyone, people may pass on the answers of others.
	Openings auth.Openings
	Wake     func(context.Context, buckets.Set) // notifies the processors of changed buckets; never blocks
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// answers carries out the commands of people from all channels.
type answers struct {
	AnswerDeps
	log *zap.Logger
}

// sender is the contact and channel of a person who answers.
type sender struct {
	mode    users.Mode
	contact string // the person's address, number or name at the vendor
	via     incidents.Via
}

func mailSender(address string) sender { return sender{users.Email, address, incidents.ViaEmail} }
func smsSender(number string) sender   { return sender{users.SMS, number, incidents.ViaSMS} }
func callSender(number string) sender  { return sender{users.Call, number, incidents.ViaCall} }

// carryOut carries out a reply for the owner of the contact and returns the text for that person. It sets the message,
// person and incident of record. A message that does not exist is an Invalid fault.
func (a *answers) carryOut(ctx context.Context, s sender, r messages.Reply, record *messages.Answer) (string, error) {
	record.MessageID = r.MessageID
	if r.Command == messages.CommandSorry {
		return textSorry, nil
	}
	if r.MessageID != 0 || r.Batch == "" && r.Command == messages.CommandOther {
		if _, err := a.message(ctx, r.MessageID); err != nil {
			return "", err
		}
	}
	if r.Command == messages.CommandOther {
		return textUnknown, nil
	}
	user, err := a.identify(ctx, s, r)
	if fault.Is(err, fault.NotFound) {
		return textUnknownSource, nil
	}
	if err != nil {
		return "", err
	}
	return a.carryOutFor(ctx, user, s.via, r, record)
}

// identify returns the person who has the contact verified. If there is none, it returns the recipient of the message
// that the reply names, if that message was sent to the same contact. Otherwise it returns a NotFound fault.
func (a *answers) identify(ctx context.Context, s sender, r messages.Reply) (users.User, error) {
	if s.mode == users.SMS || s.mode == users.Call {
		if number, err := a.Region.Number(s.contact); err == nil { // as contacts are stored
			s.contact = number
		}
	}
	user, err := a.Store.ByContact(ctx, s.mode, s.contact)
	if !fault.Is(err, fault.NotFound) {
		return user, err
	}
	id := r.MessageID
	if id == 0 && r.Batch != "" {
		m, err := a.Store.AskedBatch(ctx, r.Batch)
		if err != nil {
			return user, err
		}
		id = m.MessageID
	}
	if id == 0 {
		return user, err
	}
	return a.Store.ByMessage(ctx, id, s.mode, s.contact)
}

// carryOutFor carries out a reply for user, if the caller may pass on answers of that user.
func (a *answers) carryOutFor(ctx context.Context, user users.User, via incidents.Via, r messages.Reply, record *messages.Answer) (string, error) {
	if err := wire.Actor(ctx).MayPassOn(user, a.Openings); err != nil {
		return "", err
	}
	record.UserID = user.ID
	switch r.Command {
	case messages.CommandSorry:
		return textSorry, nil
	case messages.CommandClaim:
		if r.Batch != "" {
			return a.claimBatch(ctx, user, via, r.Batch)
		}
		return a.claimMessage(ctx, user, via, r.MessageID, record)
	case messages.CommandClaimLast:
		m, ok, err := a.Store.Newest(ctx, user.ID)
		if err != nil || !ok {
			return textNothing, err
		}
		record.IncidentID = m.IncidentID
		return a.claim(ctx, user, via, m.IncidentID)
	case messages.CommandClaimAll:
		return a.claimAll(ctx, user, via)
	case messages.CommandOther:
	}
	return textUnknown, nil
}

// message returns the message that is answered; an Invalid fault if there is no such message.
func (a *answers) message(ctx context.Context, id messages.ID) (messages.AnsweredMessage, error) {
	m, err := a.Store.Asked(ctx, id)
	return m, fault.When(err, fault.NotFound, fault.Newf(fault.Invalid, "Invalid message(%d): no application found.",
		id))
}

func (a *answers) claimMessage(ctx context.Context, user users.User, via incidents.Via, id messages.ID, record *messages.Answer) (string, error) {
	m, err := a.message(ctx, id)
	switch {
	case err != nil:
		return "", err
	case m.Batch != "":
		return a.claimBatch(ctx, user, via, m.Batch)
	case m.IncidentID == 0:
		return fmt.Sprintf("Failed to match incident for message(%d).", id), nil
	}
	record.IncidentID = m.IncidentID
	return a.claim(ctx, user, via, m.IncidentID)
}

// claimBatch acknowledges every incident of a digest.
func (a *answers) claimBatch(ctx context.Context, user users.User, via incidents.Via, batch string) (string, error) {
	ids, err := a.Store.Batch(ctx, batch)
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		return "", fault.Newf(fault.Invalid, "Invalid message(%s): no application found.", batch)
	}
	if _, err := a.acknowledge(ctx, user, incidents.Change{IDs: ids, Via: via}); err != nil {
		return "", err
	}
	return fmt.Sprintf("All iris incidents claimed for batch id %s.", batch), nil
}

func (a *answers) claim(ctx context.Context, user users.User, via incidents.Via, id incidents.ID) (string, error) {
	done, err := a.acknowledge(ctx, user, incidents.Change{IDs: []incidents.ID{id}, Via: via})
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Iris incident(%d) claimed", id)
	if p := done[0].PreviousOwner; p != "" {
		text += ", previously claimed by " + p
	}
	return text + ".", nil
}

// acknowledge acknowledges the incidents of c for user. No other function of this package changes incidents that exist.
func (a *answers) acknowledge(ctx context.Context, user users.User, c incidents.Change) ([]incidents.Acknowledged, error) {
	if user.ReadOnly {
		return nil, fault.Newf(fault.Forbidden, "%s may only read, and cannot acknowledge", user.Name)
	}
	c.Actor = user.Name
	done, err := a.Incidents.Acknowledge(ctx, c, user)
	if err != nil {
		return nil, err
	}
	var changed buckets.Set
	for _, one := range done {
		if one.Found {
			changed.Add(int(int64(one.ID) % buckets.Count))
		}
	}
	if changed.Empty() {
		return nil, fault.New(fault.NotFound, "Invalid claim: no matching incident id")
	}
	a.Wake(ctx, changed)
	return done, nil
}

func (a *answers) claimAll(ctx context.Context, user users.User, via incidents.Via) (string, error) {
	open, err := a.Store.Active(ctx, user.ID)
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
	done, err := a.acknowledge(ctx, user, incidents.Change{IDs: ids, Via: via})
	if err != nil {
		return "", err
	}
	claimed := map[incidents.ID]bool{}
	for _, one := range done {
		claimed[one.ID] = one.Found
	}
	return claimedText(open, claimed), nil
}

// claimedText has a line for the claimed incidents and a line for the others, for each application if there are
// several.
func claimedText(open []messages.AnsweredMessage, claimed map[incidents.ID]bool) string {
	var apps []string
	byApp := map[string][2][]string{} // claimed and not claimed
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
		for n, result := range []string{"claimed", "failed to claim"} {
			if ids := byApp[app][n]; len(ids) > 0 {
				lines = append(lines, fmt.Sprintf("%sIris Incidents %s (%d): %s", prefix, result, len(ids),
					strings.Join(ids, ", ")))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// forPeople returns a result in the words of pages. The routes of /v0 keep "claim", which their clients know.
func forPeople(result string) string {
	return strings.NewReplacer("Invalid claim", "Not acknowledged", "claimed", "acknowledged", "claim", "acknowledge").Replace(result)
}

// explainable reports whether an error is a mistake of the person, which the text for the person explains. Other errors
// are failures of Iris.
func explainable(err error) bool {
	return fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden)
}

// recordTimeout limits how long storing an answer takes.
const recordTimeout = 5 * time.Second

// record stores an answer. It only logs a failure, because the person's command has been carried out.
func (a *answers) record(ctx context.Context, answer messages.Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := a.Store.Record(ctx, answer); err != nil {
		a.log.Error("an answer could not be recorded", zap.Int64("message_id", int64(answer.MessageID)),
			zap.Int64("incident_id", int64(answer.IncidentID)), zap.Error(err))
	}
}

// recordForRelay records the result of a reply that a relay passed on, and returns the text for the person. A Forbidden
// or NotFound fault becomes such a text. An Invalid fault is recorded and stays an error for the relay. A failure of
// Iris is not recorded, because the relay may send the reply again.
func (a *answers) recordForRelay(ctx context.Context, text string, err error, answer messages.Answer) (string, error) {
	switch {
	case err != nil && !explainable(err):
		return "", err
	case fault.Is(err, fault.Forbidden), fault.Is(err, fault.NotFound):
		text, err = fault.Public(err), nil
	case err != nil:
		text = fault.Public(err)
	}
	answer.Result = text
	a.record(ctx, answer)
	return text, err
}
