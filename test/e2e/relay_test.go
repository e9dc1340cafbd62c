package e2e

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay forwards TCP and UDP between a program and its peer. While it is cut, it forwards nothing and closes no
// connection. TCP data from that time arrives when the relay is mended.
type relay struct {
	tcp    net.Listener
	udp    net.PacketConn // nil = TCP only
	target string
	passed atomic.Int64 // datagrams

	mu   sync.Mutex
	open chan struct{} // closed while the relay forwards
	ends map[net.Conn]bool
	wg   sync.WaitGroup
}

// newRelay listens on a free port of loopback; target may be set later, before anybody connects.
func newRelay(t *testing.T, target string, datagrams bool) *relay {
	t.Helper()
	r := &relay{target: target, open: make(chan struct{}), ends: map[net.Conn]bool{}}
	close(r.open)
	var err error
	for range 20 {
		r.tcp, err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		if !datagrams {
			break
		}
		if r.udp, err = net.ListenPacket("udp", r.addr()); err == nil {
			break
		}
		_ = r.tcp.Close() // the port is in use for UDP
	}
	require.NoError(t, err)
	r.wg.Go(r.accept)
	if r.udp != nil {
		r.wg.Go(r.carry)
	}
	t.Cleanup(r.close)
	return r
}

func (r *relay) addr() string { return r.tcp.Addr().String() }

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.open:
	default:
		close(r.open)
	}
}

func (r *relay) gate() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

func (r *relay) close() {
	_ = r.tcp.Close()
	if r.udp != nil {
		_ = r.udp.Close()
	}
	r.mend()
	r.mu.Lock()
	for c := range r.ends {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func (r *relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends[c] = true
}

func (r *relay) accept() {
	for {
		near, err := r.tcp.Accept()
		if err != nil {
			return
		}
		r.keep(near)
		r.wg.Go(func() {
			defer func() { _ = near.Close() }()
			<-r.gate()
			far, err := net.Dial("tcp", r.target)
			if err != nil {
				return
			}
			r.keep(far)
			var both sync.WaitGroup
			both.Go(func() { r.pump(near, far) })
			both.Go(func() { r.pump(far, near) })
			both.Wait()
		})
	}
}

// pump copies one direction. While the relay is cut, it also delays the end of a connection.
func (r *relay) pump(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-r.gate()
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			_ = from.Close()
			_ = to.Close()
			return
		}
	}
}

// carry forwards datagrams. While the relay is cut, they are lost. Answers do not use the relay, because members answer
// to the advertised address.
func (r *relay) carry() {
	buf := make([]byte, 64<<10)
	for {
		n, _, err := r.udp.ReadFrom(buf)
		if err != nil {
			return
		}
		select {
		case <-r.gate():
		default:
			continue
		}
		to, err := net.ResolveUDPAddr("udp", r.target)
		if err != nil {
			continue
		}
		if _, err := r.udp.WriteTo(buf[:n], to); err == nil {
			r.passed.Add(1)
		}
	}
}
