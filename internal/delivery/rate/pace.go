package rate

import (
	"sync"
	"time"
)

// Pace measures how long the steps of delivery take in one mode, so that slots are reserved and messages taken just
// early enough. It is safe for concurrent use.
type Pace struct {
	mu      sync.Mutex
	way     worst   // from take to call, without waiting for the slot
	connect worst   // to prepare the connection
	mark    worst   // from asking for the mark until it is committed
	reread  worst   // to read the incident again
	reserve worst   // to reserve a slot
	pass    worst   // over the mode's lanes: a slot that comes near is noticed only in the next pass
	rate    float64 // recent calls per second
	since   time.Time
	count   int
}

const (
	minLead = 20 * time.Millisecond
	// maxLead bounds how long before its slot a message is taken. It must be less than a claim lasts.
	maxLead = 4 * time.Second
	// tripsOfWay and tripsOfStep are the round trips to the database from take to call, and of one step: a first guess
	// before anything was measured.
	tripsOfWay, tripsOfStep = 6, 2
	// spare is added to the recent duration of a step.
	spare = 5 * time.Millisecond
	// maxMarking bounds the time for which calls are marked ahead. It must be shorter than a marked message's wait for
	// a connection.
	maxMarking = 500 * time.Millisecond
	// maxMarked bounds how many messages are marked ahead.
	maxMarked = 256
	// worstFor is how long a slow case is remembered, at least.
	worstFor = 2 * time.Second
)

// worst is the longest recent duration. A duration above maxSingle counts only if two windows of time have one. A
// process that was stopped once, or disconnected from the database, must not reserve slots seconds ahead: other
// processes could not use them.
type worst struct {
	now, before time.Duration
	since       time.Time
	windows     int
}

// maxSingle is the longest duration that counts when it is seen in one window only.
const maxSingle = 240 * time.Millisecond

func (w *worst) add(at time.Time, d time.Duration) {
	if at.Sub(w.since) > worstFor {
		w.before, w.now, w.since = w.now, 0, at
		w.windows++
	}
	w.now = max(w.now, min(d, maxLead))
}

func (w *worst) value() time.Duration {
	if w.windows < 2 {
		return w.now
	}
	return max(min(w.now, w.before), min(maxSingle, max(w.now, w.before)))
}

// or returns value, or the guess while nothing was measured.
func (w *worst) or(guess time.Duration) time.Duration {
	if w.since.IsZero() {
		return guess
	}
	return w.value()
}

func (p *Pace) note(w *worst, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.add(time.Now(), d)
}

// Prepared notes the time from take to call, without waiting for the slot.
func (p *Pace) Prepared(d time.Duration) { p.note(&p.way, d) }

// Connected notes the time to get a connection.
func (p *Pace) Connected(d time.Duration) { p.note(&p.connect, d) }

// Marked notes the time from asking for the mark to its commit.
func (p *Pace) Marked(d time.Duration) { p.note(&p.mark, d) }

// Reread notes the time to read an incident again.
func (p *Pace) Reread(d time.Duration) { p.note(&p.reread, d) }

// Passed notes the time of a pass over the lanes of the mode.
func (p *Pace) Passed(d time.Duration) { p.note(&p.pass, d) }

func (p *Pace) reserved(d time.Duration) { p.note(&p.reserve, d) }

// lead returns how long before its slot a message is taken.
func (p *Pace) lead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.way.or(tripsOfWay * p.reserve.value())
	return min(maxLead, max(minLead, d+d/4+spare)+p.pass.value())
}

// reserveAhead returns how long before a slot begins it must be asked for.
func (p *Pace) reserveAhead() time.Duration {
	lead := p.lead()
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(maxLead, lead+p.reserve.value())
}

// CallAhead returns how long before its slot a message is prepared and marked.
func (p *Pace) CallAhead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	step := tripsOfStep * p.reserve.value()
	return min(maxLead, p.connect.value()+p.mark.or(step)+p.reread.or(step)+2*spare)
}

// ReadAhead returns how long before the slot the incident is read again. It leaves time for the query. It is at most two
// thirds of maxAge, so that the incident's state is still recent when the slot begins.
func (p *Pace) ReadAhead(maxAge time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(maxAge*2/3, p.reread.or(tripsOfStep*p.reserve.value())+spare)
}

// Called counts a finished call.
func (p *Pace) Called(now time.Time) {
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

// Marking returns how many messages may be marked beyond those that may be called at once: twice as many as are called
// while a mark is made, so that the rate can grow until calls or the database bound it.
func (p *Pace) Marking(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) > time.Second {
		return 0
	}
	return min(maxMarked, int(p.rate*p.markTime().Seconds()))
}

// markTime returns twice the time that a mark takes. The caller holds the lock.
func (p *Pace) markTime() time.Duration { return min(2*p.mark.value(), maxMarking) }

// Ahead returns how many messages may be taken beyond those being called: as many as are called in the time from take
// to call, and a little more.
func (p *Pace) Ahead(now time.Time) int {
	way := max(100*time.Millisecond, p.lead()*3/2)
	p.mu.Lock()
	defer p.mu.Unlock()
	way += p.markTime()
	if now.Sub(p.since) > time.Second {
		return 0
	}
	return min(1024, int(p.rate*way.Seconds()))
}
