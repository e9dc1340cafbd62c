package rate

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	hintVersion = 1
	// maxHint bounds the size of a hint. Lanes that do not fit are left out, which makes sharing a little less fair.
	maxHint = 8 << 10
	// HintLife is how long the hint of another process is used.
	HintLife = 3 * time.Second
)

// EncodeDemand writes which lanes have work in a process, as a hint for other processes (Peers.Update).
func EncodeDemand(lanes []Lane) []byte {
	out := []byte{hintVersion}
	lanes = slices.Clone(lanes)
	slices.SortFunc(lanes, compareLanes)
	for _, l := range lanes {
		m := slices.Index(users.Modes, l.Mode)
		if m < 0 {
			continue
		}
		next := append(out, byte(m)<<4|byte(l.Class))
		next = binary.AppendUvarint(next, uint64(l.Application))
		if len(next) > maxHint {
			break
		}
		out = next
	}
	return out
}

// decodeDemand reads a hint of EncodeDemand. It checks everything, because a hint comes from the network.
func decodeDemand(b []byte) (lanes []Lane, err error) {
	if len(b) < 1 || b[0] != hintVersion || len(b) > maxHint {
		return nil, errors.New("not a demand hint of this version")
	}
	for b = b[1:]; len(b) > 0; {
		m, c := int(b[0]>>4), int(b[0]&15)
		app, n := binary.Uvarint(b[1:])
		if n <= 0 || m >= len(users.Modes) || c >= ClassCount {
			return nil, errors.New("malformed demand hint")
		}
		lanes = append(lanes, Lane{users.Modes[m], messages.Class(c), int64(app)})
		b = b[1+n:]
	}
	return lanes, nil
}

// Peers holds the lanes that have work in the other processes, by their latest hints. The zero value is ready. It is
// safe for concurrent use.
type Peers struct {
	mu     sync.Mutex
	others map[string]peer
}

type peer struct {
	at    time.Time
	lanes map[Lane]bool
}

// Update replaces the lanes of a process by those of its hint; nil removes the process. A hint that cannot be read,
// such as one of another version, is ignored.
func (p *Peers) Update(now time.Time, processID string, hint []byte) {
	lanes, err := decodeDemand(hint)
	if err != nil && hint != nil {
		return
	}
	set := make(map[Lane]bool, len(lanes))
	for _, l := range lanes {
		set[l] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if hint == nil {
		delete(p.others, processID)
		return
	}
	if p.others == nil {
		p.others = map[string]peer{}
	}
	p.others[processID] = peer{now, set}
}

// fresh returns the lanes of each process whose hint is not too old.
func (p *Peers) fresh(now time.Time) []map[Lane]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []map[Lane]bool
	for id, h := range p.others {
		if now.Sub(h.at) > HintLife {
			delete(p.others, id)
			continue
		}
		out = append(out, h.lanes)
	}
	return out
}

// shares returns the share of a limit that belongs to this process's lanes of one mode, and the weight of each of these
// lanes here. sharing selects the lanes that draw from the limit. A lane that waits in n processes has weight 1/n in
// each, so that applications take turns in the cluster, not in each process.
func shares(own []Lane, others []map[Lane]bool, mode users.Mode, sharing func(Lane) bool) (share float64, weights map[Key]float64) {
	weights = map[Key]float64{}
	holders := map[Lane]int{}
	for _, l := range own {
		if sharing(l) {
			holders[l] = 1
		}
	}
	for _, o := range others {
		for l := range o {
			if sharing(l) {
				holders[l]++
			}
		}
	}
	var count [ClassCount]int
	for l := range holders {
		count[l.Class]++
	}
	parts := classParts(count)
	for _, l := range own {
		if l.Mode != mode || holders[l] == 0 {
			continue
		}
		w := 1 / float64(holders[l])
		weights[Key{l.Class, l.Application}] = w
		share += parts[l.Class] * w / float64(count[l.Class])
	}
	return min(1, max(share, 0.001)), weights
}

// classParts is how the rate divides among classes: each that waits has its floor, the most urgent has the rest.
func classParts(count [ClassCount]int) (parts [ClassCount]float64) {
	rest, top := 1.0, -1
	for c := range count {
		if count[c] == 0 {
			continue
		}
		if top < 0 {
			top = c
			continue
		}
		parts[c] = floors[c]
		rest -= floors[c]
	}
	if top >= 0 {
		parts[top] = rest
	}
	return parts
}

func compareLanes(a, b Lane) int {
	if c := slices.Index(users.Modes, a.Mode) - slices.Index(users.Modes, b.Mode); c != 0 {
		return c
	}
	if a.Class != b.Class {
		return int(a.Class) - int(b.Class)
	}
	switch {
	case a.Application < b.Application:
		return -1
	case a.Application > b.Application:
		return 1
	}
	return 0
}
