package stage

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/batch"
)

// markWithin bounds a mark. It is long because a slow commit must not cancel a mark.
const markWithin = 10 * time.Second

// Mark begins attempts: it marks messages as sending. Do is safe for concurrent use.
type Mark struct {
	ledger  Ledger
	process Process
	report  Reporter
	waiting *batch.Queue[marking]
}

// marking is a message that waits to be marked.
type marking struct {
	start  Start
	answer chan Marked // buffered
}

// Marked is the answer to a mark.
type Marked struct {
	Attempt int       // 0 = the message must not be sent
	At      time.Time // just before the statement was sent that marks the message and reads its incident
	Lost    bool      // it is not known whether the message was marked
	Refused bool      // the database does not accept its data
}

// NewMark returns a Mark that works while Run runs.
func NewMark(l Ledger, p Process, r Reporter) *Mark {
	return &Mark{ledger: l, process: p, report: r, waiting: batch.NewQueue[marking](markGap)}
}

// Do marks a message and waits for the answer.
func (m *Mark) Do(s Start) Marked {
	one := marking{start: s, answer: make(chan Marked, 1)}
	m.waiting.Add(one)
	return <-one.answer
}

// Run works until ctx ends and nothing waits. Statements end with calls.
func (m *Mark) Run(ctx, calls context.Context) {
	statements := newOverlap()
	defer statements.background.Wait()
	for {
		waiting := m.waiting.Next(ctx, batchSize)
		if waiting == nil {
			return
		}
		statements.run(func() { m.all(calls, waiting) })
	}
}

// all marks a batch and answers each of its messages.
func (m *Mark) all(ctx context.Context, waiting []marking) {
	err := batch.Split(waiting, func(ms []marking) error { return m.statement(ctx, ms) }, InData, func(one marking, err error) {
		m.report.Failed("mark", err, zap.Int64("message_id", int64(one.start.ID)))
		one.answer <- Marked{Refused: true}
	})
	if err == nil {
		return
	}
	m.report.Failed("mark", err)
	for _, one := range waiting {
		select {
		case one.answer <- Marked{Lost: true}: // it has no answer yet
		default:
		}
	}
}

func (m *Mark) statement(ctx context.Context, waiting []marking) error {
	starts := make([]Start, len(waiting))
	for i, one := range waiting {
		starts[i] = one.start
	}
	ctx, cancel := context.WithTimeout(ctx, markWithin)
	defer cancel()
	at := time.Now()
	attempts, err := m.ledger.MarkSending(ctx, m.process.ProcessID(), starts)
	if err != nil {
		return err
	}
	m.report.Batch("mark", len(waiting))
	for _, one := range waiting {
		one.answer <- Marked{Attempt: attempts[one.start.ID], At: at}
	}
	return nil
}
