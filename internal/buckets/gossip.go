package buckets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// GossipConfig configures the gossip of a process.
type GossipConfig struct {
	Bind      string   // host:port to listen on, TCP and UDP; port 0 = any free one
	Advertise string   // host:port that peers use; empty = Bind, or the first private address if Bind names none
	Cluster   string   // name of the cluster: messages with another name are refused
	Keys      [][]byte // 32 bytes each; the first one encrypts, all are accepted
	// JoinEvery is the pause between searches for peers that gossip does not know yet; default 1 s.
	JoinEvery time.Duration

	transport memberlist.NodeAwareTransport // tests only
	quick     bool                          // tests only: shorter intervals
}

// GossipHooks connect gossip with the rest of the process; nil hooks are not called. All but Peers are called on one
// goroutine of Gossip.Run, never concurrently.
type GossipHooks struct {
	Changed func()                         // members came or left, or announced changed leases
	Wake    func(Set)                      // there may be work in these buckets
	Demand  func(node string, hint []byte) // a peer's demand; nil: the peer left
	Peers   func() []string                // addresses of live members by the database
}

// Gossip exchanges hints with other members. A hint only speeds up what the database shows anyway. Reports of dead
// members count only together with the database. It is a Detector.
//
// All methods are safe for concurrent use and return at once. They do nothing while gossip is not running.
type Gossip struct {
	cfg   GossipConfig
	self  string
	hooks GossipHooks
	log   *zap.Logger

	inbox, outbox *hintBuffer

	mu       sync.Mutex
	addr     string                     // empty while not running
	nodes    map[string]memberlist.Node // live nodes without this one; copies, because memberlist changes its own
	suspects map[string]time.Time       // since when
}

// suspectsFor is how long dead nodes are remembered: longer than their rows exist in the database.
const suspectsFor = 2 * time.Minute

// NewGossip returns a gossip that sends nothing until Run. processID becomes the node's name.
func NewGossip(processID string, cfg GossipConfig, hooks GossipHooks, log *zap.Logger) (*Gossip, error) {
	cfg.JoinEvery = cmp.Or(cfg.JoinEvery, time.Second)
	if processID == "" || len(processID) > 255 || log == nil {
		return nil, errors.New("gossip: a process id and a logger are required")
	}
	if len(cfg.Keys) == 0 {
		return nil, errors.New("gossip: at least one key is required")
	}
	for i, k := range cfg.Keys {
		if len(k) != 32 {
			return nil, fmt.Errorf("gossip: key %d has %d bytes instead of 32", i+1, len(k))
		}
	}
	if len(label(cfg.Cluster)) > memberlist.LabelMaxSize {
		return nil, errors.New("gossip: the cluster's name is too long")
	}
	g := &Gossip{
		cfg: cfg, self: processID, hooks: hooks, log: log.Named("gossip"),
		inbox: newHintBuffer(), outbox: newHintBuffer(), nodes: map[string]memberlist.Node{}, suspects: map[string]time.Time{},
	}
	for _, addr := range []string{cfg.Bind, cfg.Advertise} {
		if _, _, err := hostPort(addr); addr != "" && err != nil {
			return nil, fmt.Errorf("gossip: %w", err)
		}
	}
	return g, nil
}

func label(cluster string) string { return "iris/" + cluster }

// Addr implements Detector.
func (g *Gossip) Addr() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.addr
}

// Suspects implements Detector.
func (g *Gossip) Suspects() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for id, since := range g.suspects {
		if time.Since(since) > suspectsFor {
			delete(g.suspects, id)
			continue
		}
		out = append(out, id)
	}
	return out
}

// Announce implements Detector.
func (g *Gossip) Announce() { g.outbox.put(message{kind: kindChanged}) }

// Wake notifies all peers that there may be work in these buckets.
func (g *Gossip) Wake(s Set) {
	if !s.Empty() {
		g.outbox.put(message{kind: kindWake, wake: s})
	}
}

// Demand sends all peers the demand of this process: opaque, at most maxDemand bytes. Only the latest counts.
func (g *Gossip) Demand(hint []byte) {
	if len(hint) <= maxDemand {
		g.outbox.put(message{kind: kindDemand, node: g.self, demand: append([]byte{}, hint...)})
	}
}

// Run gossips until ctx ends, then leaves. It returns nil. If gossip cannot start, for example because the port is in
// use, it logs that and retries every few seconds.
func (g *Gossip) Run(ctx context.Context) error {
	complained := false
	for {
		list, err := g.start()
		if err == nil {
			return g.runStarted(ctx, list)
		}
		if !complained {
			complained = true
			g.log.Warn("gossip cannot start, the cluster works without it but notices dead members later",
				zap.Error(err))
		}
		if !sleep(ctx, 5*g.cfg.JoinEvery) {
			return nil
		}
	}
}

func (g *Gossip) start() (*memberlist.Memberlist, error) {
	conf, err := g.config()
	if err != nil {
		return nil, err
	}
	list, err := memberlist.Create(conf)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.addr = list.LocalNode().Address()
	g.mu.Unlock()
	g.log.Info("gossip started", zap.String("address", g.Addr()))
	return list, nil
}

// runStarted runs the loops of a started gossip until ctx ends. Then it leaves.
func (g *Gossip) runStarted(ctx context.Context, list *memberlist.Memberlist) error {
	var wg errgroup.Group
	wg.Go(func() error { g.joinLoop(ctx, list); return nil })
	wg.Go(func() error { g.sendLoop(ctx, list); return nil })
	wg.Go(func() error { g.receiveLoop(ctx); return nil })
	_ = wg.Wait()

	g.send(list) // the last hints, such as freed buckets
	g.mu.Lock()
	g.addr = ""
	clear(g.nodes)
	g.mu.Unlock()
	if err := list.Leave(500 * time.Millisecond); err != nil {
		g.log.Debug("not all members were notified of the leave", zap.Error(err))
	}
	if err := list.Shutdown(); err != nil {
		g.log.Warn("gossip did not stop cleanly", zap.Error(err))
	}
	return nil
}

