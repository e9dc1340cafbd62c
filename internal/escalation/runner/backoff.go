package runner

import (
	"math/rand/v2"
	"sync"
	"time"
)

// maxRemembered bounds how many failing objects are remembered. At the limit all are forgotten, and are tried again.
const maxRemembered = 10_000

// backoff remembers which objects failed, how often in a row, and until when they are not tried again. It is safe for
// concurrent use.
type backoff struct {
	min, max time.Duration
	mu       *sync.Mutex
	cases    map[int64]*failureCount
}

type failureCount struct {
	failures int
	until    time.Time
}

func newBackoff(minPause, maxPause time.Duration) backoff {
	return backoff{min: minPause, max: maxPause, mu: &sync.Mutex{}, cases: map[int64]*failureCount{}}
}

// failed records a failure. It returns the number of failures in a row and the pause before the next try, which doubles
// each time and varies by 25 %.
func (b backoff) failed(id int64, now time.Time) (failures int, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.cases[id]
	if c == nil {
		if len(b.cases) >= maxRemembered {
			clear(b.cases)
		}
		c = &failureCount{}
		b.cases[id] = c
	}
	c.failures++
	pause = b.max
	if shift := c.failures - 1; shift < 30 {
		pause = min(b.max, b.min<<shift)
	}
	pause = time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
	c.until = now.Add(pause)
	return c.failures, pause
}

// succeeded forgets the failures of id.
func (b backoff) succeeded(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.cases, id)
}

// failures returns how often id failed in a row.
func (b backoff) failures(id int64) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.cases[id]; c != nil {
		return c.failures
	}
	return 0
}

// waiting returns the ids that are not tried again yet. It removes old entries, because another process may own the
// object by then.
func (b backoff) waiting(now time.Time) []int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []int64{}
	for id, c := range b.cases {
		switch {
		case now.Before(c.until):
			out = append(out, id)
		case now.Sub(c.until) > 2*b.max:
			delete(b.cases, id)
		}
	}
	return out
}

func (b backoff) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.cases)
}

// waits reports whether id is not tried again yet at now.
func (b backoff) waits(id int64, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.cases[id]
	return c != nil && now.Before(c.until)
}
