package bench

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// answerPatience is how long an answer may take.
	answerPatience = 30 * time.Second
	// keptIdle is how long a connection may lie unused; servers close theirs sooner or later, and a request on a closed one
	// would count as one without an answer.
	keptIdle = 5 * time.Second
)

// transport does plain HTTP/1.1 requests over kept connections, one goroutine each: the load generator shares its machine
// with what it measures, and half of what net/http's own transport costs goes into its handing over between goroutines. It
// knows neither TLS nor proxies; other requests go to next. Safe for concurrent use.
type transport struct {
	next http.RoundTripper

	mu   sync.Mutex
	idle map[string][]*link // by address; the latest used last
}

// link is one connection.
type link struct {
	net.Conn
	r    *bufio.Reader
	w    *bufio.Writer
	used time.Time
}

// RoundTrip implements http.RoundTripper. The answer's body is read before it returns.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "http" {
		return t.next.RoundTrip(req)
	}
	addr := req.URL.Host
	if req.URL.Port() == "" {
		addr = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	ctx := req.Context()
	l, err := t.link(ctx, addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	resp, err := l.exchange(req)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	if resp.Close || !stop() {
		_ = l.Close()
		return resp, nil
	}
	l.used = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle[addr] = append(t.idle[addr], l)
	return resp, nil
}

// link returns a kept connection, or a new one.
func (t *transport) link(ctx context.Context, addr string) (*link, error) {
	t.mu.Lock()
	var kept *link
	if idle := t.idle[addr]; len(idle) > 0 {
		kept = idle[len(idle)-1]
		t.idle[addr] = idle[:len(idle)-1]
	}
	t.mu.Unlock()
	if kept != nil && time.Since(kept.used) < keptIdle {
		return kept, nil
	}
	if kept != nil {
		_ = kept.Close()
	}
	c, err := (&net.Dialer{Timeout: answerPatience}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &link{Conn: c, r: bufio.NewReader(c), w: bufio.NewWriter(c)}, nil
}

// exchange sends a request and reads the whole answer.
func (l *link) exchange(req *http.Request) (*http.Response, error) {
	if err := l.SetDeadline(time.Now().Add(answerPatience)); err != nil {
		return nil, err
	}
	if err := req.Write(l.w); err != nil {
		return nil, err
	}
	if err := l.w.Flush(); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(l.r, req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it is read
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}
