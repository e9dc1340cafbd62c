package run

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// A compiled template is a tree of closures. Variables live in numbered slots: every function (the template, a macro,
// a recursive loop, the filter of a loop) has an environment of its own that points to that of the function around it.

type (
	expr func(r *render, e *env) py.Value
	stmt func(r *render, e *env)
)

// env holds the variables of one call of a function.
type env struct {
	slots []py.Value
	up    *env
}

// missing marks variables without a value.
var missing = py.Absent

// function is the compiler's record of a function: the slots of its variables.
type function struct {
	up    *function
	slots map[string]int
}

func (f *function) newEnv(up *env) *env {
	e := &env{slots: make([]py.Value, len(f.slots)), up: up}
	for i := range e.slots {
		e.slots[i] = missing
	}
	return e
}

// declare makes v a variable of f.
func (f *function) declare(v string) int {
	i, ok := f.slots[v]
	if !ok {
		i = len(f.slots)
		f.slots[v] = i
	}
	return i
}

// ref locates a variable: a slot of the function that is up levels further out.
type ref struct{ up, slot int }

func (x ref) get(e *env) py.Value {
	for range x.up {
		e = e.up
	}
	return e.slots[x.slot]
}

func (x ref) set(e *env, v py.Value) {
	for range x.up {
		e = e.up
	}
	e.slots[x.slot] = v
}

// frame is a scope at compile time.
type frame struct {
	*symbols
	soft bool // inside an if: unknown filters fail only when they are reached
}

func (f *frame) inner() *frame { return &frame{symbols: newSymbols(f.symbols)} }

func (f *frame) softened() *frame { return &frame{symbols: f.symbols.copy(), soft: true} }

// compiler turns the tree into closures. It fails by panicking with *py.Error.
type compiler struct {
	fn   *function
	line int // of the statement or output compiled last: where run-time errors are reported
	// folding: a constant expression is being computed at compile time.
	folding bool
	// foldSteps is the remaining budget of work at compile time.
	foldSteps int64
	// Whether text is escaped. volatile: this is known only at run time.
	autoescape, volatile bool
	opts                 Options
	// asks: an output prints a variable other than the metadata.
	asks bool
}

// maxTreeDepth bounds the depth of expressions, such as 1+1+1+...
const maxTreeDepth = 250

// Compile compiles a tree. It panics with *py.Error for unknown filters and tests, and for trees that are too deep.
func Compile(t *syntax.Template, opts Options) *Program {
	checkDepth(t, 0)
	c := &compiler{fn: &function{slots: map[string]int{}}, line: 1, foldSteps: foldSteps, opts: opts,
		autoescape: opts.Marks != py.NoMarks}
	f := &frame{symbols: newSymbols(nil)}
	setSelf := func(*env) {}
	if syntax.Undeclared(t.Body, "self")["self"] {
		r := c.declare(f.param("self"))
		setSelf = func(e *env) { r.set(e, templateReference) }
	}
	f.visitAll(t.Body)
	enter := c.enter(f)
	body := c.block(t.Body, f)
	return &Program{fn: c.fn, opts: opts, asks: c.asks, run: func(r *render, e *env) {
		setSelf(e)
		enter(r, e)
		body(r, e)
	}}
}

func checkDepth(n syntax.Node, depth int) {
	if depth > maxTreeDepth+syntax.MaxNesting {
		panic(&py.Error{Kind: py.LimitError, Message: "the template is nested too deeply", Line: n.Line()})
	}
	for _, child := range syntax.Children(n) {
		checkDepth(child, depth+1)
	}
}

// assertionError is the kind of the errors that the compiler finds.
const assertionError = "TemplateAssertionError"

func (c *compiler) failAt(line int, message string) {
	panic(&py.Error{Kind: assertionError, Message: message, Line: line})
}

// mark records the line of n as that of the next statement, and returns it.
func (c *compiler) mark(n syntax.Node) int {
	c.line = n.Line()
	return c.line
}

