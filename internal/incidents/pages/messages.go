package pages

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
)

// maxMessages is how many messages the page of an incident shows. The list of messages has all.
const maxMessages = 100

// maxBody is how much of the text of a message is shown, in characters. The page of the message has all of it.
const maxBody = 2000

type messageView struct {
	ID                                   messages.ID
	Mode, State, StateText, Note, Detail string
	Subject, Body                        string
	Step, Repeat                         int
	At                                   time.Time // when it was sent, else when it was made
}

// personView is a recipient with the messages to them, oldest first.
type personView struct {
	Target           string
	State, StateText string // of the message that got furthest
	Messages         []messageView
}

// progress orders the states of messages, so that a person is shown with the best state of their messages.
var progress = map[messages.State]int{messages.Delivered: 6, messages.Sent: 5, messages.Sending: 4, messages.Taken: 4,
	messages.Pending:    3,
	messages.Aggregated: 2, messages.Failed: 1}

// byPerson groups messages by their recipient, in the order of the first message.
func byPerson(all []messages.Message) []personView {
	var people []personView
	at, best := map[string]int{}, map[string]int{}
	for _, m := range all {
		i, ok := at[m.Target]
		if !ok {
			i = len(people)
			at[m.Target] = i
			people = append(people, personView{Target: m.Target})
		}
		v := viewMessage(m)
		if reached := progress[m.State] + 1; reached >= best[m.Target] {
			best[m.Target] = reached
			people[i].State, people[i].StateText = v.State, v.StateText+" by "+v.Mode
		}
		people[i].Messages = append(people[i].Messages, v)
	}
	return people
}

// stateText describes the state of a message. A queued message must not read like a sent one.
func stateText(s messages.State) string {
	return map[messages.State]string{
		messages.Pending: "waiting", messages.Taken: "about to be sent", messages.Sending: "being sent", messages.Sent: "accepted by vendor",
		messages.Delivered: "delivered", messages.Failed: "failed", messages.Cancelled: "cancelled", messages.Aggregated: "held for a digest",
		messages.Dropped: "dropped",
	}[s]
}

// maxDetail is how much of a vendor's error is shown, in characters.
const maxDetail = 120

func viewMessage(m messages.Message) messageView {
	v := messageView{ID: m.ID, Mode: string(m.Mode), State: string(m.State), StateText: stateText(m.State),
		Step: m.Step, Repeat: m.Repeat,
		Subject: humanize.Shorten(m.Subject, maxDetail), Body: humanize.Shorten(m.Body, maxBody), At: m.CreatedAt}
	if !m.SentAt.IsZero() {
		v.At = m.SentAt
	}
	switch m.Purpose.Kind() {
	case messages.Fallback, messages.FollowUp, messages.ResolvedNotice, messages.OwnerNotice:
		v.Note = string(m.Purpose.Kind())
	case messages.TrackingMsg:
		v.Note = "tracking"
	}
	if n := len(m.Attempts); n > 0 {
		last := m.Attempts[n-1]
		v.Detail = last.Vendor
		if n > 1 {
			v.Detail += fmt.Sprintf(", attempt %d", last.Number)
		}
		if last.InDoubt {
			v.Detail += ", in doubt"
		}
		if last.Outcome != messages.OutcomeSent && last.Detail != "" {
			v.Detail += ": " + humanize.Shorten(last.Detail, maxDetail)
		}
	}
	return v
}
