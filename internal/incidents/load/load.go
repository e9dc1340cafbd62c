package load

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
)

// Pending counts the messages that wait to be sent, by application id.
type Pending interface {
	Pending(ctx context.Context) (map[int64]int64, error)
}

const (
	// loadAge is the pause between two counts. What this process accepted since the last count is added to it.
	loadAge = time.Second
	// incidentFactor: incidents are refused at this multiple of the cap, long after notifications.
	incidentFactor = 4
	// retryAfter is how long an application above its cap should wait.
	retryAfter = 5 * time.Second
)

// Load knows which applications have more waiting messages than their cap. Run counts in the background. Requests use
// the last count and never wait for one. Load is safe for concurrent use.
type Load struct {
	pending Pending
	log     *zap.Logger
	asked   chan struct{} // buffered; holds a token when a request asked since the last count

	mu       sync.Mutex
	counts   map[int64]int64
	accepted map[int64]int64 // since counts were read
}

// New returns a Load. Before Run has counted, it counts only what this process accepted.
func New(p Pending, log *zap.Logger) *Load {
	return &Load{pending: p, log: log.Named("load"), asked: make(chan struct{}, 1), accepted: map[int64]int64{}}
}

// Run counts after a request asked, at most once per loadAge, until ctx ends. It returns nil.
func (l *Load) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.asked:
		}
		l.count(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(loadAge):
		}
	}
}

// Overloaded returns how long the application should wait before it opens another incident; 0 = it may open one now.
// The error is always nil.
func (l *Load) Overloaded(_ context.Context, app auth.Application) (time.Duration, error) {
	return l.over(app, incidentFactor), nil
}

// Notifications is like Overloaded for out-of-band notifications, which are refused earlier.
func (l *Load) Notifications(_ context.Context, app auth.Application) time.Duration {
	return l.over(app, 1)
}

// Accepted adds n messages or incidents of an application to the count.
func (l *Load) Accepted(applicationID int64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted[applicationID] += int64(n)
}

func (l *Load) over(app auth.Application, factor int64) time.Duration {
	select {
	case l.asked <- struct{}{}:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if app.PendingCap > 0 && l.counts[app.ID]+l.accepted[app.ID] >= int64(app.PendingCap)*factor {
		return retryAfter
	}
	return 0
}

// count reads the counts. If that fails, the last counts stay in use.
func (l *Load) count(ctx context.Context) {
	l.mu.Lock()
	before := l.accepted
	l.accepted = map[int64]int64{}
	l.mu.Unlock()

	counts, err := l.pending.Pending(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		for id, n := range before {
			l.accepted[id] += n
		}
		if ctx.Err() == nil {
			l.log.Warn("waiting messages cannot be counted, using the last counts", zap.Error(err))
		}
		return
	}
	l.counts = counts
}