// declare makes a variable of the current function.
func (c *compiler) declare(v string) ref { return ref{0, c.fn.declare(v)} }

// lookup finds a variable in the current function or those around it.
func (c *compiler) lookup(v string) ref {
	up := 0
	for f := c.fn; f != nil; f = f.up {
		if i, ok := f.slots[v]; ok {
			return ref{up, i}
		}
		up++
	}
	return c.declare(v)
}

// variable finds the variable that a name means in a frame.
func (c *compiler) variable(name string, f *frame) ref {
	v, _ := f.find(name)
	return c.lookup(v)
}

// enter returns code that sets the first values of a frame's variables.
func (c *compiler) enter(f *frame) stmt {
	var starts []stmt
	for _, v := range f.order {
		l := f.loads[v]
		from := ref{}
		if l.kind == loadAlias {
			from = c.lookup(l.from)
		}
		slot := c.fn.declare(v)
		switch l.kind {
		case loadParam:
		case loadResolve:
			starts = append(starts, func(r *render, e *env) { e.slots[slot] = r.resolve(l.from) })
		case loadAlias:
			starts = append(starts, func(_ *render, e *env) { e.slots[slot] = from.get(e) })
		case loadUndefined:
			starts = append(starts, func(_ *render, e *env) { e.slots[slot] = missing })
		}
	}
	return sequence(starts)
}

// sequence returns code that runs statements one after the other.
func sequence(stmts []stmt) stmt {
	if len(stmts) == 1 {
		return stmts[0]
	}
	return func(r *render, e *env) {
		for _, s := range stmts {
			s(r, e)
		}
	}
}

// leave returns code that clears the variables of a frame.
func (c *compiler) leave(f *frame) stmt {
	var slots []int
	for _, v := range f.order {
		slots = append(slots, c.fn.declare(v))
	}
	return func(_ *render, e *env) {
		for _, i := range slots {
			e.slots[i] = missing
		}
	}
}

func (c *compiler) block(nodes []syntax.Node, f *frame) stmt {
	stmts := make([]stmt, 0, len(nodes))
	for _, n := range nodes {
		stmts = append(stmts, c.statement(n, f))
	}
	return sequence(stmts)
}

func (c *compiler) statement(n syntax.Node, f *frame) stmt {
	switch x := n.(type) {
	case *syntax.Output:
		return c.output(x, f)
	case *syntax.If:
		return c.ifStatement(x, f)
	case *syntax.For:
		return c.forStatement(x, f)
	case *syntax.Assign:
		return c.assign(x, f)
	case *syntax.AssignBlock:
		return c.assignBlock(x, f)
	case *syntax.With:
		return c.with(x, f)
	case *syntax.Macro:
		return c.macro(x, f)
	case *syntax.CallBlock:
		return c.callBlock(x, f)
	case *syntax.FilterBlock:
		return c.filterBlock(x, f)
	case *syntax.Autoescape:
		return c.autoescapeBlock(x, f)
	}
	panic(fmt.Sprintf("statement %T", n))
}

// escapes returns whether text is escaped: decided at compile time if possible, else at run time.
func (c *compiler) escapes() func(r *render) bool {
	if c.volatile {
		return func(r *render) bool { return r.Autoescape }
	}
	on := c.autoescape
	return func(*render) bool { return on }
}

// output writes texts and values one after the other.
func (c *compiler) output(n *syntax.Output, f *frame) stmt {
	stmts := make([]stmt, 0, len(n.Items))
	for _, it := range n.Items {
		if text, ok := c.known(it, f); ok {
			stmts = append(stmts, func(r *render, _ *env) { r.write(text) })
			continue
		}
		line := c.mark(it)
		value, escapes := c.expr(it, f), c.escapes()
		if !c.isMetadata(it) {
			c.asks = true
			value = noted(value)
		}
		stmts = append(stmts, func(r *render, e *env) {
			r.line = line
			v := value(r, e)
			if escapes(r) {
				r.write(string(py.Escape(r.Budget, v)))
			} else {
				r.write(py.Str(r.Budget, v))
			}
		})
	}
	return func(r *render, e *env) {
		r.Step(1)
		for _, s := range stmts {
			s(r, e)
		}
	}
}

