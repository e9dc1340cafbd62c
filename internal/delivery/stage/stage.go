package stage

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// batchSize bounds how many messages go into one statement.
const batchSize = 256

// The least time between the starts of two statements of a stage in a flood. The mark's is shorter because a page waits
// for it.
const (
	markGap   = 10 * time.Millisecond
	recordGap = 30 * time.Millisecond
)

// statementWithin bounds the time of statements that no page waits for.
const statementWithin = 5 * time.Second

// Reporter counts and logs what stages do. It is safe for concurrent use.
type Reporter interface {
	// Failed reports a step that failed and is tried again or given up.
	Failed(stage string, err error, fields ...zap.Field)
	// Batch reports a statement and the number of its messages.
	Batch(stage string, messages int)
}

// Process names this process. The name is the owner of its claims.
type Process interface {
	ProcessID() string
}

// InData reports whether an error is caused by the stored data, not by the state of the database.
func InData(err error) bool {
	return err != nil && !fault.Is(err, fault.Unavailable) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded)
}

// overlap runs the statements of a stage one after another while they are quick, so that batches are large, and several
// at once while they are slow, so that a message does not wait for the statement of others.
type overlap struct {
	took       atomic.Int64 // nanoseconds of the latest statement
	running    chan struct{}
	background sync.WaitGroup
}

const (
	// slowStatement is the duration from which statements overlap, mostStatements how many run at once in addition.
	slowStatement  = 50 * time.Millisecond
	mostStatements = 4
)

func newOverlap() *overlap { return &overlap{running: make(chan struct{}, mostStatements)} }

func (o *overlap) run(statement func()) {
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
	o.background.Go(func() {
		defer func() { <-o.running }()
		timed()
	})
}
