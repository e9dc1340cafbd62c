package builtins

import (
	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// is makes a test that needs only the value.
func is(fn func(v py.Value) bool) py.Body {
	return func(_ *py.Budget, a []py.Value) py.Value { return fn(a[0]) }
}

// isA makes a test for a type.
func isA[T any]() py.Body {
	return is(func(v py.Value) bool { _, ok := v.(T); return ok })
}

func compared(op string) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value { return Compare(b, op, a[0], a[1]) }
}

// Compare is x op y, where op is == != < <= > >= in or notin.
func Compare(b *py.Budget, op string, x, y py.Value) bool {
	switch op {
	case "==", "!=":
		return py.Equal(b, x, y) == (op == "==")
	case "in", "notin":
		return py.Contains(b, y, x) == (op == "in")
	}
	return py.Less(b, op, x, y)
}

func remainder(want int64) py.Body {
	return simple(func(b *py.Budget, v py.Value) py.Value {
		return py.Equal(b, operators.Binary(b, "%", v, int64(2)), want)
	})
}

var tests = table{
	"odd(value)":  remainder(1),
	"even(value)": remainder(0),
	"divisibleby(value, num)": func(b *py.Budget, a []py.Value) py.Value {
		return py.Equal(b, operators.Binary(b, "%", a[0], a[1]), int64(0))
	},
	"defined(value)":   is(func(v py.Value) bool { return !py.IsUndefined(v) }),
	"undefined(value)": is(py.IsUndefined),
	"none(value)":      is(func(v py.Value) bool { return v == nil }),
	"boolean(value)":   isA[bool](),
	"false(value)":     is(func(v py.Value) bool { return v == false }),
	"true(value)":      is(func(v py.Value) bool { return v == true }),
	"integer(value)":   is(func(v py.Value) bool { return py.IsInt(v) && v != true && v != false }),
	"float(value)":     isA[float64](),
	"number(value)":    is(py.IsNumber),
	"lower(value)":     simple(func(b *py.Budget, v py.Value) py.Value { return py.IsLower(py.Str(b, v)) }),
	"upper(value)":     simple(func(b *py.Budget, v py.Value) py.Value { return py.IsUpper(py.Str(b, v)) }),
	"string(value)":    is(func(v py.Value) bool { _, ok := py.AsString(v); return ok }),
	"escaped(value)":   isA[py.Markup](),
	"mapping(value)":   isA[*py.Dict](),
	"sequence(value)": simple(func(b *py.Budget, v py.Value) py.Value {
		switch v.(type) {
		case *py.View, py.Object:
			return false
		}
		_, ok := py.Len(b, v)
		return ok
	}),
	"sameas(value, other)": func(_ *py.Budget, a []py.Value) py.Value { return py.Same(a[0], a[1]) },
	"iterable(value)":      simple(func(b *py.Budget, v py.Value) py.Value { _, ok := py.TryIter(b, v); return ok }),
	"callable(obj, /)":     is(py.IsCallable),
	"in(value, seq)":       compared("in"),
	"==(a, b, /)":          compared("=="),
	"!=(a, b, /)":          compared("!="),
	"<(a, b, /)":           compared("<"),
	"<=(a, b, /)":          compared("<="),
	">(a, b, /)":           compared(">"),
	">=(a, b, /)":          compared(">="),
}
