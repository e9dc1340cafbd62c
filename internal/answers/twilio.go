package answers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Receipts applies the reports of vendors on messages. A receipt that arrives before its message is recorded is kept
// for a while.
type Receipts interface {
	// Apply reports whether the message of the receipt is known.
	Apply(ctx context.Context, r messages.Receipt) (known bool, err error)
}

// TwilioDeps are the dependencies of SMS, calls and receipts of Twilio.
type TwilioDeps struct {
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
	TwilioDeps
	*answers
	log *zap.Logger
}

// signed returns a handler that refuses requests that Twilio did not sign. It checks the signature over PublicURL and
// the received path. So a proxy may change scheme and host, and must remove the path of PublicURL if it has one.
func (t *twilio) signed(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		form, r, err := readForm(w, r)
		if err != nil {
			return err
		}
		full := t.PublicURL + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			full += "?" + r.URL.RawQuery
		}
		if t.Valid == nil || !t.Valid(full, form, r.Header) {
			t.log.Warn("request without a valid Twilio signature refused; check the auth token and the public URL",
				zap.String("path", wire.LogPath(r)))
			return fault.Newf(fault.Forbidden,
				"Twilio signature is missing or does not fit %s and the configured auth token", t.PublicURL)
		}
		return handle(w, r)
	}
}

// readSMS returns the text and the sender of a posted SMS.
func readSMS(w http.ResponseWriter, r *http.Request) (body, from string, err error) {
	form, _, err := readForm(w, r)
	switch {
	case err != nil:
		return "", "", err
	case !form.Has("Body"):
		return "", "", fault.Titled("SMS body not found", "Missing Body argument in post body")
	case form.Get("From") == "":
		return "", "", fault.Titled("From argument not found", "Missing From in post body")
	}
	return form.Get("Body"), form.Get("From"), nil
}

// sms handles a reply by SMS. The person always gets a text. If Iris did not understand the reply, the text explains
// the commands.
func (t *twilio) sms(w http.ResponseWriter, r *http.Request) error {
	body, from, err := readSMS(w, r)
	if err != nil {
		return err
	}
	record := messages.Answer{Mode: users.SMS, Source: "reply", Content: body}
	text := textHelp
	reply, err := messages.ParseReply(body)
	if bad := new(messages.BadReply); errors.As(err, &bad) {
		err = nil
	} else if err == nil {
		text, err = t.carryOut(r.Context(), smsSender(from), reply, &record)
	}
	return t.answer(w, r, text, err, record)
}

// answer records the result of an SMS or a key, and answers with the text for the person. A failure of Iris is an error
// that Twilio's log shows.
func (t *twilio) answer(w http.ResponseWriter, r *http.Request, text string, err error, record messages.Answer) error {
	refused := err != nil
	if refused && !explainable(err) {
		return err
	}
	if refused {
		text = fault.Public(err)
	}
	text = forPeople(text)
	record.Result = text
	t.record(r.Context(), record)
	switch {
	case record.Mode != users.Call:
		return twiml(w, verb("Message", text))
	case refused:
		return twiml(w, verb("Say", text))
	}
	return twiml(w, verb("Say", text), pause(1), verb("Say", text), verb("Hangup", ""))
}

// gather returns the text of a call that can be acknowledged: the message and the menu, three times, then good-bye. A
// key is accepted at any time. The pound key skips the rest of the message. An answering machine or a fax gets the
// message alone.
func (t *twilio) gather(w http.ResponseWriter, r *http.Request) error {
	m, err := t.calledMessage(r)
	if err != nil {
		return err
	}
	by := r.PostFormValue("AnsweredBy")
	if strings.HasPrefix(by, "machine") || by == "fax" || m.IncidentID == 0 && m.Batch == "" {
		return twiml(w, pause(1), verb("Say", m.Body))
	}
	relay := t.PublicURL + "/api/v0/twilio/calls/relay?message_id=" + url.QueryEscape(r.URL.Query().Get("message_id"))
	var nodes []node
	for range loops(r) {
		nodes = append(nodes, gatherKey(relay, "1", pause(1), verb("Say", "Press pound for menu."),
			verb("Say", m.Body)),
			gatherKey(relay, "5", verb("Say", instruction(r))))
	}
	return twiml(w, append(nodes, verb("Say", "Goodbye."))...)
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
	return cmp.Or(r.URL.Query().Get("instruction"), "Press 2 to acknowledge.")
}

