package pg

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// turns lets the events of each integration work one at a time, and a number of integrations at the same time. So an
// integration that sends many events does not delay those of the others. It is safe for concurrent use.
type turns struct {
	all *semaphore.Weighted
	mu  sync.Mutex
	of  map[int64]*turn // of the integrations that work or wait
}

type turn struct {
	one   *semaphore.Weighted
	users int // events that work or wait
}

func newTurns(most int64) *turns {
	return &turns{all: semaphore.NewWeighted(most), of: map[int64]*turn{}}
}

// take waits for the turn of an event of an integration. The caller calls done once at its end. waited reports whether
// another event came first.
func (t *turns) take(ctx context.Context, integration int64) (done func(), waited bool, err error) {
	t.mu.Lock()
	own := t.of[integration]
	if own == nil {
		own = &turn{one: semaphore.NewWeighted(1)}
		t.of[integration] = own
	}
	own.users++
	waited = own.users > 1
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.of, integration)
		}
	}
	if err := own.one.Acquire(ctx, 1); err != nil {
		leave()
		return nil, waited, err
	}
	if !t.all.TryAcquire(1) {
		waited = true
		if err := t.all.Acquire(ctx, 1); err != nil {
			own.one.Release(1)
			leave()
			return nil, waited, err
		}
	}
	return func() {
		t.all.Release(1)
		own.one.Release(1)
		leave()
	}, waited, nil
}
