package jinja

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/jinja/py"
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
var missing py.Value = &missingValue{}

type missingValue struct{ _ byte }

// function is what the compiler knows of a function: the slots of its variables.
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

// ref is where a variable lives: so many functions up, in this slot.
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

// compiler turns the tree into closures. It fails by panicking with *Error.
type compiler struct {
	fn   *function
	line int // of the statement or output compiled last: where run-time errors are reported
	// folding: a constant is being computed beforehand.
	folding bool
	// foldSteps is what is left of the work that may be done beforehand.
	foldSteps int64
	// Whether text is escaped, as far as that is known at compile time.
	autoescape, volatile bool
	marks                py.Marks
	// asks: an output prints a variable other than iris.
	asks bool
}

// maxTreeDepth bounds how deep expressions may be built up, for example by 1+1+1+...
const maxTreeDepth = 250

func compile(t *templateNode, marks py.Marks) (run stmt, fn *function, asks bool, err *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			run, fn, asks, err = nil, nil, false, e
		}
	}()
	checkDepth(t, 0)
	c := &compiler{fn: &function{slots: map[string]int{}}, line: 1, foldSteps: foldSteps, marks: marks, autoescape: marks != py.NoMarks}
	f := &frame{symbols: newSymbols(nil)}
	var setSelf stmt
	if undeclared(t.body, "self")["self"] {
		r := c.declare(f.param("self"))
		setSelf = func(_ *render, e *env) { r.set(e, templateRef{}) }
	}
	f.visitAll(t.body)
	enter := c.enter(f)
	body := c.block(t.body, f)
	return func(r *render, e *env) {
		if setSelf != nil {
			setSelf(r, e)
		}
		enter(r, e)
		body(r, e)
	}, c.fn, c.asks, nil
}

func checkDepth(n node, depth int) {
	if depth > maxTreeDepth+maxNesting {
		panic(&Error{Kind: py.LimitError, Message: "the template is nested too deeply", Line: n.lineno()})
	}
	for _, child := range n.children() {
		checkDepth(child, depth+1)
	}
}

func (c *compiler) failAt(line int, format string, args ...any) {
	e := syntaxError(line, format, args...)
	e.Kind = "TemplateAssertionError"
	panic(e)
}

