package smtpd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
)

// session is one connection after its greeting. The library calls its methods one after the other.
type session struct {
	s       *Server
	conn    *gosmtp.Conn
	host    string // the peer
	peer    *peer
	timeout *time.Timer
	left    bool
	unknown int // recipients
	to      []recipient
}

// recipient is an integration that a mail is for.
type recipient struct {
	token   string
	tokenID int64
	from    integrations.Integration
	key     string // of the address
}

// problem returns an answer of SMTP.
func problem(code, class, subject, detail int, format string, args ...any) *gosmtp.SMTPError {
	return &gosmtp.SMTPError{Code: code, EnhancedCode: gosmtp.EnhancedCode{class, subject, detail}, Message: fmt.Sprintf(format, args...)}
}

// Mail begins a mail.
func (n *session) Mail(from string, o *gosmtp.MailOptions) error {
	n.Reset()
	if _, secure := n.conn.TLSConnectionState(); n.s.cfg.RequireTLS && !secure {
		return problem(530, 5, 7, 0, "Must issue a STARTTLS command first")
	}
	if from == "" {
		return problem(550, 5, 7, 1, "Iris sends no mails from these addresses: bounces are refused")
	}
	if o != nil && o.Size > n.s.cfg.MaxSize {
		return problem(552, 5, 3, 4, "The mail is larger than %d bytes", n.s.cfg.MaxSize)
	}
	if !n.peer.mails.Allow() {
		n.s.mails.WithLabelValues(throttled).Inc()
		return problem(451, 4, 7, 1, "More than %d mails in a minute from your address: send it again later", n.s.cfg.PerMinute)
	}
	return nil
}

// Rcpt adds a recipient. Only the addresses of integrations are accepted.
func (n *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	local, domain, _ := strings.Cut(strings.Trim(to, "<>"), "@")
	if n.s.cfg.Domain != "" && !strings.EqualFold(domain, n.s.cfg.Domain) {
		return n.noSuch(problem(550, 5, 7, 1, "Iris accepts mails for %s only", n.s.cfg.Domain))
	}
	r := recipient{}
	r.token, r.key, _ = strings.Cut(local, "+")
	ctx, cancel := context.WithTimeout(context.Background(), workTimeout)
	defer cancel()
	var err error
	r.from, r.tokenID, err = n.s.d.Integrations.ByToken(ctx, r.token)
	if fault.Is(err, fault.NotFound) { // servers on the way may change the case
		r.token = strings.ToLower(r.token)
		r.from, r.tokenID, err = n.s.d.Integrations.ByToken(ctx, r.token)
	}
	switch {
	case fault.Is(err, fault.NotFound), err == nil && r.from.Type != integrations.Email:
		return n.noSuch(problem(550, 5, 1, 1, "No integration has this address"))
	case err != nil:
		return n.again(err)
	case !r.from.Enabled:
		err = fault.Newf(fault.Forbidden, "the integration %s is switched off", r.from.Name)
		n.s.d.Activity.Note(r.from, r.tokenID, integrations.Payload{At: time.Now()}, err)
		return problem(550, 5, 2, 1, "The integration is switched off")
	}
	if err := n.s.d.Activity.Allow(ctx, r.from, time.Now()); err != nil {
		n.s.d.Activity.Note(r.from, r.tokenID, integrations.Payload{At: time.Now()}, err)
		n.s.mails.WithLabelValues(later).Inc()
		return problem(452, 4, 2, 2, "%s: send it again later", fault.Public(err))
	}
	n.to = append(n.to, r)
	return nil
}

// noSuch refuses an unknown recipient. Addresses cannot be guessed, so a connection with several unknown ones is closed.
func (n *session) noSuch(answer *gosmtp.SMTPError) error {
	n.s.mails.WithLabelValues(unknown).Inc()
	if n.unknown++; n.unknown >= maxUnknown {
		time.AfterFunc(time.Second, func() { _ = n.conn.Close() }) // after the answer
		return problem(421, 4, 7, 0, "Too many unknown recipients")
	}
	return answer
}

// again answers that the sender must repeat the mail, for an error that does not concern the mail.
func (n *session) again(err error) error {
	n.s.mails.WithLabelValues(later).Inc()
	n.s.d.Log.Warn("mail not accepted now; its sender repeats it", zap.String("peer", n.host), zap.Error(err))
	return problem(451, 4, 3, 0, "Iris cannot take this mail now: send it again later")
}

// Data receives the mail. It returns nil when the events of the mail are durable. Of several recipients, one that must be repeated repeats
// the mail for all: those that were carried out are recognised by their keys.
func (n *session) Data(r io.Reader) (err error) {
	defer fault.Recover(&err) // a panic must not end the connections of others
	n.s.bodies <- struct{}{}
	defer func() { <-n.s.bodies }()
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), workTimeout)
	defer cancel()
	var refusal error
	done := 0
	for _, to := range n.to {
		switch err := n.deliver(ctx, to, raw); {
		case err == nil:
			done++
		case fault.Is(err, fault.Invalid) || fault.Is(err, fault.NotFound):
			refusal = err
		default:
			return n.again(err)
		}
	}
	if done == 0 {
		n.s.mails.WithLabelValues(refused).Inc()
		return problem(554, 5, 6, 0, "%s", oneLine(fault.Public(refusal)))
	}
	n.s.mails.WithLabelValues(accepted).Inc()
	return nil
}

// deliver carries out the mail for a recipient, and records it.
func (n *session) deliver(ctx context.Context, to recipient, raw []byte) error {
	p := integrations.Payload{At: time.Now()}
	err := n.carryOut(ctx, to, raw, &p)
	n.s.d.Activity.Note(to.from, to.tokenID, p, err)
	return err
}

// carryOut decodes the mail and carries its event out. It fills in the record.
func (n *session) carryOut(ctx context.Context, to recipient, raw []byte, p *integrations.Payload) (err error) {
	defer fault.Recover(&err) // a mail that panics delays nothing else
	raw = bytes.ReplaceAll(raw, []byte(to.token), []byte("[token]"))
	p.Body = strings.ReplaceAll(strings.ToValidUTF8(string(raw), "\uFFFD"), "\x00", "")
	app, err := n.s.d.Applications.ByName(ctx, to.from.Application)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the application cannot be read")
	}
	events, err := n.s.d.Decode(intake.Request{Body: raw, Settings: to.from.Settings, At: p.At, Header: func(string) string { return "" },
		Query: func(name string) string {
			if name == sources.KeyParameter {
				return to.key
			}
			return ""
		}})
	var result receiving.Result
	for _, e := range events {
		if err == nil {
			p.Failure = e.FailureText()
			result, err = n.s.d.Receiver.Receive(ctx, app, to.from, e, p.At)
		}
	}
	if err != nil {
		return err
	}
	p.Outcome = string(result.Outcome)
	if result.ID != 0 {
		p.Outcome += fmt.Sprintf(" incident %d", result.ID)
	}
	return nil
}

// oneLine returns a text that fits into an answer of SMTP.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), 400)]
}

// Reset forgets the mail.
func (n *session) Reset() { n.to = nil }

// Logout ends the session.
func (n *session) Logout() error {
	n.timeout.Stop()
	if !n.left {
		n.left = true
		n.s.leave(n.peer)
	}
	return nil
}
