package py

import (
	"fmt"
	"time"
)

// Error is the reason why a template failed: a Python exception or, with Kind LimitError, an exceeded limit.
type Error struct {
	Kind      string // class of the exception, for example TemplateSyntaxError, UndefinedError or TypeError
	Message   string
	Line      int  // in the template, from 1; 0 = unknown
	Column    int  // in the line, in characters from 1; 0 = unknown. Only syntax errors have one
	Truncated bool // the output reached its limit, and rendering returned the output up to the limit
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: %s (line %d)", e.Kind, e.Message, e.Line)
	}
	return e.Kind + ": " + e.Message
}

// Limited reports whether the template exceeded a limit. Python has no such exception.
func (e *Error) Limited() bool { return e.Kind == LimitError }

// LimitError is the Kind of an exceeded limit.
const LimitError = "LimitError"

// Raise panics with an Error of the given kind.
func Raise(kind, format string, args ...any) {
	panic(fail(kind, format, args...))
}

// RaiseIf is Raise if the condition is true.
func RaiseIf(condition bool, kind, format string, args ...any) {
	if condition {
		Raise(kind, format, args...)
	}
}

func fail(kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Try runs f and returns the exception it raised, nil if none. A LimitError and any other panic pass through: a
// template must not continue after a limit was exceeded.
func Try(f func()) (err *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok || e.Limited() {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}

// Budget bounds the work of one rendering. Operations spend it before they act; an empty budget panics with a
// LimitError. A Budget belongs to one goroutine.
type Budget struct {
	// Marks says how text is escaped. It is set before the budget is used.
	Marks Marks
	// Autoescape: printed text is escaped in the part of the template that runs now. Then filters return Markup.
	Autoescape bool

	steps    int64
	memory   int64
	depth    int
	deadline time.Time
	check    int64
	limits   Limits
}

// Limits bound a template. Package jinja replaces zero values by the defaults.
type Limits struct {
	Source int           // bytes of source; 32 KiB
	Output int           // bytes of output; 64 KiB
	Steps  int64         // units of work, some tens of nanoseconds each; 1,000,000. Work on text costs by its length
	Memory int64         // bytes allocated by one rendering in all, whether still in use or not; 16 MiB
	Depth  int           // nested calls and nesting of values; 150
	Time   time.Duration // by the clock; 1 s
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

// Left is the remaining work.
func (b *Budget) Left() int64 { return b.steps }

// Scan spends the work of reading n bytes or elements.
func (b *Budget) Scan(n int) { b.Step(1 + int64(n)/32) }

// Grow spends n bytes of memory and the work of filling them. Call it before the allocation. It fails for a negative n,
// which is a size that overflowed.
func (b *Budget) Grow(n int64) {
	if n < 0 || n > b.memory {
		Raise(LimitError, "the template needs too much memory (more than %d bytes)", b.limits.Memory)
	}
	b.memory -= n
	b.Step(1 + n/64)
}

// GrowTimes spends n times k bytes. The product cannot overflow.
func (b *Budget) GrowTimes(n, k int64) {
	switch {
	case n <= 0 || k <= 0:
		b.Grow(0)
	case n > b.memory/k:
		b.Grow(-1)
	default:
		b.Grow(n * k)
	}
}

// GrowValues spends the memory of n elements of a list or tuple.
func (b *Budget) GrowValues(n int) { b.GrowTimes(valueSize, int64(n)) }

// valueSize is what one element of a list or tuple costs.
const valueSize = 24

// Enter enters a level of nesting; each call is paired with Leave.
func (b *Budget) Enter() {
	b.depth++
	if b.depth > b.limits.Depth {
		Raise(LimitError, "the template or its data is nested too deeply (more than %d levels)", b.limits.Depth)
	}
}

// Leave leaves a level of nesting.
func (b *Budget) Leave() { b.depth-- }
