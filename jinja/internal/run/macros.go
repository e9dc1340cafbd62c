package run

import (
	"fmt"
	"slices"

	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// macroDef is a compiled macro or call block.
type macroDef struct {
	name       string // "" = a caller
	args       []string
	extra      []string // those of caller, kwargs and varargs that the body uses and that are not in args
	usesCaller bool
	fn         *function
	params     []int // slots of args and extra
	line, last int   // of its start, and of the last compiled node in it
	enter      stmt
	defaults   []expr // by argument
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
	required := len(n.Args) - len(n.Defaults)
	used := syntax.Undeclared(n.Body, "caller", "kwargs", "varargs")
	d.usesCaller = used["caller"]
	for _, name := range []string{"caller", "kwargs", "varargs"} {
		i := slices.Index(d.args, name)
		switch {
		case used[name] && i < 0:
			f.param(name)
			d.extra = append(d.extra, name)
		case used[name] && name == "caller" && i < required:
			c.failAt(n.Line(), "the argument caller of a macro needs a default")
		}
	}
	f.visitAll(syntax.Children(n))

	c.fn = &function{up: c.fn, slots: map[string]int{}}
	d.fn = c.fn
	d.line = c.mark(n)
	for _, name := range slices.Concat(d.args, d.extra) {
		d.params = append(d.params, c.fn.declare(f.refs[name]))
	}
	d.enter = c.enter(f)
	for i, name := range d.args {
		if i >= required {
			d.defaults = append(d.defaults, c.expr(n.Defaults[i-required], f))
			continue
		}
		hint := fmt.Sprintf("macro %s is called without the argument %q", n.Name, name)
		d.defaults = append(d.defaults, func(*render, *env) py.Value { return &py.Undefined{Hint: hint} })
	}
	d.body = c.block(n.Body, f)
	d.last = c.line
	c.fn = c.fn.up
	return d
}

func (c *compiler) macro(n *syntax.Macro, f *frame) stmt {
	d := c.macroBody(n, f)
	to := c.variable(n.Name, f)
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
		if slot := d.params[i]; e.slots[slot] == missing {
			e.slots[slot] = def(r, e)
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
	others := args.Pos[n:]
	for _, name := range d.extra {
		switch name {
		case "caller":
			v, _ := rest.Delete(b, name)
			if v == nil {
				v = &py.Undefined{Hint: "the macro is not called by a call block"}
			}
			values = append(values, v)
		case "kwargs":
			values = append(values, rest)
			rest = py.NewDict()
		case "varargs":
			values = append(values, &py.Tuple{Items: slices.Clone(others)})
			others = nil
		}
	}
	py.RaiseIf(rest.Len()+len(others) > 0, "TypeError", "macro %s takes only the arguments %q", d.name, d.args)
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
		"name": ownName, "arguments": args, "caller": d.usesCaller, "explicit_caller": slices.Contains(d.args,
			"caller"),
		"catch_kwargs": slices.Contains(d.extra, "kwargs"), "catch_varargs": slices.Contains(d.extra, "varargs"),
	}[name]
	return v, ok
}
