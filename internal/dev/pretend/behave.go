package pretend

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Kind is the kind of a behaviour.
type Kind string

const (
	// Fine behaves well; with a delay it is slow.
	Fine Kind = "fine"
	// Hang reads the request, does not accept it and never answers.
	Hang Kind = "hang"
	// HangAfter accepts the message and never answers.
	HangAfter Kind = "hang-after"
	// BreakBefore closes the connection and does not accept the message. An HTTP server reads nothing first, unless To
	// is set.
	BreakBefore Kind = "break-before"
	// BreakAfter accepts the message and closes the connection without an answer.
	BreakAfter Kind = "break-after"
	// Fail answers with Status (HTTP 5xx, SMTP 4xx) and does not accept the message.
	Fail Kind = "fail"
	// Garbage accepts the message and sends an unreadable answer.
	Garbage Kind = "garbage"
	// Reject refuses the message or its destination for good, with Code where the vendor has codes.
	Reject Kind = "reject"
	// Throttle refuses because of the rate, with RetryAfter.
	Throttle Kind = "throttle"
	// Redirect answers with a redirect to Location (not SMTP).
	Redirect Kind = "redirect"
	// RefuseConnections closes connections as they are made (SMTP answers 421).
	RefuseConnections Kind = "refuse-connections"
)

// Behaviour is how a vendor treats requests.
type Behaviour struct {
	Do Kind
	// Times is the number of requests; 0 = until the next Behave.
	Times int
	// To limits the behaviour to requests for this destination; "" = all messages; "lookup" = questions about users.
	To string
	// Status of Fail. 0 = 503, or 451 for SMTP.
	Status int
	// Code of Reject, as the vendor has it: Slack's error, Twilio's number, SMTP's enhanced code.
	Code string
	// Text of the answer; "" = a default.
	Text string
	// RetryAfter of Throttle and Fail, in seconds; 0 = none is named.
	RetryAfter int
	// DelayMS is the delay before anything else, in milliseconds.
	DelayMS int
	// Location of Redirect.
	Location string
}

// conduct is the behaviour, the rate and the log of one server. Safe for use by many goroutines at once.
type conduct struct {
	log     *Log
	mu      sync.Mutex
	list    []Behaviour
	limiter *rate.Limiter
	closed  <-chan struct{} // closed when the server closes
	end     func()          // closes it
}

// newConduct returns the conduct of a server without faults. log nil = a new log.
func newConduct(r Rate, log *Log) *conduct {
	if log == nil {
		log = NewLog(0)
	}
	closed := make(chan struct{})
	c := &conduct{log: log, closed: closed, end: sync.OnceFunc(func() { close(closed) })}
	c.Limit(r)
	return c
}

// Log holds what was received.
func (c *conduct) Log() *Log { return c.log }

// Limit replaces the rate.
func (c *conduct) Limit(r Rate) {
	var l *rate.Limiter
	if r.PerSecond > 0 {
		l = rate.NewLimiter(rate.Limit(r.PerSecond), max(r.Burst, 1))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limiter = l
}

// Behave replaces how requests are treated. Without behaviours the server has no faults.
func (c *conduct) Behave(list ...Behaviour) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.Clone(list)
}

// next takes the first behaviour that applies to a request for the destination. only, if not nil, selects behaviours.
func (c *conduct) next(to string, only func(Behaviour) bool) Behaviour {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.list {
		if b.To != "" && b.To != to || only != nil && !only(b) || only == nil && b.Do == RefuseConnections {
			continue
		}
		if b.Times > 0 {
			if b.Times--; b.Times == 0 {
				c.list = append(c.list[:i:i], c.list[i+1:]...)
			} else {
				c.list[i].Times = b.Times
			}
		}
		return b
	}
	return Behaviour{Do: Fine}
}

// room reports whether the rate allows one more request, or how long until it does.
func (c *conduct) room(now time.Time) (time.Duration, bool) {
	c.mu.Lock()
	l := c.limiter
	c.mu.Unlock()
	if l == nil {
		return 0, true
	}
	r := l.ReserveN(now, 1)
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait, false
	}
	return 0, true
}

// pause waits for the behaviour's delay. It returns false if the server or ctx ended.
func (c *conduct) pause(ctx context.Context, b Behaviour) bool {
	return b.DelayMS <= 0 || c.wait(ctx, time.After(time.Duration(b.DelayMS)*time.Millisecond))
}

// hang waits until the server or ctx ends.
func (c *conduct) hang(ctx context.Context) { c.wait(ctx, nil) }

func (c *conduct) wait(ctx context.Context, until <-chan time.Time) bool {
	select {
	case <-until:
		return true
	case <-ctx.Done():
	case <-c.closed:
	}
	return false
}

// within returns a context that ends after d or when the server closes.
func (c *conduct) within(d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	go func() {
		c.hang(ctx)
		cancel()
	}()
	return ctx, cancel
}
