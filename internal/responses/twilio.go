package responses

import (
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// twilioOnly lets a request through only when Twilio signed it. The signature covers the public URL as configured, so
// changes of scheme, host or path by a proxy do not matter.
func (s *Responses) twilioOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, r, err := wire.Body(w, r, 64<<10)
		if err != nil {
			s.d.Errors.Write(w, r, err)
			return
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			s.d.Errors.Write(w, r, fault.Titled("Invalid form", "the body is not form encoded"))
			return
		}
		full := s.d.PublicURL + r.URL.EscapedPath()
		if r.URL.RawQuery != "" {
			full += "?" + r.URL.RawQuery
		}
		if s.d.ValidTwilio == nil || !s.d.ValidTwilio(full, form, r.Header) {
			s.d.Log.Warn("request without a valid Twilio signature refused; check the auth token and the public URL", zap.String("path", wire.LogPath(r)))
			s.d.Errors.Write(w, r, fault.Newf(fault.Forbidden, "Twilio signature is missing or does not fit %s and the configured auth token", s.d.PublicURL))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sms handles a reply. The person always gets a text; if the reply was not understood, the text explains the commands.
func (s *Responses) sms(w http.ResponseWriter, r *http.Request) {
	text, from := r.PostFormValue("Body"), r.PostFormValue("From")
	switch {
	case !r.PostForm.Has("Body"):
		s.d.Errors.Write(w, r, fault.Titled("SMS body not found", "Missing Body argument in post body"))
		return
	case from == "":
		s.d.Errors.Write(w, r, fault.Titled("From argument not found", "Missing From in post body"))
		return
	}
	kept := messages.Answer{Mode: users.SMS, Source: "reply", Content: text}
	said, err := s.answerSMS(r, from, text, &kept)
	if err != nil {
		s.sayFailure(w, r, err, &kept)
		return
	}
	kept.Result = said
	s.keep(r.Context(), kept)
	twiml(w, verb("Message", said))
}

func (s *Responses) answerSMS(r *http.Request, number, text string, kept *messages.Answer) (string, error) {
	reply, err := messages.ParseReply(text)
	var bad *messages.BadReply
	if errors.As(err, &bad) {
		return textHelp, nil
	}
	return s.obey(r.Context(), texting(number), reply, kept)
}

func texting(number string) from { return from{users.SMS, number, incidents.ViaSMS} }

// sayFailure answers a person whose request failed: with a text if it was a mistake of the person, else with an error that
// Twilio's log shows.
func (s *Responses) sayFailure(w http.ResponseWriter, r *http.Request, err error, kept *messages.Answer) {
	if !explained(err) {
		s.d.Errors.Write(w, r, err)
		return
	}
	kept.Result = fault.Public(err)
	s.keep(r.Context(), *kept)
	name := "Message"
	if kept.Mode == users.Call {
		name = "Say"
	}
	twiml(w, verb(name, kept.Result))
}

// gather returns the text of a call that can be acknowledged: three times the message and the menu, then good-bye. A key counts
// at any time; the pound key skips the rest of the message.
func (s *Responses) gather(w http.ResponseWriter, r *http.Request) {
	m, ok := s.called(w, r)
	if !ok {
		return
	}
	if strings.HasPrefix(r.PostFormValue("AnsweredBy"), "machine") || m.IncidentID == 0 && m.Batch == "" {
		twiml(w, pause(1), verb("Say", m.Body))
		return
	}
	relay := s.d.PublicURL + "/api/v0/twilio/calls/relay?message_id=" + url.QueryEscape(r.URL.Query().Get("message_id"))
	var words []node
	for range loops(r) {
		words = append(words, keyOr(relay, "1", pause(1), verb("Say", "Press pound for menu."), verb("Say", m.Body)),
			keyOr(relay, "5", verb("Say", instruction(r))))
	}
	twiml(w, append(words, verb("Say", "Goodbye."))...)
}

// keyOr speaks a text and accepts a key during it and for some seconds after.
func keyOr(action, seconds string, words ...node) node {
	return node{XMLName: xml.Name{Local: "Gather"}, Nodes: words, Attrs: []xml.Attr{
		attr("action", action), attr("method", "POST"), attr("numDigits", "1"), attr("timeout", seconds), attr("finishOnKey", "#"),
		attr("actionOnEmptyResult", "false"),
	}}
}

const (
	defaultLoops = 3
	maxLoops     = 10
)

// loops is how often a call repeats its text.
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

// say returns the text of a call that cannot be acknowledged, repeated as the URL says.
func (s *Responses) say(w http.ResponseWriter, r *http.Request) {
	if m, ok := s.called(w, r); ok {
		var words []node
		for range loops(r) {
			words = append(words, pause(1), verb("Say", m.Body))
		}
		twiml(w, words...)
	}
}

func badMessageID() error {
	return fault.Titled("Invalid message_id", "the message_id parameter must be the number of a message, or of a digest (32 hexadecimal digits)")
}

// called finds the message of a call.
func (s *Responses) called(w http.ResponseWriter, r *http.Request) (messages.AnsweredMessage, bool) {
	named, ok := messages.ParseMessageID(r.URL.Query().Get("message_id"))
	if !ok {
		s.d.Errors.Write(w, r, badMessageID())
		return messages.AnsweredMessage{}, false
	}
	var m messages.AnsweredMessage
	var err error
	if named.Batch != "" {
		m, err = s.d.Pages.AskedBatch(r.Context(), named.Batch)
	} else {
		m, err = s.d.Pages.Asked(r.Context(), named.MessageID)
	}
	if err != nil {
		s.d.Errors.Write(w, r, err)
		return messages.AnsweredMessage{}, false
	}
	if m.Body == "" {
		m.Body = m.Subject
	}
	if s.d.Reveal != nil {
		m.Body = s.d.Reveal(m.Body, m.Destination)
	}
	return m, true
}

// key handles a pressed key. The person is the one who was called, To.
func (s *Responses) key(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("message_id")
	if query == "" {
		twiml(w, verb("Say", "Thank you"))
		return
	}
	named, ok := messages.ParseMessageID(query)
	if !ok {
		s.d.Errors.Write(w, r, badMessageID())
		return
	}
	named.Command = messages.CommandClaim
	digits, to := r.PostFormValue("Digits"), r.PostFormValue("To")
	switch {
	case !r.PostForm.Has("Digits"):
		s.d.Errors.Write(w, r, fault.New(fault.Invalid, "Digits argument not found"))
		return
	case to == "":
		s.d.Errors.Write(w, r, fault.New(fault.Invalid, "To argument not found"))
		return
	}
	kept := messages.Answer{Mode: users.Call, Source: "key", MessageID: named.MessageID, Content: digits}
	said, err := s.answerKey(r, to, digits, named, &kept)
	if err != nil {
		s.sayFailure(w, r, err, &kept)
		return
	}
	kept.Result = said
	s.keep(r.Context(), kept)
	twiml(w, verb("Say", said), pause(1), verb("Say", said), node{XMLName: xml.Name{Local: "Hangup"}})
}

func (s *Responses) answerKey(r *http.Request, to, digits string, reply messages.Reply, kept *messages.Answer) (string, error) {
	if digits != "2" {
		return "Got unknown option from user: " + digits, nil
	}
	return s.obey(r.Context(), from{users.Call, to, incidents.ViaCall}, reply, kept)
}

// twilioStatus handles a delivery receipt. A receipt without a known message is kept: the message may not be recorded yet.
func (s *Responses) twilioStatus(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // twilioOnly parsed the same bytes
	receipt, ok := s.d.TwilioReceipt(r.PostForm)
	if !ok {
		s.d.Errors.Write(w, r, fault.New(fault.Invalid, "Invalid keys in payload"))
		return
	}
	if _, err := s.d.Receipts.Apply(r.Context(), receipt); err != nil {
		s.d.Errors.Write(w, r, err)
		return
	}
	wire.Empty(w, http.StatusNoContent)
}

// node is an element of TwiML.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node
}

func verb(name, text string) node { return node{XMLName: xml.Name{Local: name}, Text: text} }

func pause(seconds int) node {
	return node{XMLName: xml.Name{Local: "Pause"}, Attrs: []xml.Attr{attr("length", strconv.Itoa(seconds))}}
}

func attr(name, value string) xml.Attr { return xml.Attr{Name: xml.Name{Local: name}, Value: value} }

func twiml(w http.ResponseWriter, nodes ...node) {
	out, err := xml.Marshal(node{XMLName: xml.Name{Local: "Response"}, Nodes: nodes})
	if err != nil {
		http.Error(w, "the answer cannot be put into XML", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write([]byte(xml.Header))
	_, _ = w.Write(out)
}
