package jinja

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// expr compiles an expression.
func (c *compiler) expr(n node, f *frame) expr {
	if constant, ok := c.foldedExpr(n, f); ok {
		return constant
	}
	if c.folding && c.depends(n) {
		return depends
	}
	switch x := n.(type) {
	case *constNode:
		v := x.value
		return func(*render, *env) py.Value { return v }
	case *nameNode:
		return c.name(x, f)
	case *getattrNode:
		obj, attr := c.expr(x.obj, f), x.attr
		return func(r *render, e *env) py.Value { return py.GetAttr(r.Budget, obj(r, e), attr) }
	case *getitemNode:
		return c.getitem(x, f)
	case *callNode:
		call := c.call(x, f)
		return func(r *render, e *env) py.Value { return call(r, e, nil) }
	case *filterNode:
		return c.filter(x, f)
	case *testNode:
		return c.test(x, f)
	case *binNode:
		return c.binary(x, f)
	case *unaryNode:
		return c.unary(x, f)
	case *compareNode:
		return c.compare(x, f)
	case *concatNode:
		return c.concat(x, f)
	case *condNode:
		return c.cond(x, f)
	case *tupleNode:
		items := c.exprs(x.items, f)
		return func(r *render, e *env) py.Value { return &py.Tuple{Items: evalAll(r, e, items)} }
	case *listNode:
		items := c.exprs(x.items, f)
		return func(r *render, e *env) py.Value { return &py.List{Items: evalAll(r, e, items)} }
	case *dictNode:
		return c.dict(x, f)
	case *dataNode:
		v := x.text
		return func(*render, *env) py.Value { return v }
	case *sliceNode:
		// A slice within a tuple of subscripts: nothing can be looked up by it.
		return func(*render, *env) py.Value {
			py.Raise("TypeError", "unhashable type: 'slice'")
			return nil
		}
	}
	panic(&Error{Kind: "TemplateSyntaxError", Message: "unexpected expression", Line: n.lineno()})
}

func (c *compiler) exprs(nodes []node, f *frame) []expr {
	out := make([]expr, len(nodes))
	for i, n := range nodes {
		out[i] = c.expr(n, f)
	}
	return out
}

func evalAll(r *render, e *env, items []expr) []py.Value {
	r.Grow(int64(24 * len(items)))
	out := make([]py.Value, len(items))
	for i, it := range items {
		out[i] = it(r, e)
	}
	return out
}

func (c *compiler) name(n *nameNode, f *frame) expr {
	v, ok := f.find(n.name)
	if !ok {
		panic(&Error{Kind: "TemplateSyntaxError", Message: "unknown name " + py.Quote(n.name), Line: n.lineno()})
	}
	from, name := c.lookup(v), n.name
	if from.up == 0 {
		slot := from.slot
		return func(r *render, e *env) py.Value {
			r.Step(1)
			if v := e.slots[slot]; v != missing {
				return v
			}
			return &py.Undefined{Name: name}
		}
	}
	return func(r *render, e *env) py.Value {
		r.Step(1)
		if v := from.get(e); v != missing {
			return v
		}
		return &py.Undefined{Name: name}
	}
}

func (c *compiler) getitem(n *getitemNode, f *frame) expr {
	obj := c.expr(n.obj, f)
	if s, ok := n.arg.(*sliceNode); ok {
		part := func(n node) expr {
			if n == nil {
				return func(*render, *env) py.Value { return nil }
			}
			return c.expr(n, f)
		}
		start, stop, step := part(s.start), part(s.stop), part(s.step)
		if c.folding {
			return func(r *render, e *env) (v py.Value) {
				o := obj(r, e)
				if u, ok := o.(*py.Undefined); ok {
					u.Raise()
				}
				err := py.Try(func() { v = py.Slice(r.Budget, o, start(r, e), stop(r, e), step(r, e)) })
				if err != nil && err.Kind != "TypeError" {
					panic(err)
				}
				if err != nil {
					return &py.Undefined{HasObj: true, Obj: o}
				}
				return v
			}
		}
		return func(r *render, e *env) py.Value {
			o := obj(r, e)
			return py.Slice(r.Budget, o, start(r, e), stop(r, e), step(r, e))
		}
	}
	arg := c.expr(n.arg, f)
	return func(r *render, e *env) py.Value {
		o := obj(r, e)
		return py.GetItem(r.Budget, o, arg(r, e))
	}
}

func (c *compiler) dict(n *dictNode, f *frame) expr {
	var keys, values []expr
	for _, p := range n.pairs {
		keys, values = append(keys, c.expr(p.key, f)), append(values, c.expr(p.value, f))
	}
	return func(r *render, e *env) py.Value {
		d := py.NewDict()
		for i, k := range keys {
			key := k(r, e)
			d.Set(r.Budget, key, values[i](r, e))
		}
		return d
	}
}

