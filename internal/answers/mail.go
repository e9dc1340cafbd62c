package answers

import (
	"context"
	"encoding/json"
	"net/http"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Notifications queues messages to people. Create returns the number of the request when the message is durable.
type Notifications interface {
	Create(ctx context.Context, n messages.Notification) (int64, error)
}

// Rates limits how many incidents mails open. Check returns a Throttled fault if an application has too many with a
// plan.
type Rates interface {
	Check(ctx context.Context, app auth.Application, plan int64) error
}

// MailDeps are the dependencies of mails.
type MailDeps struct {
	Opener        IncidentOpener
	Applications  auth.Applications
	Plans         Plans
	Load          Load
	Rates         Rates
	Notifications Notifications
}

// mail handles mails that a relay has fetched: replies, and mails that open incidents.
type mail struct {
	MailDeps
	*answers
	log *zap.Logger
}

// received has the parts of a mail that Iris uses.
type received struct {
	from    string
	to      []string
	subject string
	isReply bool // the mail answers another mail
	body    string
}

// firstLine returns the first line that the person wrote.
func (m received) firstLine() string {
	line, _, _ := strings.Cut(strings.TrimSpace(m.body), "\n")
	return strings.TrimSpace(line)
}

// parseMail reads the body that a relay posts: {"body": text, "headers": [{"name": ..., "value": text or list of
// texts}]}.
func parseMail(raw []byte) (received, error) {
	members, err := wire.Object(wire.WithoutNUL(raw))
	if err != nil {
		return received{}, err
	}
	var m received
	var headers []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if b, ok := members["body"]; ok && json.Unmarshal(b, &m.body) != nil {
		return received{}, fault.Titled(wire.InvalidJSON, "body must be a text")
	}
	if h, ok := members["headers"]; ok && json.Unmarshal(h, &headers) != nil {
		return received{}, fault.Titled(wire.InvalidJSON, "headers must be a list of objects with name and value")
	}
	for _, h := range headers {
		values, ok := headerValues(h.Value)
		if !ok {
			return received{}, fault.Titled(wire.InvalidJSON, "the value of a header must be a text or a list of texts")
		}
		m.header(h.Name, values)
	}
	if m.from == "" {
		return received{}, fault.Invalidf("From", "Missing source")
	}
	return m, nil
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

func (m *received) header(name string, values []string) {
	all := strings.Join(values, " ")
	switch strings.ToLower(name) {
	case "from":
		m.from = address(all)
	case "to":
		for _, v := range values {
			m.to = append(m.to, addresses(v)...)
		}
	case "subject":
		m.subject = strings.TrimSpace(all)
	case "in-reply-to":
		m.isReply = true
	}
}

// address returns the last word of a header without its angle brackets.
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

// handle handles a mail to an address that opens incidents, or a reply to a mail of Iris.
func (s *mail) handle(w http.ResponseWriter, r *http.Request) error {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	m, err := parseMail(raw)
	if err != nil {
		return err
	}
	box, opens, err := s.Store.Mailbox(r.Context(), m.to)
	if err != nil {
		return err
	}
	if opens {
		return s.openIncident(w, r, box, m)
	}
	if err := wire.Actor(r.Context()).MayRelay(s.Openings); err != nil {
		return err
	}
	reply, parseError := parseMailReply(m)
	user, err := s.author(r, m.from, reply)
	if err != nil && !fault.Is(err, fault.Invalid) {
		return err
	}
	unknownAuthor := err
	record := messages.Answer{Mode: users.Email, Source: "reply", Content: m.firstLine()}
	text := ""
	if err = parseError; err == nil {
		text, err = s.carryOut(r.Context(), mailSender(m.from), reply, &record)
	}
	if text, err = s.recordForRelay(r.Context(), text, err, record); err != nil {
		return err
	}
	if unknownAuthor != nil {
		return unknownAuthor
	}
	if err := s.reply(r.Context(), m, user, forPeople(text), record); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// parseMailReply parses the first line of a reply, as in an SMS. The line may also be the word claim or suppress alone.
// The subject must then begin with "Re:" and the number of a message, as in replies to mails of Iris.
func parseMailReply(m received) (messages.Reply, error) {
	line := m.firstLine()
	if slices.Contains([]string{"ack", "acknowledge", "claim", "suppress"}, line) {
		if words := strings.Fields(m.subject); len(words) >= 2 && words[0] == "Re:" {
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
	// maxMailSubject is the maximum length of the subject of a reply, in characters.
	maxMailSubject = 240
	// mailLifetime is the time after which a reply that could not be sent expires.
	mailLifetime = time.Hour
)

// author finds the author of a mail and checks that the caller may pass on answers of that person. For an unknown
// author it returns an Invalid fault.
func (s *mail) author(r *http.Request, address string, reply messages.Reply) (users.User, error) {
	user, err := s.identify(r.Context(), mailSender(address), reply)
	if fault.Is(err, fault.NotFound) {
		return user, fault.Titled("Invalid request", "Failed to lookup target from destination: "+address)
	}
	if err != nil {
		return user, err
	}
	return user, wire.Actor(r.Context()).MayPassOn(user, s.Openings)
}

// reply queues a reply to a mail.
func (s *mail) reply(ctx context.Context, m received, user users.User, text string, record messages.Answer) error {
	application, err := s.replyApplication(ctx, record)
	if err != nil {
		return err
	}
	subject := []rune("Re: " + m.subject)
	if len(subject) > maxMailSubject {
		subject = subject[:maxMailSubject]
	}
	_, err = s.Notifications.Create(ctx, messages.Notification{
		ApplicationID: application, Subject: string(subject), Body: text, Priority: users.Low, Lifetime: mailLifetime, Bare: true,
		Recipients: []messages.NotificationRecipient{{
			Recipient: messages.ToLiteral(m.from), Target: user.Name, Mode: users.Email, Literal: m.from,
		}},
	})
	if fault.Is(err, fault.Invalid) {
		// The command of the mail has been carried out. After an error the relay would send the mail again.
		s.log.Warn("the reply to a mail could not be queued", zap.Error(err))
		return nil
	}
	return err
}

// replyApplication returns the application that replies to a mail: the one of the message or incident, else the caller,
// else the one of web sessions.
func (s *mail) replyApplication(ctx context.Context, record messages.Answer) (int64, error) {
	if record.MessageID != 0 {
		if m, err := s.Store.Asked(ctx, record.MessageID); err == nil && m.ApplicationID != 0 {
			return m.ApplicationID, nil
		}
	}
	if record.IncidentID != 0 {
		if i, err := s.Incidents.Get(ctx, record.IncidentID); err == nil && i.ApplicationID != 0 {
			return i.ApplicationID, nil
		}
	}
	if id := wire.Actor(ctx).ApplicationID; id != 0 {
		return id, nil
	}
	app, err := s.Applications.ByName(ctx, auth.SessionApplication)
	return app.ID, err
}
