package py

import (
	"math/big"
)

// Value is a Python value: nil (None), bool, int64, *big.Int (outside int64 only), float64, string, Markup, Bytes,
// *List, *Tuple, *Dict, *View, *Range, *Iterator, *Undefined, *Func, or an Object.
type Value = any

// Markup is text that is safe in HTML; operations on it escape what is not.
type Markup string

// Bytes is Python's bytes; templates get them from str.encode only.
type Bytes string

// List is a mutable sequence.
type List struct{ Items []Value }

// Tuple is an immutable sequence; with Names it is a named tuple.
type Tuple struct {
	Items []Value
	Names []string
}

// Range is Python's range; it takes no memory for its elements.
type Range struct{ Start, Stop, Step int64 }

// Iterator is a generator or iterator: it can be walked once.
type Iterator struct {
	Kind string // type name, for example generator
	Name string // of the generator function, for printing
	Next func() (Value, bool)
}

// Object is a value that other packages define.
type Object interface {
	// TypeName is the class name; Module its module, "builtins" for Python's own.
	TypeName() string
	Module() string
	// Attr returns an attribute, false if there is none.
	Attr(b *Budget, name string) (Value, bool)
	// Repr is how it prints.
	Repr(b *Budget) string
}

// Callable is an Object that can be called.
type Callable interface {
	Call(b *Budget, args Args) Value
}

// Sized is an Object that has a length.
type Sized interface {
	Len(b *Budget) int
}

// Iterable is an Object that can be walked.
type Iterable interface {
	Iter(b *Budget) func() (Value, bool)
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

// Undefined stands for what does not exist. It prints as nothing, is false and empty; most else raises.
type Undefined struct {
	Hint   string // the whole message, if set
	HasObj bool   // Name was looked up on Obj
	Obj    Value
	Name   Value
	Kind   string // exception raised; "" = UndefinedError
}

// Raise raises the exception that any operation on u raises.
func (u *Undefined) Raise() {
	kind := u.Kind
	if kind == "" {
		kind = "UndefinedError"
	}
	panic(&Error{Kind: kind, Message: u.Message()})
}

// Message says what is missing.
func (u *Undefined) Message() string {
	if u.Hint != "" {
		return u.Hint
	}
	if !u.HasObj {
		return plainRepr(u.Name) + " is undefined"
	}
	what := ObjectTypeName(u.Obj)
	if _, ok := AsString(u.Name); !ok {
		return what + " has no element " + plainRepr(u.Name)
	}
	return quote(what) + " has no attribute " + plainRepr(u.Name)
}

// plainRepr is Repr for messages: of bounded size.
func plainRepr(v Value) string {
	b := NewBudget(Limits{Steps: 10_000, Memory: 4096, Depth: 20, Time: 1 << 40})
	s := "..."
	func() {
		defer func() { _ = recover() }()
		s = Repr(b, v)
	}()
	return s
}

// TypeName is the name of v's class.
func TypeName(v Value) string {
	switch x := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case Markup:
		return "Markup"
	case Bytes:
		return "bytes"
	case *List:
		return "list"
	case *Tuple:
		if x.Names != nil {
			return "_GroupTuple"
		}
		return "tuple"
	case *Dict:
		return "dict"
	case *View:
		return "dict_" + x.kind
	case *Range:
		return "range"
	case *Iterator:
		return x.Kind
	case *Undefined:
		return "Undefined"
	case *Func:
		if x.Class {
			return "type"
		}
		if x.Python {
			return "function"
		}
		return "builtin_function_or_method"
	case Object:
		return x.TypeName()
	}
	return "object"
}

// ObjectTypeName is how messages about missing attributes name v.
func ObjectTypeName(v Value) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case Markup:
		return "markupsafe.Markup object"
	case *Undefined:
		return "jinja2.runtime.Undefined object"
	case *Tuple:
		if x.Names != nil {
			return "jinja2.filters._GroupTuple object"
		}
	case Object:
		if m := x.Module(); m != "builtins" {
			return m + "." + x.TypeName() + " object"
		}
	}
	return TypeName(v) + " object"
}

// AsString returns v's text if it is a str or Markup.
func AsString(v Value) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case Markup:
		return string(x), true
	}
	return "", false
}

// IsInt reports whether v is an int or a bool.
func IsInt(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int:
		return true
	}
	return false
}

// index returns v as an index: an int that fits. Integers beyond int64 are clamped.
func index(v Value) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		return boolInt(x), true
	case *big.Int:
		if x.Sign() < 0 {
			return -1 << 62, true
		}
		return 1 << 62, true
	}
	return 0, false
}

func boolInt(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

// Truth is bool(v).
func Truth(b *Budget, v Value) bool {
	switch x := v.(type) {
	case nil:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case *big.Int:
		return x.Sign() != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case *Undefined:
		return false
	}
	if n, ok := Len(b, v); ok {
		return n != 0
	}
	return true
}

// Len is len(v); false if v has no length.
func Len(b *Budget, v Value) (int, bool) {
	switch x := v.(type) {
	case string:
		return runeCount(x), true
	case Markup:
		return runeCount(string(x)), true
	case Bytes:
		return len(x), true
	case *List:
		return len(x.Items), true
	case *Tuple:
		return len(x.Items), true
	case *Dict:
		return x.Len(), true
	case *View:
		return x.dict.Len(), true
	case *Range:
		return int(x.Len()), true
	case *Undefined:
		return 0, true
	case Sized:
		return x.Len(b), true
	}
	return 0, false
}

// NewList returns a list of items, which it takes over. Their memory is paid for.
func NewList(b *Budget, items []Value) *List {
	b.GrowTimes(valueSize, int64(len(items)))
	return &List{Items: items}
}

// append_ adds an element and pays for it.
func (l *List) append_(b *Budget, v Value) {
	b.Grow(2 * valueSize)
	l.Items = append(l.Items, v)
}

// Len is the number of elements.
func (r *Range) Len() int64 {
	switch {
	case r.Step > 0 && r.Start < r.Stop:
		return int64((uint64(r.Stop)-uint64(r.Start)-1)/uint64(r.Step)) + 1
	case r.Step < 0 && r.Start > r.Stop:
		return int64((uint64(r.Start)-uint64(r.Stop)-1)/uint64(-r.Step)) + 1
	}
	return 0
}

func (r *Range) at(i int64) Value { return r.Start + i*r.Step }

// Index returns v as an index if it is an int or a bool; integers beyond int64 are clamped.
func Index(v Value) (int64, bool) { return index(v) }
