package py

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Func is a function, a bound method or a class written in Go.
type Func struct {
	Name  string
	Class bool
	Fn    func(b *Budget, args Args) Value
	Attrs map[string]Value // attributes, for classes
}

// Args are the arguments of a call.
type Args struct {
	Pos []Value
	Kw  []Keyword
}

// Keyword is a named argument.
type Keyword struct {
	Name  string
	Value Value
}

// IsCallable is callable(v).
func IsCallable(v Value) bool {
	switch v.(type) {
	case *Func, Callable, *Undefined:
		return true
	}
	return false
}

// Call is f(*args.Pos, **args.Kw).
func Call(b *Budget, f Value, args Args) Value {
	b.Step(1)
	switch x := f.(type) {
	case *Func:
		return x.Fn(b, args)
	case Callable:
		return x.Call(b, args)
	}
	RaiseUndefined(f)
	Raise("TypeError", "a value of type %s cannot be called", TypeName(f))
	return nil
}

// Absent marks an argument that was not given and has no default.
var Absent Value = &absent{}

type absent struct{ _ byte }

// Body is the code of a function. It gets one value for each parameter of the signature.
type Body = func(b *Budget, a []Value) Value

// NewFunc makes a function from a signature such as "name(a, b=1, c=)". A parameter with = is optional: its default is
// a number, a quoted text, true, false or none, else Absent. A / at the end says that parameters cannot be named, a *
// at the beginning that they must be. With ... at the end the last value is Args, with all arguments that have no
// parameter.
func NewFunc(signature string, body Body) *Func {
	s := newSignature(signature)
	return &Func{Name: s.name, Fn: func(b *Budget, args Args) Value { return body(b, s.bind(args)) }}
}

// NewFuncs makes functions from bodies by signature. It returns them by name.
func NewFuncs(bodies map[string]Body) map[string]*Func {
	funcs := make(map[string]*Func, len(bodies))
	for signature, body := range bodies {
		f := NewFunc(signature, body)
		funcs[f.Name] = f
	}
	return funcs
}

// Method returns f as a method of self, which becomes the first argument.
func (f *Func) Method(self Value) *Func {
	return &Func{Name: f.Name, Fn: func(b *Budget, args Args) Value {
		return f.Fn(b, Args{Pos: append([]Value{self}, args.Pos...), Kw: args.Kw})
	}}
}

// signature names the parameters of a function. All calls of functions written in Go bind their arguments with it.
type signature struct {
	name, text                string
	params                    []string
	defaults                  []Value
	positional, named, others bool // it has a /, a * or ...
}

// required is the default of a parameter that has none.
type required struct{}

func newSignature(text string) *signature {
	name, list, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	s := &signature{name: name, text: text}
	for _, p := range strings.Split(list, ", ") {
		switch p {
		case "":
		case "/":
			s.positional = true
		case "*":
			s.named = true
		case "...":
			s.others = true
		default:
			n, def, optional := strings.Cut(p, "=")
			s.params = append(s.params, n)
			s.defaults = append(s.defaults, literal(def, optional))
		}
	}
	return s
}

func literal(s string, optional bool) Value {
	switch {
	case !optional:
		return required{}
	case s == "":
		return Absent
	case s == "none":
		return nil
	case s == "true", s == "false":
		return s == "true"
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	return strings.Trim(s, "'")
}

// bind returns a value for each parameter. It raises TypeError if the arguments do not fit.
func (s *signature) bind(args Args) []Value {
	values := slices.Clone(s.defaults)
	n := copy(values, args.Pos)
	rest := Args{Pos: args.Pos[n:]}
	fits := s.others || len(rest.Pos) == 0 && !(s.named && n > 1)
	for k, kw := range args.Kw {
		i := slices.Index(s.params, kw.Name)
		same := func(other Keyword) bool { return other.Name == kw.Name }
		switch {
		case i >= n && !s.positional && !slices.ContainsFunc(args.Kw[:k], same):
			values[i] = kw.Value
		case s.others && (i < 0 || s.positional):
			rest.Kw = append(rest.Kw, kw)
		default:
			fits = false
		}
	}
	if !fits || slices.Contains(values, Value(required{})) {
		Raise("TypeError", "the arguments do not fit %s", s.text)
	}
	if s.others {
		values = append(values, rest)
	}
	return values
}

// Index returns v as an index if it is an int or a bool; integers beyond int64 are clamped.
func Index(v Value) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		return BoolInt(x), true
	case *big.Int:
		return int64(x.Sign()) << 62, true
	}
	return 0, false
}

// IntArg returns an argument that must be an integer.
func IntArg(v Value) int64 {
	i, ok := Index(v)
	if !ok {
		Raise("TypeError", "expected an integer, not %s", TypeName(v))
	}
	return i
}

// TextArg returns an argument that must be text.
func TextArg(v Value) string {
	s, ok := AsString(v)
	if !ok {
		Raise("TypeError", "expected text, not %s", TypeName(v))
	}
	return s
}

// Flag returns an argument that must be an integer, as a bool. An example is the argument reverse of sort.
func Flag(v Value) bool {
	i := IntArg(v)
	RaiseIf(int64(int32(i)) != i, "OverflowError", "%d is too large for a flag", i)
	return i != 0
}
