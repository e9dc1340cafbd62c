package builtins

import (
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// selecting returns the filters that call other filters and tests by name.
func (l *Library) selecting() table {
	return table{
		"map(value, ...)":        lazy(l.mapped),
		"select(value, ...)":     lazy(l.selected(true, false)),
		"reject(value, ...)":     lazy(l.selected(false, false)),
		"selectattr(value, ...)": lazy(l.selected(true, true)),
		"rejectattr(value, ...)": lazy(l.selected(false, true)),
	}
}

// named returns the tests "filter" and "test", which report whether a filter or test of a name exists.
func (l *Library) named() table {
	exists := func(callables map[string]*py.Func) py.Body {
		return simple(func(b *py.Budget, v py.Value) py.Value {
			py.NewDict().Get(b, v) // raises if the value cannot be a key
			name, ok := py.AsString(v)
			return ok && callables[name] != nil
		})
	}
	return table{"filter(value)": exists(l.Filters), "test(value)": exists(l.Tests)}
}

func (l *Library) mapped(b *py.Budget, a []py.Value) nextFunc {
	if !py.Truth(b, a[0]) {
		return nothing
	}
	fn := l.mapper(b, a[1].(py.Args))
	return filtered(b, a[0], func(v py.Value) (py.Value, bool) { return fn(v), true })
}

// filtered iterates over the results of pass for those elements of v that it keeps.
func filtered(b *py.Budget, v py.Value, pass func(v py.Value) (out py.Value, keep bool)) nextFunc {
	next := py.Iter(b, v)
	return func() (py.Value, bool) {
		for v, ok := next(); ok; v, ok = next() {
			if out, keep := pass(v); keep {
				return out, true
			}
		}
		return nil, false
	}
}

// mapper returns the function that map applies to each item: it looks up an attribute or applies a filter.
func (l *Library) mapper(b *py.Budget, rest py.Args) func(py.Value) py.Value {
	if len(rest.Pos) > 0 {
		return l.apply(b, "filter", l.Filters, rest.Pos[0], py.Args{Pos: rest.Pos[1:], Kw: rest.Kw})
	}
	var get func(py.Value) py.Value
	attribute := py.NewFunc("map(attribute, default=none)", func(b *py.Budget, a []py.Value) py.Value {
		get = getter(b, a[0], a[1], false)
		return nil
	})
	if py.Try(func() { attribute.Fn(b, rest) }) != nil {
		py.Raise("FilterArgumentError", "map needs the name of a filter, or attribute and perhaps default")
	}
	return get
}

// apply returns a function that calls the filter or test of a name that is known only at run time. The first call
// checks the name.
func (l *Library) apply(b *py.Budget, kind string, callables map[string]*py.Func, name py.Value, args py.Args) func(py.Value) py.Value {
	return func(v py.Value) py.Value {
		py.NewDict().Get(b, name) // raises if the value cannot be a key
		s, _ := py.AsString(name)
		f := callables[s]
		switch {
		case py.IsUndefined(name):
			py.Raise("TemplateRuntimeError", "the name of the %s is undefined: put it in quotes", kind)
		case f == nil:
			py.Raise("TemplateRuntimeError", "%s", NotFound(kind, py.Str(b, name), callables))
		}
		b.GrowValues(1 + len(args.Pos))
		return py.Call(b, f, py.Args{Pos: append([]py.Value{v}, args.Pos...), Kw: args.Kw})
	}
}

func (l *Library) selected(want, byAttribute bool) func(b *py.Budget, a []py.Value) nextFunc {
	return func(b *py.Budget, a []py.Value) nextFunc {
		if !py.Truth(b, a[0]) {
			return nothing
		}
		get, test := getter(b, nil, nil, false), func(v py.Value) py.Value { return v }
		rest := a[1].(py.Args)
		pos := rest.Pos
		if byAttribute {
			py.RaiseIf(len(pos) == 0, "FilterArgumentError", "the name of an attribute is missing")
			get, pos = getter(b, pos[0], nil, false), pos[1:]
		}
		if len(pos) > 0 {
			test = l.apply(b, "test", l.Tests, pos[0], py.Args{Pos: pos[1:], Kw: rest.Kw})
		}
		return filtered(b, a[0], func(v py.Value) (py.Value, bool) {
			return v, py.Truth(b, test(get(v))) == want
		})
	}
}
