package devmode

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/dev/devmode/demo"
	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// mailbox shows the messages that the pretend vendors received, and sends responses as their recipients would. It
// serves a page at /dev/mailbox and the messages as JSON at /dev/mailbox.json. It works behind a proxy. It is safe for
// concurrent use.
type mailbox struct {
	vendors *pretend.Vendors
	public  string
	mux     *http.ServeMux

	mu   sync.Mutex
	said map[int64][]string // responses to a message, with their results
}

// newMailbox returns the mailbox of started vendors. It posts pressed buttons, replies and keys to iris-api at
// publicURL.
func newMailbox(vendors *pretend.Vendors, publicURL string) *mailbox {
	b := &mailbox{vendors: vendors, public: strings.TrimRight(publicURL, "/"), said: map[int64][]string{}}
	b.mux = b.routes()
	return b
}

// ServeHTTP serves the page and the JSON.
func (b *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.mux.ServeHTTP(w, r) }

// letter is a message in /dev/mailbox.json.
type letter struct {
	ID          int64            `json:"id"`
	Mode        string           `json:"mode"`
	From        string           `json:"from"`
	To          string           `json:"to"`
	Subject     string           `json:"subject"`
	Body        string           `json:"body"`
	HTML        string           `json:"html"`
	Links       []string         `json:"links"`
	Buttons     []pretend.Button `json:"buttons"`
	MessageID   int64            `json:"message_id"`
	IncidentID  int64            `json:"incident_id"`
	Application string           `json:"application"`
	At          time.Time        `json:"at"`
	// Answers are the responses that people gave on the page, with their results.
	Answers []string `json:"answers"`

	vendorID string
}

// Letters returns the received messages, newest first.
func (b *mailbox) Letters() []letter {
	entries := b.vendors.Log().Accepted()
	letters := make([]letter, 0, len(entries))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.Backward(entries) {
		letters = append(letters, b.letter(e))
	}
	return letters
}

func (b *mailbox) letter(e pretend.Entry) letter {
	l := letter{
		ID: e.ID, Mode: e.Mode, From: e.From, To: e.To, Subject: e.Subject, Body: e.Body, HTML: e.HTML, Buttons: e.Buttons,
		MessageID: e.MessageID, IncidentID: e.IncidentID, Application: e.Application, At: e.At.UTC(),
		Answers: slices.Clone(b.said[e.ID]), vendorID: e.VendorID,
	}
	if l.Mode == "call" {
		l.Body = e.Spoken
	}
	l.Links = links(l.Body, l.HTML)
	for _, button := range e.Buttons {
		if button.URL != "" && !slices.Contains(l.Links, button.URL) {
			l.Links = append(l.Links, button.URL)
		}
	}
	if l.Buttons == nil {
		l.Buttons = []pretend.Button{}
	}
	if l.Answers == nil {
		l.Answers = []string{}
	}
	return l
}

// Answer responds to a message as its recipient would: do is press (a Slack button; what = its action id), key (on the
// phone; what = the digit), pick-up (the phone) or reply (to a text; what = the text). It returns the answer of Iris,
// or an error if there is no such message or Iris refuses the response.
func (b *mailbox) Answer(ctx context.Context, id int64, do, what string) (string, error) {
	e, ok := b.vendors.Log().Entry(id)
	if !ok || !e.Accepted {
		return "", fmt.Errorf("no message %d", id)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	said, err := b.answer(ctx, e, do, what)
	note := describe(e, do, what)
	if err != nil {
		note += " failed: " + err.Error()
	} else if said != "" {
		note += ": " + said
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 2*keepMessages {
		clear(b.said)
	}
	b.said[id] = append(b.said[id], note)
	return said, err
}

// describe names the response in the list of answers.
func describe(e pretend.Entry, do, what string) string {
	switch do {
	case "press":
		for _, button := range e.Buttons {
			if button.ActionID == what {
				return "Pressing " + button.Text
			}
		}
		return "Pressing a button"
	case "reply":
		return "Replying \"" + what + "\""
	case "key":
		return "Pressing " + what
	default:
		return "Picking up"
	}
}

func (b *mailbox) answer(ctx context.Context, e pretend.Entry, do, what string) (string, error) {
	switch {
	case do == "press" && e.Mode == "slack":
		userID, name := b.person(e.To)
		status, text, err := b.vendors.Slack.Press(ctx, b.public+pretend.SlackInteractionsPath, e.ID, what, userID,
			name)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.300s", status, text)
		}
		return replyText(text), err
	case do == "reply" && e.Mode == "sms":
		return b.vendors.Twilio.ReplySMS(ctx, b.public+pretend.TwilioInboundPath, e.To, e.From, what)
	case do == "key" && e.Mode == "call":
		return b.vendors.Twilio.PressKey(ctx, e.VendorID, what)
	case do == "pick-up" && e.Mode == "call":
		return b.vendors.Twilio.Answer(ctx, e.VendorID)
	}
	return "", fmt.Errorf("a message of mode %s has no response %q", e.Mode, do)
}

// person returns the recipient of a Slack message; for a channel, the demo user.
func (b *mailbox) person(to string) (userID, name string) {
	if name, ok := strings.CutPrefix(to, "@"); ok {
		return "U0" + strings.ToUpper(hex.EncodeToString([]byte(name)))[:min(8, 2*len(name))], name
	}
	if email, ok := b.vendors.Slack.Email(to); ok {
		name, _, _ := strings.Cut(email, "@")
		return to, name
	}
	if strings.HasPrefix(to, "U") || strings.HasPrefix(to, "W") {
		return to, to
	}
	return "U0DEMO", demo.User
}