// config is memberlist's configuration, tuned so that the death of a process is noticed in about one second.
func (g *Gossip) config() (*memberlist.Config, error) {
	c := memberlist.DefaultLANConfig()
	c.Name = g.self
	c.Label = label(g.cfg.Cluster)
	c.ProbeInterval = 250 * time.Millisecond
	c.ProbeTimeout = 150 * time.Millisecond
	c.SuspicionMult = 3
	c.SuspicionMaxTimeoutMult = 2
	c.GossipInterval = 100 * time.Millisecond
	c.PushPullInterval = 15 * time.Second
	c.TCPTimeout = 2 * time.Second
	c.GossipToTheDeadTime = 10 * time.Second
	c.DeadNodeReclaimTime = time.Second
	c.Logger = logAdapter(g.log)
	if g.cfg.quick {
		c.ProbeInterval, c.ProbeTimeout, c.GossipInterval = 30*time.Millisecond, 15*time.Millisecond, 10*time.Millisecond
		c.PushPullInterval = 200 * time.Millisecond
	}
	ring, err := memberlist.NewKeyring(g.cfg.Keys, g.cfg.Keys[0])
	if err != nil {
		return nil, fmt.Errorf("gossip keys: %w", err)
	}
	c.Keyring = ring
	c.GossipVerifyIncoming, c.GossipVerifyOutgoing = true, true
	c.Delegate, c.Events = delegate{g}, delegate{g}
	if g.cfg.transport != nil {
		c.Transport = g.cfg.transport
		return c, nil
	}
	if c.BindAddr, c.BindPort, err = hostPort(g.cfg.Bind); err != nil {
		return nil, fmt.Errorf("gossip address: %w", err)
	}
	if c.BindAddr == "" {
		c.BindAddr = "0.0.0.0"
	}
	c.AdvertisePort = c.BindPort
	if g.cfg.Advertise != "" {
		if c.AdvertiseAddr, c.AdvertisePort, err = hostPort(g.cfg.Advertise); err != nil {
			return nil, fmt.Errorf("advertised gossip address: %w", err)
		}
		// memberlist needs an IP address with a port; operators may write names.
		ip, err := net.ResolveIPAddr("ip", c.AdvertiseAddr)
		if err != nil {
			return nil, fmt.Errorf("advertised gossip address: %w", err)
		}
		c.AdvertiseAddr = ip.String()
	}
	return c, nil
}

func hostPort(addr string) (string, int, error) {
	host, p, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port %q is not a number up to 65535", p)
	}
	return host, int(port), nil
}

// peers returns the nodes that gossip reports as live, without this one.
func (g *Gossip) peers() []memberlist.Node {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Collect(maps.Values(g.nodes))
}

// joinLoop joins every live member that gossip does not know: at the start, when a member comes, and after a network
// split of any length.
func (g *Gossip) joinLoop(ctx context.Context, list *memberlist.Memberlist) {
	notBefore := map[string]time.Time{}
	for {
		known := map[string]bool{}
		for _, n := range g.peers() {
			known[n.Address()] = true
		}
		var peers []string
		if g.hooks.Peers != nil {
			peers = g.hooks.Peers()
		}
		wanted := map[string]time.Time{}
		for _, p := range peers {
			if known[p] {
				continue
			}
			wanted[p] = notBefore[p]
			if time.Now().Before(notBefore[p]) {
				continue
			}
			if _, err := list.Join([]string{p}); err != nil {
				g.log.Debug("peer not reached", zap.String("address", p), zap.Error(err))
				wanted[p] = time.Now().Add(5 * g.cfg.JoinEvery)
			}
		}
		notBefore = wanted
		if !sleep(ctx, g.cfg.JoinEvery) {
			return
		}
	}
}

// sendLoop sends the hints of the outbox at once. Callers that add hints do not wait for the network.
func (g *Gossip) sendLoop(ctx context.Context, list *memberlist.Memberlist) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.outbox.filled:
			g.send(list)
		}
	}
}

// datagram is how many bytes fit into one UDP packet with encryption and label.
const datagram = 1000

func (g *Gossip) send(list *memberlist.Memberlist) {
	hints := g.outbox.take()
	var texts [][]byte
	if hints.changed {
		texts = append(texts, encodeChanged())
	}
	if !hints.wake.Empty() {
		texts = append(texts, encodeWake(hints.wake))
	}
	if d, ok := hints.demand[g.self]; ok {
		texts = append(texts, encodeDemand(g.self, d))
	}
	for _, n := range g.peers() {
		for _, text := range texts {
			send := list.SendBestEffort
			if len(text) > datagram {
				send = list.SendReliable
			}
			if err := send(&n, text); err != nil {
				g.log.Debug("hint not sent", zap.String("member", n.Name), zap.Error(err))
			}
		}
	}
}

// receiveLoop calls the hooks for received hints.
func (g *Gossip) receiveLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.inbox.filled:
		}
		hints := g.inbox.take()
		if hints.changed && g.hooks.Changed != nil {
			g.hooks.Changed()
		}
		if !hints.wake.Empty() && g.hooks.Wake != nil {
			g.hooks.Wake(hints.wake)
		}
		if g.hooks.Demand != nil {
			for node, hint := range hints.demand {
				g.hooks.Demand(node, hint)
			}
		}
	}
}
