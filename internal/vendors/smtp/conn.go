package smtp

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

// conn is one connection to the server, greeted and logged in. One goroutine uses it at a time.
type conn struct {
	nc net.Conn
	r  *bufio.Reader
	w  *bufio.Writer

	verified   bool // TLS with a good certificate
	pipelining bool
	utf8       bool
	maxSize    int64
	auth       []string

	sent      int  // transactions begun
	dirty     bool // an open transaction must be reset before the next one
	idleSince time.Time
}

// bound ends the connection's reads and writes when ctx ends. The returned function stops that; it returns false if ctx
// ended first.
func (c *conn) bound(ctx context.Context) func() bool {
	if at, ok := ctx.Deadline(); ok {
		_ = c.nc.SetDeadline(at)
	}
	return context.AfterFunc(ctx, func() { _ = c.nc.SetDeadline(time.Unix(1, 0)) })
}

// dial opens a connection up to the point where messages can be sent. Every failure is one of the account.
func (v *Vendor) dial(ctx context.Context) (*conn, messages.Result, bool) {
	c, err := v.open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("connect to the mail server: time is up: %w", ctx.Err())
		}
		return nil, v.connectResult(err), false
	}
	return c, messages.Result{}, true
}

func (v *Vendor) open(ctx context.Context) (*conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	nc, err := d.DialContext(ctx, "tcp", v.cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the mail server: %w", err)
	}
	c := &conn{}
	c.set(nc)
	stop := c.bound(ctx)
	err = v.greet(ctx, c)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// restedFor is how long a connection may be idle before it is checked: servers close idle ones.
const restedFor = time.Second

// ready makes a kept connection ready for MAIL. It reports whether it is.
func (c *conn) ready(ctx context.Context) bool {
	stop := c.bound(ctx)
	ok := (time.Since(c.idleSince) < restedFor || c.open(ctx)) && c.reset()
	return stop() && ok
}

// open reports whether the server has kept the connection and sent nothing on it.
func (c *conn) open(ctx context.Context) bool {
	_ = c.nc.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.r.Peek(1)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false // closed, or closing
	}
	at, _ := ctx.Deadline()
	_ = c.nc.SetReadDeadline(at)
	return ctx.Err() == nil
}

// reset ends the transaction that a refused message has left open.
func (c *conn) reset() bool {
	if !c.dirty {
		return true
	}
	rep, err := c.command("RSET", "RSET")
	c.dirty = err != nil || !rep.ok()
	return !c.dirty
}

func (c *conn) set(nc net.Conn) {
	c.nc = nc
	c.r = bufio.NewReaderSize(nc, 4096)
	c.w = bufio.NewWriterSize(nc, 16384)
}

func (v *Vendor) greet(ctx context.Context, c *conn) error {
	if v.cfg.TLS == Implicit {
		if err := v.secure(ctx, c, true); err != nil {
			return err
		}
	}
	if rep, err := readReply(c.r); err != nil {
		return fmt.Errorf("greeting: %w", err)
	} else if rep.code != 220 {
		return &replyError{"greeting", rep}
	}
	offersTLS, err := c.hello(v.cfg.Hello)
	if err != nil {
		return err
	}
	if offersTLS && (v.cfg.TLS == StartTLS || v.cfg.TLS == Opportunistic) {
		if err := v.startTLS(ctx, c); err != nil {
			return err
		}
	} else if v.cfg.TLS == StartTLS {
		return errors.New("the mail server does not offer STARTTLS")
	}
	if v.cfg.Username == "" {
		return nil
	}
	if !c.verified && !v.cfg.AllowPlainAuth {
		return errors.New("no log-in over a connection without verified TLS")
	}
	return c.logIn(v.cfg.Username, v.cfg.Password)
}

func (v *Vendor) startTLS(ctx context.Context, c *conn) error {
	rep, err := c.command("STARTTLS", "STARTTLS")
	if err != nil {
		return err
	}
	if !rep.ok() {
		return &replyError{"STARTTLS", rep}
	}
	if c.r.Buffered() > 0 {
		return errors.New("STARTTLS: the server sent data before the handshake")
	}
	if err := v.secure(ctx, c, v.cfg.TLS == StartTLS); err != nil {
		return err
	}
	_, err = c.hello(v.cfg.Hello)
	return err
}

