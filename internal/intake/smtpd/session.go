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

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// session is one connection after its greeting. The library calls its methods one after the other.
type session struct {
	s       *Server
	smtp    *gosmtp.Conn
	conn    *conn
	unknown int   // recipients
	size    int64 // of the mail, as its sender declares it
	to      []recipient
}

// recipient is an integration that a mail is for.
type recipient struct {
	token   string
	tokenID int64
	from    intake.Integration
	key     string // of the address
}

// problem returns an answer of SMTP.
func problem(code, class, subject, detail int, format string, args ...any) *gosmtp.SMTPError {
	return &gosmtp.SMTPError{Code: code, EnhancedCode: gosmtp.EnhancedCode{class, subject, detail},
		Message: fmt.Sprintf(format, args...)}
}

// refuse counts a refusal and returns its answer. The integrations that the mail is for show err. Without one, the
// answer is logged.
func (n *session) refuse(outcome string, answer *gosmtp.SMTPError, err error, to ...recipient) error {
	n.conn.counted.Store(true)
	for _, r := range to {
		n.s.d.Activity.Note(r.from, r.tokenID, intake.Payload{At: time.Now()}, err)
	}
	n.s.mails.WithLabelValues(outcome).Inc()
	if len(to) == 0 {
		n.s.logOnce(outcome, n.conn.host, answer.Message)
	}
	return answer
}

// Mail begins a mail. The null sender is usual for alerts that want no answer; package sources recognises bounces.
func (n *session) Mail(_ string, o *gosmtp.MailOptions) error {
	n.Reset()
	if _, secure := n.smtp.TLSConnectionState(); n.s.cfg.RequireTLS && !secure {
		return n.refuse(insecure, problem(530, 5, 7, 0, "Must issue a STARTTLS command first"), nil)
	}
	if !n.conn.peer.mails.Allow() {
		return n.refuse(throttled, problem(451, 4, 7, 1,
			"More than %d mails in a minute from your address: send it again later", n.s.cfg.PerMinute), nil)
	}
	if o != nil {
		n.size = o.Size
	}
	return nil
}

// Rcpt adds a recipient. Only the addresses of integrations are accepted.
func (n *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	if len(n.to) >= maxRecipients {
		return n.refuse(later, problem(452, 4, 5, 3, "A mail has at most %d recipients: send it again to the others",
			maxRecipients), nil)
	}
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
	case fault.Is(err, fault.NotFound):
		return n.noSuch(problem(550, 5, 1, 1, "No integration has this address"))
	case err != nil:
		return n.again(err)
	case r.from.Type != intake.Email:
		return n.noSuch(problem(550, 5, 1, 1, "No integration has this address"), r)
	case !r.from.Enabled:
		return n.refuse(refused, problem(550, 5, 2, 1, "The integration is switched off"),
			fault.Newf(fault.Forbidden, "the integration %s is switched off", r.from.Name), r)
	case n.size > n.s.cfg.MaxSize:
		return n.tooLarge(r)
	}
	if err := n.s.d.Activity.Allow(ctx, r.from, time.Now()); err != nil {
		return n.refuse(later, problem(452, 4, 2, 2, "%s: send it again later", fault.Public(err)), err, r)
	}
	n.conn.extend(maxSessionTime)
	n.to = append(n.to, r)
	return nil
}

// tooLarge refuses the mail for recipients.
func (n *session) tooLarge(to ...recipient) error {
	return n.refuse(refused, problem(552, 5, 3, 4, "The mail is larger than %d bytes", n.s.cfg.MaxSize),
		fault.Newf(fault.TooLarge, "the mail is larger than %d bytes (intake.smtp.max_size)", n.s.cfg.MaxSize), to...)
}

// noSuch refuses an unknown recipient, or an integration of another type, which shows it. Addresses cannot be guessed,
// so a connection with several of them is closed.
func (n *session) noSuch(answer *gosmtp.SMTPError, known ...recipient) error {
	var err error
	for _, r := range known {
		err = fault.Newf(fault.Forbidden, "the integration %s has the type %s: it takes no mails", r.from.Name,
			r.from.Type)
	}
	if n.unknown++; n.unknown >= maxUnknown {
		time.AfterFunc(time.Second, func() { _ = n.smtp.Close() }) // after the answer
		answer = problem(421, 4, 7, 0, "Too many unknown recipients")
	}
	return n.refuse(unknown, answer, err, known...)
}

// again answers that the sender must repeat the mail, for an error that does not concern the mail.
func (n *session) again(err error) error {
	n.conn.counted.Store(true)
	n.s.mails.WithLabelValues(later).Inc()
	n.s.d.Log.Warn("mail not accepted now; its sender repeats it", zap.String("peer", n.conn.host), zap.Error(err))
	return problem(451, 4, 3, 0, "Iris cannot take this mail now: send it again later")
}

// Data receives the mail. It returns nil when the events of the mail are durable. Of several recipients, one that must
// be repeated repeats the mail for all: those that were carried out are recognised by their keys.
func (n *session) Data(r io.Reader) (err error) {
	defer fault.Recover(&err) // a panic must not end the connections of others
	n.conn.body.Store(true)
	n.s.bodies <- struct{}{}
	defer func() { <-n.s.bodies }()
	raw, err := io.ReadAll(io.LimitReader(r, n.s.cfg.MaxSize+1))
	switch {
	case err != nil:
		return n.refuse(later, problem(451, 4, 4, 2, "The mail is not complete: send it again"),
			fault.New(fault.Invalid, "the connection ended before the mail was complete"), n.to...)
	case int64(len(raw)) > n.s.cfg.MaxSize:
		return n.tooLarge(n.to...)
	}
	n.conn.counted.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), workTimeout)
	defer cancel()
	leave, err := n.s.d.Room(ctx, len(raw))
	if err != nil {
		return n.refuse(later, problem(451, 4, 3, 2,
			"Too many large mails and requests are in work: send it again later"), err, n.to...)
	}
	defer leave()
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
	p := intake.Payload{At: time.Now()}
	err := n.carryOut(ctx, to, raw, &p)
	n.s.d.Activity.Note(to.from, to.tokenID, p, err)
	return err
}

// carryOut decodes the mail and carries its event out. It fills in the record.
func (n *session) carryOut(ctx context.Context, to recipient, raw []byte, p *intake.Payload) (err error) {
	defer fault.Recover(&err) // a mail that panics delays nothing else
	raw = bytes.ReplaceAll(raw, []byte(to.token), []byte("[token]"))
	p.Body = strings.ReplaceAll(strings.ToValidUTF8(string(raw), "\uFFFD"), "\x00", "")
	app, err := n.s.d.Applications.ByName(ctx, to.from.Application)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "the application cannot be read")
	}
	events, err := n.s.d.Decode(intake.Request{Body: raw, Settings: to.from.Settings, At: p.At,
		Header: func(string) string { return "" },
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
	if len(events) == 0 {
		p.Outcome = "it says nothing about an alert"
		return nil
	}
	p.Outcome = strings.Join(append(events[0].ReadBy(), result.Text()), "; ")
	return nil
}

// oneLine returns a text that fits into an answer of SMTP.
func oneLine(text string) string {
	return humanize.Shorten(strings.Join(strings.Fields(text), " "), 400)
}

// Reset forgets the mail.
func (n *session) Reset() {
	n.to, n.size = nil, 0
	n.conn.body.Store(false)
}

// Logout ends the session. Its connection ends later, or goes on under TLS.
func (n *session) Logout() error { return nil }
