package delivery

import (
	"sync"
	"time"
)

// pace measures how fast messages of a line go, so that slots are reserved, and messages taken, just early enough. It is
// safe for concurrent use.
type pace struct {
	mu      sync.Mutex
	way     worst   // from take to call, without waiting for the slot
	connect worst   // to prepare the connection
	mark    worst   // from when it is to be marked until the mark is committed
	look    worst   // to read the incident again
	reserve worst   // to reserve a slot
	pass    worst   // of the line, which sees a slot that comes near only in its next one
	rate    float64 // calls per second of late
	since   time.Time
	count   int
}

const (
	leastLead = 20 * time.Millisecond
	// mostLead bounds how long before its slot a message is taken. It must be less than a claim lasts.
	mostLead = 4 * time.Second
	// So many round trips to the database are on the way from take to call, and in one of its steps, when its connections are
	// new. That is a guess for the first messages of a process that is far from the database.
	tripsOfWay, tripsOfStep = 6, 2
	// spare is added to what a step took of late.
	spare = 5 * time.Millisecond
	// mostMarking bounds for how long calls are marked ahead. It is less than a marked message waits for a connection.
	mostMarking = connectWithin / 2
	// worstFor is how long a slow case is remembered, at least.
	worstFor = 2 * time.Second
)

// worst is the longest duration of late. More than believed counts only when it was seen in two windows of time: a process that
// was stopped once, or cut off from the database, must not reserve seconds ahead, which would take those slots from everybody.
type worst struct {
	now, before time.Duration
	since       time.Time
	windows     int
}

// believed is how long a single case may be to count at once.
const believed = 240 * time.Millisecond

func (w *worst) add(at time.Time, d time.Duration) {
	if at.Sub(w.since) > worstFor {
		w.before, w.now, w.since = w.now, 0, at
		w.windows++
	}
	w.now = max(w.now, min(d, mostLead))
}

func (w *worst) value() time.Duration {
	if w.windows < 2 {
		return w.now
	}
	return max(min(w.now, w.before), min(believed, max(w.now, w.before)))
}

// or is value, or a guess while nothing was measured.
func (w *worst) or(guess time.Duration) time.Duration {
	if w.since.IsZero() {
		return guess
	}
	return w.value()
}

func (p *pace) note(w *worst, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.add(time.Now(), d)
}

func (p *pace) prepared(d time.Duration)  { p.note(&p.way, d) }
func (p *pace) connected(d time.Duration) { p.note(&p.connect, d) }
func (p *pace) marked(d time.Duration)    { p.note(&p.mark, d) }
func (p *pace) looked(d time.Duration)    { p.note(&p.look, d) }
func (p *pace) passed(d time.Duration)    { p.note(&p.pass, d) }
func (p *pace) reserved(d time.Duration)  { p.note(&p.reserve, d) }

// lead is how long before its slot a message is taken.
func (p *pace) lead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.way.or(tripsOfWay * p.reserve.value())
	return min(mostLead, max(leastLead, d+d/4+spare)+p.pass.value())
}

// reserveAhead is how long before a slot begins it must be asked for.
func (p *pace) reserveAhead() time.Duration {
	lead := p.lead()
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(mostLead, lead+p.reserve.value())
}

// callAhead is how long before its slot a message is prepared and marked.
func (p *pace) callAhead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	step := tripsOfStep * p.reserve.value()
	return min(mostLead, p.connect.value()+p.mark.or(step)+p.look.or(step)+2*spare)
}

// lookAhead is how long before its slot the incident of a message is read again: long enough for the answer, and short enough
// that the answer is still young when the slot begins.
func (p *pace) lookAhead() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(maxLookAge*2/3, p.look.or(tripsOfStep*p.reserve.value())+spare)
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

// marking is how many messages may be marked beyond those that may be called at once: twice as many as are called while a mark
// is made, so that the rate can grow until calls or the database bound it.
func (p *pace) marking(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) > time.Second {
		return 0
	}
	return min(stageBatch, int(p.rate*p.markTime().Seconds()))
}

// markTime is twice the time that a mark takes. The caller holds the lock.
func (p *pace) markTime() time.Duration { return min(2*p.mark.value(), mostMarking) }

// ahead is how many messages may be on their way to the calls beside those being called: what is called in the time that
// the way takes, and a little more.
func (p *pace) ahead(now time.Time) int {
	way := max(100*time.Millisecond, p.lead()*3/2)
	p.mu.Lock()
	defer p.mu.Unlock()
	way += p.markTime()
	if now.Sub(p.since) > time.Second {
		return 0
	}
	return min(1024, int(p.rate*way.Seconds()))
}
