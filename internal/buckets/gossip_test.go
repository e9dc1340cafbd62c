package buckets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

const patience = 20 * time.Second

// network is an in-memory network. A test can separate its hosts from each other.
type network struct {
	mu    sync.Mutex
	hosts map[string]*host
	sides map[string]int // hosts on different sides cannot reach each other
}

func newNetwork() *network { return &network{hosts: map[string]*host{}, sides: map[string]int{}} }

// host is one end of the network; it is a memberlist.NodeAwareTransport.
type host struct {
	net     *network
	addr    *net.TCPAddr
	packets chan *memberlist.Packet
	streams chan net.Conn
}

func (n *network) host() *host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := &host{
		net:     n,
		addr:    &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1000 + len(n.hosts)},
		packets: make(chan *memberlist.Packet, 256),
		streams: make(chan net.Conn, 16),
	}
	n.hosts[h.addr.String()] = h
	return h
}

func (n *network) split(side int, hs ...*host) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range hs {
		n.sides[h.addr.String()] = side
	}
}

func (n *network) reach(from *host, to string) *host {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sides[from.addr.String()] != n.sides[to] {
		return nil
	}
	return n.hosts[to]
}

func (h *host) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return h.addr.IP, h.addr.Port, nil
}
func (h *host) PacketCh() <-chan *memberlist.Packet { return h.packets }
func (h *host) StreamCh() <-chan net.Conn           { return h.streams }

func (h *host) WriteTo(b []byte, addr string) (time.Time, error) {
	return h.WriteToAddress(b, memberlist.Address{Addr: addr})
}

func (h *host) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	now := time.Now()
	if to := h.net.reach(h, a.Addr); to != nil {
		select {
		case to.packets <- &memberlist.Packet{Buf: bytes.Clone(b), From: h.addr, Timestamp: now}:
		default: // lost, as datagrams are
		}
	}
	return now, nil
}

func (h *host) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return h.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (h *host) DialAddressTimeout(a memberlist.Address, _ time.Duration) (net.Conn, error) {
	to := h.net.reach(h, a.Addr)
	if to == nil {
		return nil, errors.New("no route")
	}
	ours, theirs := net.Pipe()
	select {
	case to.streams <- theirs:
		return ours, nil
	default:
		return nil, errors.New("refused")
	}
}

func (h *host) Shutdown() error {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	delete(h.net.hosts, h.addr.String())
	return nil
}

// node is a gossip instance and the hints that it received.
type node struct {
	*Gossip
	host   *host
	stop   context.CancelFunc
	mu     sync.Mutex
	wake   Set
	tells  int
	demand map[string][]byte
}

func (n *node) heard(f func(n *node) bool) func() bool {
	return func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return f(n)
	}
}

func key(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

type cluster struct {
	t     *testing.T
	net   *network
	wg    errgroup.Group
	nodes []*node
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, net: newNetwork()}
	t.Cleanup(func() {
		for _, n := range c.nodes {
			n.stop()
		}
		require.NoError(t, c.wg.Wait())
	})
	return c
}

// addresses returns the addresses of all nodes, as the database would list them.
func (c *cluster) addresses() []string {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	var out []string
	for a := range c.net.hosts {
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}

func (c *cluster) add(name, clusterName string, keys ...[]byte) *node {
	c.t.Helper()
	n := &node{host: c.net.host(), demand: map[string][]byte{}}
	cfg := GossipConfig{
		Cluster: clusterName, Keys: keys, JoinEvery: 30 * time.Millisecond, transport: n.host, quick: true,
	}
	var err error
	n.Gossip, err = NewGossip(name, cfg, GossipHooks{
		Peers:   c.addresses,
		Changed: func() { n.mu.Lock(); n.tells++; n.mu.Unlock() },
		Wake:    func(s Set) { n.mu.Lock(); n.wake.Union(s); n.mu.Unlock() },
		Demand:  func(id string, hint []byte) { n.mu.Lock(); n.demand[id] = hint; n.mu.Unlock() },
	}, zap.NewNop())
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	c.wg.Go(func() error { return n.Run(ctx) })
	c.nodes = append(c.nodes, n)
	return n
}

func (c *cluster) eventually(what string, f func() bool) {
	c.t.Helper()
	require.Eventually(c.t, f, patience, 5*time.Millisecond, what)
}

// hears waits until a wake-up from one node reaches another.
func (c *cluster) hears(from, to *node, bucket int) {
	c.t.Helper()
	c.eventually(fmt.Sprintf("bucket %d not heard", bucket), func() bool {
		from.Wake(Of(bucket))
		return to.heard(func(n *node) bool { return n.wake.Has(bucket) })()
	})
}

func TestGossipCarriesHintsAndReportsDeaths(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, b, d := c.add("a", "x", key(1)), c.add("b", "x", key(1)), c.add("d", "x", key(1))
	c.hears(a, b, 7)
	c.hears(a, d, 7)
	c.hears(d, a, 255)
	require.True(t, a.heard(func(n *node) bool { return !n.wake.Has(7) })(), "a heard itself")

	large := bytes.Repeat([]byte("x"), maxDemand)
	for _, hint := range [][]byte{[]byte("small"), large} {
		c.eventually("demand not heard", func() bool {
			b.Demand(hint)
			return d.heard(func(n *node) bool { return bytes.Equal(n.demand["b"], hint) })()
		})
	}
	before := 0
	a.heard(func(n *node) bool { before = n.tells; return true })()
	b.Announce()
	c.eventually("change not told", a.heard(func(n *node) bool { return n.tells > before }))

	// b dies without leaving.
	c.net.split(9, b.host)
	c.eventually("death not noticed", func() bool { return slices.Contains(a.Suspects(), "b") })
	c.eventually("demand of the dead still counts", d.heard(func(n *node) bool { return n.demand["b"] == nil }))
	require.NotContains(t, a.Suspects(), "d")

	// After a network split, both sides find each other again without a restart.
	c.net.split(0, b.host)
	c.eventually("not healed", func() bool { return len(a.Suspects())+len(b.Suspects())+len(d.Suspects()) == 0 })
	c.hears(b, a, 8)
}

func TestGossipReportsALeaveAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, b := c.add("a", "x", key(1)), c.add("b", "x", key(1))
	c.hears(a, b, 1)
	b.stop()
	c.eventually("goodbye not heard", func() bool { return slices.Contains(a.Suspects(), "b") })
	c.eventually("address still given", func() bool { return b.Addr() == "" })
}