// say returns the text of a call that cannot be acknowledged. The URL sets how often the text is repeated.
func (t *twilio) say(w http.ResponseWriter, r *http.Request) error {
	m, err := t.calledMessage(r)
	if err != nil {
		return err
	}
	var nodes []node
	for range loops(r) {
		nodes = append(nodes, pause(1), verb("Say", m.Body))
	}
	return twiml(w, nodes...)
}

func badMessageID() error {
	return fault.Titled("Invalid message_id",
		"the message_id parameter must be the number of a message, or of a digest (32 hexadecimal digits)")
}

// calledMessage returns the message of a call, with its secrets.
func (t *twilio) calledMessage(r *http.Request) (m messages.AnsweredMessage, err error) {
	named, ok := messages.ParseMessageID(r.URL.Query().Get("message_id"))
	switch {
	case !ok:
		return m, badMessageID()
	case named.Batch != "":
		m, err = t.Store.AskedBatch(r.Context(), named.Batch)
	default:
		m, err = t.Store.Asked(r.Context(), named.MessageID)
	}
	m.Body = cmp.Or(m.Body, m.Subject)
	if t.Reveal != nil {
		m.Body = t.Reveal(m.Body, m.Destination)
	}
	return m, err
}

// readKey returns the pressed key and the number of the person who was called.
func readKey(w http.ResponseWriter, r *http.Request) (digits, to string, err error) {
	form, _, err := readForm(w, r)
	switch {
	case err != nil:
		return "", "", err
	case !form.Has("Digits"):
		return "", "", fault.New(fault.Invalid, "Digits argument not found")
	case form.Get("To") == "":
		return "", "", fault.New(fault.Invalid, "To argument not found")
	}
	return form.Get("Digits"), form.Get("To"), nil
}

// key handles a pressed key.
func (t *twilio) key(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("message_id")
	if query == "" {
		return twiml(w, verb("Say", "Thank you"))
	}
	reply, ok := messages.ParseMessageID(query)
	if !ok {
		return badMessageID()
	}
	digits, to, err := readKey(w, r)
	if err != nil {
		return err
	}
	text, record, err := t.pressed(r.Context(), digits, to, reply)
	return t.answer(w, r, text, err, record)
}

// claimKey is the key that claims.
const claimKey = "2"

// pressed carries out a pressed key for the person with the number to. It returns the text for that person and the
// answer to record.
func (t *twilio) pressed(ctx context.Context, digits, to string, reply messages.Reply) (string, messages.Answer, error) {
	record := messages.Answer{Mode: users.Call, Source: "key", MessageID: reply.MessageID, Content: digits}
	if digits != claimKey {
		return "Got unknown option from user: " + digits, record, nil
	}
	reply.Command = messages.CommandClaim
	text, err := t.carryOut(ctx, callSender(to), reply, &record)
	return text, record, err
}

// receive applies a posted delivery receipt. It reports whether the message of the receipt is known.
func (t *twilio) receive(w http.ResponseWriter, r *http.Request) (receipt messages.Receipt, known bool, err error) {
	form, _, err := readForm(w, r)
	if err != nil {
		return receipt, false, err
	}
	receipt, ok := t.Receipt(form)
	if !ok {
		return receipt, false, fault.New(fault.Invalid, "Invalid keys in payload")
	}
	known, err = t.Receipts.Apply(r.Context(), receipt)
	return receipt, known, err
}

// status handles a delivery receipt. It also accepts a receipt of an unknown message, because the message may not be
// recorded yet.
func (t *twilio) status(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := t.receive(w, r); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}
