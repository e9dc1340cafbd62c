package responses

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// signedRoutes mounts the routes for relays. Relays sign as applications and have verified the person who answers
// (docs/reference/iris-v0.md 8).
func (s *Responses) signedRoutes(r chi.Router) {
	for path, route := range map[string]struct {
		may    func(auth.Actor, auth.Openings) error
		handle func(http.ResponseWriter, *http.Request) error
	}{
		"/v0/response/email":           {auth.Actor.MayTry, s.mail}, // an application opens its own incidents by mail
		"/v0/response/gmail":           {auth.Actor.MayTry, s.mail},
		"/v0/response/gmail-oneclick":  {auth.Actor.MayRelay, s.relayedOneClick},
		"/v0/response/twilio/calls":    {auth.Actor.MayRelay, s.relayedKey},
		"/v0/response/twilio/messages": {auth.Actor.MayRelay, s.relayedSMS},
		"/v0/response/slack":           {auth.Actor.MayRelay, s.relayedSlack},
		"/v0/twilio/deliveryupdate":    {auth.Actor.MayPassOnReceipts, s.relayedStatus},
	} {
		r.Method(http.MethodPost, path, s.d.Authenticator.Middleware(s.allowed(route.may, route.handle)))
	}
}

// allowed lets callers through who pass the check, and answers errors.
func (s *Responses) allowed(may func(auth.Actor, auth.Openings) error, handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := may(wire.Actor(r.Context()), s.d.Openings)
		if err == nil {
			err = handle(w, r)
		}
		if err != nil {
			s.d.Errors.Write(w, r, err)
		}
	})
}

// postedForm reads a form, whatever the content type says.
func postedForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	body, _, err := wire.Body(w, r, 64<<10)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Titled("Invalid form", "the body is not form encoded")
	}
	return form, nil
}

// settle records an answer and returns its text. A refusal is a text for the person; a reply that cannot be parsed is an
// error for the relay.
func (s *Responses) settle(r *http.Request, said string, err error, kept *messages.Answer) (string, error) {
	switch {
	case err != nil && !explained(err):
		return "", err // a failure of Iris: the relay may try again
	case fault.Is(err, fault.Forbidden), fault.Is(err, fault.NotFound):
		said, err = fault.Public(err), nil
	case err != nil:
		said = fault.Public(err)
	}
	kept.Result = said
	s.keep(r.Context(), *kept)
	return said, err
}

// app answers with the text for the person.
func app(w http.ResponseWriter, said string) {
	wire.JSON(w, http.StatusOK, map[string]string{"app_response": said})
}

func (s *Responses) relayedSMS(w http.ResponseWriter, r *http.Request) error {
	form, err := postedForm(w, r)
	switch {
	case err != nil:
		return err
	case !form.Has("Body"):
		return fault.Titled("SMS body not found", "Missing Body argument in post body")
	case form.Get("From") == "":
		return fault.Titled("From argument not found", "Missing From in post body")
	}
	kept := messages.Answer{Mode: users.SMS, Source: "reply", Content: form.Get("Body")}
	said := ""
	reply, err := messages.ParseReply(form.Get("Body"))
	if err = titled(err); err == nil {
		said, err = s.obey(r.Context(), texting(form.Get("From")), reply, &kept)
	}
	if said, err = s.settle(r, said, err, &kept); err != nil {
		return err
	}
	app(w, said)
	return nil
}

// titled returns the error of the v0 wire for a reply that was not understood.
func titled(err error) error {
	var bad *messages.BadReply
	if errors.As(err, &bad) {
		return fault.Titled(bad.Title, bad.Detail)
	}
	return err
}

func (s *Responses) relayedKey(w http.ResponseWriter, r *http.Request) error {
	form, err := postedForm(w, r)
	query := r.URL.Query().Get("message_id")
	switch {
	case err != nil:
		return err
	case query == "":
		return fault.Titled("Missing parameter", `The "message_id" parameter is required.`)
	case !form.Has("Digits"):
		return fault.New(fault.Invalid, "Digits argument not found")
	case form.Get("To") == "":
		return fault.New(fault.Invalid, "To argument not found")
	}
	reply, ok := messages.ParseMessageID(query)
	if !ok {
		return fault.Titled("Invalid message id", "invalid message id: "+query)
	}
	reply.Command = messages.CommandClaim
	kept := messages.Answer{Mode: users.Call, Source: "key", MessageID: reply.MessageID, Content: form.Get("Digits")}
	said := "Got unknown option from user: " + form.Get("Digits")
	if form.Get("Digits") == "2" {
		said, err = s.obey(r.Context(), from{users.Call, form.Get("To"), incidents.ViaCall}, reply, &kept)
	}
	if said, err = s.settle(r, said, err, &kept); err != nil {
		return err
	}
	app(w, said)
	return nil
}

// messageNumber reads a number, quoted or not; false when it is no number.
func messageNumber(raw json.RawMessage) (messages.ID, bool) {
	var n json.Number
	if json.Unmarshal(raw, &n) != nil {
		return 0, false
	}
	id, err := strconv.ParseInt(n.String(), 10, 64)
	return messages.ID(id), err == nil && id > 0
}

// texts reads members that must be texts; false when one is missing or something else.
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

func (s *Responses) relayedSlack(w http.ResponseWriter, r *http.Request) error {
	failed := func() error { return fault.Titled("Bad Request", "Failed to handle slack response") }
	members, err := object(w, r)
	if err != nil {
		return err
	}
	for _, name := range []string{"msg_id", "source", "content"} {
		if _, ok := members[name]; !ok {
			return fault.Invalidf(name, "Post body missing required key")
		}
	}
	id, isNumber := messageNumber(members["msg_id"])
	text, ok := texts(members, "source", "content")
	if !ok || !isNumber {
		return failed()
	}
	kept := messages.Answer{Mode: users.Slack, Source: "button", MessageID: id, Content: text[1]}
	said := textUnknown
	cmd := messages.Reply{Command: messages.CommandClaim, MessageID: id}
	switch text[1] {
	case "claim all":
		cmd = messages.Reply{Command: messages.CommandClaimAll}
		fallthrough
	case "claim":
		said, err = s.answerSlack(r.Context(), Pressed{UserName: text[0]}, cmd, &kept)
	}
	if said, err = s.settle(r, said, err, &kept); err != nil {
		if fault.Is(err, fault.Invalid) {
			return failed()
		}
		return err
	}
	app(w, said)
	return nil
}

func object(w http.ResponseWriter, r *http.Request) (map[string]json.RawMessage, error) {
	body, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return nil, err
	}
	return wire.Object(wire.WithoutNUL(body))
}

// relayedStatus handles a delivery receipt. A failure of an unknown message is an error for the relay; the receipt is still
// kept for a while.
func (s *Responses) relayedStatus(w http.ResponseWriter, r *http.Request) error {
	form, err := postedForm(w, r)
	if err != nil {
		return err
	}
	receipt, ok := s.d.TwilioReceipt(form)
	if !ok {
		return fault.New(fault.Invalid, "Invalid keys in payload")
	}
	known, err := s.d.Receipts.Apply(r.Context(), receipt)
	if err != nil {
		return err
	}
	if !known && receipt.Status == "failed" {
		return fault.Titled("Failed to update Twilio delivery status", "Failed to update Twilio delivery status")
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}
