package smtpd

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// tooMany is the answer to a connection of a peer that has maxPerPeer.
const tooMany = "421 4.7.0 Too many connections from your address\r\n"

// errUnanswered ends a connection whose client sends on without a command.
var errUnanswered = errors.New("too many bytes without a command")

// peerListener accepts at most maxPerPeer connections of a peer.
type peerListener struct {
	net.Listener
	s *Server
}

// Accept waits for a connection. It answers and closes those that are too many.
func (l peerListener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := peerOf(raw.RemoteAddr())
		if p := l.s.enter(host); p != nil {
			return newConn(l.s, raw, host, p), nil
		}
		l.s.mails.WithLabelValues(throttled).Inc()
		l.s.logOnce(throttled, host, "Too many connections from one address")
		_ = raw.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = raw.Write([]byte(tooMany))
		_ = raw.Close()
	}
}

// peerOf returns the name of the peer with an address. A network of 64 bits is usually one client in IPv6.
func peerOf(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return addr.String()
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}

// conn is a connection of a peer. It bounds how long it lasts, and what its client sends outside of mails.
type conn struct {
	net.Conn
	s     *Server
	host  string
	peer  *peer
	began time.Time
	close func()

	until      atomic.Pointer[time.Time] // its end
	body       atomic.Bool               // a mail is being received
	counted    atomic.Bool               // an outcome of this connection was counted
	unanswered atomic.Int64              // bytes since the last answer
}

func newConn(s *Server, raw net.Conn, host string, p *peer) *conn {
	c := &conn{Conn: raw, s: s, host: host, peer: p, began: time.Now()}
	c.close = sync.OnceFunc(func() {
		if !c.counted.Load() {
			s.mails.WithLabelValues(unused).Inc()
		}
		s.leave(p)
	})
	c.extend(s.cfg.Greeting)
	return c
}

// extend lets the connection last for d from its begin. The next read takes it into account.
func (c *conn) extend(d time.Duration) {
	until := c.began.Add(d)
	c.until.Store(&until)
}

// SetReadDeadline implements net.Conn. No deadline is after the end of the connection.
func (c *conn) SetReadDeadline(t time.Time) error {
	if until := *c.until.Load(); t.IsZero() || t.After(until) {
		t = until
	}
	return c.Conn.SetReadDeadline(t)
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if c.unanswered.Load() > maxCommand && !c.body.Load() {
		return 0, errUnanswered
	}
	n, err := c.Conn.Read(b)
	c.unanswered.Add(int64(n))
	return n, err
}

// Write implements net.Conn. It counts the refusals of the library, which reports them nowhere: it alone answers 500 to
// 504.
func (c *conn) Write(b []byte) (int, error) {
	c.unanswered.Store(0)
	if len(b) > 3 && b[0] == '5' && b[1] == '0' && b[2] >= '0' && b[2] <= '4' && (b[3] == ' ' || b[3] == '-') {
		c.counted.Store(true)
		c.s.mails.WithLabelValues(syntax).Inc()
		c.s.logOnce(syntax, c.host, "a command was answered with "+string(b[:3])) // the rest may quote the client
	}
	return c.Conn.Write(b)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.close()
	return c.Conn.Close()
}
