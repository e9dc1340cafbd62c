package wire

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
)

// Pending tells, by application id, how much waits to be sent.
type Pending interface {
	Pending(ctx context.Context) (map[int64]int64, error)
}

const (
	// loadAge is how old the counts may be. What this process accepted since then is added to them.
	loadAge = time.Second
	// incidentFactor: incidents are refused only at this many times the cap, long after notifications.
	incidentFactor = 4
	// comeBack is what an overloaded application is told.
	comeBack = 5 * time.Second
)

// Load knows which applications already have more waiting than they may. It never makes a request wait for a count: one
// request a second looks, the others go by what is known. It is safe for concurrent use.
type Load struct {
	pending Pending
	log     *zap.Logger

	mu       sync.Mutex
	counts   map[int64]int64
	accepted map[int64]int64 // since counts were read
	readAt   time.Time
	reading  bool
}

// NewLoad returns a Load over the counts of p.
func NewLoad(p Pending, log *zap.Logger) *Load {
	return &Load{pending: p, log: log.Named("load"), accepted: map[int64]int64{}}
}

// Overloaded tells whether the application has so much waiting that even incidents are refused. Zero means that there is
// room; otherwise it is how long the sender should wait.
func (l *Load) Overloaded(ctx context.Context, app auth.Application) (time.Duration, error) {
	return l.over(ctx, app, incidentFactor), nil
}

// Notifications tells the same of out-of-band notifications, which are refused first.
func (l *Load) Notifications(ctx context.Context, app auth.Application) time.Duration {
	return l.over(ctx, app, 1)
}

// Accepted tells that n more messages, or incidents, of an application wait.
func (l *Load) Accepted(applicationID int64, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepted[applicationID] += int64(n)
}

func (l *Load) over(ctx context.Context, app auth.Application, factor int64) time.Duration {
	l.refresh(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if app.PendingCap > 0 && l.counts[app.ID]+l.accepted[app.ID] >= int64(app.PendingCap)*factor {
		return comeBack
	}
	return 0
}

// refresh reads the counts anew when they are old and nobody else does. When that fails, the old ones go on counting:
// a database that is away refuses the work by itself.
func (l *Load) refresh(ctx context.Context) {
	l.mu.Lock()
	if l.reading || time.Since(l.readAt) < loadAge {
		l.mu.Unlock()
		return
	}
	l.reading = true
	before := l.accepted
	l.accepted = map[int64]int64{}
	l.mu.Unlock()

	counts, err := l.pending.Pending(context.WithoutCancel(ctx))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading, l.readAt = false, time.Now()
	if err != nil {
		for id, n := range before {
			l.accepted[id] += n
		}
		l.log.Warn("pending messages cannot be counted", zap.Error(err))
		return
	}
	l.counts = counts
}
