package responses

import (
	"context"
	"encoding/json"
	"net/http"
	netmail "net/mail"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// letter holds the parts of a fetched mail that are used.
type letter struct {
	from    string
	to      []string
	subject string
	answers bool // it is an answer to another mail
	body    string
}

// firstLine returns the first line that the person wrote.
func (l letter) firstLine() string {
	line, _, _ := strings.Cut(strings.TrimSpace(l.body), "\n")
	return strings.TrimSpace(line)
}

// parseLetter reads what a relay posts: {"body": text, "headers": [{"name": ..., "value": text or list of texts}]}.
func parseLetter(raw []byte) (letter, error) {
	members, err := wire.Object(wire.WithoutNUL(raw))
	if err != nil {
		return letter{}, err
	}
	var l letter
	var headers []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if b, ok := members["body"]; ok && json.Unmarshal(b, &l.body) != nil {
		return letter{}, fault.Titled(wire.InvalidJSON, "body must be a text")
	}
	if h, ok := members["headers"]; ok && json.Unmarshal(h, &headers) != nil {
		return letter{}, fault.Titled(wire.InvalidJSON, "headers must be a list of objects with name and value")
	}
	for _, h := range headers {
		values, ok := headerValues(h.Value)
		if !ok {
			return letter{}, fault.Titled(wire.InvalidJSON, "the value of a header must be a text or a list of texts")
		}
		l.header(h.Name, values)
	}
	if l.from == "" {
		return letter{}, fault.Invalidf("From", "Missing source")
	}
	return l, nil
}

func headerValues(raw json.RawMessage) ([]string, bool) {
	var one *string
	if json.Unmarshal(raw, &one) == nil {
		if one == nil {
			return nil, true
		}
		return []string{*one}, true
	}
	var many []string
	return many, json.Unmarshal(raw, &many) == nil
}

func (l *letter) header(name string, values []string) {
	all := strings.Join(values, " ")
	switch strings.ToLower(name) {
	case "from":
		l.from = address(all)
	case "to":
		for _, v := range values {
			l.to = append(l.to, addresses(v)...)
		}
	case "subject":
		l.subject = strings.TrimSpace(all)
	case "in-reply-to":
		l.answers = true
	}
}

// address is the last word without its angle brackets.
func address(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return strings.Trim(words[len(words)-1], "<>")
}

// addresses reads a header that may name several people.
func addresses(text string) []string {
	list, err := netmail.ParseAddressList(text)
	if err != nil {
		if a := address(text); a != "" {
			return []string{a}
		}
		return nil
	}
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.Address
	}
	return out
}

// mail handles a mail to an address that opens incidents, or an answer to a mail of Iris.
func (s *Responses) mail(w http.ResponseWriter, r *http.Request) error {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	l, err := parseLetter(raw)
	if err != nil {
		return err
	}
	box, opens, err := s.d.Pages.Mailbox(r.Context(), l.to)
	if err != nil {
		return err
	}
	if opens {
		return s.openByMail(w, r, box, l)
	}
	if err := wire.Actor(r.Context()).MayRelay(s.d.Openings); err != nil {
		return err
	}
	reply, notUnderstood := parseMailReply(l)
	user, err := s.sender(r, l.from, reply)
	if err != nil && !fault.Is(err, fault.Invalid) {
		return err
	}
	unknown := err
	kept := messages.Answer{Mode: users.Email, Source: "reply", Content: l.firstLine()}
	said := ""
	if err = notUnderstood; err == nil {
		said, err = s.obey(r.Context(), writing(l.from), reply, &kept)
	}
	if said, err = s.settle(r, said, err, &kept); err != nil {
		return err
	}
	if unknown != nil {
		return unknown
	}
	if err := s.writeBack(r, l, user, said, kept); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// parseMailReply parses an answer: one word above a quoted mail of Iris, whose subject begins with the message's number, or
// else a command as in a text message.
func parseMailReply(l letter) (messages.Reply, error) {
	line := l.firstLine()
	if line == "claim" || line == "suppress" {
		if words := strings.Fields(l.subject); len(words) >= 2 && words[0] == "Re:" {
			if reply, err := messages.ParseReply(words[1] + " " + line); err == nil && (reply.MessageID != 0 || reply.Batch != "") {
				return reply, nil
			}
		}
	}
	reply, err := messages.ParseReply(line)
	if err = titled(err); fault.Is(err, fault.Invalid) && len(strings.Fields(line)) < 2 {
		err = fault.Titled("Invalid response", "Invalid response: "+line)
	}
	return reply, err
}

const (
	// maxMailSubject is how long the subject of an answer may be, in characters.
	maxMailSubject = 240
	// mailLifetime is how long an answer is tried before it expires.
	mailLifetime = time.Hour
)

// sender finds the author, if the caller may pass on answers of that person. An unknown author is an Invalid fault.
func (s *Responses) sender(r *http.Request, address string, reply messages.Reply) (users.User, error) {
	user, err := s.identify(r.Context(), writing(address), reply)
	if fault.Is(err, fault.NotFound) {
		return user, fault.Titled("Invalid request", "Failed to lookup target from destination: "+address)
	}
	if err != nil {
		return user, err
	}
	return user, wire.Actor(r.Context()).MayPassOn(user, s.d.Openings)
}

// writeBack queues the answer to a mail.
func (s *Responses) writeBack(r *http.Request, l letter, user users.User, said string, kept messages.Answer) error {
	ctx := r.Context()
	application, err := s.replyApplication(ctx, kept)
	if err != nil {
		return err
	}
	subject := []rune("Re: " + l.subject)
	if len(subject) > maxMailSubject {
		subject = subject[:maxMailSubject]
	}
	_, err = s.d.Notifications.Create(ctx, messages.Notification{
		ApplicationID: application, Subject: string(subject), Body: said, Priority: users.Low, Lifetime: mailLifetime, Bare: true,
		Recipients: []messages.NotificationRecipient{{
			Recipient: messages.ToLiteral(l.from), Target: user.Name, Mode: users.Email, Literal: l.from,
		}},
	})
	if fault.Is(err, fault.Invalid) {
		// The request of the mail was carried out. With an error, the relay would deliver the mail again.
		s.d.Log.Warn("the reply to a mail could not be queued", zap.Error(err))
		return nil
	}
	return err
}

// replyApplication is the application that answers a mail: that of the incident or message, else the caller, else
// that of web sessions when the caller has no credentials.
func (s *Responses) replyApplication(ctx context.Context, kept messages.Answer) (int64, error) {
	if id := s.applicationOf(ctx, kept); id != 0 {
		return id, nil
	}
	if id := wire.Actor(ctx).ApplicationID; id != 0 {
		return id, nil
	}
	app, err := s.d.Applications.ByName(ctx, auth.SessionApplication)
	return app.ID, err
}
