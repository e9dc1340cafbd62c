package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"os"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// TLSMode is how the connection is protected.
type TLSMode string

const (
	// Opportunistic uses STARTTLS if the server offers it, and does not require a good certificate.
	Opportunistic TLSMode = "opportunistic"
	// StartTLS requires STARTTLS and a good certificate.
	StartTLS TLSMode = "starttls"
	// Implicit uses TLS from the first byte (usually port 465).
	Implicit TLSMode = "implicit"
	// None never uses TLS.
	None TLSMode = "none"
)

// Config of the account.
type Config struct {
	// Account distinguishes accounts of one kind. "" = "main".
	Account string
	// Addr is the server, host:port. Without a port: 465 for Implicit, 587 with a user name, else 25.
	Addr string
	// From is the sender, "Iris <iris@example.com>" or the bare address; also of the envelope.
	From string
	// ReplyTo is the address for answers. "" = From, or the message's own sender.
	ReplyTo string
	// TLS mode. "" = Implicit on port 465, StartTLS with a user name, else Opportunistic.
	TLS TLSMode
	// TLSConfig is the client's TLS configuration (roots, client certificate); nil = the system's roots.
	TLSConfig *tls.Config
	// Username and Password log in, with PLAIN, LOGIN or CRAM-MD5. "" = no log-in.
	Username, Password string
	// AllowPlainAuth permits the log-in over a connection without verified TLS.
	AllowPlainAuth bool
	// Hello is the name in EHLO. "" = the machine's name.
	Hello string
	// OneClick returns the URL for Gmail's button in an incident mail; nil or "" = no button.
	OneClick func(m messages.Outbound) string
	// MaxConns is how many connections may be open at once. 0 = 32.
	MaxConns int
	// MaxPerConn is how many messages are sent over one connection before a new one is opened. 0 = 1000.
	MaxPerConn int
	// IdleTimeout is how long an unused connection is kept. 0 = 20 s.
	IdleTimeout time.Duration
	// Timeout bounds all commands for one message, besides the caller's deadline. 0 = 20 s.
	Timeout time.Duration
}

// Vendor sends e-mail. Safe for concurrent use.
type Vendor struct {
	vendors.Identity
	cfg     Config
	host    string
	from    *mail.Address
	replyTo *mail.Address
	pool    *pool
}

// New checks cfg and returns a vendor; it opens no connection.
func New(cfg Config) (*Vendor, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &Vendor{Identity: vendors.NewIdentity("smtp", cfg.Account, cfg.MaxConns, users.Email), cfg: cfg}
	if v.host, _, err = net.SplitHostPort(cfg.Addr); err != nil || v.host == "" {
		return nil, fault.Invalidf("addr", "smtp: addr is not host:port")
	}
	if v.from, err = address(cfg.From); err != nil {
		return nil, fault.Invalidf("from", "smtp: from is not a mail address: %s", err)
	}
	if cfg.ReplyTo != "" {
		if v.replyTo, err = address(cfg.ReplyTo); err != nil {
			return nil, fault.Invalidf("reply_to", "smtp: reply_to is not a mail address: %s", err)
		}
	}
	switch cfg.TLS {
	case Opportunistic, StartTLS, Implicit, None:
	default:
		return nil, fault.Invalidf("tls", "smtp: tls is %q, not one of opportunistic, starttls, implicit, none",
			cfg.TLS)
	}
	if cfg.Username != "" && cfg.TLS == None && !cfg.AllowPlainAuth {
		return nil, fault.Invalidf("tls", "smtp: a log-in without TLS must be allowed explicitly")
	}
	if strings.ContainsAny(cfg.Hello, " \r\n\t<>") {
		return nil, fault.Invalidf("hello", "smtp: hello is not a host name")
	}
	v.pool = newPool(cfg.MaxConns, cfg.IdleTimeout)
	return v, nil
}

func (c Config) withDefaults() (Config, error) {
	if c.Addr == "" {
		return c, fault.Invalidf("addr", "smtp: the server's address is missing")
	}
	_, port, err := net.SplitHostPort(c.Addr)
	if c.TLS == "" {
		switch {
		case err == nil && port == "465":
			c.TLS = Implicit
		case c.Username != "":
			c.TLS = StartTLS
		default:
			c.TLS = Opportunistic
		}
	}
	if err != nil {
		port = "25"
		if c.TLS == Implicit {
			port = "465"
		} else if c.Username != "" {
			port = "587"
		}
		c.Addr = net.JoinHostPort(strings.Trim(c.Addr, "[]"), port)
	}
	if c.Hello == "" {
		c.Hello = "localhost"
		if name, err := os.Hostname(); err == nil && name != "" && !strings.ContainsAny(name, " \r\n\t<>") {
			c.Hello = name
		}
	}
	c.MaxConns, c.MaxPerConn = cmp.Or(max(c.MaxConns, 0), 32), cmp.Or(max(c.MaxPerConn, 0), 1000)
	c.IdleTimeout, c.Timeout = cmp.Or(max(c.IdleTimeout, 0), 20*time.Second), cmp.Or(max(c.Timeout, 0), 20*time.Second)
	return c, nil
}

// Close sends QUIT on the idle connections. Those in use are closed when their message is done.
func (v *Vendor) Close() { v.pool.close() }

