package escalation

import (
	"math/rand/v2"
	"sync"
	"time"
)

// maxTrouble bounds what is remembered of failures. Beyond it everything is forgotten and tried again.
const maxTrouble = 10_000

// trouble remembers what failed, how often, and until when it is left alone. It is safe for concurrent use.
type trouble struct {
	min, max time.Duration
	mu       *sync.Mutex
	cases    map[int64]*troubleCase
}

type troubleCase struct {
	failures int
	until    time.Time
}

func newTrouble(minPause, maxPause time.Duration) trouble {
	return trouble{min: minPause, max: maxPause, mu: &sync.Mutex{}, cases: map[int64]*troubleCase{}}
}

// failed notes a failure and returns how many there were in a row and how long to wait now: twice as long each time,
// more or less a quarter.
func (t trouble) failed(id int64, now time.Time) (failures int, pause time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.cases[id]
	if c == nil {
		if len(t.cases) >= maxTrouble {
			clear(t.cases)
		}
		c = &troubleCase{}
		t.cases[id] = c
	}
	c.failures++
	pause = t.max
	if shift := c.failures - 1; shift < 30 {
		pause = min(t.max, t.min<<shift)
	}
	pause = time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
	c.until = now.Add(pause)
	return c.failures, pause
}

// succeeded forgets the failures of id.
func (t trouble) succeeded(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.cases, id)
}

// failures returns how often id failed in a row.
func (t trouble) failures(id int64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.cases[id]; c != nil {
		return c.failures
	}
	return 0
}

// waiting returns what is to be left alone at now. What was not heard of for long is forgotten: another process may
// own it by then.
func (t trouble) waiting(now time.Time) []int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := []int64{}
	for id, c := range t.cases {
		switch {
		case now.Before(c.until):
			out = append(out, id)
		case now.Sub(c.until) > 2*t.max:
			delete(t.cases, id)
		}
	}
	return out
}

func (t trouble) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.cases)
}

// resting reports whether id is to be left alone at now.
func (t trouble) resting(id int64, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.cases[id]
	return c != nil && now.Before(c.until)
}
