package vendors

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

// ClientConfig of an HTTP client for one vendor account.
type ClientConfig struct {
	// Timeout bounds a call, from resolving the name to the last byte of the answer, besides the caller's own deadline.
	// 0 = 10 s.
	Timeout time.Duration
	// PublicOnly refuses connections to addresses that are not on the public internet; for URLs given by users.
	PublicOnly bool
	// MaxBody is how much of an answer is read, in bytes. 0 = 64 KiB.
	MaxBody int64
	// MaxConns is how many connections to one host may be open at once. 0 = 128.
	MaxConns int
}

// DefaultTimeout bounds a call by default.
const DefaultTimeout = 10 * time.Second

// Connections returns how many connections an account has for a mode; configured 0 = the default of 16.
func Connections(configured int) int { return cmp.Or(max(configured, 0), 16) }

// Client makes single HTTP calls. It follows no redirects, repeats no request that may have been sent, and cuts answers
// at MaxBody. Safe for concurrent use.
type Client struct {
	cfg   ClientConfig
	conns *connections
}

// NewClient returns a client with its own connections.
func NewClient(cfg ClientConfig) *Client {
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), DefaultTimeout)
	cfg.MaxBody, cfg.MaxConns = cmp.Or(max(cfg.MaxBody, 0), 64<<10), cmp.Or(max(cfg.MaxConns, 0), 128)
	dialer := &net.Dialer{Timeout: min(cfg.Timeout, 5*time.Second), KeepAlive: 15 * time.Second}
	proxy := http.ProxyFromEnvironment
	if cfg.PublicOnly {
		dialer.Control = publicOnly
		// A proxy would resolve the name itself, without our check.
		proxy = nil
	}
	return &Client{cfg: cfg, conns: newConnections(&http.Transport{
		Proxy:                 proxy,
		DialContext:           dialer.DialContext,
		Protocols:             onlyHTTP1(),
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		// Headers are untrusted input.
		MaxResponseHeaderBytes: 64 << 10,
	}, cfg.MaxConns)}
}

// onlyHTTP1 gives each call its own connection: a call that hangs delays only its own message.
func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// CallError is the error of a call without a complete answer.
type CallError struct {
	// Sent: at least a part of the request may have reached the vendor.
	Sent bool
	Err  error
}

// errTooLate is the error of a request that was not sent because its BeginBefore had passed.
var errTooLate = errors.New("the time to begin the call has passed")

func (e *CallError) Error() string {
	if e.Sent {
		return "no answer after the request was sent: " + reason(e.Err)
	}
	return "request was not sent: " + reason(e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// reason is the error without the URL, which may hold secrets.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, errPrivateAddress):
		return errPrivateAddress.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "time is up"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return err.Error()
}

type beginKey struct{}

// BeginBefore returns a context whose requests begin before m.BeginBefore or not at all (see Client.Do).
func BeginBefore(ctx context.Context, m messages.Outbound) context.Context {
	if m.BeginBefore.IsZero() {
		return ctx
	}
	return context.WithValue(ctx, beginKey{}, m.BeginBefore)
}

func tooLate(ctx context.Context) bool {
	before, _ := ctx.Value(beginKey{}).(time.Time)
	return messages.Outbound{BeginBefore: before}.TooLate(time.Now())
}

// Do makes the call. With a context of BeginBefore, it writes nothing once that instant has passed; it checks that when
// the connection is ready, TLS included. The caller must close the answer's body. All errors, also those of reading the
// body, are *CallError.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), c.cfg.Timeout)
	for {
		conn, err := c.conns.get(ctx, req.URL, false)
		if err != nil {
			cancel()
			return nil, &CallError{Err: err}
		}
		if tooLate(ctx) {
			cancel()
			c.conns.give(conn)
			return nil, &CallError{Err: errTooLate}
		}
		used := conn.used
		resp, sent, err := conn.call(ctx, req)
		if err == nil {
			resp.Body = &limitedBody{body: resp.Body, left: c.cfg.MaxBody,
				done: func() { c.conns.give(conn); cancel() }}
			return resp, nil
		}
		c.conns.discard(conn)
		if used && !sent && ctx.Err() == nil {
			continue // the server had closed an idle connection before anything was written to it
		}
		cancel()
		return nil, &CallError{Sent: sent, Err: err}
	}
}

// Prepare reserves connections for n calls of the URL: idle ones, else new ones. It waits only for the first; if the
// others are not free at once, it reserves fewer. Send of the returned Prepared calls v.
func (c *Client) Prepare(ctx context.Context, v messages.Vendor, rawURL string, n int) (messages.Prepared, messages.Result, bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, Rejected("the address is not a URL"), false
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	p := &prepared{client: c, vendor: v}
	for i := range n {
		conn, err := c.conns.get(ctx, u, i > 0)
		if err != nil && i == 0 {
			return nil, FromError(&CallError{Err: err}), false
		}
		if err != nil {
			break
		}
		p.held = append(p.held, conn)
	}
	return p, messages.Result{}, true
}

// Probe reports whether a connection to the URL can be made.
func (c *Client) Probe(ctx context.Context, rawURL string) bool {
	p, _, ok := c.Prepare(ctx, nil, rawURL, 1)
	if ok {
		p.Release()
	}
	return ok
}

// prepared reserves connections for one message.
type prepared struct {
	client *Client
	vendor messages.Vendor
	held   []*connection
}

// Send makes the call on a reserved connection.
func (p *prepared) Send(ctx context.Context, m messages.Outbound) messages.Result {
	p.Release() // there are as many idle connections as prepared calls
	return p.vendor.Send(ctx, m)
}

// Release returns the connections to the pool.
func (p *prepared) Release() {
	for _, conn := range p.held {
		p.client.conns.give(conn)
	}
	p.held = nil
}

// Close closes the idle connections. Those in use are closed when their call is done.
func (c *Client) Close() { c.conns.close() }

// limitedBody ends after a number of bytes, and calls done when it is closed.
type limitedBody struct {
	body io.ReadCloser
	left int64
	done func()
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &CallError{Sent: true, Err: err}
	}
	return n, err
}

// Close reads a little of the rest, so that the connection can be reused, and ends the call.
func (b *limitedBody) Close() error {
	if b.done == nil {
		return nil
	}
	if b.left > 0 {
		_, _ = io.CopyN(io.Discard, b.body, min(b.left, 4<<10))
	}
	err := b.body.Close()
	b.done()
	b.done = nil
	return err
}
