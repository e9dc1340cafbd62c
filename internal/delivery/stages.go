package delivery

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
)

// stageBatch bounds how many messages go into one statement.
const stageBatch = 256

// How far apart the statements of a stage begin in a flood. A page waits for its mark, nobody for the rest.
const (
	markGap   = 10 * time.Millisecond
	recordGap = 30 * time.Millisecond
)

// How long a statement may take: a mark with a slow commit is still a mark, an old look is of no use.
const (
	markWithin = 10 * time.Second
	lookWithin = 2 * time.Second
)

// inData reports whether an error lies in what was to be stored and not in the database's health.
func inData(err error) bool {
	return err != nil && !fault.Is(err, fault.Unavailable) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// overlap runs the statements of a stage one after another while they are quick, so that batches are large, and several at
// once while they are slow, so that what arrives does not wait for an answer that is not its own.
type overlap struct {
	took    atomic.Int64 // nanoseconds of the latest statement
	running chan struct{}
}

// slowStatement is when statements overlap.
const slowStatement = 50 * time.Millisecond

func newOverlap(most int) *overlap { return &overlap{running: make(chan struct{}, most)} }

func (o *overlap) run(background *sync.WaitGroup, statement func()) {
	timed := func() {
		began := time.Now()
		statement()
		o.took.Store(int64(time.Since(began)))
	}
	if time.Duration(o.took.Load()) < slowStatement {
		timed()
		return
	}
	o.running <- struct{}{}
	background.Go(func() {
		defer func() { <-o.running }()
		timed()
	})
}

// markLoop marks messages as being sent.
func (w *Worker) markLoop(ctx context.Context) {
	statements := newOverlap(4)
	for {
		batch := w.marks.next(ctx, stageBatch)
		if batch == nil {
			return
		}
		statements.run(&w.background, func() { w.markAll(batch) })
	}
}

func (w *Worker) markAll(batch []marking) {
	err := split(batch, w.mark, inData, func(m marking, err error) {
		w.failed("mark", err, zap.Int64("message_id", int64(m.start.ID)))
		m.answer <- marked{}
	})
	if err != nil {
		w.failed("mark", err)
		for _, m := range batch {
			select {
			case m.answer <- marked{lost: true}: // unanswered so far
			default:
			}
		}
	}
}

func (w *Worker) mark(batch []marking) error {
	starts := make([]Start, len(batch))
	for i, m := range batch {
		starts[i] = m.start
	}
	ctx, cancel := context.WithTimeout(w.calls, markWithin)
	defer cancel()
	at := time.Now()
	attempts, err := w.deps.Ledger.MarkSending(ctx, w.deps.Leases.ProcessID(), starts)
	if err != nil {
		return err
	}
	w.metrics.batches.WithLabelValues("mark").Observe(float64(len(batch)))
	for _, m := range batch {
		m.answer <- marked{attempt: attempts[m.start.ID], at: at}
	}
	return nil
}

// lookLoop reads the incidents of marked messages again.
func (w *Worker) lookLoop(ctx context.Context) {
	statements := newOverlap(4)
	for {
		batch := w.looks.next(ctx, stageBatch)
		if batch == nil {
			return
		}
		statements.run(&w.background, func() { w.look(batch) })
	}
}

func (w *Worker) look(batch []looking) {
	ids := make([]messages.ID, len(batch))
	for i, l := range batch {
		ids[i] = l.id
	}
	ctx, cancel := context.WithTimeout(w.calls, lookWithin)
	defer cancel()
	open, at, err := w.deps.Ledger.StillOpen(ctx, w.deps.Leases.ProcessID(), ids)
	if err != nil {
		w.failed("look", err)
	}
	for _, l := range batch {
		l.answer <- looked{open: open[l.id], at: at, err: err}
	}
}

// recordLoop stores outcomes. What cannot be stored now is tried until it can.
func (w *Worker) recordLoop(ctx context.Context) {
	for {
		batch := w.outcomes.next(ctx, stageBatch)
		if batch == nil {
			return
		}
		_ = split(batch, func(rs []recording) error { return w.record(ctx, rs) }, inData, func(r recording, err error) {
			w.failed("record", err, zap.Int64("message_id", int64(r.outcome.ID)))
			w.recordBare(ctx, r)
		})
	}
}

// record stores a batch, waiting for the database if need be.
func (w *Worker) record(ctx context.Context, batch []recording) error {
	outcomes := make([]Outcome, len(batch))
	for i, r := range batch {
		outcomes[i] = r.outcome
	}
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		late, err := w.deps.Ledger.Record(try, outcomes)
		cancel()
		if err == nil {
			w.recorded(batch, late)
			return nil
		}
		if inData(err) {
			return err
		}
		w.failed("record", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// unstorablePause keeps a message that cannot be sent on where it should go from being tried all the time.
const unstorablePause = 30 * time.Second

// recordBare stores an outcome whose details the database does not take, without them; in the end only where the message
// goes. One that is not stored at all is sent again as in doubt, and again, until somebody mends it.
func (w *Worker) recordBare(ctx context.Context, r recording) {
	r.outcome.Result.Detail = "what the vendor said could not be stored"
	r.outcome.Result.VendorMessageID = ""
	r.outcome.Verdict.Why = ""
	err := w.record(ctx, []recording{r})
	if inData(err) {
		v := r.outcome.Verdict
		r.outcome.Verdict = Verdict{State: v.State, RetryIn: max(v.RetryIn, unstorablePause), SameKey: v.SameKey, AskFallback: v.AskFallback, Unstarted: v.Unstarted}
		err = w.record(ctx, []recording{r})
	}
	if err != nil {
		w.failed("record", err, zap.Int64("message_id", int64(r.outcome.ID)))
		w.flying.remove(r.outcome.ID) // it becomes an attempt in doubt
		w.finish(r.it)
	}
}

func (w *Worker) recorded(batch []recording, late []messages.ID) {
	w.metrics.batches.WithLabelValues("record").Observe(float64(len(batch)))
	w.metrics.lateDone.Add(float64(len(late)))
	now := time.Now()
	for _, r := range batch {
		if v := r.outcome.Verdict; v.State == messages.Pending {
			w.revisit(r.it.c.Bucket, now.Add(v.RetryIn))
		}
		w.flying.remove(r.outcome.ID)
		if r.it.retracted && slices.Contains(late, r.outcome.ID) {
			w.release(r.it)
			continue
		}
		w.finish(r.it)
	}
}

// turnLoop moves messages on that do not go to a vendor. What cannot be stored is left: its claim will end.
func (w *Worker) turnLoop(ctx context.Context) {
	for {
		batch := w.turns.next(ctx, stageBatch)
		if batch == nil {
			return
		}
		err := split(batch, w.storeTurns, inData, func(t turning, err error) {
			w.failed("turn", err, zap.Int64("message_id", int64(t.turn.ID)))
		})
		if err != nil {
			w.failed("turn", err)
		}
		now := time.Now()
		for _, t := range batch {
			if v := t.turn.Verdict; v.State == messages.Pending {
				w.revisit(t.it.c.Bucket, now.Add(v.RetryIn))
			}
			w.finish(t.it)
		}
	}
}

func (w *Worker) storeTurns(batch []turning) error {
	turns := make([]Turn, len(batch))
	for i, t := range batch {
		turns[i] = t.turn
	}
	ctx, cancel := context.WithTimeout(w.calls, 5*time.Second)
	defer cancel()
	return w.deps.Queue.Turn(ctx, w.deps.Leases.ProcessID(), turns)
}

// releaseLoop puts messages back that were taken in vain.
func (w *Worker) releaseLoop(ctx context.Context) {
	for {
		batch := w.releases.next(ctx, stageBatch)
		if batch == nil {
			return
		}
		ids := make([]messages.ID, len(batch))
		for i, it := range batch {
			ids[i] = it.c.ID
		}
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		if err := w.deps.Queue.Release(try, w.deps.Leases.ProcessID(), ids); err != nil {
			w.failed("release", err)
		}
		cancel()
		for _, it := range batch {
			w.revisit(it.c.Bucket, time.Now().Add(20*time.Millisecond))
			w.finish(it)
		}
	}
}
