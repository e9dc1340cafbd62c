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

	"github.com/iris-oncall/iris/internal/devmode/demo"
	"github.com/iris-oncall/iris/internal/vendors/pretend"
)

// Mailbox shows what the pretend vendors received, which is what would have left the machine, and answers like the people
// it was sent to. It serves the page at /dev/mailbox and the messages as JSON at /dev/mailbox.json, and may stand behind a
// proxy. Safe for concurrent use.
type Mailbox struct {
	vendors *pretend.Vendors
	public  string
	mux     *http.ServeMux

	mu   sync.Mutex
	said map[int64][]string // what came of the answers to a message
}

// NewMailbox returns the mailbox of vendors that are started elsewhere. publicURL is where iris-api takes answers: pressed
// buttons, replies and keys are posted there.
func NewMailbox(vendors *pretend.Vendors, publicURL string) *Mailbox {
	b := &Mailbox{vendors: vendors, public: strings.TrimRight(publicURL, "/"), said: map[int64][]string{}}
	b.mux = b.routes()
	return b
}

// ServeHTTP serves the page and the JSON.
func (b *Mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.mux.ServeHTTP(w, r) }

// Letter is a message as /dev/mailbox.json shows it.
type Letter struct {
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
	// Answers is what came of the answers given on the page.
	Answers []string `json:"answers"`

	vendorID string
}

// Letters returns the received messages, newest first.
func (b *Mailbox) Letters() []Letter {
	entries := b.vendors.Log().Accepted()
	letters := make([]Letter, 0, len(entries))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range slices.Backward(entries) {
		letters = append(letters, b.letter(e))
	}
	return letters
}

func (b *Mailbox) letter(e pretend.Entry) Letter {
	l := Letter{
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

// Answer acts like the person that a message was for: do is press (a Slack button, what = its action id), key (on the
// phone, what = the digit), pick-up (the phone) or reply (to a text, what = its text). It returns the answer of iris-api.
func (b *Mailbox) Answer(ctx context.Context, id int64, do, what string) (string, error) {
	e, ok := b.vendors.Log().Entry(id)
	if !ok || !e.Accepted {
		return "", fmt.Errorf("no message %d", id)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	said, err := b.answer(ctx, e, do, what)
	note := deed(e, do, what)
	if err != nil {
		note += " went wrong: " + err.Error()
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

// deed returns a text for the action.
func deed(e pretend.Entry, do, what string) string {
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

func (b *Mailbox) answer(ctx context.Context, e pretend.Entry, do, what string) (string, error) {
	switch {
	case do == "press" && e.Mode == "slack":
		userID, name := b.person(e.To)
		status, text, err := b.vendors.Slack.Press(ctx, b.public+pretend.SlackInteractionsPath, e.ID, what, userID, name)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.300s", status, text)
		}
		return spoken(text), err
	case do == "reply" && e.Mode == "sms":
		return b.vendors.Twilio.ReplySMS(ctx, b.public+pretend.TwilioInboundPath, e.To, e.From, what)
	case do == "key" && e.Mode == "call":
		return b.vendors.Twilio.PressKey(ctx, e.VendorID, what)
	case do == "pick-up" && e.Mode == "call":
		return b.vendors.Twilio.Answer(ctx, e.VendorID)
	}
	return "", fmt.Errorf("a message of mode %s cannot be answered by %q", e.Mode, do)
}

// person is who reads a Slack message: the one it was sent to, or the demo user for a channel.
func (b *Mailbox) person(to string) (userID, name string) {
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
