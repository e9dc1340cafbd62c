package run

import (
	"fmt"

	"github.com/iris-oncall/iris/jinja/internal/builtins"
	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// expr compiles an expression.
func (c *compiler) expr(n syntax.Node, f *frame) expr {
	if constant, ok := c.foldedExpr(n, f); ok {
		return constant
	}
	if c.folding && c.depends(n) {
		return depends
	}
	switch x := n.(type) {
	case *syntax.Const:
		v := x.Value
		return func(*render, *env) py.Value { return v }
	case *syntax.Name:
		return c.name(x, f)
	case *syntax.GetAttr:
		obj, attr := c.expr(x.Obj, f), x.Attr
		return func(r *render, e *env) py.Value { return methods.GetAttr(r.Budget, obj(r, e), attr) }
	case *syntax.GetItem:
		return c.getitem(x, f)
	case *syntax.Call:
		call := c.call(x, f)
		return func(r *render, e *env) py.Value { return call(r, e, nil) }
	case *syntax.Filter:
		return c.filter(x, f)
	case *syntax.Test:
		return c.test(x, f)
	case *syntax.Bin:
		return c.binary(x, f)
	case *syntax.Unary:
		return c.unary(x, f)
	case *syntax.Compare:
		return c.compare(x, f)
	case *syntax.Concat:
		return c.concat(x, f)
	case *syntax.Cond:
		return c.cond(x, f)
	case *syntax.Tuple:
		items := c.exprs(x.Items, f)
		return func(r *render, e *env) py.Value { return &py.Tuple{Items: evalAll(r, e, items)} }
	case *syntax.List:
		items := c.exprs(x.Items, f)
		return func(r *render, e *env) py.Value { return &py.List{Items: evalAll(r, e, items)} }
	case *syntax.Dict:
		return c.dict(x, f)
	case *syntax.Data:
		v := x.Text
		return func(*render, *env) py.Value { return v }
	case *syntax.Slice:
		return func(*render, *env) py.Value {
			py.Raise("TypeError", "a slice cannot be part of a tuple")
			return nil
		}
	}
	panic(fmt.Sprintf("expression %T", n))
}

func (c *compiler) exprs(nodes []syntax.Node, f *frame) []expr {
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

func (c *compiler) name(n *syntax.Name, f *frame) expr {
	from, name := c.variable(n.Name, f), n.Name
	return func(r *render, e *env) py.Value {
		r.Step(1)
		if v := from.get(e); v != missing {
			return v
		}
		return &py.Undefined{Name: name}
	}
}

func (c *compiler) getitem(n *syntax.GetItem, f *frame) expr {
	obj := c.expr(n.Obj, f)
	if s, ok := n.Arg.(*syntax.Slice); ok {
		part := func(n syntax.Node) expr {
			if n == nil {
				return func(*render, *env) py.Value { return nil }
			}
			return c.expr(n, f)
		}
		start, stop, step := part(s.Start), part(s.Stop), part(s.Step)
		slice := func(r *render, e *env, o py.Value) py.Value {
			return py.Slice(r.Budget, o, start(r, e), stop(r, e), step(r, e))
		}
		if !c.folding {
			return func(r *render, e *env) py.Value { return slice(r, e, obj(r, e)) }
		}
		return func(r *render, e *env) (v py.Value) {
			o := obj(r, e)
			py.RaiseUndefined(o)
			if !builtins.Try(func() { v = slice(r, e, o) }, "TypeError") {
				return py.Missing(o, nil)
			}
			return v
		}
	}
	arg := c.expr(n.Arg, f)
	return func(r *render, e *env) py.Value {
		o := obj(r, e)
		return methods.GetItem(r.Budget, o, arg(r, e))
	}
}

func (c *compiler) dict(n *syntax.Dict, f *frame) expr {
	keys, values := c.exprs(n.Keys, f), c.exprs(n.Values, f)
	return func(r *render, e *env) py.Value {
		d := py.NewDict()
		for i, k := range keys {
			key := k(r, e)
			d.Set(r.Budget, key, values[i](r, e))
		}
		return d
	}
}

// standard are the filters and tests of all templates. They are constant.
var standard = builtins.New()

func (c *compiler) binary(n *syntax.Bin, f *frame) expr {
	left, right := c.expr(n.Left, f), c.expr(n.Right, f)
	if n.Op == "and" || n.Op == "or" {
		return func(r *render, e *env) py.Value {
			v := left(r, e)
			if py.Truth(r.Budget, v) == (n.Op == "and") {
				return right(r, e)
			}
			return v
		}
	}
	return func(r *render, e *env) py.Value {
		x := left(r, e)
		return operators.Binary(r.Budget, n.Op, x, right(r, e))
	}
}

func (c *compiler) unary(n *syntax.Unary, f *frame) expr {
	operand := c.expr(n.Operand, f)
	if n.Op == "not" {
		return func(r *render, e *env) py.Value { return !py.Truth(r.Budget, operand(r, e)) }
	}
	return func(r *render, e *env) py.Value { return operators.Unary(r.Budget, n.Op, operand(r, e)) }
}

func (c *compiler) compare(n *syntax.Compare, f *frame) expr {
	first, rest := c.expr(n.First, f), c.exprs(n.Rest, f)
	return func(r *render, e *env) py.Value {
		x := first(r, e)
		for i, op := range n.Ops {
			y := rest[i](r, e)
			if !builtins.Compare(r.Budget, op, x, y) {
				return false
			}
			x = y
		}
		return true
	}
}

func (c *compiler) concat(n *syntax.Concat, f *frame) expr {
	items := c.exprs(n.Items, f)
	// If escaping is known only at run time, the original loses Markup in a concatenation.
	keepsSafe := c.autoescape && !c.volatile && !c.folding
	return func(r *render, e *env) py.Value {
		values := evalAll(r, e, items)
		if keepsSafe {
			return joinMarkup(r, values)
		}
		j := py.NewJoiner(r.Budget, "")
		for _, v := range values {
			j.Add(py.Str(r.Budget, v))
		}
		return j.String()
	}
}

// joinMarkup concatenates. If one part is Markup, the others are escaped.
func joinMarkup(r *render, values []py.Value) py.Value {
	var empty py.Value = ""
	for i, v := range values {
		values[i] = py.SoftStr(r.Budget, v)
		if _, ok := values[i].(py.Markup); ok {
			empty = py.Markup("")
		}
	}
	return methods.Call(r.Budget, empty, "join", &py.List{Items: values})
}

func (c *compiler) cond(n *syntax.Cond, outer *frame) expr {
	f := outer.softened()
	yes, test := c.expr(n.Yes, f), c.expr(n.Test, f)
	no := func(*render, *env) py.Value {
		return &py.Undefined{Hint: "a condition is false and has no else"}
	}
	switch {
	case n.No != nil:
		no = c.expr(n.No, f)
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

// argsOf evaluates the arguments of a call.
type argsOf func(r *render, e *env, first py.Value) py.Args

// args compiles arguments. The value given to the result comes first, unless it is Absent.
func (c *compiler) args(a *syntax.Arguments, f *frame) argsOf {
	pos := c.exprs(a.Args, f)
	names, kw := make([]string, len(a.Kwargs)), make([]expr, len(a.Kwargs))
	for i, k := range a.Kwargs {
		names[i], kw[i] = k.Name, c.expr(k.Value, f)
	}
	var dynArgs, dynKw expr
	if a.DynArgs != nil {
		dynArgs = c.expr(a.DynArgs, f)
	}
	if a.DynKwargs != nil {
		dynKw = c.expr(a.DynKwargs, f)
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
			out.Pos = append(out.Pos, py.Items(r.Budget, dynArgs(r, e))...)
		}
		for i, k := range kw {
			out.Kw = append(out.Kw, py.Keyword{Name: names[i], Value: k(r, e)})
		}
		if dynKw != nil {
			spread(r, &out, dynKw(r, e))
		}
		return out
	}
}

func spread(r *render, out *py.Args, v py.Value) {
	d, ok := v.(*py.Dict)
	py.RaiseIf(!ok, "TypeError", "the argument after ** must be a dictionary, not %s", py.TypeName(v))
	given := map[string]bool{}
	for _, k := range out.Kw {
		given[k.Name] = true
	}
	d.Each(func(k, v py.Value) bool {
		name := py.TextArg(k)
		py.RaiseIf(given[name], "TypeError", "the argument %q is given twice", name)
		r.Grow(40)
		out.Kw = append(out.Kw, py.Keyword{Name: name, Value: v})
		return true
	})
}

// call compiles a call. A caller that is not nil is passed as a keyword.
func (c *compiler) call(n *syntax.Call, f *frame) func(r *render, e *env, caller py.Value) py.Value {
	fn, args := c.expr(n.Fn, f), c.args(&n.Arguments, f)
	return func(r *render, e *env, caller py.Value) py.Value {
		target := fn(r, e)
		a := args(r, e, py.Absent)
		if caller != nil {
			a.Kw = append(a.Kw, py.Keyword{Name: "caller", Value: caller})
		}
		return py.Call(r.Budget, target, a)
	}
}

// filter compiles obj|name(args). Without obj it filters the value that a block pipes.
func (c *compiler) filter(n *syntax.Filter, f *frame) expr {
	obj := func(r *render, _ *env) py.Value { return r.filterInput }
	def := c.callable("filter", n.Name, standard.Filters, n.Line(), f)
	if n.Obj != nil {
		obj = c.expr(n.Obj, f)
	}
	return c.apply(def, obj, c.args(&n.Arguments, f))
}

func (c *compiler) test(n *syntax.Test, f *frame) expr {
	def := c.callable("test", n.Name, standard.Tests, n.Line(), f)
	return c.apply(def, c.expr(n.Obj, f), c.args(&n.Arguments, f))
}

func (c *compiler) apply(fn *py.Func, obj expr, args argsOf) expr {
	return func(r *render, e *env) py.Value {
		v := obj(r, e)
		return py.Call(r.Budget, fn, args(r, e, v))
	}
}

// callable finds a filter or test. Inside a condition, a missing one fails only when it is called.
func (c *compiler) callable(kind, name string, callables map[string]*py.Func, line int, f *frame) *py.Func {
	if fn := callables[name]; fn != nil {
		return fn
	}
	if !f.soft {
		c.failAt(line, builtins.NotFound(kind, name, callables))
	}
	return &py.Func{Fn: func(*py.Budget, py.Args) py.Value {
		py.Raise("TemplateRuntimeError", "%s", builtins.NotFound(kind, name, callables))
		return nil
	}}
}
