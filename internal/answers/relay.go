package answers

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// relays serves the routes for relays. A relay signs as an application does, and has verified the person who answers
// (docs/reference/iris-v0.md 8).
type relays struct {
	authenticator *wire.Authenticator
	*answers
	slack  *slack
	twilio *twilio
	gmail  *gmail
	mail   *mail
}

// routes returns the handlers by their path. Each checks that the caller may use it.
func (s *relays) routes() map[string]handler {
	return map[string]handler{
		"/v0/response/email": s.allow(auth.Actor.MayTry,
			s.mail.handle), // applications open their own incidents by mail
		"/v0/response/gmail":           s.allow(auth.Actor.MayTry, s.mail.handle),
		"/v0/response/gmail-oneclick":  s.allow(auth.Actor.MayRelay, s.gmail.relayed),
		"/v0/response/twilio/calls":    s.allow(auth.Actor.MayRelay, s.key),
		"/v0/response/twilio/messages": s.allow(auth.Actor.MayRelay, s.sms),
		"/v0/response/slack":           s.allow(auth.Actor.MayRelay, s.slackButton),
		"/v0/twilio/deliveryupdate":    s.allow(auth.Actor.MayPassOnReceipts, s.receipt),
	}
}

func (s *relays) allow(may func(auth.Actor, auth.Openings) error, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := may(wire.Actor(r.Context()), s.Openings); err != nil {
			return err
		}
		return handle(w, r)
	}
}

// answer records the result of a reply and answers with the text for the person.
func (s *relays) answer(w http.ResponseWriter, r *http.Request, text string, err error, record messages.Answer) error {
	text, err = s.recordForRelay(r.Context(), text, err, record)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, map[string]string{"app_response": text})
	return nil
}

func (s *relays) sms(w http.ResponseWriter, r *http.Request) error {
	body, from, err := readSMS(w, r)
	if err != nil {
		return err
	}
	record := messages.Answer{Mode: users.SMS, Source: "reply", Content: body}
	text := ""
	reply, err := messages.ParseReply(body)
	if err = titled(err); err == nil {
		text, err = s.carryOut(r.Context(), smsSender(from), reply, &record)
	}
	return s.answer(w, r, text, err, record)
}

// titled returns the error of the v0 wire for a reply that was not understood.
func titled(err error) error {
	var bad *messages.BadReply
	if errors.As(err, &bad) {
		return fault.Titled(bad.Title, bad.Detail)
	}
	return err
}

func (s *relays) key(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query().Get("message_id")
	if query == "" {
		return fault.Titled("Missing parameter", `The "message_id" parameter is required.`)
	}
	digits, to, err := readKey(w, r)
	if err != nil {
		return err
	}
	reply, ok := messages.ParseMessageID(query)
	if !ok {
		return fault.Titled("Invalid message id", "invalid message id: "+query)
	}
	text, record, err := s.twilio.pressed(r.Context(), digits, to, reply)
	return s.answer(w, r, text, err, record)
}

// messageNumber reads a number, quoted or not; false if raw is not a positive number.
func messageNumber(raw json.RawMessage) (messages.ID, bool) {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	id, err := strconv.ParseInt(n.String(), 10, 64)
	return messages.ID(id), err == nil && id > 0
}

// texts reads members that must be texts; false if a member is missing or not a text.
func texts(members map[string]json.RawMessage, names ...string) ([]string, bool) {
	out := make([]string, len(names))
	for i, name := range names {
		var s *string
		if json.Unmarshal(members[name], &s) != nil || s == nil {
			return nil, false
		}
		out[i] = *s
	}
	return out, true
}

func (s *relays) slackButton(w http.ResponseWriter, r *http.Request) error {
	failed := func() error { return fault.Titled("Bad Request", "Failed to handle slack response") }
	members, err := readObject(w, r)
	if err != nil {
		return err
	}
	for _, name := range []string{"msg_id", "source", "content"} {
		if _, ok := members[name]; !ok {
			return fault.Invalidf(name, "Post body missing required key")
		}
	}
	id, isNumber := messageNumber(members["msg_id"])
	values, ok := texts(members, "source", "content")
	if !ok || !isNumber {
		return failed()
	}
	source, content := values[0], values[1]
	record := messages.Answer{Mode: users.Slack, Source: "button", MessageID: id, Content: content}
	text := textUnknown
	switch content {
	case "claim":
		text, err = s.slack.answer(r.Context(), Pressed{UserName: source},
			messages.Reply{Command: messages.CommandClaim, MessageID: id}, &record)
	case "claim all":
		text, err = s.slack.answer(r.Context(), Pressed{UserName: source},
			messages.Reply{Command: messages.CommandClaimAll}, &record)
	}
	if err = s.answer(w, r, text, err, record); fault.Is(err, fault.Invalid) {
		return failed()
	}
	return err
}

func readObject(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, error) {
	body, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return nil, err
	}
	return wire.Object(wire.WithoutNUL(body))
}

// receipt handles a delivery receipt. For a failure of an unknown message it returns an error; the receipt is still
// kept for a while.
func (s *relays) receipt(w http.ResponseWriter, r *http.Request) error {
	receipt, known, err := s.twilio.receive(w, r)
	if err != nil {
		return err
	}
	if !known && receipt.Status == "failed" {
		return fault.Titled("Failed to update Twilio delivery status", "Failed to update Twilio delivery status")
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}