// mark notes the line of what is compiled next.
func (c *compiler) mark(n node) int {
	c.line = n.lineno()
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

// enter returns what gives the variables of a frame their first values.
func (c *compiler) enter(f *frame) stmt {
	type start struct {
		to, from ref
		kind     loadKind
		name     string
	}
	var starts []start
	for _, v := range f.order {
		l := f.loads[v]
		s := start{kind: l.kind, name: l.from}
		switch l.kind {
		case loadParam:
			c.declare(v)
			continue
		case loadAlias:
			s.from = c.lookup(l.from)
		}
		s.to = c.declare(v)
		starts = append(starts, s)
	}
	return func(r *render, e *env) {
		for _, s := range starts {
			switch s.kind {
			case loadResolve:
				e.slots[s.to.slot] = r.resolve(s.name)
			case loadAlias:
				e.slots[s.to.slot] = s.from.get(e)
			default:
				e.slots[s.to.slot] = missing
			}
		}
	}
}

// leave returns what takes the variables of a frame their values.
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

func (c *compiler) block(nodes []node, f *frame) stmt {
	stmts := make([]stmt, 0, len(nodes))
	for _, n := range nodes {
		stmts = append(stmts, c.statement(n, f))
	}
	if len(stmts) == 1 {
		return stmts[0]
	}
	return func(r *render, e *env) {
		for _, s := range stmts {
			s(r, e)
		}
	}
}

func (c *compiler) statement(n node, f *frame) stmt {
	switch x := n.(type) {
	case *outputNode:
		return c.output(x, f)
	case *ifNode:
		return c.ifStatement(x, f)
	case *forNode:
		return c.forStatement(x, f)
	case *assignNode:
		return c.assign(x, f)
	case *assignBlockNode:
		return c.assignBlock(x, f)
	case *withNode:
		return c.with(x, f)
	case *macroNode:
		return c.macro(x, f)
	case *callBlockNode:
		return c.callBlock(x, f)
	case *filterBlockNode:
		return c.filterBlock(x, f)
	case *autoescapeNode:
		return c.autoescapeBlock(x, f)
	}
	panic(&Error{Kind: "TemplateSyntaxError", Message: "unexpected statement", Line: n.lineno()})
}

// escapes returns whether text is to be escaped, decided at compile time or when it is not known then, at run time.
func (c *compiler) escapes() func(r *render) bool {
	if c.volatile {
		return func(r *render) bool { return r.autoescape }
	}
	on := c.autoescape
	return func(*render) bool { return on }
}

// output writes texts and values one after the other.
func (c *compiler) output(n *outputNode, f *frame) stmt {
	stmts := make([]stmt, 0, len(n.items))
	var known *string // constants that follow each other are one piece
	for _, it := range n.items {
		text, ok := c.known(it, f)
		if ok && known != nil {
			*known += text
			continue
		}
		known = nil
		if ok {
			known = &text
			stmts = append(stmts, func(r *render, _ *env) { r.write(text) })
			if _, data := it.(*dataNode); data && c.volatile {
				known = nil
			}
			continue
		}
		line := c.mark(it)
		value, escapes := c.expr(it, f), c.escapes()
		if !ofIris(it) {
			c.asks = true
			value = telling(value)
		}
		if !c.volatile && !c.autoescape {
			stmts = append(stmts, func(r *render, e *env) {
				r.line = line
				r.write(py.Str(r.Budget, value(r, e)))
			})
			continue
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

// ofIris reports whether an expression is iris or a part of it, which says nothing of what happened. The title does.
func ofIris(n node) bool {
	switch x := n.(type) {
	case *nameNode:
		return x.name == "iris"
	case *getattrNode:
		return ofIris(x.obj) && x.attr != "title"
	case *getitemNode:
		return ofIris(x.obj)
	case *filterNode:
		return x.obj != nil && ofIris(x.obj)
	}
	return false
}

// telling notes when a value that is printed says something.
func telling(value expr) expr {
	return func(r *render, e *env) py.Value {
		v := value(r, e)
		if r.told {
			return v
		}
		text, ok := py.AsString(v)
		if _, undefined := v.(*py.Undefined); !ok && !undefined && v != nil {
			r.told = true
		}
		r.told = r.told || strings.ContainsFunc(text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsSymbol(c) })
		return v
	}
}

// known is the text of an item of an output as far as it is known beforehand.
func (c *compiler) known(it node, f *frame) (string, bool) {
	if d, ok := it.(*dataNode); ok {
		return d.text, true
	}
	return c.folded(it, f)
}

func (c *compiler) ifStatement(n *ifNode, outer *frame) stmt {
	f := outer.softened()
	type branch struct {
		line int
		test expr
		body stmt
	}
	var branches []branch
	add := func(x *ifNode) {
		line := c.mark(x)
		test := c.expr(x.test, f)
		branches = append(branches, branch{line, test, c.block(x.body, f)})
	}
	add(n)
	for _, x := range n.elifs {
		add(x)
	}
	var orelse stmt
	if n.orelse != nil {
		orelse = c.block(n.orelse, f)
	}
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
		if orelse != nil {
			orelse(r, e)
		}
	}
}

// target returns what stores a value in a name, a namespace or a tuple of these.
func (c *compiler) target(n node, f *frame) func(r *render, e *env, v py.Value) {
	switch x := n.(type) {
	case *nameNode:
		v, _ := f.find(x.name)
		to := c.lookup(v)
		if to.up == 0 {
			slot := to.slot
			return func(_ *render, e *env, v py.Value) { e.slots[slot] = v }
		}
		return func(_ *render, e *env, v py.Value) { to.set(e, v) }
	case *nsRefNode:
		v, _ := f.find(x.name)
		from, attr := c.lookup(v), x.attr
		return func(r *render, e *env, v py.Value) {
			if ns, ok := from.get(e).(*namespace); ok {
				ns.attrs.Set(r.Budget, attr, v)
			}
		}
	case *tupleNode:
		var targets []func(*render, *env, py.Value)
		for _, it := range x.items {
			targets = append(targets, c.target(it, f))
		}
		return func(r *render, e *env, v py.Value) {
			for i, item := range py.Unpack(r.Budget, v, len(targets)) {
				targets[i](r, e, item)
			}
		}
	}
	panic(&Error{Kind: "TemplateSyntaxError", Message: "can't assign to " + strconv.Quote(className(n)), Line: n.lineno()})
}

func (c *compiler) assign(n *assignNode, f *frame) stmt {
	// Names that are given attributes must be namespaces; that is checked first.
	before := c.line
	var spaces []ref
	walk(n.target, func(x node) bool {
		if ns, ok := x.(*nsRefNode); ok {
			v, _ := f.find(ns.name)
			spaces = append(spaces, c.lookup(v))
		}
		return true
	})
	line := c.mark(n)
	store, value := c.target(n.target, f), c.expr(n.value, f)
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

func (c *compiler) assignBlock(n *assignBlockNode, f *frame) stmt {
	in := f.inner()
	in.visitAll(n.body)
	if n.filter != nil {
		in.visitAll(n.filter.nodes())
	}
	enter := c.enter(in)
	body := c.block(n.body, in)
	line := c.mark(n)
	store := c.target(n.target, f)
	var filter func(r *render, e *env, v py.Value) py.Value
	if n.filter != nil {
		filter = c.filterChain(n.filter, in)
	}
	leave, escapes := c.leave(in), c.escapes()
	return func(r *render, e *env) {
		enter(r, e)
		text := r.capture(line, func() { body(r, e) })
		var v py.Value = text
		if filter != nil {
			if escapes(r) {
				v = py.Markup(text)
			}
			v = filter(r, e, v)
		}
		if r.autoescape {
			v = toMarkup(r, v)
		}
		store(r, e, v)
		leave(r, e)
	}
}

func (c *compiler) with(n *withNode, f *frame) stmt {
	in := f.inner()
	in.visitAll(n.targets)
	in.visitAll(n.body)
	enter := c.enter(in)
	line := c.line
	var sets []stmt
	for i := range n.targets {
		store, value := c.target(n.targets[i], in), c.expr(n.values[i], f)
		sets = append(sets, func(r *render, e *env) { store(r, e, value(r, e)) })
	}
	body, leave := c.block(n.body, in), c.leave(in)
	return func(r *render, e *env) {
		enter(r, e)
		r.line = line
		for _, s := range sets {
			s(r, e)
		}
		body(r, e)
		leave(r, e)
	}
}

func (c *compiler) filterBlock(n *filterBlockNode, f *frame) stmt {
	in := f.inner()
	in.visitAll(n.body)
	in.visit(n.filter)
	enter := c.enter(in)
	body := c.block(n.body, in)
	line := c.mark(n)
	filter := c.filterChain(n.filter, in)
	leave, escapes := c.leave(in), c.escapes()
	return func(r *render, e *env) {
		enter(r, e)
		var v py.Value = r.capture(line, func() { body(r, e) })
		if escapes(r) {
			v = py.Markup(v.(string))
		}
		r.writeValue(filter(r, e, v))
		leave(r, e)
	}
}

func (c *compiler) autoescapeBlock(n *autoescapeNode, f *frame) stmt {
	in := f.inner()
	in.visit(n.value)
	in.visitAll(n.body)
	enter := c.enter(in)
	line, savedOn, savedVolatile := c.line, c.autoescape, c.volatile
	value := c.expr(n.value, in)
	if v, ok := constant(n.value, value); ok {
		c.autoescape = v
	} else {
		c.volatile = true
	}
	body := c.block(n.body, in)
	c.autoescape, c.volatile = savedOn, savedVolatile
	leave := c.leave(in)
	return func(r *render, e *env) {
		enter(r, e)
		saved := r.autoescape
		r.line = line
		r.autoescape = py.Truth(r.Budget, value(r, e))
		body(r, e)
		r.autoescape = saved
		leave(r, e)
	}
}

// constant evaluates an expression that depends on nothing, as far as its truth goes.
func constant(n node, value expr) (on, ok bool) {
	depends := false
	walk(n, func(x node) bool {
		switch x.(type) {
		case *nameNode, *callNode, *filterNode, *testNode:
			depends = true
		}
		return !depends
	})
	if depends {
		return false, false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	r := newRender(Limits{}.withDefaults(), nil)
	return py.Truth(r.Budget, value(r, &env{})), true
}