func TestGossipKeysRotateInThreeSteps(t *testing.T) {
	t.Parallel()
	older, newer := key(1), key(2)
	// During a rolling restart, nodes of two consecutive steps run at the same time.
	steps := [][][]byte{{older}, {older, newer}, {newer, older}, {newer}}
	for i := range len(steps) - 1 {
		t.Run(fmt.Sprintf("step %d", i+1), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			a, b := c.add("a", "x", steps[i]...), c.add("b", "x", steps[i+1]...)
			c.hears(a, b, 1)
			c.hears(b, a, 2)
		})
	}
}

func TestGossipRefusesNodesWithoutTheKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	a, b := c.add("a", "x", key(1)), c.add("b", "x", key(1))
	otherKey, otherName := c.add("c", "x", key(3)), c.add("d", "y", key(1))
	c.hears(a, b, 1)
	for i := range 10 { // meanwhile the nodes with another key or cluster name also send
		otherKey.Wake(Of(200))
		otherName.Wake(Of(201))
		c.hears(b, a, 10+i)
	}
	for _, n := range []*node{a, b} {
		require.True(t, n.heard(func(n *node) bool { return !n.wake.Has(200) && !n.wake.Has(201) })())
		require.Empty(t, n.Suspects())
	}
}

func TestGossipRetriesIfItsPortIsInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	g, err := NewGossip("a", GossipConfig{
		Bind: taken.Addr().String(), Keys: [][]byte{key(1)}, JoinEvery: 10 * time.Millisecond,
	}, GossipHooks{}, zap.NewNop())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var wg errgroup.Group
	wg.Go(func() error { return g.Run(ctx) })
	g.Wake(Of(1)) // must not block while gossip is not running
	g.Announce()
	require.Empty(t, g.Addr())
	require.NoError(t, taken.Close())
	require.Eventually(t, func() bool { return g.Addr() != "" }, patience, 5*time.Millisecond)
	cancel()
	require.NoError(t, wg.Wait())
	require.Empty(t, g.Addr())
}

// The same with real sockets and the intervals used in production.
func TestGossipOverSockets(t *testing.T) {
	t.Parallel()
	var wg errgroup.Group
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); require.NoError(t, wg.Wait()) })
	heard := make(chan Set, 1)
	var a, b *Gossip
	peersOf := func(other **Gossip) func() []string {
		return func() []string {
			if addr := (*other).Addr(); addr != "" {
				return []string{addr}
			}
			return nil
		}
	}
	conf := GossipConfig{Bind: "127.0.0.1:0", Advertise: "", Cluster: "x", Keys: [][]byte{key(1)}}
	var err error
	a, err = NewGossip("a", conf, GossipHooks{Peers: peersOf(&b)}, zap.NewNop())
	require.NoError(t, err)
	b, err = NewGossip("b", conf, GossipHooks{Peers: peersOf(&a), Wake: func(s Set) {
		select {
		case heard <- s:
		default:
		}
	}}, zap.NewNop())
	require.NoError(t, err)
	wg.Go(func() error { return a.Run(ctx) })
	wg.Go(func() error { return b.Run(ctx) })
	require.Eventually(t, func() bool {
		a.Wake(Of(42))
		select {
		case s := <-heard:
			return s == Of(42)
		default:
			return false
		}
	}, patience, 10*time.Millisecond)
}

func TestGossipConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]GossipConfig{
		"no key":     {Bind: "127.0.0.1:0"},
		"short key":  {Bind: "127.0.0.1:0", Keys: [][]byte{{1, 2}}},
		"second key": {Bind: "127.0.0.1:0", Keys: [][]byte{key(1), {1}}},
		"no port":    {Bind: "127.0.0.1", Keys: [][]byte{key(1)}},
		"name":       {Bind: "127.0.0.1:0", Keys: [][]byte{key(1)}, Cluster: string(make([]byte, 300))},
		"advertise":  {Bind: "127.0.0.1:0", Keys: [][]byte{key(1)}, Advertise: "host:99999"},
	} {
		_, err := NewGossip("a", cfg, GossipHooks{}, zap.NewNop())
		require.Error(t, err, name)
	}
	_, err := NewGossip("", GossipConfig{Bind: "127.0.0.1:0", Keys: [][]byte{key(1)}}, GossipHooks{}, zap.NewNop())
	require.Error(t, err)
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeChanged())
	f.Add(encodeWake(Of(1, 2, 255)))
	f.Add(encodeDemand("node", []byte("hint")))
	f.Add([]byte{kindDemand, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decode(raw)
		if err != nil {
			return
		}
		var again []byte
		switch m.kind {
		case kindWake:
			again = encodeWake(m.wake)
		case kindChanged:
			again = encodeChanged()
		case kindDemand:
			again = encodeDemand(m.node, m.demand)
		}
		require.Equal(t, raw, again)
	})
}
