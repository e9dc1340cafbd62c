package responses

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Receipts applies the reports of vendors on messages. It keeps a receipt for a while that arrives before its message is recorded.
type Receipts interface {
	// Apply reports whether the message of the receipt is known.
	Apply(ctx context.Context, r messages.Receipt) (known bool, err error)
}

// TwilioParts are what SMS, calls and receipts of Twilio work on.
type TwilioParts struct {
	PublicURL string // base address of Iris, as configured at Twilio; Twilio's signatures cover it
	// Valid checks Twilio's signature of a request to fullURL with the form as body. Nil = Twilio is not configured.
	Valid func(fullURL string, form url.Values, header http.Header) bool `optional:"true"`
	// Receipt reads a status callback. It does not need a configured Twilio, because relays pass callbacks on.
	Receipt  func(url.Values) (messages.Receipt, bool)
	Receipts Receipts
	// Reveal restores the secrets of a stored text that are for the destination. Nil = texts have no secrets.
	Reveal func(text, destination string) string `optional:"true"`
}

// twilio serves replies by SMS, the texts and keys of calls, and receipts.
type twilio struct {
	TwilioParts
	*answers
	errors *wire.Errors
	log    *zap.Logger
}

func (t *twilio) routes(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(t.requireSignature)
		r.Post("/api/v0/twilio/messages/relay", t.sms)
		r.Post("/api/v0/twilio/calls/gather", t.gather)
		r.Get("/api/v0/twilio/calls/say", t.say)
		r.Post("/api/v0/twilio/calls/say", t.say)
		r.Post("/api/v0/twilio/calls/relay", t.key)
		r.Post("/api/v0/twilio/status", t.status)
	})
}

