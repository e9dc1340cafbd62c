package pretend

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"
)

// SMTPConfig of the mail server.
type SMTPConfig struct {
	Addr string // "" = a free port on 127.0.0.1
	// Username and Password are required if set.
	Username, Password string
	// Mechanisms offered for the log-in. Empty = PLAIN, LOGIN, CRAM-MD5.
	Mechanisms []string
	// TLS offers STARTTLS, or with Implicit uses TLS from the start. nil = no TLS.
	TLS      *tls.Config
	Implicit bool
	// From are the envelope senders that may send. Empty = any.
	From []string
	// MaxSize of a message in bytes. 0 = 1 MiB.
	MaxSize int64
	// ASCIIOnly does not offer SMTPUTF8.
	ASCIIOnly bool
	// Light keeps no bodies and reads no parts, for load tests.
	Light bool
	Rate  Rate
}

// SMTP simulates a mail server.
type SMTP struct {
	*conduct
	cfg    SMTPConfig
	ln     net.Listener
	server *gosmtp.Server
	wg     sync.WaitGroup
	conns  atomic.Int64
}

// NewSMTP returns a mail server that is not started. log nil = one of its own.
func NewSMTP(cfg SMTPConfig, log *Log) *SMTP {
	if len(cfg.Mechanisms) == 0 {
		cfg.Mechanisms = []string{"PLAIN", "LOGIN", "CRAM-MD5"}
	}
	if cfg.MaxSize <= 0 {
		cfg.MaxSize = 1 << 20
	}
	return &SMTP{conduct: newConduct(cfg.Rate, log), cfg: cfg}
}

// Start listens.
func (s *SMTP) Start() error {
	ln, err := net.Listen("tcp", cmp.Or(s.cfg.Addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	s.ln = ln
	picky := net.Listener(&pickyListener{Listener: ln, conduct: s.conduct,
		greet: "421 4.3.2 out of order, try later\r\n"})
	if s.cfg.Implicit {
		picky = tls.NewListener(picky, s.cfg.TLS)
	}
	s.server = gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) {
		s.conns.Add(1)
		return &mailSession{s: s, conn: c}, nil
	}))
	s.server.Domain = "pretend.invalid"
	s.server.MaxMessageBytes = s.cfg.MaxSize
	s.server.MaxRecipients = 1
	s.server.AllowInsecureAuth = true
	s.server.EnableSMTPUTF8 = !s.cfg.ASCIIOnly
	s.server.ErrorLog = log.New(io.Discard, "", 0)
	s.server.ReadTimeout = 5 * time.Minute
	if !s.cfg.Implicit {
		s.server.TLSConfig = s.cfg.TLS
	}
	s.wg.Go(func() { _ = s.server.Serve(picky) })
	return nil
}

// Close stops the server and closes its connections.
func (s *SMTP) Close() {
	s.end()
	if s.server != nil {
		// The library does not close a listener before it began to serve.
		_ = s.ln.Close()
		_ = s.server.Close()
	}
	s.wg.Wait()
}

// Addr is the server's host:port.
func (s *SMTP) Addr() string { return s.ln.Addr().String() }

// Connections is how many connections sent EHLO so far.
func (s *SMTP) Connections() int64 { return s.conns.Load() }

// mailSession is one connection.
type mailSession struct {
	s      *SMTP
	conn   *gosmtp.Conn
	known  bool // logged in
	entry  Entry
	behave Behaviour
}

func (m *mailSession) Reset()        { m.entry = Entry{} }
func (m *mailSession) Logout() error { return nil }

// AuthMechanisms is what the server offers.
func (m *mailSession) AuthMechanisms() []string {
	if m.s.cfg.Username == "" {
		return nil
	}
	return m.s.cfg.Mechanisms
}

// Auth begins a log-in.
func (m *mailSession) Auth(mechanism string) (sasl.Server, error) {
	if !slices.Contains(m.AuthMechanisms(), mechanism) {
		return nil, gosmtp.ErrAuthUnknownMechanism
	}
	switch mechanism {
	case "PLAIN":
		return sasl.NewPlainServer(func(_, user, password string) error { return m.logIn(user, password) }), nil
	case "LOGIN":
		return m.login(), nil
	default:
		return m.cramMD5(), nil
	}
}

func (m *mailSession) logIn(user, password string) error {
	if m.known = user == m.s.cfg.Username && password == m.s.cfg.Password; !m.known {
		return gosmtp.ErrAuthFailed
	}
	return nil
}

// steps is a log-in with several challenges.
type steps func(response []byte) (challenge []byte, done bool, err error)

func (s steps) Next(response []byte) (challenge []byte, done bool, err error) { return s(response) }

// login asks for user and password, one after the other.
func (m *mailSession) login() steps {
	var responses []string // the first is to no challenge
	return func(response []byte) ([]byte, bool, error) {
		responses = append(responses, string(response))
		switch len(responses) {
		case 1:
			return []byte("Username:"), false, nil
		case 2:
			return []byte("Password:"), false, nil
		}
		return nil, true, m.logIn(responses[1], responses[2])
	}
}

