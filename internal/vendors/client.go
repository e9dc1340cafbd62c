package vendors

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// ClientConfig of an HTTP client for one vendor account.
type ClientConfig struct {
	// Timeout bounds a call, from resolving the name to the last byte of the answer, beside the caller's own deadline.
	// 0 = 10 s.
	Timeout time.Duration
	// PublicOnly refuses to connect to any address that is not on the public internet; for URLs given by users.
	PublicOnly bool
	// MaxBody is how much of an answer is read, in bytes. 0 = 64 KiB.
	MaxBody int64
	// MaxConns is how many connections to one host are kept open. 0 = 128.
	MaxConns int
	// TLS is the client's TLS configuration; nil = the system's roots.
	TLS *tls.Config
}

func (c ClientConfig) withDefaults() ClientConfig {
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 10
	}
	if c.MaxConns <= 0 {
		c.MaxConns = 128
	}
	return c
}

// Client makes single HTTP calls: no redirects followed, no request repeated, answers cut at MaxBody. Safe for use by
// many goroutines at once.
type Client struct {
	cfg  ClientConfig
	http *http.Client
}

// NewClient returns a client of its own connections.
func NewClient(cfg ClientConfig) *Client {
	cfg = cfg.withDefaults()
	dialer := &net.Dialer{Timeout: min(cfg.Timeout, 5*time.Second), KeepAlive: 15 * time.Second}
	proxy := http.ProxyFromEnvironment
	if cfg.PublicOnly {
		dialer.Control = publicOnly
		// A proxy would resolve the name itself, behind our back.
		proxy = nil
	}
	return &Client{cfg: cfg, http: &http.Client{
		Transport: &http.Transport{
			Proxy:               proxy,
			DialContext:         dialer.DialContext,
			TLSClientConfig:     cfg.TLS,
			Protocols:           onlyHTTP1(),
			TLSHandshakeTimeout: 5 * time.Second,
			MaxConnsPerHost:     cfg.MaxConns,
			MaxIdleConnsPerHost: cfg.MaxConns,
			// Shorter than the idle time-outs of most servers: a connection that they close while we write leaves a message in doubt.
			IdleConnTimeout:       15 * time.Second,
			ExpectContinueTimeout: time.Second,
			// Headers are part of what a stranger may send us.
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// onlyHTTP1 gives each call a connection of its own while it lasts: one that hangs delays nothing but its own message.
func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// CallError is a call that brought no complete answer.
type CallError struct {
	// Sent tells that at least a part of the request may have reached the vendor.
	Sent bool
	Err  error
}

func (e *CallError) Error() string {
	if e.Sent {
		return "no answer after the request was sent: " + reason(e.Err)
	}
	return "request was not sent: " + reason(e.Err)
}

func (e *CallError) Unwrap() error { return e.Err }

// reason is the error without the URL, which may hold what nobody else should read.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, ErrPrivateAddress):
		return ErrPrivateAddress.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "time is up"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	return err.Error()
}

// Do makes the call. The answer's body must be closed; reading it fails with a *CallError. Errors are *CallError.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	var sent atomic.Bool
	ctx, cancel := context.WithTimeout(req.Context(), c.cfg.Timeout)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The transport takes another connection only when nothing was written to the one before.
		GetConn: func(string) { sent.Store(false) },
		// From the headers on, bytes may be on their way. A failed write may have been a partial one.
		WroteHeaders: func() { sent.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { sent.Store(true) },
	})
	req = req.WithContext(ctx)
	resp, err := c.http.Do(req)
	if err != nil {
		cancel()
		return nil, &CallError{Sent: sent.Load(), Err: err}
	}
	resp.Body = &limitedBody{body: resp.Body, left: c.cfg.MaxBody, cancel: cancel}
	return resp, nil
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// limitedBody ends after so many bytes, and ends the call's context when it is closed.
type limitedBody struct {
	body   io.ReadCloser
	left   int64
	cancel context.CancelFunc
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

// Close drains a little, so that the connection can be used again, and ends the call.
func (b *limitedBody) Close() error {
	if b.left > 0 {
		_, _ = io.CopyN(io.Discard, b.body, min(b.left, 4<<10))
	}
	err := b.body.Close()
	b.cancel()
	return err
}
