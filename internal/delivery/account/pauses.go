package account

import (
	"sync"
	"time"
)

// Pause is a time in which no process may use an account ("account:twilio/main") or a mode ("mode:sms").
type Pause struct {
	Key    string
	For    time.Duration
	Reason string
}

// Pauses are the accounts and modes that must not be used for a while. The zero value has none. It is safe for
// concurrent use.
type Pauses struct {
	mu  sync.Mutex
	all map[string]paused
}

type paused struct {
	until time.Time
	why   string
	added time.Time // by this process; zero = from the database
}

// ownFor is how long a pause that this process added is kept without a row in the database.
const ownFor = 3 * time.Second

// Set replaces the pauses by those of the database.
func (p *Pauses) Set(now time.Time, stored []Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]paused{}
	for k, x := range p.all {
		if now.Sub(x.added) < ownFor {
			all[k] = x
		}
	}
	for _, x := range stored {
		if until := now.Add(x.For); until.After(all[x.Key].until) {
			all[x.Key] = paused{until: until, why: x.Reason}
		}
	}
	p.all = all
}

// Add adds a pause that a vendor asked for, before the database knows it.
func (p *Pauses) Add(now time.Time, x Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[string]paused{}
	}
	if until := now.Add(x.For); until.After(p.all[x.Key].until) {
		p.all[x.Key] = paused{until, x.Reason, now}
	}
}

// Left returns how long a key is still paused, and why; 0 = it is not.
func (p *Pauses) Left(now time.Time, key string) (time.Duration, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.all[key]
	return max(0, x.until.Sub(now)), x.why
}