// Probe reports whether the server accepts a connection and our log-in.
func (v *Vendor) Probe(ctx context.Context) bool {
	c, _, ok := v.connect(ctx)
	if ok {
		v.pool.put(c)
		v.pool.release()
	}
	return ok
}

// Check logs in as for a mail, and sends none. The error says what failed, without secrets.
func (v *Vendor) Check(ctx context.Context) error {
	c, r, ok := v.connect(ctx)
	if !ok {
		return errors.New(r.Detail)
	}
	v.pool.put(c)
	v.pool.release()
	return nil
}

// Send sends m to its destination, one address.
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	p, r, ok := v.Prepare(ctx, m)
	if !ok {
		return r
	}
	return p.Send(ctx, m)
}

// Prepare gets a connection on which the server waits for MAIL: a kept one, or a new one after greeting and log-in.
func (v *Vendor) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	if r, ok := vendors.Begun(ctx); !ok {
		return nil, r, false
	}
	if _, err := recipient(m); err != nil {
		return nil, vendors.Gone("%s", err), false
	}
	ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	c, r, ok := v.connect(ctx)
	if !ok {
		return nil, r, false
	}
	return &prepared{v, c}, messages.Result{}, true
}

// prepared is a connection that is reserved for one message, with its permit.
type prepared struct {
	v *Vendor
	c *conn
}

// Send sends m over the connection.
func (p *prepared) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		p.Release()
		return r
	}
	to, err := recipient(m)
	if err != nil {
		p.Release()
		return vendors.Gone("%s", err)
	}
	env, err := p.v.build(m, to, time.Now())
	if err != nil {
		p.Release()
		return vendors.Rejected("%s", err)
	}
	defer env.release()
	defer p.v.pool.release()
	ctx, cancel := context.WithTimeout(ctx, p.v.cfg.Timeout)
	defer cancel()
	return p.v.exchange(ctx, p.c, env)
}

// Release returns the connection to the pool.
func (p *prepared) Release() {
	p.v.pool.put(p.c)
	p.v.pool.release()
}

// connect returns a connection that is ready for MAIL. The caller then holds a permit of the pool.
func (v *Vendor) connect(ctx context.Context) (*conn, messages.Result, bool) {
	if err := v.pool.acquire(ctx); err != nil {
		return nil, vendors.AccountFailed(vendors.Unavailable("no connection to the mail server became free in time")), false
	}
	for c := v.pool.take(); c != nil; c = v.pool.take() {
		if c.ready(ctx) {
			return c, messages.Result{}, true
		}
		c.close()
	}
	// The server's greeting may take longer than ctx allows. The connection is then kept for the next message.
	done := make(chan dialled, 1)
	go func() {
		long, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.cfg.Timeout)
		defer cancel()
		c, r, ok := v.dial(long)
		done <- dialled{c, r, ok}
	}()
	select {
	case d := <-done:
		if !d.ok {
			v.pool.release()
		}
		return d.c, d.r, d.ok
	case <-ctx.Done():
		go func() {
			defer v.pool.release()
			if d := <-done; d.ok {
				v.pool.put(d.c)
			}
		}()
		return nil, v.connectResult(fmt.Errorf("connect to the mail server: time is up: %w", ctx.Err())), false
	}
}

// dialled is the result of opening a connection.
type dialled struct {
	c  *conn
	r  messages.Result
	ok bool
}

// exchange sends env over c, or over a new connection if the server had closed c before it accepted anything of the
// message.
func (v *Vendor) exchange(ctx context.Context, c *conn, env *envelope) messages.Result {
	r, again := v.over(ctx, c, env)
	if !again {
		return r
	}
	c, r, ok := v.dial(ctx)
	if !ok {
		return r
	}
	r, _ = v.over(ctx, c, env)
	return r
}

// over sends env over c and returns c to the pool or closes it. again: c was a reused connection, and was closed before
// the server accepted anything of the message.
func (v *Vendor) over(ctx context.Context, c *conn, env *envelope) (r messages.Result, again bool) {
	stop := c.bound(ctx)
	used := c.sent > 0
	r, state := c.transact(env)
	if r.Outcome != messages.OutcomeCancelled {
		c.sent++
	}
	if !stop() {
		state = broken // the deadline ended it; the state of the connection is unknown
	}
	switch {
	case state == stale && used && ctx.Err() == nil:
		c.close()
		return r, true
	case state == reusable && c.sent < v.cfg.MaxPerConn:
		v.pool.put(c)
	case state == reusable:
		c.quit()
	default:
		c.close()
	}
	return r, false
}

// secrets returns the texts that must not be stored or logged.
func (v *Vendor) secrets() []string { return []string{v.cfg.Password} }

// replyError is a reply of the server that ends the connection.
type replyError struct {
	during string
	reply  reply
}

func (e *replyError) Error() string { return e.during + ": " + e.reply.String() }

// connectResult maps a failure to get a connection: nothing was sent, and the message is not the cause.
func (v *Vendor) connectResult(err error) messages.Result {
	var said *replyError
	if errors.As(err, &said) && said.reply.rate() {
		return vendors.Throttled(said.reply.after(), "%s", vendors.Clean(err.Error(), v.secrets()...))
	}
	return vendors.AccountFailed(vendors.Unavailable("%s", vendors.Clean(err.Error(), v.secrets()...)))
}
