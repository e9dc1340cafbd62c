package stage

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/messages"
)

const (
	// recordFirst and recordMost are the shortest and longest pause between two tries while the database is not
	// available.
	recordFirst = 20 * time.Millisecond
	recordMost  = time.Second
	// unstorablePause is the least pause before the next attempt of a message whose verdict cannot be stored.
	unstorablePause = 30 * time.Second
)

// Record completes attempts and moves their messages on. It retries each outcome until it is stored, or until the ctx
// of Run ends while the database is not available. It is safe for concurrent use.
type Record struct {
	ledger  Ledger
	report  Reporter
	waiting *batch.Queue[recording]
}

type recording struct {
	outcome Outcome
	done    func(Recorded)
}

// Recorded says how an outcome was stored.
type Recorded struct {
	Outcome Outcome
	Late    bool // another process has moved the message; only its attempt was completed
	Lost    bool // it could not be stored: the attempt is in doubt
}

// NewRecord returns a Record that works while Run runs.
func NewRecord(l Ledger, r Reporter) *Record {
	return &Record{ledger: l, report: r, waiting: batch.NewQueue[recording](recordGap)}
}

// Add queues an outcome. done is called once, by another goroutine, and must not block. It is not called if Run ends
// before the database is available again.
func (r *Record) Add(o Outcome, done func(Recorded)) { r.waiting.Add(recording{o, done}) }

// Len is how many outcomes wait to be stored.
func (r *Record) Len() int { return r.waiting.Len() }

// Run works until ctx ends and nothing waits. It may be called by several goroutines: a statement may wait for the lock
// of an incident.
func (r *Record) Run(ctx context.Context) {
	for {
		waiting := r.waiting.Next(ctx, batchSize)
		if waiting == nil {
			return
		}
		_ = batch.Split(waiting, func(rs []recording) error { return r.store(ctx, rs) }, InData, func(one recording, err error) {
			r.report.Failed("record", err, zap.Int64("message_id", int64(one.outcome.ID)))
			r.storeWithoutDetails(ctx, one)
		})
	}
}

// store stores a batch. It retries while the database is not available.
func (r *Record) store(ctx context.Context, waiting []recording) error {
	outcomes := make([]Outcome, len(waiting))
	for i, one := range waiting {
		outcomes[i] = one.outcome
	}
	for pause := recordFirst; ; pause = min(2*pause, recordMost) {
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementWithin)
		late, err := r.ledger.Record(try, outcomes)
		cancel()
		if err == nil {
			r.stored(waiting, late)
			return nil
		}
		if InData(err) {
			return err
		}
		r.report.Failed("record", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func (r *Record) stored(waiting []recording, late []messages.ID) {
	r.report.Batch("record", len(waiting))
	for _, one := range waiting {
		one.done(Recorded{Outcome: one.outcome, Late: slices.Contains(late, one.outcome.ID)})
	}
}

// storeWithoutDetails stores an outcome without the details that the database does not accept. If that fails, it stores
// only the state of the message. If that fails too, the attempt is later found to be in doubt, and the message is sent
// again.
func (r *Record) storeWithoutDetails(ctx context.Context, one recording) {
	one.outcome.Result.Detail = "the vendor's answer could not be stored"
	one.outcome.Result.VendorMessageID = ""
	one.outcome.Verdict.Why = ""
	err := r.store(ctx, []recording{one})
	if InData(err) {
		v := one.outcome.Verdict
		one.outcome.Verdict = Verdict{State: v.State, RetryIn: max(v.RetryIn, unstorablePause), SameKey: v.SameKey,
			AskFallback: v.AskFallback, Unstarted: v.Unstarted}
		err = r.store(ctx, []recording{one})
	}
	if err != nil {
		r.report.Failed("record", err, zap.Int64("message_id", int64(one.outcome.ID)))
		one.done(Recorded{Outcome: one.outcome, Lost: true})
	}
}
