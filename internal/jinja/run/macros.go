package run

import (
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/internal/jinja/py"
	"github.com/iris-oncall/iris/internal/jinja/syntax"
)

// macroDef is a compiled macro or call block.
type macroDef struct {
	name       string // "" = a caller
	args       []string
	fn         *function
	params     []int // slots of args, then of caller, kwargs and varargs if the body uses them
	caller     bool
	catchKw    bool
	catchVar   bool
	explicit   bool // caller is among args
	line, last int  // of its start, and of the last compiled node in it
	enter      stmt
	defaults   []expr // by argument; nil = none
	body       stmt
}

// macroValue is a macro as a value: its definition and the variables around it.
type macroValue struct {
	def *macroDef
	up  *env
	r   *render
}

func (c *compiler) macroBody(n *syntax.Macro, outer *frame) *macroDef {
	f := outer.inner()
	f.visitAll(syntax.Children(n))
	d := &macroDef{name: n.Name}
	for _, a := range n.Args {
		d.args = append(d.args, a.Name)
	}
	used := syntax.Undeclared(n.Body, "caller", "kwargs", "varargs")
	callerAt := slices.Index(d.args, "caller")
	d.caller, d.explicit = used["caller"], callerAt >= 0
	d.catchKw = used["kwargs"] && !slices.Contains(d.args, "kwargs")
	d.catchVar = used["varargs"] && !slices.Contains(d.args, "varargs")
	if d.caller && d.explicit && callerAt < len(n.Args)-len(n.Defaults) {
		c.failAt(n.Line(), "the argument caller of a macro needs a default")
	}
	var extra []string
	if d.caller && !d.explicit {
		extra = append(extra, f.param("caller"))
	}
	if d.catchKw {
		extra = append(extra, f.param("kwargs"))
	}
	if d.catchVar {
		extra = append(extra, f.param("varargs"))
	}
	f.visitAll(syntax.Children(n))

	c.fn = &function{up: c.fn, slots: map[string]int{}}
	d.fn = c.fn
	d.line = c.mark(n)
	for _, a := range n.Args {
		v, _ := f.find(a.Name)
		d.params = append(d.params, c.fn.declare(v))
	}
	for _, v := range extra {
		d.params = append(d.params, c.fn.declare(v))
	}
	d.enter = c.enter(f)
	first := len(n.Args) - len(n.Defaults)
	for i := range n.Args {
		var def expr
		if i >= first {
			def = c.expr(n.Defaults[i-first], f)
		}
		d.defaults = append(d.defaults, def)
	}
	d.body = c.block(n.Body, f)
	d.last = c.line
	c.fn = c.fn.up
	return d
}

func (c *compiler) macro(n *syntax.Macro, f *frame) stmt {
	d := c.macroBody(n, f)
	v, _ := f.find(n.Name)
	to := c.lookup(v)
	return func(r *render, e *env) {
		r.Step(1)
		to.set(e, &macroValue{def: d, up: e, r: r})
	}
}

func (c *compiler) callBlock(n *syntax.CallBlock, f *frame) stmt {
	d := c.macroBody(n.Macro, f)
	line := c.mark(n)
	call := c.call(n.Call, f)
	return func(r *render, e *env) {
		caller := &macroValue{def: d, up: e, r: r}
		r.line = line
		r.writeValue(call(r, e, caller))
	}
}

// Call runs the macro and returns its text.
func (m *macroValue) Call(b *py.Budget, args py.Args) py.Value {
	values := m.bind(b, args)
	r := m.r
	text := r.call(m.def.line, m.def.last, func() { m.def.run(r, m.up, values) })
	return py.MarkupIf(r.Autoescape, text)
}

func (d *macroDef) run(r *render, up *env, values []py.Value) {
	e := d.fn.newEnv(up)
	r.Grow(int64(32 + 16*len(e.slots)))
	for i, v := range values {
		e.slots[d.params[i]] = v
	}
	d.enter(r, e)
	for i, def := range d.defaults {
		if e.slots[d.params[i]] != missing {
			continue
		}
		if def != nil {
			e.slots[d.params[i]] = def(r, e)
		} else {
			e.slots[d.params[i]] = &py.Undefined{Hint: fmt.Sprintf("macro %s is called without the argument %q", d.name, d.args[i])}
		}
	}
	d.body(r, e)
}

// bind assigns the arguments of a call to the parameters.
func (m *macroValue) bind(b *py.Budget, args py.Args) []py.Value {
	d, rest := m.def, py.NewDict()
	for _, k := range args.Kw {
		rest.Set(b, k.Name, k.Value)
	}
	values := slices.Repeat([]py.Value{missing}, len(d.args))
	n := copy(values, args.Pos)
	for i := n; i < len(values); i++ {
		if v, ok := rest.Delete(b, d.args[i]); ok {
			values[i] = v
		}
	}
	if d.caller && !d.explicit {
		v, _ := rest.Delete(b, "caller")
		if v == nil {
			v = &py.Undefined{Hint: "the macro is not called by a call block"}
		}
		values = append(values, v)
	}
	if !d.catchKw && rest.Len() > 0 || !d.catchVar && len(args.Pos) > n {
		py.Raise("TypeError", "macro %s takes only the arguments %q", d.name, d.args)
	}
	if d.catchKw {
		values = append(values, rest)
	}
	if d.catchVar {
		values = append(values, &py.Tuple{Items: slices.Clone(args.Pos[n:])})
	}
	return values
}

func (m *macroValue) TypeName() string { return "Macro" }

func (m *macroValue) Repr(*py.Budget) string {
	if m.def.name == "" {
		return "<Macro anonymous>"
	}
	return "<Macro " + py.Quote(m.def.name) + ">"
}

func (m *macroValue) Attr(_ *py.Budget, name string) (py.Value, bool) {
	d := m.def
	args, ownName := &py.Tuple{}, py.Value(d.name)
	for _, a := range d.args {
		args.Items = append(args.Items, a)
	}
	if d.name == "" {
		ownName = nil
	}
	v, ok := map[string]py.Value{
		"name": ownName, "arguments": args, "catch_kwargs": d.catchKw, "catch_varargs": d.catchVar,
		"caller": d.caller, "explicit_caller": d.explicit,
	}[name]
	return v, ok
}
