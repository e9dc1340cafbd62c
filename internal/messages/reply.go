package messages

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// AnsweredMessage is the message that an answer refers to.
type AnsweredMessage struct {
	MessageID   ID
	IncidentID  incidents.ID // 0 = it belongs to none
	Batch       string       // id of the digest; "" = the message is no digest
	Application string
	// ApplicationID is the application's internal id.
	ApplicationID int64
	Subject       string
	Body          string
	Destination   string // where it was sent; "" = nowhere yet
}

// Mailbox is an address whose mails open incidents.
type Mailbox struct {
	Address     string // as it was configured
	Application string
	Plan        string // its name, in lower case
}

// Answer is one incoming answer as stored, understood or not.
type Answer struct {
	Mode       users.Mode
	Source     string // link, button, reply, key
	UserID     users.ID
	MessageID  ID
	IncidentID incidents.ID
	Content    string
	Result     string
}

// Command is the action that an answer asks for.
type Command string

// The commands.
const (
	CommandClaim     Command = "claim"      // acknowledge the incident of one message
	CommandClaimAll  Command = "claim all"  // acknowledge every active incident that paged the sender
	CommandClaimLast Command = "claim last" // acknowledge the newest active one
	CommandSorry     Command = "sorry"      // text beginning with f: no action
	CommandOther     Command = "other"      // a command about a message, but an unknown one
)

// Reply is a parsed answer.
type Reply struct {
	Command   Command
	MessageID ID     // of CommandClaim and CommandOther; 0 when Batch is set
	Batch     string // 32 hexadecimal digits: a digest of several messages
}

// BadReply says why an answer was not understood. The v0 response routes answer with its Title and Detail.
type BadReply struct{ Title, Detail string }

func (e *BadReply) Error() string { return e.Title + ": " + e.Detail }

var (
	batchID = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	uuid    = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// ParseReply parses the text of an SMS or the first line of an e-mail (docs/reference/iris-v0.md 8). The error for an
// answer that cannot be parsed is a *BadReply.
func ParseReply(text string) (Reply, error) {
	text = strings.TrimSpace(text)
	lower := strings.ToLower(text)
	words := strings.Fields(lower)
	for i, w := range words[:min(len(words), 2)] {
		if w == "ack" || w == "acknowledge" {
			words[i], lower = "claim", strings.Replace(lower, w, "claim", 1)
		}
	}
	switch {
	case strings.HasPrefix(lower, "f") && (len(words) < 2 ||
		!batchID.MatchString(words[0])): // a digest's id may begin with f
		return Reply{Command: CommandSorry}, nil
	case lower == "a":
		return Reply{Command: CommandClaimAll}, nil
	case lower == "l":
		return Reply{Command: CommandClaimLast}, nil
	}
	if len(words) >= 2 {
		for _, pair := range [][2]string{{words[0], words[1]}, {words[1], words[0]}} {
			if r, ok := replyID(pair[0]); ok && (pair[1] == "claim" || pair[1] == "suppress") {
				r.Command = CommandClaim
				if pair[1] == "suppress" {
					r.Command = CommandOther
				}
				return r, nil
			}
		}
	}
	switch {
	case strings.HasPrefix(lower, "claim last"):
		return Reply{Command: CommandClaimLast}, nil
	case strings.HasPrefix(lower, "claim all"):
		return Reply{Command: CommandClaimAll}, nil
	case len(words) < 2:
		return Reply{}, &BadReply{"Invalid response", "failed to parse response"}
	}
	r, ok := replyID(words[0])
	if !ok {
		return Reply{}, &BadReply{"Invalid message id", "invalid message id: " + strings.Fields(text)[0]}
	}
	r.Command = CommandOther
	return r, nil
}

// ParseMessageID parses a message's number, or a digest's 32 hexadecimal digits with or without the hyphens of a UUID.
// It sets MessageID or Batch of the Reply. It returns false if text is neither.
func ParseMessageID(text string) (Reply, bool) {
	if uuid.MatchString(text) {
		text = strings.ReplaceAll(text, "-", "")
	}
	r, ok := replyID(text)
	return r, ok && (r.MessageID > 0 || r.Batch != "")
}

func replyID(word string) (Reply, bool) {
	if batchID.MatchString(word) {
		return Reply{Batch: strings.ToLower(word)}, true
	}
	if strings.Trim(word, "0123456789") != "" {
		return Reply{}, false
	}
	id, err := strconv.ParseInt(word, 10, 64)
	return Reply{MessageID: ID(id)}, err == nil
}
