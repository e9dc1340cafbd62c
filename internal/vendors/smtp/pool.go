package smtp

import (
	"context"
	"sync"
	"time"
)

// pool keeps idle connections, the last used on top, and bounds how many are open. Each user of a connection holds a
// permit, and there are at most as many idle connections as free permits.
type pool struct {
	permits chan struct{}
	maxIdle time.Duration

	mu     sync.Mutex
	idle   []*conn // in the order of their return
	closed bool
	timer  *time.Timer // prunes; runs only while a connection is idle
}

func newPool(size int, maxIdle time.Duration) *pool {
	return &pool{permits: make(chan struct{}, size), maxIdle: maxIdle}
}

func (p *pool) acquire(ctx context.Context) error {
	select {
	case p.permits <- struct{}{}:
		return nil
	default:
	}
	select {
	case p.permits <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *pool) release() { <-p.permits }

// take returns the connection used last, or nil if there is none.
func (p *pool) take() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	if time.Since(c.idleSince) > p.maxIdle {
		// The one used last is too old, so all are. The timer closes them outside of the lock.
		p.idle = append(p.idle, c)
		return nil
	}
	return c
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	if p.closed || len(p.idle) >= cap(p.permits) {
		p.mu.Unlock()
		c.quit()
		return
	}
	c.idleSince = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.maxIdle, p.prune)
	}
	p.mu.Unlock()
}

// prune closes connections that were idle for too long.
func (p *pool) prune() {
	now := time.Now()
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && now.Sub(p.idle[n].idleSince) >= p.maxIdle {
		n++
	}
	old := append([]*conn(nil), p.idle[:n]...)
	p.idle = append([]*conn(nil), p.idle[n:]...)
	p.timer = nil
	if len(p.idle) > 0 && !p.closed {
		p.timer = time.AfterFunc(max(p.maxIdle-now.Sub(p.idle[0].idleSince), time.Millisecond), p.prune)
	}
	p.mu.Unlock()
	for _, c := range old {
		c.quit()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	all := p.idle
	p.idle = nil
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.mu.Unlock()
	for _, c := range all {
		c.quit()
	}
}
