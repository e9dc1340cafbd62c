package vendors

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/idna"
)

// idleFor is how long an idle connection is kept. It is shorter than the idle time-out of most servers: if a server
// closes a connection while we write, the message is in doubt.
const idleFor = 15 * time.Second

// connection is one HTTP/1 connection, used by one call at a time.
type connection struct {
	*http.ClientConn
	host      *host
	used      bool // a call succeeded on it
	idleSince time.Time
}

// call makes one call. sent: a part of the request may have been written when it failed.
func (c *connection) call(ctx context.Context, req *http.Request) (resp *http.Response, sent bool, err error) {
	var begun atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() {
		if req.Body == nil {
			begun.Store(true)
		}
	}})
	try := req.Clone(ctx)
	if u := req.URL.User; u != nil && try.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		try.SetBasicAuth(u.Username(), password)
	}
	if req.Body != nil {
		body := req.Body
		if req.GetBody != nil {
			if body, err = req.GetBody(); err != nil {
				return nil, false, err
			}
		}
		// Headers wait in the connection's buffer until the body is read. A server does not act on a request without
		// its body.
		try.Body = &watchedBody{ReadCloser: body, conn: c, begun: &begun}
	}
	if resp, err = c.RoundTrip(try); err != nil {
		return nil, begun.Load(), err
	}
	c.used = true
	return resp, true, nil
}

// watchedBody records that a request's body is being written. It fails if the connection is known to be closed.
type watchedBody struct {
	io.ReadCloser
	conn  *connection
	begun *atomic.Bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if !b.begun.Load() {
		if err := b.conn.Err(); err != nil {
			return 0, err
		}
		b.begun.Store(true)
	}
	return b.ReadCloser.Read(p)
}

// host is the connections of one scheme and address.
type host struct {
	scheme, address string
	permits         chan struct{} // one per connection in use
	users           int           // calls that use it or wait for it; a host without users and idle connections is removed
	idle            []*connection // the last used last
}

// connections opens, keeps and bounds the connections of a client. Safe for concurrent use.
type connections struct {
	transport *http.Transport
	most      int // per host

	mu     sync.Mutex
	hosts  map[string]*host
	timer  *time.Timer // closes connections that were idle for too long; nil while none is idle
	closed bool
}

func newConnections(t *http.Transport, most int) *connections {
	return &connections{transport: t, most: most, hosts: map[string]*host{}}
}

var errNoPermit = errors.New("no connection became free in time")

// get returns a connection for the URL: an idle one or a new one. It waits while the maximum is in use, unless try is
// set. The caller must pass the connection to give or discard.
func (p *connections) get(ctx context.Context, u *url.URL, try bool) (*connection, error) {
	h, err := p.enter(u)
	if err != nil {
		return nil, err
	}
	if try {
		select {
		case h.permits <- struct{}{}:
		default:
			p.leave(h)
			return nil, errNoPermit
		}
	} else {
		select {
		case h.permits <- struct{}{}:
		case <-ctx.Done():
			p.leave(h)
			return nil, errors.Join(errNoPermit, ctx.Err())
		}
	}
	if c := p.takeIdle(h); c != nil {
		return c, nil
	}
	cc, err := p.transport.NewClientConn(ctx, h.scheme, h.address)
	if err != nil {
		<-h.permits
		p.leave(h)
		return nil, err
	}
	return &connection{ClientConn: cc, host: h}, nil
}

// enter finds the host of a URL and counts one more user of it.
func (p *connections) enter(u *url.URL) (*host, error) {
	name, port := u.Hostname(), u.Port()
	if ascii, err := idna.Lookup.ToASCII(name); err == nil {
		name = ascii
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if name == "" || port == "" {
		return nil, errors.New("the URL has no host or an unknown scheme")
	}
	address := net.JoinHostPort(name, port)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := u.Scheme + "://" + address
	h := p.hosts[key]
	if h == nil {
		h = &host{scheme: u.Scheme, address: address, permits: make(chan struct{}, p.most)}
		p.hosts[key] = h
	}
	h.users++
	return h, nil
}

func (p *connections) leave(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	p.forget(h)
}

// forget removes a host without users. The caller holds the lock.
func (p *connections) forget(h *host) {
	if h.users == 0 && len(h.idle) == 0 {
		delete(p.hosts, h.scheme+"://"+h.address)
	}
}

// takeIdle returns the connection used last that still works, or nil.
func (p *connections) takeIdle(h *host) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(h.idle) > 0 {
		c := h.idle[len(h.idle)-1]
		h.idle = slices.Delete(h.idle, len(h.idle)-1, len(h.idle))
		if c.Err() == nil && time.Since(c.idleSince) < idleFor {
			return c
		}
		_ = c.Close()
	}
	return nil
}

// give returns a connection to the pool.
func (p *connections) give(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := c.host
	<-h.permits
	h.users--
	if p.closed || c.Err() != nil {
		_ = c.Close()
		p.forget(h)
		return
	}
	c.idleSince = time.Now()
	h.idle = append(h.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(idleFor, p.prune)
	}
}

// discard closes a connection.
func (p *connections) discard(c *connection) {
	_ = c.Close()
	<-c.host.permits
	p.leave(c.host)
}

// prune closes connections that were idle for too long.
func (p *connections) prune() {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	left := 0
	for _, h := range p.hosts {
		h.idle = slices.DeleteFunc(h.idle, func(c *connection) bool {
			old := c.Err() != nil || now.Sub(c.idleSince) >= idleFor
			if old {
				_ = c.Close()
			}
			return old
		})
		left += len(h.idle)
		p.forget(h)
	}
	p.timer = nil
	if left > 0 && !p.closed {
		p.timer = time.AfterFunc(idleFor/3, p.prune)
	}
}

// close closes the idle connections. Those in use are closed when their call is done.
func (p *connections) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	for _, h := range p.hosts {
		for _, c := range h.idle {
			_ = c.Close()
		}
		h.idle = nil
		p.forget(h)
	}
}
