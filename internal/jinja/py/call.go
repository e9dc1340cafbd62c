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
	Self  Value // the object a method belongs to; nil for functions
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

// Signature names the parameters of a function, a method, a filter or a test. All calls bind their arguments with it.
type Signature struct {
	Name            string
	params          []param
	positional      bool // no parameter can be given by name
	named           bool // all parameters must be given by name
	varargs, kwargs bool
}

type param struct {
	name     string
	required bool
	def      Value
}

// ParseSignature reads "name(a, b=1, c=, *args, **kwargs)". A parameter with = is optional: its default is a number, a
// quoted text, true, false or none, else Absent. A lone / says that parameters cannot be named, a lone * that they must be.
func ParseSignature(s string) Signature {
	name, list, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	sig := Signature{Name: name}
	for _, p := range strings.Split(list, ", ") {
		switch {
		case p == "":
		case p == "/":
			sig.positional = true
		case p == "*":
			sig.named = true
		case strings.HasPrefix(p, "**"):
			sig.kwargs = true
		case strings.HasPrefix(p, "*"):
			sig.varargs = true
		default:
			n, def, optional := strings.Cut(p, "=")
			sig.params = append(sig.params, param{name: n, required: !optional, def: literal(def)})
		}
	}
	return sig
}

func literal(s string) Value {
	switch s {
	case "":
		return Absent
	case "none":
		return nil
	case "true", "false":
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

// Bind assigns args to the parameters and returns a value for each. Additional arguments are returned as rest, or raise TypeError
// if the function takes none.
func (s *Signature) Bind(args Args) (values []Value, rest Args) {
	values = make([]Value, len(s.params))
	for i := range values {
		values[i] = Absent
	}
	n := copy(values, args.Pos)
	switch {
	case n < len(args.Pos) && s.varargs:
		rest.Pos = args.Pos[n:]
	case n < len(args.Pos):
		Raise("TypeError", "%s takes at most %d arguments, not %d", s.Name, len(s.params), len(args.Pos))
	case n > 0 && s.named:
		Raise("TypeError", "the arguments of %s must be given by name", s.Name)
	}
	for _, kw := range args.Kw {
		i := slices.IndexFunc(s.params, func(p param) bool { return p.name == kw.Name })
		switch {
		case i >= 0 && s.positional:
			Raise("TypeError", "the arguments of %s cannot be given by name", s.Name)
		case i >= 0 && values[i] != Absent:
			Raise("TypeError", "%s is given %q twice", s.Name, kw.Name)
		case i >= 0:
			values[i] = kw.Value
		case s.kwargs:
			rest.Kw = append(rest.Kw, kw)
		default:
			Raise("TypeError", "%s has no argument named %q", s.Name, kw.Name)
		}
	}
	for i, p := range s.params {
		if values[i] == Absent {
			if p.required {
				Raise("TypeError", "%s needs the argument %q", s.Name, p.name)
			}
			values[i] = p.def
		}
	}
	return values, rest
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
	if int64(int32(i)) != i {
		Raise("OverflowError", "%d is too large for a flag", i)
	}
	return i != 0
}
