package py

import (
	"fmt"
	"time"
)

// Error is a Python exception or, with Kind LimitError, the end of a Budget.
type Error struct {
	Kind    string // name of the exception's class, for example TypeError
	Message string
}

func (e *Error) Error() string { return e.Kind + ": " + e.Message }

// LimitError is the Kind of an Error that no template can cause in Python: a bound of ours was reached.
const LimitError = "LimitError"

// Raise panics with an Error of the given kind.
func Raise(kind, format string, args ...any) {
	panic(fail(kind, format, args...))
}

func fail(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Try runs f and returns the exception it raised, nil if it raised none. A LimitError and any other panic pass through:
// a template must not be able to go on after a bound was reached.
func Try(f func()) (err *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok || e.Kind == LimitError {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}

// Budget bounds the work of one rendering. It is spent before the work is done; when it is empty the spending call
// panics with a LimitError. A Budget belongs to one goroutine.
type Budget struct {
	steps    int64
	memory   int64
	depth    int
	deadline time.Time
	check    int64
	limits   Limits
	marks    Marks
}

// Limits are the bounds of a Budget. All must be positive.
type Limits struct {
	Steps  int64         // units of work; a simple operation is one, handling text costs by its length
	Memory int64         // bytes allocated in all, whether still in use or not
	Depth  int           // nested calls and nesting of values
	Time   time.Duration // by the clock
}

// NewBudget returns a full budget whose time starts now.
func NewBudget(l Limits) *Budget {
	return &Budget{steps: l.Steps, memory: l.Memory, deadline: time.Now().Add(l.Time), limits: l}
}

const stepsBetweenClockChecks = 2048

// Step spends n units of work.
func (b *Budget) Step(n int64) {
	b.steps -= n
	if b.steps < 0 {
		Raise(LimitError, "the template does too much work (more than %d steps)", b.limits.Steps)
	}
	b.check -= n
	if b.check < 0 {
		b.check = stepsBetweenClockChecks
		if time.Now().After(b.deadline) {
			Raise(LimitError, "the template takes too long (more than %v)", b.limits.Time)
		}
	}
}

// Left is the work that may still be done.
func (b *Budget) Left() int64 { return b.steps }

// Scan spends the work of looking at n bytes or elements.
func (b *Budget) Scan(n int) { b.Step(1 + int64(n)/32) }

// Grow spends n bytes of memory and the work of filling them. It must be called before they are allocated. A negative n
// stands for a size beyond counting.
func (b *Budget) Grow(n int64) {
	if n < 0 || n > b.memory {
		Raise(LimitError, "the template needs too much memory (more than %d bytes)", b.limits.Memory)
	}
	b.memory -= n
	b.Step(1 + n/64)
}

// GrowTimes spends n bytes times k, without overflowing.
func (b *Budget) GrowTimes(n, k int64) {
	if n <= 0 || k <= 0 {
		b.Grow(0)
		return
	}
	if n > b.memory || k > b.memory || n > b.memory/k {
		b.Grow(-1)
	}
	b.Grow(n * k)
}

// valueSize is what one element of a list or tuple costs.
const valueSize = 24

// Enter goes one level deeper; each call is paired with Leave.
func (b *Budget) Enter() {
	b.depth++
	if b.depth > b.limits.Depth {
		Raise(LimitError, "the template or its data is nested too deeply (more than %d levels)", b.limits.Depth)
	}
}

// Leave goes one level up.
func (b *Budget) Leave() { b.depth-- }
