package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/users"
)

// scope is where this process takes messages: in its own buckets, and for some modes in buckets of members that lack
// them.
type scope struct {
	leases   []buckets.Lease
	own      buckets.Set
	standIns []buckets.StandIn
}

// scopeOf returns the present scope. A dry run takes no message for another process: it would not be sent.
func scopeOf(l Leases, dry DryRun) scope {
	s := scope{leases: l.Leases()}
	s.own = setOf(s.leases)
	if dry == DryRunOff {
		s.standIns = l.StandIns()
	}
	return s
}

// all are the buckets in which there may be messages for this process.
func (s scope) all() buckets.Set {
	out := s.own
	for _, o := range s.standIns {
		out.Add(o.Bucket)
	}
	return out
}

// of are the buckets in which this process takes messages of a mode.
func (s scope) of(m users.Mode) buckets.Set {
	out := s.own
	for _, o := range s.standIns {
		if slices.Contains(o.Modes, string(m)) {
			out.Add(o.Bucket)
		}
	}
	return out
}

// foreign are the leases of other members in whose buckets this process takes messages of a mode.
func (s scope) foreign(m users.Mode) (out []buckets.Lease) {
	for _, o := range s.standIns {
		if slices.Contains(o.Modes, string(m)) {
			out = append(out, o.Lease)
		}
	}
	return out
}

// reachable removes the work that other processes take: in stand-in buckets all modes but those that their owner lacks.
func (s scope) reachable(found []rate.Waiting) []rate.Waiting {
	if len(s.standIns) == 0 {
		return found
	}
	reach := map[users.Mode]buckets.Set{}
	for _, m := range users.Modes {
		reach[m] = s.of(m)
	}
	return slices.DeleteFunc(found, func(w rate.Waiting) bool { return !reach[w.Lane.Mode].Has(w.Bucket) })
}

// servedRead is how long an answer about modes that this process lacks is used.
const servedRead = time.Second

// lacking knows which of the modes that this process has no vendor for are served by other processes. Messages of such
// a mode wait for those (buckets.StandIn). It asks the database only while there is work in such a mode. It is safe for
// concurrent use.
type lacking struct {
	source Served // nil = no other process serves them
	modes  []users.Mode
	report *reporter

	mu     sync.Mutex
	at     time.Time
	served map[users.Mode]bool
	told   map[users.Mode]bool // logged that messages wait
}

// elsewhere reports whether another process serves a mode that this one lacks, or has served it in the last 30 seconds.
// If the database does not answer, it is taken to be so.
func (l *lacking) elsewhere(ctx context.Context, m users.Mode) bool {
	if l.source == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.at) >= servedRead {
		l.read(ctx)
	}
	if l.served[m] && !l.told[m] {
		l.report.log.Warn("no vendor for a mode here, its messages wait for other processors",
			zap.String("mode", string(m)))
	}
	l.told[m] = l.served[m]
	return l.served[m]
}

// read asks the database. The caller holds the lock.
func (l *lacking) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	unserved, err := l.source.Unserved(ctx, l.modes)
	if err != nil {
		l.report.Failed("served modes", err)
		unserved = nil
	}
	l.at = time.Now()
	for _, m := range l.modes {
		l.served[m] = !slices.Contains(unserved, m)
	}
}