// secure does the TLS handshake. Unless strict, a bad certificate is accepted and recorded.
func (v *Vendor) secure(ctx context.Context, c *conn, strict bool) error {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if v.cfg.TLSConfig != nil {
		cfg = v.cfg.TLSConfig.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName = v.host
	}
	c.verified = strict && !cfg.InsecureSkipVerify
	if !strict && !cfg.InsecureSkipVerify {
		roots, name := cfg.RootCAs, cfg.ServerName
		cfg.InsecureSkipVerify = true
		cfg.VerifyConnection = func(s tls.ConnectionState) error {
			c.verified = verify(s, roots, name) == nil
			return nil
		}
	}
	tc := tls.Client(c.nc, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.set(tc)
	return nil
}

func verify(s tls.ConnectionState, roots *x509.CertPool, name string) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range s.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: name, Intermediates: between})
	return err
}

// command sends one line and reads the reply.
func (c *conn) command(during, line string) (reply, error) {
	_, _ = c.w.WriteString(line + "\r\n") // Flush returns its error, too
	err := c.w.Flush()
	var rep reply
	if err == nil {
		rep, err = readReply(c.r)
	}
	if err != nil {
		return reply{}, fmt.Errorf("%s: %w", during, err)
	}
	return rep, nil
}

// hello sends EHLO and reads the server's extensions.
func (c *conn) hello(name string) (offersTLS bool, err error) {
	c.pipelining, c.utf8, c.maxSize, c.auth = false, false, 0, nil
	rep, err := c.command("EHLO", "EHLO "+name)
	if err != nil {
		return false, err
	}
	if rep.code >= 500 && rep.code < 600 {
		if rep, err = c.command("HELO", "HELO "+name); err != nil {
			return false, err
		}
		rep.lines = rep.lines[:1]
	}
	if !rep.ok() {
		return false, &replyError{"EHLO", rep}
	}
	for _, line := range rep.lines[1:] {
		words := strings.Fields(strings.ToUpper(strings.Replace(line, "=", " ", 1)))
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "STARTTLS":
			offersTLS = true
		case "PIPELINING":
			c.pipelining = true
		case "SMTPUTF8":
			c.utf8 = true
		case "AUTH":
			c.auth = append(c.auth, words[1:]...)
		case "SIZE":
			if len(words) > 1 {
				c.maxSize, _ = strconv.ParseInt(words[1], 10, 64)
			}
		}
	}
	return offersTLS, nil
}

// logIn uses the first mechanism that the server offers: with verified TLS the simple ones first, without it the one
// that does not reveal the password.
func (c *conn) logIn(user, password string) error {
	order := []string{"PLAIN", "LOGIN", "CRAM-MD5"}
	if !c.verified {
		order = []string{"CRAM-MD5", "PLAIN", "LOGIN"}
	}
	offered := slices.IndexFunc(order, func(mechanism string) bool { return slices.Contains(c.auth, mechanism) })
	if offered < 0 {
		return errors.New("log-in: the mail server offers none of PLAIN, LOGIN and CRAM-MD5")
	}
	return c.logInBy(order[offered], user, password)
}

func (c *conn) logInBy(mechanism, user, password string) error {
	const during = "log-in"
	line := "AUTH " + mechanism
	if mechanism == "PLAIN" {
		line += " " + base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password))
	}
	rep, err := c.command(during, line)
	for step := 0; err == nil && rep.code == 334 && step < 2; step++ {
		var answer string
		switch mechanism {
		case "LOGIN":
			answer = []string{user, password}[step]
		case "CRAM-MD5":
			challenge, bad := base64.StdEncoding.DecodeString(rep.text())
			if bad != nil {
				return fmt.Errorf("%s: %w", during, errGarbage)
			}
			mac := hmac.New(md5.New, []byte(password))
			_, _ = mac.Write(challenge)
			answer = user + " " + hex.EncodeToString(mac.Sum(nil))
		default:
			return &replyError{during, rep}
		}
		rep, err = c.command(during, base64.StdEncoding.EncodeToString([]byte(answer)))
	}
	if err != nil {
		return err
	}
	if rep.code != 235 {
		return &replyError{during, rep}
	}
	return nil
}

// quit sends QUIT without waiting for the reply.
func (c *conn) quit() {
	_ = c.nc.SetDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = c.w.WriteString("QUIT\r\n")
	_ = c.w.Flush()
	c.close()
}

func (c *conn) close() { _ = c.nc.Close() }