var binaryOps = map[string]func(b *py.Budget, x, y py.Value) py.Value{
	"+": py.Add, "-": py.Sub, "*": py.Mul, "/": py.Div, "//": py.FloorDiv, "%": py.Mod, "**": py.Pow,
}

func (c *compiler) binary(n *binNode, f *frame) expr {
	left, right := c.expr(n.left, f), c.expr(n.right, f)
	switch n.op {
	case "and":
		return func(r *render, e *env) py.Value {
			v := left(r, e)
			if py.Truth(r.Budget, v) {
				return right(r, e)
			}
			return v
		}
	case "or":
		return func(r *render, e *env) py.Value {
			v := left(r, e)
			if py.Truth(r.Budget, v) {
				return v
			}
			return right(r, e)
		}
	}
	op := binaryOps[n.op]
	return func(r *render, e *env) py.Value {
		x := left(r, e)
		return op(r.Budget, x, right(r, e))
	}
}

func (c *compiler) unary(n *unaryNode, f *frame) expr {
	operand := c.expr(n.operand, f)
	switch n.op {
	case "-":
		return func(r *render, e *env) py.Value { return py.Neg(r.Budget, operand(r, e)) }
	case "+":
		return func(r *render, e *env) py.Value { return py.Pos(operand(r, e)) }
	}
	return func(r *render, e *env) py.Value { return !py.Truth(r.Budget, operand(r, e)) }
}

func (c *compiler) compare(n *compareNode, f *frame) expr {
	first := c.expr(n.expr, f)
	ops := make([]func(b *py.Budget, x, y py.Value) bool, len(n.ops))
	rest := make([]expr, len(n.ops))
	for i, o := range n.ops {
		ops[i], rest[i] = comparison(o.op), c.expr(o.expr, f)
	}
	return func(r *render, e *env) py.Value {
		x := first(r, e)
		for i, op := range ops {
			y := rest[i](r, e)
			if !op(r.Budget, x, y) {
				return false
			}
			x = y
		}
		return true
	}
}

func comparison(op string) func(b *py.Budget, x, y py.Value) bool {
	switch op {
	case "==":
		return py.Equal
	case "!=":
		return func(b *py.Budget, x, y py.Value) bool { return !py.Equal(b, x, y) }
	case "in":
		return func(b *py.Budget, x, y py.Value) bool { return py.Contains(b, y, x) }
	case "notin":
		return func(b *py.Budget, x, y py.Value) bool { return !py.Contains(b, y, x) }
	}
	return func(b *py.Budget, x, y py.Value) bool { return py.Less(b, op, x, y) }
}

func (c *compiler) concat(n *concatNode, f *frame) expr {
	items := c.exprs(n.items, f)
	// Where it is not known before the run whether text is escaped, the original asks at run time whether it is not known, which
	// never holds there, and so forgets what was safe.
	keepsSafe := c.autoescape && !c.volatile && !c.folding
	return func(r *render, e *env) py.Value {
		values := evalAll(r, e, items)
		if keepsSafe {
			return joinMarkup(r, values)
		}
		size := 0
		parts := make([]string, len(values))
		for i, v := range values {
			parts[i] = py.Str(r.Budget, v)
			size += len(parts[i])
		}
		r.Grow(int64(size))
		return strings.Join(parts, "")
	}
}

// joinMarkup concatenates; as soon as one part is Markup, the others are escaped.
func joinMarkup(r *render, values []py.Value) py.Value {
	safe := false
	for i, v := range values {
		values[i] = py.SoftStr(r.Budget, v)
		if _, ok := values[i].(py.Markup); ok {
			safe = true
		}
	}
	j := py.NewJoiner(r.Budget, "")
	for _, v := range values {
		if safe {
			j.Add(string(py.Escape(r.Budget, v)))
		} else {
			j.Add(v.(string))
		}
	}
	if safe {
		return py.Markup(j.String())
	}
	return j.String()
}

func (c *compiler) cond(n *condNode, outer *frame) expr {
	f := outer.softened()
	yes, test := c.expr(n.yes, f), c.expr(n.test, f)
	no := func(*render, *env) py.Value {
		return &py.Undefined{Hint: "the inline if-expression on line " + itoa(n.lineno()) +
			" evaluated to false and no else section was defined."}
	}
	switch {
	case n.no != nil:
		no = c.expr(n.no, f)
	case c.folding:
		no = depends
	}
	return func(r *render, e *env) py.Value {
		if py.Truth(r.Budget, test(r, e)) {
			return yes(r, e)
		}
		return no(r, e)
	}
}

