package stage

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/messages"
)

// Move moves taken messages that do not go to a vendor now: to another mode or state (Turn), or back into the queue
// (Release). A message that cannot be stored keeps its state until its claim ends. Turn and Release are safe for
// concurrent use.
type Move struct {
	queue    Mover
	process  Process
	report   Reporter
	turns    *batch.Queue[turning]
	releases *batch.Queue[releasing]
}

type turning struct {
	turn Turn
	done func()
}

type releasing struct {
	id   messages.ID
	done func()
}

// NewMove returns a Move that works while RunTurns and RunReleases run.
func NewMove(q Mover, p Process, r Reporter) *Move {
	return &Move{queue: q, process: p, report: r, turns: batch.NewQueue[turning](recordGap),
		releases: batch.NewQueue[releasing](recordGap)}
}

// Turn moves a message on without a call. done is called once, by another goroutine, and must not block.
func (m *Move) Turn(t Turn, done func()) { m.turns.Add(turning{t, done}) }

// Release puts a message back. done is called once, by another goroutine, and must not block.
func (m *Move) Release(id messages.ID, done func()) { m.releases.Add(releasing{id, done}) }

// RunTurns works until ctx ends and nothing waits. Statements end with calls.
func (m *Move) RunTurns(ctx, calls context.Context) {
	for {
		waiting := m.turns.Next(ctx, batchSize)
		if waiting == nil {
			return
		}
		err := batch.Split(waiting, func(ts []turning) error { return m.storeTurns(calls, ts) }, InData, func(one turning, err error) {
			m.report.Failed("turn", err, zap.Int64("message_id", int64(one.turn.ID)))
		})
		if err != nil {
			m.report.Failed("turn", err)
		}
		for _, one := range waiting {
			one.done()
		}
	}
}

func (m *Move) storeTurns(ctx context.Context, waiting []turning) error {
	turns := make([]Turn, len(waiting))
	for i, one := range waiting {
		turns[i] = one.turn
	}
	ctx, cancel := context.WithTimeout(ctx, statementWithin)
	defer cancel()
	return m.queue.Turn(ctx, m.process.ProcessID(), turns)
}

// RunReleases works until ctx ends and nothing waits.
func (m *Move) RunReleases(ctx context.Context) {
	for {
		waiting := m.releases.Next(ctx, batchSize)
		if waiting == nil {
			return
		}
		ids := make([]messages.ID, len(waiting))
		for i, one := range waiting {
			ids[i] = one.id
		}
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementWithin)
		if err := m.queue.Release(try, m.process.ProcessID(), ids); err != nil {
			m.report.Failed("release", err)
		}
		cancel()
		for _, one := range waiting {
			one.done()
		}
	}
}
