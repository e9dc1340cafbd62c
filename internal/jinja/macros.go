package jinja

import (
	"github.com/iris-oncall/iris/internal/jinja/py"
)

// macroDef is a compiled macro or call block.
type macroDef struct {
	name       string // "" = a caller
	args       []string
	fn         *function
	params     []int // slots of args, then of caller, kwargs and varargs as far as the body uses them
	caller     bool
	catchKw    bool
	catchVar   bool
	explicit   bool // caller is among args
	line, last int  // of its beginning, and of what was compiled last in it
	enter      stmt
	defaults   []expr // by argument; nil = none
	body       stmt
	argMissing []string // messages for arguments without a value
}

// macroValue is a macro as a value: its definition and the variables around it.
type macroValue struct {
	def *macroDef
	up  *env
	r   *render
}

func (c *compiler) macroBody(n *macroNode, outer *frame) *macroDef {
	f := outer.inner()
	f.visitAll(n.children())
	d := &macroDef{name: n.name}
	special := map[string]bool{}
	callerAt := -1
	for i, a := range n.args {
		d.args = append(d.args, a.name)
		switch a.name {
		case "caller":
			callerAt = i
		case "kwargs", "varargs":
			special[a.name] = true
		}
	}
	d.explicit = callerAt >= 0
	used := undeclared(n.body, "caller", "kwargs", "varargs")
	var extra []string
	if used["caller"] {
		if callerAt >= 0 {
			if callerAt < len(n.args)-len(n.defaults) {
				c.failAt(n.lineno(), `When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`)
			}
		} else {
			extra = append(extra, f.param("caller"))
		}
		d.caller = true
	}
	if used["kwargs"] && !special["kwargs"] {
		extra = append(extra, f.param("kwargs"))
		d.catchKw = true
	}
	if used["varargs"] && !special["varargs"] {
		extra = append(extra, f.param("varargs"))
		d.catchVar = true
	}
	f.visitAll(n.children())

	c.fn = &function{up: c.fn, slots: map[string]int{}}
	d.fn = c.fn
	d.line = c.mark(n)
	for _, a := range n.args {
		v, _ := f.find(a.name)
		d.params = append(d.params, c.fn.declare(v))
	}
	for _, v := range extra {
		d.params = append(d.params, c.fn.declare(v))
	}
	d.enter = c.enter(f)
	first := len(n.args) - len(n.defaults)
	for i, a := range n.args {
		var def expr
		if i >= first {
			def = c.expr(n.defaults[i-first], f)
		}
		d.defaults = append(d.defaults, def)
		d.argMissing = append(d.argMissing, "parameter "+py.Quote(a.name)+" was not provided")
	}
	d.body = c.block(n.body, f)
	d.last = c.line
	c.fn = c.fn.up
	return d
}

func (c *compiler) macro(n *macroNode, f *frame) stmt {
	d := c.macroBody(n, f)
	v, _ := f.find(n.name)
	to := c.lookup(v)
	return func(r *render, e *env) {
		r.Step(1)
		to.set(e, &macroValue{def: d, up: e, r: r})
	}
}

func (c *compiler) callBlock(n *callBlockNode, f *frame) stmt {
	d := c.macroBody(n.macro, f)
	line := c.mark(n)
	call := c.call(n.call, f)
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
	r.Enter()
	savedLine := r.line
	text := r.capture(m.def.last, func() { m.def.run(r, m.up, values) })
	r.line = savedLine
	r.Leave()
	if r.autoescape {
		return py.Markup(text)
	}
	return text
}

func (d *macroDef) run(r *render, up *env, values []py.Value) {
	e := d.fn.newEnv(up)
	r.Grow(int64(32 + 16*len(e.slots)))
	r.line = d.line
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
			e.slots[d.params[i]] = &py.Undefined{Hint: d.argMissing[i], Name: d.args[i]}
		}
	}
	d.body(r, e)
}

// bind distributes the arguments of a call over the parameters.
func (m *macroValue) bind(b *py.Budget, args py.Args) []py.Value {
	d := m.def
	kw := append([]py.Keyword(nil), args.Kw...)
	pop := func(name string) (py.Value, bool) {
		for i, k := range kw {
			if k.Name == name {
				kw = append(kw[:i], kw[i+1:]...)
				return k.Value, true
			}
		}
		return missing, false
	}
	values := append([]py.Value(nil), args.Pos[:min(len(args.Pos), len(d.args))]...)
	found := d.explicit
	if len(values) != len(d.args) {
		found = false
		for _, name := range d.args[len(values):] {
			v, _ := pop(name)
			found = found || name == "caller"
			values = append(values, v)
		}
	}
	if d.caller && !found {
		v, ok := pop("caller")
		if !ok || v == nil {
			v = &py.Undefined{Hint: "No caller defined", Name: "caller"}
		}
		values = append(values, v)
	}
	name := "None"
	if d.name != "" {
		name = py.Quote(d.name)
	}
	switch {
	case d.catchKw:
		rest := py.NewDict()
		for _, k := range kw {
			rest.Set(b, k.Name, k.Value)
		}
		values = append(values, rest)
	case len(kw) > 0:
		for _, k := range kw {
			if k.Name == "caller" {
				py.Raise("TypeError", "macro %s was invoked with two values for the special caller argument. This is most likely a bug.", name)
			}
		}
		py.Raise("TypeError", "macro %s takes no keyword argument %s", name, py.Quote(kw[0].Name))
	}
	var rest []py.Value
	if len(args.Pos) > len(d.args) {
		rest = append(rest, args.Pos[len(d.args):]...)
	}
	switch {
	case d.catchVar:
		values = append(values, &py.Tuple{Items: rest})
	case rest != nil:
		py.Raise("TypeError", "macro %s takes not more than %d argument(s)", name, len(d.args))
	}
	return values
}

func (m *macroValue) TypeName() string { return "Macro" }
func (m *macroValue) Module() string   { return "jinja2.runtime" }

func (m *macroValue) Repr(*py.Budget) string {
	if m.def.name == "" {
		return "<Macro anonymous>"
	}
	return "<Macro " + py.Quote(m.def.name) + ">"
}

func (m *macroValue) Attr(_ *py.Budget, name string) (py.Value, bool) {
	d := m.def
	switch name {
	case "name":
		if d.name == "" {
			return nil, true
		}
		return d.name, true
	case "arguments":
		t := &py.Tuple{}
		for _, a := range d.args {
			t.Items = append(t.Items, a)
		}
		return t, true
	case "catch_kwargs":
		return d.catchKw, true
	case "catch_varargs":
		return d.catchVar, true
	case "caller":
		return d.caller, true
	case "explicit_caller":
		return d.explicit, true
	case "_func", "_environment", "_argument_count", "_default_autoescape", "_invoke", "__call__":
		return nil, true
	}
	return nil, false
}
