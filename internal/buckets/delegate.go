package buckets

import (
	"bytes"
	"log"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

// delegate receives memberlist's calls, on memberlist's goroutines and partly under its locks. It only stores hints.
type delegate struct{ g *Gossip }

var (
	_ memberlist.Delegate      = delegate{}
	_ memberlist.EventDelegate = delegate{}
)

func (d delegate) NotifyMsg(buf []byte) {
	if m, err := decode(buf); err == nil && m.node != d.g.self {
		d.g.inbox.put(m)
	}
}

func (d delegate) NotifyJoin(n *memberlist.Node) {
	if n.Name == d.g.self {
		return
	}
	d.g.mu.Lock()
	d.g.nodes[n.Name] = *n
	delete(d.g.suspects, n.Name)
	d.g.mu.Unlock()
	d.g.inbox.put(message{kind: kindChanged})
}

// NotifyUpdate is called when a node has a new address.
func (d delegate) NotifyUpdate(n *memberlist.Node) {
	if n.Name == d.g.self {
		return
	}
	d.g.mu.Lock()
	d.g.nodes[n.Name] = *n
	d.g.mu.Unlock()
}

// NotifyLeave is called for dead nodes and for nodes that left.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	if n.Name == d.g.self {
		return
	}
	d.g.mu.Lock()
	delete(d.g.nodes, n.Name)
	d.g.suspects[n.Name] = time.Now()
	d.g.mu.Unlock()
	d.g.inbox.put(message{kind: kindChanged})
	d.g.inbox.put(message{kind: kindDemand, node: n.Name})
}

func (delegate) NodeMeta(int) []byte                    { return nil }
func (delegate) GetBroadcasts(int, int) [][]byte        { return nil }
func (delegate) LocalState(bool) []byte                 { return nil }
func (delegate) MergeRemoteState(buf []byte, join bool) {}

// hintBuffer merges hints until they are taken: wake-ups are united, a node's demand replaces its earlier one. Its size
// is bounded by the number of nodes. put never blocks.
type hintBuffer struct {
	filled chan struct{} // holds a token while there may be hints to take
	mu     sync.Mutex
	now    hints
}

type hints struct {
	changed bool
	wake    Set
	demand  map[string][]byte
}

// maxNodes bounds the number of different senders between two takes.
const maxNodes = 4096

func newHintBuffer() *hintBuffer { return &hintBuffer{filled: make(chan struct{}, 1)} }

func (m *hintBuffer) put(s message) {
	m.mu.Lock()
	switch s.kind {
	case kindChanged:
		m.now.changed = true
	case kindWake:
		m.now.wake.Union(s.wake)
	case kindDemand:
		if m.now.demand == nil {
			m.now.demand = map[string][]byte{}
		}
		if _, known := m.now.demand[s.node]; known || len(m.now.demand) < maxNodes {
			m.now.demand[s.node] = s.demand
		}
	}
	m.mu.Unlock()
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

func (m *hintBuffer) take() hints {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.now
	m.now = hints{}
	return out
}

// logAdapter turns memberlist's lines into log entries. Its errors are unreachable or unknown peers. They are logged as
// information, because the database decides.
func logAdapter(l *zap.Logger) *log.Logger { return log.New(lineWriter{l}, "", 0) }

type lineWriter struct{ log *zap.Logger }

func (w lineWriter) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	if bytes.HasPrefix(line, []byte("[ERR]")) {
		w.log.Info("memberlist", zap.String("detail", text))
	} else {
		w.log.Debug("memberlist", zap.String("detail", text))
	}
	return len(line), nil
}
