package stage

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/messages"
)

// rereadWithin bounds a read, because an old answer is useless.
const rereadWithin = 2 * time.Second

// Reread reads the incidents of marked messages again. Do is safe for concurrent use.
type Reread struct {
	ledger  Ledger
	process Process
	report  Reporter
	waiting *batch.Queue[rereading]
}

// rereading is a marked message whose incident is to be read again.
type rereading struct {
	id     messages.ID
	answer chan Reading // buffered
}

// Reading is the answer to a read.
type Reading struct {
	Open bool      // the message may be sent
	At   time.Time // just before the read was sent
	Err  error
}

// NewReread returns a Reread that works while Run runs.
func NewReread(l Ledger, p Process, r Reporter) *Reread {
	return &Reread{ledger: l, process: p, report: r, waiting: batch.NewQueue[rereading](markGap)}
}

// Do reads the incident of a marked message and waits for the answer.
func (r *Reread) Do(id messages.ID) Reading {
	one := rereading{id, make(chan Reading, 1)}
	r.waiting.Add(one)
	return <-one.answer
}

// Run works until ctx ends and nothing waits. Statements end with calls.
func (r *Reread) Run(ctx, calls context.Context) {
	statements := newOverlap()
	defer statements.background.Wait()
	for {
		waiting := r.waiting.Next(ctx, batchSize)
		if waiting == nil {
			return
		}
		statements.run(func() { r.statement(calls, waiting) })
	}
}

func (r *Reread) statement(ctx context.Context, waiting []rereading) {
	ids := make([]messages.ID, len(waiting))
	for i, one := range waiting {
		ids[i] = one.id
	}
	ctx, cancel := context.WithTimeout(ctx, rereadWithin)
	defer cancel()
	open, at, err := r.ledger.StillOpen(ctx, r.process.ProcessID(), ids)
	if err != nil {
		r.report.Failed("reread", err)
	}
	for _, one := range waiting {
		one.answer <- Reading{Open: open[one.id], At: at, Err: err}
	}
}
