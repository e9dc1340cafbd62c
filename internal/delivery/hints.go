package delivery

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
	// maxHint keeps a hint small; what does not fit is left out, which costs a little fairness.
	maxHint = 8 << 10
	// hintLife is how long a hint is believed.
	hintLife = 3 * time.Second
)

// encodeDemand writes which lanes wait at a process.
func encodeDemand(lanes []Lane) []byte {
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

// decodeDemand reads what encodeDemand wrote; it trusts nothing.
func decodeDemand(b []byte) (lanes []Lane, err error) {
	if len(b) < 1 || b[0] != hintVersion || len(b) > maxHint {
		return nil, errors.New("not a demand hint of this version")
	}
	for b = b[1:]; len(b) > 0; {
		m, c := int(b[0]>>4), int(b[0]&15)
		app, n := binary.Uvarint(b[1:])
		if n <= 0 || m >= len(users.Modes) || c >= classCount {
			return nil, errors.New("malformed demand hint")
		}
		lanes = append(lanes, Lane{users.Modes[m], messages.Class(c), int64(app)})
		b = b[1+n:]
	}
	return lanes, nil
}

// demands is what the processes say waits at them. It is safe for concurrent use.
type demands struct {
	mu     sync.Mutex
	others map[string]heard
}

type heard struct {
	at    time.Time
	lanes map[Lane]bool
}

// gone forgets a process.
func (d *demands) gone(processID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.others, processID)
}

// hear notes what waits at a process.
func (d *demands) hear(now time.Time, processID string, lanes []Lane) {
	set := make(map[Lane]bool, len(lanes))
	for _, l := range lanes {
		set[l] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.others == nil {
		d.others = map[string]heard{}
	}
	d.others[processID] = heard{now, set}
}

// fresh returns what is believed of the others now.
func (d *demands) fresh(now time.Time) []map[Lane]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []map[Lane]bool
	for id, h := range d.others {
		if now.Sub(h.at) > hintLife {
			delete(d.others, id)
			continue
		}
		out = append(out, h.lanes)
	}
	return out
}

// shares tells how much of a limit belongs to this process's lanes of one mode, when all lanes that pass sharing draw from
// it, and how much each of those lanes weighs here: a lane that also waits elsewhere counts for a part. The turns of
// applications are thus dealt over the cluster and not per process.
func shares(own []Lane, others []map[Lane]bool, mode users.Mode, sharing func(Lane) bool) (share float64, weights map[fairKey]float64) {
	weights = map[fairKey]float64{}
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
	var count [classCount]int
	for l := range holders {
		count[l.Class]++
	}
	parts := classParts(count)
	for _, l := range own {
		if l.Mode != mode || holders[l] == 0 {
			continue
		}
		w := 1 / float64(holders[l])
		weights[fairKey{l.Class, l.Application}] = w
		share += parts[l.Class] * w / float64(count[l.Class])
	}
	return min(1, max(share, 0.001)), weights
}

// classParts is how the rate divides among classes: each that waits has its floor, the most urgent has the rest.
func classParts(count [classCount]int) (parts [classCount]float64) {
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
