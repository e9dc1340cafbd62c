package account

import (
	"slices"
	"sync"
	"time"
)

// Limit bounds how many messages of an account hold a place at once, in all and for one destination. Waiting messages
// get places in the order in which they came. A message whose destination has reached its bound does not delay the
// others. The zero value has no places until Resize. It is safe for concurrent use.
type Limit struct {
	mu        sync.Mutex
	all, each int
	held      int
	to        map[string]int
	waiting   []*waiter
}

// waiter waits for a place.
type waiter struct {
	to      string
	granted chan struct{} // closed when it has got the place
}

// Resize changes the bounds. Places that are held stay held.
func (l *Limit) Resize(all, each int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.each = all, each
	l.grant()
}

// Try takes a place if one is free and no message waits for one.
func (l *Limit) Try(to string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) == 0 && l.take(to)
}

// Acquire takes a place. It returns false when none becomes free before until, or when stop is closed. stop may be nil.
func (l *Limit) Acquire(to string, until time.Time, stop <-chan struct{}) bool {
	l.mu.Lock()
	if len(l.waiting) == 0 && l.take(to) {
		l.mu.Unlock()
		return true
	}
	w := &waiter{to: to, granted: make(chan struct{})}
	l.waiting = append(l.waiting, w)
	l.grant()
	l.mu.Unlock()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-w.granted:
		return true
	case <-timer.C:
	case <-stop:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, w)
	if i < 0 {
		return true // granted just now
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return false
}

// Release gives a place back.
func (l *Limit) Release(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	if l.to[to]--; l.to[to] == 0 {
		delete(l.to, to)
	}
	l.grant()
}

// take takes a place if the bounds allow it. The caller holds the lock.
func (l *Limit) take(to string) bool {
	if l.held >= l.all || l.to[to] >= l.each {
		return false
	}
	if l.to == nil {
		l.to = map[string]int{}
	}
	l.held++
	l.to[to]++
	return true
}

// grant gives free places to those who wait. The caller holds the lock.
func (l *Limit) grant() {
	for i := 0; i < len(l.waiting) && l.held < l.all; {
		if !l.take(l.waiting[i].to) {
			i++
			continue
		}
		close(l.waiting[i].granted)
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
}