// requireSignature refuses requests that Twilio did not sign. The signature covers the configured public URL, so a proxy may change
// scheme, host and path.
func (t *twilio) requireSignature(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, r, err := readForm(w, r)
		if err != nil {
			t.errors.Write(w, r, err)
			return
		}
		full := t.PublicURL + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			full += "?" + r.URL.RawQuery
		}
		if t.Valid == nil || !t.Valid(full, form, r.Header) {
			t.log.Warn("request without a valid Twilio signature refused; check the auth token and the public URL", zap.String("path", wire.LogPath(r)))
			t.errors.Write(w, r, fault.Newf(fault.Forbidden, "Twilio signature is missing or does not fit %s and the configured auth token", t.PublicURL))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Errors that vendors and relays know.
func missingSMSBody() error {
	return fault.Titled("SMS body not found", "Missing Body argument in post body")
}
func missingFrom() error    { return fault.Titled("From argument not found", "Missing From in post body") }
func missingDigits() error  { return fault.New(fault.Invalid, "Digits argument not found") }
func missingTo() error      { return fault.New(fault.Invalid, "To argument not found") }
func invalidReceipt() error { return fault.New(fault.Invalid, "Invalid keys in payload") }
func invalidForm() error    { return fault.Titled("Invalid form", "the body is not form encoded") }

func unknownKey(digits string) string { return "Got unknown option from user: " + digits }

// sms handles a reply by SMS. The person always gets a text. If Iris did not understand the reply, the text explains the commands.
func (t *twilio) sms(w http.ResponseWriter, r *http.Request) {
	body, from := r.PostFormValue("Body"), r.PostFormValue("From")
	switch {
	case !r.PostForm.Has("Body"):
		t.errors.Write(w, r, missingSMSBody())
		return
	case from == "":
		t.errors.Write(w, r, missingFrom())
		return
	}
	record := messages.Answer{Mode: users.SMS, Source: "reply", Content: body}
	text := textHelp
	reply, err := messages.ParseReply(body)
	if bad := new(messages.BadReply); errors.As(err, &bad) {
		err = nil
	} else if err == nil {
		text, err = t.carryOut(r.Context(), smsSender(from), reply, &record)
	}
	t.answer(w, r, text, err, record)
}

// answer records the result of an SMS or a key, and answers with the text for the person. A failure of Iris is an error that
// Twilio's log shows.
func (t *twilio) answer(w http.ResponseWriter, r *http.Request, text string, err error, record messages.Answer) {
	refused := err != nil
	if refused && !explainable(err) {
		t.errors.Write(w, r, err)
		return
	}
	if refused {
		text = fault.Public(err)
	}
	record.Result = text
	t.record(r.Context(), record)
	switch {
	case record.Mode != users.Call:
		twiml(w, verb("Message", text))
	case refused:
		twiml(w, verb("Say", text))
	default:
		twiml(w, verb("Say", text), pause(1), verb("Say", text), verb("Hangup", ""))
	}
}

// gather returns the text of a call that can be acknowledged: the message and the menu, three times, then good-bye. A key is accepted
// at any time. The pound key skips the rest of the message.
func (t *twilio) gather(w http.ResponseWriter, r *http.Request) {
	m, ok := t.calledMessage(w, r)
	if !ok {
		return
	}
	if strings.HasPrefix(r.PostFormValue("AnsweredBy"), "machine") || m.IncidentID == 0 && m.Batch == "" {
		twiml(w, pause(1), verb("Say", m.Body))
		return
	}
	relay := t.PublicURL + "/api/v0/twilio/calls/relay?message_id=" + url.QueryEscape(r.URL.Query().Get("message_id"))
	var nodes []node
	for range loops(r) {
		nodes = append(nodes, gatherKey(relay, "1", pause(1), verb("Say", "Press pound for menu."), verb("Say", m.Body)),
			gatherKey(relay, "5", verb("Say", instruction(r))))
	}
	twiml(w, append(nodes, verb("Say", "Goodbye."))...)
}

const (
	defaultLoops = 3
	maxLoops     = 10
)

// loops returns how often a call repeats its text.
func loops(r *http.Request) int {
	if n, err := strconv.Atoi(r.URL.Query().Get("loop")); err == nil && n > 0 {
		return min(n, maxLoops)
	}
	return defaultLoops
}

func instruction(r *http.Request) string {
	if text := r.URL.Query().Get("instruction"); text != "" {
		return text
	}
	return "Press 2 to claim."
}

// say returns the text of a call that cannot be acknowledged. The URL sets how often the text is repeated.
func (t *twilio) say(w http.ResponseWriter, r *http.Request) {
	if m, ok := t.calledMessage(w, r); ok {
		var nodes []node
		for range loops(r) {
			nodes = append(nodes, pause(1), verb("Say", m.Body))
		}
		twiml(w, nodes...)
	}
}

func badMessageID() error {
	return fault.Titled("Invalid message_id", "the message_id parameter must be the number of a message, or of a digest (32 hexadecimal digits)")
}

// calledMessage finds the message of a call. If that fails, it has written the answer and returns false.
func (t *twilio) calledMessage(w http.ResponseWriter, r *http.Request) (messages.AnsweredMessage, bool) {
	named, ok := messages.ParseMessageID(r.URL.Query().Get("message_id"))
	if !ok {
		t.errors.Write(w, r, badMessageID())
		return messages.AnsweredMessage{}, false
	}
	var m messages.AnsweredMessage
	var err error
	if named.Batch != "" {
		m, err = t.Messages.AskedBatch(r.Context(), named.Batch)
	} else {
		m, err = t.Messages.Asked(r.Context(), named.MessageID)
	}
	if err != nil {
		t.errors.Write(w, r, err)
		return messages.AnsweredMessage{}, false
	}
	if m.Body == "" {
		m.Body = m.Subject
	}
	if t.Reveal != nil {
		m.Body = t.Reveal(m.Body, m.Destination)
	}
	return m, true
}

// key handles a pressed key. The person who answers is the one who was called, To.
func (t *twilio) key(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("message_id")
	if query == "" {
		twiml(w, verb("Say", "Thank you"))
		return
	}
	reply, ok := messages.ParseMessageID(query)
	if !ok {
		t.errors.Write(w, r, badMessageID())
		return
	}
	digits, to := r.PostFormValue("Digits"), r.PostFormValue("To")
	switch {
	case !r.PostForm.Has("Digits"):
		t.errors.Write(w, r, missingDigits())
		return
	case to == "":
		t.errors.Write(w, r, missingTo())
		return
	}
	record := messages.Answer{Mode: users.Call, Source: "key", MessageID: reply.MessageID, Content: digits}
	text, err := t.pressed(r.Context(), digits, to, reply, &record)
	t.answer(w, r, text, err, record)
}

// claimKey is the key that claims.
const claimKey = "2"

// pressed carries out a pressed key for the person with the number to.
func (t *twilio) pressed(ctx context.Context, digits, to string, reply messages.Reply, record *messages.Answer) (string, error) {
	if digits != claimKey {
		return unknownKey(digits), nil
	}
	reply.Command = messages.CommandClaim
	return t.carryOut(ctx, callSender(to), reply, record)
}

// status handles a delivery receipt. It also accepts a receipt of an unknown message, because the message may not be recorded yet.
func (t *twilio) status(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // requireSignature has parsed the same bytes
	receipt, ok := t.Receipt(r.PostForm)
	if !ok {
		t.errors.Write(w, r, invalidReceipt())
		return
	}
	if _, err := t.Receipts.Apply(r.Context(), receipt); err != nil {
		t.errors.Write(w, r, err)
		return
	}
	wire.Empty(w, http.StatusNoContent)
}
