package slack

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Headers of Slack's signature.
const (
	TimestampHeader = "X-Slack-Request-Timestamp"
	SignatureHeader = "X-Slack-Signature"
)

// tolerance is how old or how far in the future a signed request may be.
const tolerance = 5 * time.Minute

// VerifySignature checks that Slack sent a request. body is the raw body, before any decoding. The error is an
// Unauthenticated fault. With an empty secret it always fails.
func VerifySignature(secret string, h http.Header, body []byte, now time.Time) error {
	if secret == "" {
		return fault.New(fault.Unauthenticated, "no Slack signing secret is configured")
	}
	timestamp := h.Get(TimestampHeader)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fault.New(fault.Unauthenticated, "the request's time stamp is missing or malformed")
	}
	if at := time.Unix(seconds, 0); now.Sub(at) > tolerance || at.Sub(now) > tolerance {
		return fault.New(fault.Unauthenticated, "the request's time stamp is too old or in the future")
	}
	got := h.Get(SignatureHeader)
	if !hmac.Equal([]byte(got), []byte(sign(secret, timestamp, body))) {
		return fault.New(fault.Unauthenticated, "the request's signature does not match")
	}
	return nil
}

func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(mac, "v0:"+timestamp+":")
	_, _ = mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// Interaction is a pressed button.
type Interaction struct {
	MessageID   messages.ID // the button's value
	Action      string      // one of the Action constants, or a legacy attachment's button name (claim, claim all)
	UserID      string      // Slack's id of the person who pressed
	UserName    string      // compared with contacts of the form @name
	Channel     string
	Timestamp   string // Slack's id of the message with the button; "" = not given
	ResponseURL string // where a later answer may be posted
	Token       string // the legacy verification token
}

// All reports whether the button acknowledges every incident of the person.
func (i Interaction) All() bool { return i.Action == ActionAcknowledgeAll || i.Action == "claim all" }

// Acknowledges reports whether the button acknowledges anything; a link button does not.
func (i Interaction) Acknowledges() bool {
	return i.All() || i.Action == ActionAcknowledge || i.Action == "claim"
}

type interactionPayload struct {
	Type        string `json:"type"`
	Token       string `json:"token"`
	CallbackID  string `json:"callback_id"`
	ResponseURL string `json:"response_url"`
	User        struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	MessageTS string `json:"message_ts"` // of an interactive_message
	Container struct {
		MessageTS string `json:"message_ts"`
	} `json:"container"`
	Message struct {
		TS string `json:"ts"`
	} `json:"message"`
	Actions []struct {
		ActionID string `json:"action_id"`
		Name     string `json:"name"`
		Value    string `json:"value"`
	} `json:"actions"`
}

// ParseInteraction parses the body of a verified callback: a form whose field payload holds JSON, of type block_actions
// or the older interactive_message. Errors are Invalid faults.
func ParseInteraction(body []byte) (Interaction, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return Interaction{}, fault.Invalidf("payload", "the body is not a form")
	}
	var p interactionPayload
	if err := json.Unmarshal([]byte(form.Get("payload")), &p); err != nil {
		return Interaction{}, fault.Invalidf("payload", "payload is missing or not JSON")
	}
	if len(p.Actions) == 0 {
		return Interaction{}, fault.Invalidf("payload", "payload has no action")
	}
	a := p.Actions[0]
	i := Interaction{
		Action: vendors.Line(a.ActionID, 100), UserID: vendors.Line(p.User.ID,
			100), UserName: vendors.Line(p.User.Username, 100),
		Channel: vendors.Line(p.Channel.ID, 100), ResponseURL: p.ResponseURL, Token: p.Token,
		Timestamp: vendors.Token(cmp.Or(p.Container.MessageTS, p.MessageTS, p.Message.TS)),
	}
	value := a.Value
	switch p.Type {
	case "block_actions":
	case "interactive_message":
		value = p.CallbackID
		i.Action = vendors.Line(a.Name, 100)
	default:
		return Interaction{}, fault.Invalidf("payload", "payload is of a type that is not understood")
	}
	if i.UserName == "" {
		i.UserName = vendors.Line(p.User.Name, 100)
	}
	if i.UserID == "" && i.UserName == "" {
		return Interaction{}, fault.Invalidf("payload", "payload names no user")
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n <= 0 {
		return Interaction{}, fault.Invalidf("payload", "payload names no message")
	}
	i.MessageID = messages.ID(n)
	return i, nil
}