// args compiles arguments. The first value given to the result goes before them, unless it is Absent.
func (c *compiler) args(a *callArgs, f *frame, callee string) func(r *render, e *env, first py.Value) py.Args {
	pos := c.exprs(a.args, f)
	names, kw := make([]string, len(a.kwargs)), make([]expr, len(a.kwargs))
	for i, k := range a.kwargs {
		names[i], kw[i] = k.name, c.expr(k.value, f)
	}
	var dynArgs, dynKw expr
	if a.dynArgs != nil {
		dynArgs = c.expr(a.dynArgs, f)
	}
	if a.dynKwarg != nil {
		dynKw = c.expr(a.dynKwarg, f)
	}
	return func(r *render, e *env, first py.Value) py.Args {
		var out py.Args
		r.Grow(int64(24*len(pos) + 40*len(kw) + 24))
		out.Pos = make([]py.Value, 0, len(pos)+1)
		if first != py.Absent {
			out.Pos = append(out.Pos, first)
		}
		for _, p := range pos {
			out.Pos = append(out.Pos, p(r, e))
		}
		if dynArgs != nil {
			v := dynArgs(r, e)
			if _, ok := py.TryIter(r.Budget, v); !ok {
				py.Raise("TypeError", "Value after * must be an iterable, not %s", py.TypeName(v))
			}
			out.Pos = append(out.Pos, py.Items(r.Budget, v)...)
		}
		for i, k := range kw {
			out.Kw = append(out.Kw, py.Keyword{Name: names[i], Value: k(r, e)})
		}
		if dynKw != nil {
			spread(r, &out, dynKw(r, e), callee)
		}
		return out
	}
}

func spread(r *render, out *py.Args, v py.Value, callee string) {
	d, ok := v.(*py.Dict)
	if !ok {
		py.Raise("TypeError", "%s argument after ** must be a mapping, not %s", callee, py.TypeName(v))
	}
	given := map[string]bool{}
	for _, k := range out.Kw {
		given[k.Name] = true
	}
	d.Each(func(k, v py.Value) bool {
		name, ok := py.AsString(k)
		if !ok {
			py.Raise("TypeError", "keywords must be strings")
		}
		if given[name] {
			py.Raise("TypeError", "%s got multiple values for keyword argument '%s'", callee, name)
		}
		r.Grow(40)
		out.Kw = append(out.Kw, py.Keyword{Name: name, Value: v})
		return true
	})
}

// call compiles a call; a caller that is not nil is passed as a keyword.
func (c *compiler) call(n *callNode, f *frame) func(r *render, e *env, caller py.Value) py.Value {
	fn, args := c.expr(n.fn, f), c.args(&n.callArgs, f, "jinja2.sandbox.SandboxedEnvironment.call()")
	return func(r *render, e *env, caller py.Value) py.Value {
		target := fn(r, e)
		a := args(r, e, py.Absent)
		if caller != nil {
			a.Kw = append(a.Kw, py.Keyword{Name: "caller", Value: caller})
		}
		return py.Call(r.Budget, target, a)
	}
}

// filter compiles obj|name(args); without an obj the value piped by a block.
func (c *compiler) filter(n *filterNode, f *frame) expr {
	obj := func(r *render, _ *env) py.Value { return r.piped }
	def := builtins.filters[n.name]
	if def == nil && !f.soft {
		c.failAt(n.lineno(), "No filter named %s.", py.Quote(n.name))
	}
	if n.obj != nil {
		obj = c.expr(n.obj, f)
	}
	callee := n.name
	if def != nil {
		callee = def.sig.Name + "()"
	}
	args, name := c.args(&n.callArgs, f, callee), n.name
	return func(r *render, e *env) py.Value {
		v := obj(r, e)
		a := args(r, e, v)
		if def == nil {
			py.Raise("TemplateRuntimeError", "No filter named %s found.", py.Quote(name))
		}
		return def.call(r, a)
	}
}

// filterChain compiles the filter of a block: it is given the block's text.
func (c *compiler) filterChain(n *filterNode, f *frame) func(r *render, e *env, v py.Value) py.Value {
	apply := c.filter(n, f)
	return func(r *render, e *env, v py.Value) py.Value {
		r.piped = v
		return apply(r, e)
	}
}

func (c *compiler) test(n *testNode, f *frame) expr {
	def := builtins.tests[n.name]
	if def == nil && !f.soft {
		c.failAt(n.lineno(), "No test named %s.", py.Quote(n.name))
	}
	callee := n.name
	if def != nil {
		callee = def.sig.Name + "()"
	}
	obj, args, name := c.expr(n.obj, f), c.args(&n.callArgs, f, callee), n.name
	return func(r *render, e *env) py.Value {
		v := obj(r, e)
		a := args(r, e, v)
		if def == nil {
			py.Raise("TemplateRuntimeError", "No test named %s found.", py.Quote(name))
		}
		return def.call(r, a)
	}
}
