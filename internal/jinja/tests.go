package jinja

import (
	"github.com/iris-oncall/iris/internal/jinja/py"
)

func check(sig string, fn func(r *render, v py.Value) bool) *callable {
	return simple(sig, func(r *render, a []py.Value) py.Value { return fn(r, a[0]) })
}

func operatorTest(name string, op string) *callable {
	cmp := comparison(op)
	return builtin(name+"(a, b)", func(r *render, a []py.Value) py.Value { return cmp(r.Budget, a[0], a[1]) })
}

func remainder(want int64) func(r *render, v py.Value) bool {
	return func(r *render, v py.Value) bool {
		return py.Equal(r.Budget, py.Mod(r.Budget, v, int64(2)), want)
	}
}

func makeTests() map[string]*callable {
	t := map[string]*callable{
		"odd":  check("test_odd(value)", remainder(1)),
		"even": check("test_even(value)", remainder(0)),
		"divisibleby": simple("test_divisibleby(value, num)", func(r *render, a []py.Value) py.Value {
			return py.Equal(r.Budget, py.Mod(r.Budget, a[0], a[1]), int64(0))
		}),
		"defined":   check("test_defined(value)", func(_ *render, v py.Value) bool { return !isUndefined(v) }),
		"undefined": check("test_undefined(value)", func(_ *render, v py.Value) bool { return isUndefined(v) }),
		"filter":    check("test_filter(@env, value)", inTable(func(l *library) map[string]*callable { return l.filters })),
		"test":      check("test_test(@env, value)", inTable(func(l *library) map[string]*callable { return l.tests })),
		"none":      check("test_none(value)", func(_ *render, v py.Value) bool { return v == nil }),
		"boolean":   check("test_boolean(value)", func(_ *render, v py.Value) bool { _, ok := v.(bool); return ok }),
		"false":     check("test_false(value)", func(_ *render, v py.Value) bool { return v == false }),
		"true":      check("test_true(value)", func(_ *render, v py.Value) bool { return v == true }),
		"integer": check("test_integer(value)", func(_ *render, v py.Value) bool {
			_, isBool := v.(bool)
			return py.IsInt(v) && !isBool
		}),
		"float": check("test_float(value)", func(_ *render, v py.Value) bool { _, ok := v.(float64); return ok }),
		"lower": check("test_lower(value)", func(r *render, v py.Value) bool { return py.IsLower(py.Str(r.Budget, v)) }),
		"upper": check("test_upper(value)", func(r *render, v py.Value) bool { return py.IsUpper(py.Str(r.Budget, v)) }),
		"string": check("test_string(value)", func(_ *render, v py.Value) bool {
			_, ok := py.AsString(v)
			return ok
		}),
		"mapping":  check("test_mapping(value)", func(_ *render, v py.Value) bool { _, ok := v.(*py.Dict); return ok }),
		"number":   check("test_number(value)", func(_ *render, v py.Value) bool { return py.IsNumber(v) }),
		"sequence": check("test_sequence(value)", isSequence),
		"sameas": simple("test_sameas(value, other)", func(_ *render, a []py.Value) py.Value {
			return py.Same(a[0], a[1])
		}),
		"iterable": check("test_iterable(value)", func(r *render, v py.Value) bool {
			_, ok := py.TryIter(r.Budget, v)
			return ok
		}),
		"escaped":  check("test_escaped(value)", func(_ *render, v py.Value) bool { _, ok := v.(py.Markup); return ok }),
		"callable": builtin("callable(obj)", func(_ *render, a []py.Value) py.Value { return py.IsCallable(a[0]) }),
		"in": simple("test_in(value, seq)", func(r *render, a []py.Value) py.Value {
			return py.Contains(r.Budget, a[1], a[0])
		}),
	}
	for names, op := range map[[3]string]string{
		{"==", "eq", "equalto"}: "==", {"!=", "ne", ""}: "!=", {">", "gt", "greaterthan"}: ">", {">=", "ge", ""}: ">=",
		{"<", "lt", "lessthan"}: "<", {"<=", "le", ""}: "<=",
	} {
		for _, n := range names {
			if n != "" {
				t[n] = operatorTest(names[1], op)
			}
		}
	}
	return t
}

func isUndefined(v py.Value) bool {
	_, ok := v.(*py.Undefined)
	return ok
}

func inTable(table func(*library) map[string]*callable) func(*render, py.Value) bool {
	return func(r *render, v py.Value) bool {
		s, ok := py.AsString(v)
		if !ok {
			py.NewDict().Get(r.Budget, v) // raises for what cannot be looked up
			return false
		}
		_, found := table(r.lib)[s]
		return found
	}
}

// isSequence reports whether v has a length and elements by index.
func isSequence(r *render, v py.Value) bool {
	switch v.(type) {
	case *py.View, *py.Iterator, *py.Func, py.Object:
		return false
	}
	_, ok := py.Len(r.Budget, v)
	return ok
}
