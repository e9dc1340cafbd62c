package delivery

import (
	"sync"
	"time"
)

// pace measures how fast messages of a line go, so that slots are reserved, and messages taken, just early enough. It is
// safe for concurrent use.
type pace struct {
	mu      sync.Mutex
	prepare time.Duration // from take to call, the slowest of late
	mark    time.Duration // of the statement before the call, the slowest of late
	rate    float64       // calls per second of late
	since   time.Time
	count   int
}

const (
	leastLead = 20 * time.Millisecond
	mostLead  = 240 * time.Millisecond
)

// slower follows a rise at once and forgets it slowly.
func slower(old, sample time.Duration) time.Duration {
	if sample > old {
		return sample
	}
	return old - (old-sample)/32
}

func (p *pace) prepared(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prepare = slower(p.prepare, min(d, time.Second))
}

func (p *pace) marked(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark = slower(p.mark, min(d, time.Second))
}

// lead is how long before its slot a message is taken.
func (p *pace) lead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(mostLead, max(leastLead, p.prepare+p.prepare/4+5*time.Millisecond))
}

// markAhead is how long before its slot a message is marked.
func (p *pace) markAhead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(maxMarkAge/2, 2*p.mark+5*time.Millisecond)
}

// called counts a finished call.
func (p *pace) called(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	if d := now.Sub(p.since); d >= 100*time.Millisecond {
		if d > time.Second { // it was idle in between
			d = time.Second
		}
		p.rate = (p.rate + float64(p.count)/d.Seconds()) / 2
		p.since, p.count = now, 0
	}
}

// ahead is how many messages may be on their way to the calls beside those being called: what is called in 50 ms.
func (p *pace) ahead(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) > time.Second {
		return 0
	}
	return min(512, int(p.rate*0.05))
}