// isMetadata reports whether an expression is the metadata or a part of it, without its title.
func (c *compiler) isMetadata(n syntax.Node) bool {
	switch x := n.(type) {
	case *syntax.Name:
		return x.Name == c.opts.Metadata
	case *syntax.GetAttr:
		return c.isMetadata(x.Obj) && x.Attr != c.opts.MetadataTitle
	case *syntax.GetItem:
		return c.isMetadata(x.Obj)
	case *syntax.Filter:
		return x.Obj != nil && c.isMetadata(x.Obj)
	}
	return false
}

// noted records whether a printed value has a letter, a digit or a symbol.
func noted(value expr) expr {
	return func(r *render, e *env) py.Value {
		v := value(r, e)
		if text, ok := py.AsString(v); ok {
			r.informative = r.informative || strings.ContainsFunc(text, func(c rune) bool {
				return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsSymbol(c)
			})
		} else if v != nil && !py.IsUndefined(v) {
			r.informative = true
		}
		return v
	}
}

// known returns the text of an output item if it is known at compile time.
func (c *compiler) known(it syntax.Node, f *frame) (string, bool) {
	if d, ok := it.(*syntax.Data); ok {
		return d.Text, true
	}
	return c.folded(it, f)
}

func (c *compiler) ifStatement(n *syntax.If, outer *frame) stmt {
	f := outer.softened()
	type branch struct {
		line int
		test expr
		body stmt
	}
	var branches []branch
	add := func(x *syntax.If) {
		line := c.mark(x)
		test := c.expr(x.Test, f)
		branches = append(branches, branch{line, test, c.block(x.Body, f)})
	}
	add(n)
	for _, x := range n.Elifs {
		add(x)
	}
	orelse := c.block(n.Else, f)
	return func(r *render, e *env) {
		for i := range branches {
			b := &branches[i]
			r.line = b.line
			r.Step(1)
			if py.Truth(r.Budget, b.test(r, e)) {
				b.body(r, e)
				return
			}
		}
		orelse(r, e)
	}
}

// target returns code that stores a value in a name, a namespace or a tuple of these.
func (c *compiler) target(n syntax.Node, f *frame) func(r *render, e *env, v py.Value) {
	switch x := n.(type) {
	case *syntax.Name:
		to := c.variable(x.Name, f)
		return func(_ *render, e *env, v py.Value) { to.set(e, v) }
	case *syntax.NSRef:
		from, attr := c.variable(x.Name, f), x.Attr
		return func(r *render, e *env, v py.Value) {
			if ns, ok := from.get(e).(*namespace); ok {
				ns.attrs.Set(r.Budget, attr, v)
			}
		}
	case *syntax.Tuple:
		var targets []func(*render, *env, py.Value)
		for _, it := range x.Items {
			targets = append(targets, c.target(it, f))
		}
		return func(r *render, e *env, v py.Value) {
			for i, item := range py.Unpack(r.Budget, v, len(targets)) {
				targets[i](r, e, item)
			}
		}
	}
	panic(fmt.Sprintf("target %T", n))
}

func (c *compiler) assign(n *syntax.Assign, f *frame) stmt {
	// Names that get attributes must be namespaces; that is checked first.
	before := c.line
	var spaces []ref
	syntax.Walk(n.Target, func(x syntax.Node) bool {
		if ns, ok := x.(*syntax.NSRef); ok {
			spaces = append(spaces, c.variable(ns.Name, f))
		}
		return true
	})
	line := c.mark(n)
	store, value := c.target(n.Target, f), c.expr(n.Value, f)
	return func(r *render, e *env) {
		for _, s := range spaces {
			if _, ok := s.get(e).(*namespace); !ok {
				r.line = before
				py.Raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
			}
		}
		r.line = line
		r.Step(1)
		store(r, e, value(r, e))
	}
}
