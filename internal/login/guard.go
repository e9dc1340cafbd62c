package login

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/users"
)

// loginGuard slows down wrong passwords, per process. It counts attempts per pair of address and account, so nobody can
// lock out a person at another address. After freeAttempts the wait doubles with each attempt, up to longestWait. It also
// limits the attempts of an address per minute. It is safe for concurrent use.
type loginGuard struct {
	mu        sync.Mutex
	pairs     map[loginPair]*attempts
	addresses map[string]*attempts
}

type loginPair struct{ address, account string }

type attempts struct {
	count int
	last  time.Time // of an address: the start of its minute
	until time.Time // attempts before this instant are refused; not used for addresses
}

const (
	freeAttempts    = 5                // of an address for an account, without a pause
	addressAttempts = 60               // of an address per minute, for all accounts
	longestWait     = time.Minute      // maximum pause between attempts
	forgetAttempts  = 15 * time.Minute // attempts are forgotten so long after the last one
	maxGuarded      = 20_000           // maximum entries in each map
)

// enter counts an attempt, or refuses it with a Throttled fault that says how long to wait.
func (g *loginGuard) enter(address, name string, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	pair := pairOf(address, name)
	if g.pairs == nil {
		g.pairs, g.addresses = map[loginPair]*attempts{}, map[string]*attempts{}
	}
	a, all := recent(g.pairs, pair, now, forgetAttempts), recent(g.addresses, address, now, time.Minute)
	until := a.until
	if all.count >= addressAttempts {
		until = instant.Later(until, all.last.Add(time.Minute))
	}
	if wait := until.Sub(now); wait > 0 {
		return &fault.Error{Kind: fault.Throttled, Message: "too many attempts to log in", RetryAfter: max(wait, time.Second)}
	}
	a.count, a.last = a.count+1, now
	if over := a.count - freeAttempts; over >= 0 {
		a.until = now.Add(min(longestWait, time.Second<<min(over, 6)))
	}
	if all.count++; all.count == 1 {
		all.last = now // start of the minute
	}
	return nil
}

// succeeded forgets the attempts of an address for an account.
func (g *loginGuard) succeeded(address, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.pairs, pairOf(address, name))
}

// recent returns the attempts of a key. Attempts that are older than keep are forgotten.
func recent[K comparable](m map[K]*attempts, key K, now time.Time, keep time.Duration) *attempts {
	if a, ok := m[key]; ok && now.Sub(a.last) < keep {
		return a
	}
	shrink(m, func(a *attempts) bool { return now.Sub(a.last) < keep })
	m[key] = &attempts{}
	return m[key]
}

// shrink makes room in a full map: it deletes entries that keep rejects, then any entries.
func shrink[K comparable](m map[K]*attempts, keep func(*attempts) bool) {
	if len(m) < maxGuarded {
		return
	}
	for k, v := range m {
		if !keep(v) {
			delete(m, k)
		}
	}
	for k := range m {
		if len(m) < maxGuarded*9/10 {
			return
		}
		delete(m, k)
	}
}

func pairOf(address, name string) loginPair {
	account := users.CanonicalName(name)
	if len(account) > 255 {
		account = account[:255]
	}
	return loginPair{address, account}
}

type addressKey struct{}

// NoteAddress puts the client's address into the context of a request with a password, for the guard.
func NoteAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && (r.URL.Path == "/login" || r.URL.Path == "/login/" || strings.HasPrefix(r.URL.Path, "/account/")) {
			address, _ := ByAddress(r)
			r = r.WithContext(context.WithValue(r.Context(), addressKey{}, address))
		}
		next.ServeHTTP(w, r)
	})
}
