package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Worker delivers the messages of the buckets that this process holds. Wake, UpdatePeer and LastPass may be called at any time
// from any goroutine; Run once.
type Worker struct {
	cfg     Config
	deps    Deps
	log     *zap.Logger
	metrics *metrics

	modes    map[users.Mode]*modeWorker
	shared   *rate.Shared
	pauses   account.Pauses
	inFlight inFlight

	mark   *stage.Mark
	reread *stage.Reread
	record *stage.Record
	move   *stage.Move

	wakeMu   sync.Mutex
	woken    buckets.Set
	revisits [buckets.Count]time.Time // when a bucket is to be searched; zero = not known
	wake     chan struct{}
	lowMark  atomic.Pointer[time.Time]
	lastPass atomic.Int64

	stopping   chan struct{}   // closed when no call may begin any more
	calls      context.Context // of vendor calls and what belongs to them; ends a while after stopping
	items      sync.WaitGroup  // taken and not finished
	background sync.WaitGroup  // goroutines of items and pauses
	quiet      quiet
}

// New returns a Worker that does nothing until Run.
func New(deps Deps, cfg Config) (*Worker, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if err := deps.validate(); err != nil {
		return nil, err
	}
	w := &Worker{
		cfg: cfg, deps: deps, log: deps.Log.Named("delivery"), modes: map[users.Mode]*modeWorker{},
		wake: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
	w.mark, w.reread = stage.NewMark(deps.Ledger, deps.Leases, w), stage.NewReread(deps.Ledger, deps.Leases, w)
	w.record, w.move = stage.NewRecord(deps.Ledger, w), stage.NewMove(deps.Queue, deps.Leases, w)
	w.metrics = newMetrics(deps.Metrics, func() float64 { return float64(w.record.Len()) }, deps.Vendors)
	w.shared = rate.NewShared(deps.Limits, cfg.Limits, w)
	for _, m := range users.Modes {
		w.modes[m] = newModeWorker(w, m)
	}
	return w, nil
}

// Wake reports that there may be new work in these buckets. It does not block.
func (w *Worker) Wake(bs buckets.Set) {
	w.wakeMu.Lock()
	w.woken.Union(bs)
	w.wakeMu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// UpdatePeer takes the hint of another process about the work that waits there (see Hints); nil removes the process. It does not block.
func (w *Worker) UpdatePeer(node string, hint []byte) { w.shared.Peers.Update(time.Now(), node, hint) }

// LastPass is when the slowest of the Worker's loops last passed; the zero time before all of them have.
func (w *Worker) LastPass() time.Time {
	oldest := w.lastPass.Load()
	for _, l := range w.modes {
		oldest = min(oldest, l.lastPass.Load())
	}
	if oldest == 0 {
		return time.Time{}
	}
	return time.Unix(0, oldest)
}

// Run delivers until ctx ends. Then it takes no more messages, waits for running calls (Config.StopWithin), stores their outcomes,
// puts taken messages back, and returns nil.
func (w *Worker) Run(ctx context.Context) error {
	calls, endCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer endCalls()
	w.calls = calls
	stages, endStages := context.WithCancel(context.WithoutCancel(ctx))
	defer endStages()

	var running, loops sync.WaitGroup
	running.Go(func() { w.mark.Run(stages, calls) })
	running.Go(func() { w.reread.Run(stages, calls) })
	for range 2 { // recording may wait for the lock of an incident
		running.Go(func() { w.record.Run(stages) })
	}
	running.Go(func() { w.move.RunTurns(stages, calls) })
	running.Go(func() { w.move.RunReleases(stages) })
	for _, l := range w.modes {
		loops.Go(func() { l.run(ctx) })
		for range 2 {
			running.Go(func() { l.render.Run(stages) })
		}
	}
	loops.Go(func() { w.findLoop(ctx) })
	loops.Go(func() { w.rescueLoop(ctx) })
	loops.Go(func() { w.hintLoop(ctx) })

	<-ctx.Done()
	close(w.stopping)
	loops.Wait()
	if !waitFor(&w.items, w.cfg.StopWithin) {
		w.log.Warn("cutting off vendor calls that did not end in time")
		endCalls()
		if !waitFor(&w.items, w.cfg.StopWithin) {
			w.log.Error("stopping with outcomes that could not be stored", zap.Int("messages", w.record.Len()))
		}
	}
	endCalls()
	endStages()
	running.Wait()
	waitFor(&w.background, time.Second)
	return nil
}

// waitFor waits for a group, but not for ever.
func waitFor(g *sync.WaitGroup, most time.Duration) bool {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}

// finish ends an item, whatever became of it.
func (w *Worker) finish(it *item) {
	l := it.mode
	l.inFlight.Add(-1)
	w.metrics.inFlight.WithLabelValues(string(l.mode)).Dec()
	l.kick()
	w.items.Done()
}

// releaseAgain is when a bucket is searched again after a message was put back.
const releaseAgain = 20 * time.Millisecond

// release puts an item back into the queue.
func (w *Worker) release(it *item) {
	w.move.Release(it.c.ID, func() {
		w.revisit(it.c.Bucket, time.Now().Add(releaseAgain))
		w.finish(it)
	})
}

// turn moves an item on without a call.
func (w *Worker) turn(it *item, v Verdict) {
	to := string(v.State)
	if v.State == messages.Pending && v.Mode != "" {
		to = "mode"
	}
	w.metrics.turned.WithLabelValues(string(it.c.Mode), to).Inc()
	w.move.Turn(Turn{ID: it.c.ID, IncidentID: it.c.IncidentID, Mode: it.c.Mode, Verdict: v}, func() {
		w.retryAt(it, v)
		w.finish(it)
	})
}

// store has the outcome of an attempt recorded.
func (w *Worker) store(it *item, o Outcome) {
	w.record.Add(o, func(r stage.Recorded) {
		w.inFlight.remove(it.c.ID)
		if r.Lost { // the attempt becomes one in doubt
			w.finish(it)
			return
		}
		w.retryAt(it, r.Outcome.Verdict)
		if r.Late {
			w.metrics.lateDone.Inc()
		}
		if r.Late && it.retracted {
			w.release(it)
			return
		}
		w.finish(it)
	})
}

// retryAt has the message's bucket searched when the message may be taken again.
func (w *Worker) retryAt(it *item, v Verdict) {
	if v.State == messages.Pending {
		w.revisit(it.c.Bucket, time.Now().Add(v.RetryIn))
	}
}

// inFlight is the messages that this process is sending or has yet to record. It is safe for concurrent use.
type inFlight struct {
	mu  sync.Mutex
	ids map[messages.ID]bool
}

func (f *inFlight) add(id messages.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ids == nil {
		f.ids = map[messages.ID]bool{}
	}
	f.ids[id] = true
}

func (f *inFlight) remove(id messages.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ids, id)
}

func (f *inFlight) has(id messages.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[id]
}

func (w *Worker) takeFrom(ctx context.Context, r TakeRequest) ([]Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return w.deps.Queue.Take(ctx, r)
}

// SlotsExpired implements rate.Observer.
func (w *Worker) SlotsExpired(kind string, n int) {
	w.metrics.lateSlots.WithLabelValues(kind).Add(float64(n))
}

// ReserveFailed implements rate.Observer.
func (w *Worker) ReserveFailed(key string, err error) {
	w.failed("reserve", err, zap.String("limit", key))
}

// quiet limits how often a lasting failure is logged.
type quiet struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// Failed implements stage.Reporter.
func (w *Worker) Failed(step string, err error, fields ...zap.Field) { w.failed(step, err, fields...) }

// Batch implements stage.Reporter.
func (w *Worker) Batch(step string, n int) {
	w.metrics.batches.WithLabelValues(step).Observe(float64(n))
}

// failed notes that a step failed. The same step is logged every few seconds at most.
func (w *Worker) failed(step string, err error, fields ...zap.Field) {
	w.metrics.failures.WithLabelValues(step).Inc()
	w.quiet.mu.Lock()
	if w.quiet.last == nil {
		w.quiet.last = map[string]time.Time{}
	}
	now := time.Now()
	again := now.Sub(w.quiet.last[step]) < 5*time.Second
	if !again {
		w.quiet.last[step] = now
	}
	w.quiet.mu.Unlock()
	if again {
		return
	}
	fields = append(fields, zap.String("stage", step), zap.Error(err))
	if !stage.InData(err) {
		w.log.Warn("delivery step failed, trying again", fields...)
		return
	}
	w.log.Error("delivery step failed", fields...)
}
