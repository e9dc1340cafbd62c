package run

import (
	"fmt"

	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

type (
	nextFunc = func() (py.Value, bool)
	// loopFilter iterates over the elements that match the condition of a loop. back is the current line after each
	// element.
	loopFilter func(r *render, e *env, next nextFunc, back int) nextFunc
	// recursion runs a loop again on another value.
	recursion func(iterable py.Value, depth int) py.Value
)

// forStatement compiles a loop. The loop object is made only if the body mentions it or the loop is recursive.
func (c *compiler) forStatement(n *syntax.For, outer *frame) stmt {
	loopFrame, testFrame, elseFrame := outer.inner(), outer.inner(), outer.inner()
	loopVar := ""
	if n.Recursive || syntax.Undeclared(n.Body, "loop")["loop"] {
		loopVar = loopFrame.param("loop")
	}
	loopFrame.visitParams(n.Target)
	loopFrame.visitAll(n.Body)
	elseFrame.visitAll(n.Else)

	var filter loopFilter
	if n.Test != nil {
		testFrame.visitParams(n.Target)
		testFrame.visit(n.Test)
		filter = c.loopFilter(n, loopFrame, testFrame)
	}
	syntax.Walk(n, func(x syntax.Node) bool {
		if name, ok := x.(*syntax.Name); ok && name.Use == syntax.Store && name.Name == "loop" {
			c.failAt(name.Line(), "loop cannot be the variable of a loop")
		}
		return true
	})
	if n.Recursive {
		return c.recursiveLoop(n, outer, loopFrame, elseFrame, loopVar, filter)
	}
	line := c.mark(n)
	iter := c.expr(n.Iter, outer)
	body := c.loopBody(n, loopFrame, elseFrame, loopVar, filter)
	return func(r *render, e *env) {
		r.line = line
		body(r, e, iter(r, e), nil, 0)
	}
}

// loopFilter compiles the condition of a loop as a function of its own.
func (c *compiler) loopFilter(n *syntax.For, loopFrame, testFrame *frame) loopFilter {
	line := c.mark(n.Test)
	c.fn = &function{up: c.fn, slots: map[string]int{}}
	fn := c.fn
	enter := c.enter(testFrame)
	for _, v := range loopFrame.order {
		if loopFrame.loads[v].kind == loadParam {
			c.declare(v)
		}
	}
	store, test := c.target(n.Target, loopFrame), c.expr(n.Test, testFrame)
	c.fn = fn.up
	return func(r *render, up *env, next nextFunc, back int) nextFunc {
		var e *env
		return func() (py.Value, bool) {
			defer func() {
				if e != nil {
					r.line = back
				}
			}()
			if e == nil {
				e = fn.newEnv(up)
				enter(r, e)
			}
			for {
				r.line = line
				v, ok := next()
				if !ok {
					return nil, false
				}
				store(r, e, v)
				if py.Truth(r.Budget, test(r, e)) {
					return v, true
				}
			}
		}
	}
}

// loopBody compiles the iteration, the body, and the else part of an empty loop.
func (c *compiler) loopBody(n *syntax.For, loopFrame, elseFrame *frame, loopVar string,
	filter loopFilter,
) func(r *render, e *env, iterable py.Value, recurse recursion, depth int) {
	line := c.line
	enter := c.enter(loopFrame)
	store := c.target(n.Target, loopFrame)
	var loop ref
	if loopVar != "" {
		loop = c.declare(loopVar)
	}
	body := c.block(n.Body, loopFrame)
	leave := c.leave(loopFrame)
	enterElse, orelse := c.enter(elseFrame), c.block(n.Else, elseFrame)
	return func(r *render, e *env, iterable py.Value, recurse recursion, depth int) {
		next := py.Iter(r.Budget, iterable)
		sized := iterable
		if filter != nil {
			next = filter(r, e, next, line)
			sized = &py.Iterator{Next: next}
		}
		var state *loopContext
		if loopVar != "" {
			state = &loopContext{
				iterable: sized, iterator: next, recurse: recurse, depth0: depth,
				index0: -1, length: -1, after: missing, current: missing, before: missing, changed: missing,
			}
			next = state.next
		}
		empty := true
		for {
			r.line = line
			r.Step(1)
			v, ok := next()
			if !ok {
				break
			}
			empty = false
			store(r, e, v)
			if state != nil {
				loop.set(e, state)
			}
			enter(r, e)
			body(r, e)
		}
		leave(r, e)
		if empty {
			enterElse(r, e)
			orelse(r, e)
		}
	}
}

// recursiveLoop compiles a loop that can be called: a function that returns its text.
func (c *compiler) recursiveLoop(n *syntax.For, outer, loopFrame, elseFrame *frame, loopVar string,
	filter loopFilter,
) stmt {
	c.fn = &function{up: c.fn, slots: map[string]int{}}
	fn := c.fn
	line := c.mark(n)
	// The filter was compiled for the function around the loop.
	inner := filter
	if filter != nil {
		inner = func(r *render, e *env, next nextFunc, back int) nextFunc { return filter(r, e.up, next, back) }
	}
	body := c.loopBody(n, loopFrame, elseFrame, loopVar, inner)
	escapes, last := c.escapes(), c.line
	c.fn = fn.up
	c.mark(n)
	iter := c.expr(n.Iter, outer)
	return func(r *render, e *env) {
		var again recursion
		again = func(iterable py.Value, depth int) py.Value {
			return py.MarkupIf(escapes(r), r.call(line, last, func() { body(r, fn.newEnv(e), iterable, again, depth) }))
		}
		r.line = line
		r.write(py.Str(r.Budget, again(iter(r, e), 0)))
	}
}

// loopContext is the loop variable.
type loopContext struct {
	iterable py.Value
	iterator nextFunc
	recurse  recursion
	depth0   int

	index0  int
	length  int // -1 = unknown
	after   py.Value
	current py.Value
	before  py.Value
	changed py.Value
}

func (l *loopContext) next() (py.Value, bool) {
	v := l.peek()
	if v == missing {
		return nil, false
	}
	l.after = missing
	l.index0++
	l.before, l.current = l.current, v
	return v, true
}

func (l *loopContext) peek() py.Value {
	if l.after == missing {
		if v, ok := l.iterator(); ok {
			l.after = v
		}
	}
	return l.after
}

// Len is the number of elements. An iterator without a length is read to its end.
func (l *loopContext) Len(b *py.Budget) int {
	if l.length >= 0 {
		return l.length
	}
	if n, ok := py.Len(b, l.iterable); ok {
		l.length = n
		return n
	}
	rest := py.Items(b, &py.Iterator{Next: l.iterator})
	l.iterator = py.Iter(b, &py.List{Items: rest})
	l.length = len(rest) + l.index0 + 1
	if l.after != missing {
		l.length++
	}
	return l.length
}

func (l *loopContext) TypeName() string { return "LoopContext" }

func (l *loopContext) Repr(b *py.Budget) string {
	return fmt.Sprintf("<LoopContext %d/%d>", l.index0+1, l.Len(b))
}

func (l *loopContext) Iter(b *py.Budget) func() (py.Value, bool) {
	return func() (py.Value, bool) {
		b.Step(1)
		v, ok := l.next()
		if !ok {
			return nil, false
		}
		return &py.Tuple{Items: []py.Value{v, l}}, true
	}
}

func (l *loopContext) Call(b *py.Budget, args py.Args) py.Value {
	return py.NewFunc("loop(iterable)", func(_ *py.Budget, a []py.Value) py.Value {
		py.RaiseIf(l.recurse == nil, "TypeError", "only a loop that is marked as recursive can be called")
		return l.recurse(a[0], l.depth0+1)
	}).Fn(b, args)
}

func (l *loopContext) Attr(b *py.Budget, name string) (py.Value, bool) {
	attr, ok := loopAttrs[name]
	if !ok {
		return nil, false
	}
	return attr(l, b), true
}

var loopAttrs = map[string]func(l *loopContext, b *py.Budget) py.Value{
	"index":     func(l *loopContext, _ *py.Budget) py.Value { return int64(l.index0 + 1) },
	"index0":    func(l *loopContext, _ *py.Budget) py.Value { return int64(l.index0) },
	"revindex":  func(l *loopContext, b *py.Budget) py.Value { return int64(l.Len(b) - l.index0) },
	"revindex0": func(l *loopContext, b *py.Budget) py.Value { return int64(l.Len(b) - l.index0 - 1) },
	"first":     func(l *loopContext, _ *py.Budget) py.Value { return l.index0 == 0 },
	"last":      func(l *loopContext, _ *py.Budget) py.Value { return l.peek() == missing },
	"length":    func(l *loopContext, b *py.Budget) py.Value { return int64(l.Len(b)) },
	"depth":     func(l *loopContext, _ *py.Budget) py.Value { return int64(l.depth0 + 1) },
	"depth0":    func(l *loopContext, _ *py.Budget) py.Value { return int64(l.depth0) },
	"previtem":  func(l *loopContext, _ *py.Budget) py.Value { return neighbour(l.before, "previous") },
	"nextitem":  func(l *loopContext, _ *py.Budget) py.Value { return neighbour(l.peek(), "next") },
	"cycle":     func(l *loopContext, _ *py.Budget) py.Value { return py.NewFunc("cycle(...)", l.cycle) },
	"changed":   func(l *loopContext, _ *py.Budget) py.Value { return py.NewFunc("changed(...)", l.change) },
}

func neighbour(v py.Value, which string) py.Value {
	if v == missing {
		return &py.Undefined{Hint: "there is no " + which + " item"}
	}
	return v
}

func (l *loopContext) cycle(_ *py.Budget, a []py.Value) py.Value {
	items := a[0].(py.Args).Pos
	py.RaiseIf(len(items) == 0, "TypeError", "loop.cycle needs at least one item")
	return items[max(l.index0, 0)%len(items)]
}

func (l *loopContext) change(b *py.Budget, a []py.Value) py.Value {
	v := &py.Tuple{Items: py.Items(b, &py.Tuple{Items: a[0].(py.Args).Pos})}
	if l.changed != missing && py.Equal(b, l.changed, v) {
		return false
	}
	l.changed = v
	return true
}
