package wire

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

const (
	// maxTurns is how many searches of one caller run at a time. It is well below the number of database connections.
	maxTurns = 5
	// turnWait is how long a search waits before it is refused.
	turnWait = 5 * time.Second
)

// Turns limits how many searches of one caller run at a time, so that no caller uses all database connections. Further
// searches wait. It is safe for concurrent use.
type Turns struct {
	errors *Errors
	wait   time.Duration

	mu      sync.Mutex
	callers map[string]*turn
}

// turn is the state of one caller. running has a token for each running search; users counts the running and waiting
// requests.
type turn struct {
	running chan struct{}
	users   int
}

// NewTurns returns Turns that answers refusals with e.
func NewTurns(e *Errors) *Turns {
	return &Turns{errors: e, wait: turnWait, callers: map[string]*turn{}}
}

// Middleware makes requests with a query wait for their caller's turn. It must run after authentication (WithActor).
func (t *Turns) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		caller := callerOf(r)
		mine := t.enter(caller)
		defer t.leave(caller, mine)
		timer := time.NewTimer(t.wait)
		defer timer.Stop()
		select {
		case mine.running <- struct{}{}:
			defer func() { <-mine.running }()
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
			t.errors.Write(w, r, r.Context().Err())
		case <-timer.C:
			t.errors.Write(w, r, &fault.Error{Kind: fault.Throttled, RetryAfter: time.Second,
				Message: "Too many searches of this caller are running; send fewer at a time"})
		}
	})
}

// callerOf returns a name of the caller: the application or person, else the network address.
func callerOf(r *http.Request) string {
	if actor := Actor(r.Context()); actor.Known() {
		return actor.String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "address " + host
}

func (t *Turns) enter(caller string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.callers[caller]
	if mine == nil {
		mine = &turn{running: make(chan struct{}, maxTurns)}
		t.callers[caller] = mine
	}
	mine.users++
	return mine
}

func (t *Turns) leave(caller string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.callers, caller)
	}
}