// cramMD5 checks a keyed digest of its challenge.
func (m *mailSession) cramMD5() steps {
	challenge, sent := "<"+newSID("")+"@pretend.invalid>", false
	return func(response []byte) ([]byte, bool, error) {
		if !sent {
			sent = true
			return []byte(challenge), false, nil
		}
		mac := hmac.New(md5.New, []byte(m.s.cfg.Password))
		_, _ = mac.Write([]byte(challenge))
		if m.known = string(response) == m.s.cfg.Username+" "+hex.EncodeToString(mac.Sum(nil)); !m.known {
			return nil, false, gosmtp.ErrAuthFailed
		}
		return nil, true, nil
	}
}

func smtpError(code int, enhanced gosmtp.EnhancedCode, text string) *gosmtp.SMTPError {
	return &gosmtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: text}
}

func (m *mailSession) Mail(from string, _ *gosmtp.MailOptions) error {
	m.entry = Entry{Vendor: SMTPVendor, Mode: "email", At: time.Now(), From: from}
	if m.s.cfg.Username != "" && !m.known {
		return m.refused(smtpError(530, gosmtp.EnhancedCode{5, 7, 0}, "Authentication required"))
	}
	if from == "" || len(m.s.cfg.From) > 0 && !slices.Contains(m.s.cfg.From, from) {
		return m.refused(smtpError(553, gosmtp.EnhancedCode{5, 7, 1}, "Sender address rejected: not owned by user"))
	}
	return nil
}

func (m *mailSession) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	m.entry.To = to
	if wait, ok := m.s.room(time.Now()); !ok {
		return m.refused(tooFast(retryAfter(wait)))
	}
	m.behave = m.s.next(to, nil)
	b := m.behave
	if !m.s.pause(context.Background(), b) {
		return errClosed
	}
	if b.Do != Fine {
		m.entry.Reason = string(b.Do)
	}
	switch b.Do {
	case BreakBefore:
		m.ends(true)
		return errClosed
	case Hang:
		m.entry.AnsweredAt = time.Now()
		m.s.log.add(m.entry)
		m.s.hang(context.Background())
		return errClosed
	case Fail:
		return m.refused(smtpError(cmp.Or(b.Status, 451), gosmtp.EnhancedCodeNotSet, cmp.Or(b.Text, "out of order")))
	case Throttle:
		return m.refused(tooFast(b.RetryAfter))
	case Reject:
		return m.refused(smtpError(cmp.Or(b.Status, 550), enhanced(cmp.Or(b.Code, "5.1.1")),
			cmp.Or(b.Text, "User unknown")))
	}
	return nil
}

var errClosed = errors.New("closed")

func tooFast(seconds int) *gosmtp.SMTPError {
	text := "Rate limit exceeded"
	if seconds > 0 {
		text += fmt.Sprintf(", try again in %d seconds", seconds)
	}
	return smtpError(450, gosmtp.EnhancedCode{4, 7, 1}, text)
}

func enhanced(text string) gosmtp.EnhancedCode {
	var e gosmtp.EnhancedCode
	for i, p := range strings.SplitN(text, ".", 3) {
		e[i], _ = strconv.Atoi(p)
	}
	return e
}

// refused logs and returns a refusal.
func (m *mailSession) refused(err *gosmtp.SMTPError) error {
	m.entry.Status, m.entry.Reason, m.entry.Answered, m.entry.AnsweredAt = err.Code, err.Message, true, time.Now()
	m.s.log.add(m.entry)
	return err
}

// ends logs the entry as not accepted and closes the connection.
func (m *mailSession) ends(hard bool) {
	m.entry.AnsweredAt = time.Now()
	m.s.log.add(m.entry)
	reset(m.conn.Conn(), hard)
}

func (m *mailSession) Data(r io.Reader) error {
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r); err != nil {
		var tooLarge *gosmtp.SMTPError
		if errors.As(err, &tooLarge) {
			return m.refused(tooLarge)
		}
		return err
	}
	if why := m.entry.readMail(raw.Bytes(), m.s.cfg.Light); why != "" {
		return m.refused(smtpError(554, gosmtp.EnhancedCode{5, 6, 0}, why))
	}
	e := &m.entry
	e.Accepted, e.AnsweredAt, e.Status = true, time.Now(), 250
	switch m.behave.Do {
	case HangAfter, BreakAfter, Garbage:
		e.Status = 0
		m.s.log.add(*e)
		if m.behave.Do == Garbage {
			_, _ = io.WriteString(m.conn.Conn(), "\x00\xffwhat was that?\r\n")
		}
		if m.behave.Do == HangAfter {
			m.s.hang(context.Background())
		}
		reset(m.conn.Conn(), false)
		return errClosed
	}
	e.Answered = true
	m.s.log.add(*e)
	return nil
}
