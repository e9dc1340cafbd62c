package py

import (
	"cmp"
	"fmt"
	"math/big"
)

// Value is a Python value: nil (None), bool, int64, *big.Int (outside int64 only), float64, string, Markup, Bytes,
// *List, *Tuple, *Dict, *View, *Range, *Iterator, *Undefined, *Func, or an Object.
type Value = any

// Markup is text that is safe in HTML; operations escape other text that is joined to it.
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

// Iterator is a generator or iterator: it can be iterated once.
type Iterator struct {
	Next func() (Value, bool)
}

// Object is a value that other packages define.
type Object interface {
	// TypeName is the class name.
	TypeName() string
	// Attr returns an attribute, false if there is none.
	Attr(b *Budget, name string) (Value, bool)
	// Repr returns repr(v).
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

// Iterable is an Object that can be iterated.
type Iterable interface {
	Iter(b *Budget) func() (Value, bool)
}

// Undefined is the value of an unknown variable, attribute or item. It prints as nothing, is false and empty; most
// operations raise.
type Undefined struct {
	Hint string // the whole message, if set
	Of   string // class of the object on which Name was looked up; "" = a variable
	Name Value
	Kind string // exception raised; "" = UndefinedError
}

// Missing is the result of a failed look-up of an attribute or item.
func Missing(obj, name Value) *Undefined { return &Undefined{Of: TypeName(obj), Name: name} }

// Raise raises the exception that any operation on u raises.
func (u *Undefined) Raise() {
	panic(&Error{Kind: cmp.Or(u.Kind, "UndefinedError"), Message: u.Message()})
}

// Message returns the text of the error: the name that does not exist.
func (u *Undefined) Message() string {
	switch {
	case u.Hint != "":
		return u.Hint
	case u.Of != "":
		return fmt.Sprintf("%s has no %s", u.Of, Shown(u.Name))
	}
	return Shown(u.Name).String() + " is undefined"
}

// Shown is repr(v) for messages: "..." if it is long. It is computed when the message is written.
func Shown(v Value) fmt.Stringer { return shown{v} }

type shown struct{ v Value }

func (s shown) String() string {
	return Brief(Limits{Steps: 10_000, Memory: 4096, Depth: 20, Time: 1 << 40}, s.v, Repr)
}

// Brief prints v within limits. It returns "..." if that fails.
func Brief(l Limits, v Value, print func(b *Budget, v Value) string) (s string) {
	defer func() {
		if recover() != nil {
			s = "..."
		}
	}()
	return print(NewBudget(l), v)
}

// RaiseUndefined raises the exception of the first value that is undefined.
func RaiseUndefined(vs ...Value) {
	for _, v := range vs {
		if u, ok := v.(*Undefined); ok {
			u.Raise()
		}
	}
}

// IsUndefined reports whether v is an Undefined.
func IsUndefined(v Value) bool {
	_, ok := v.(*Undefined)
	return ok
}

// TypeName is the name of v's class.
func TypeName(v Value) string {
	switch x := v.(type) {
	case nil:
		return "None"
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
		return "tuple"
	case *Dict:
		return "dict"
	case *View:
		return "dict_" + x.kind
	case *Range:
		return "range"
	case *Iterator:
		return "iterator"
	case *Undefined:
		return "Undefined"
	case *Func:
		return "function"
	case Object:
		return x.TypeName()
	}
	return fmt.Sprintf("%T", v) // bool
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

// Elements returns the elements of a list or tuple. It returns false for other types.
func Elements(v Value) ([]Value, bool) {
	switch x := v.(type) {
	case *List:
		return x.Items, true
	case *Tuple:
		return x.Items, true
	}
	return nil, false
}

// WithText returns a text of v's class: str, Markup or bytes.
func WithText(v Value, s string) Value {
	switch v.(type) {
	case Markup:
		return Markup(s)
	case Bytes:
		return Bytes(s)
	}
	return s
}

// MarkupIf returns text as Markup if it is safe.
func MarkupIf(safe bool, s string) Value {
	if safe {
		return Markup(s)
	}
	return s
}

// WithElements returns a list or tuple, as v is, of other elements.
func WithElements(v Value, items []Value) Value {
	if _, ok := v.(*Tuple); ok {
		return &Tuple{Items: items}
	}
	return &List{Items: items}
}

// IsInt reports whether v is an int or a bool.
func IsInt(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int:
		return true
	}
	return false
}

// IsNumber reports whether v is an int, a bool or a float.
func IsNumber(v Value) bool {
	_, isFloat := v.(float64)
	return isFloat || IsInt(v)
}

// BoolInt is 1 or 0.
func BoolInt(x bool) int64 {
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
	case string:
		return x != ""
	}
	if IsNumber(v) {
		return compareNumbers(v, int64(0)) != 0
	}
	n, ok := Len(b, v)
	return !ok || n != 0
}

// Len is len(v); false if v has no length.
func Len(b *Budget, v Value) (int, bool) {
	switch x := v.(type) {
	case *List:
		return len(x.Items), true
	case *Dict:
		return x.Len(), true
	case Sized:
		return x.Len(b), true
	}
	if s, ok := AsString(v); ok {
		return RuneCount(s), true
	}
	seq, ok := elementsOf(b, v)
	if !ok {
		return 0, false
	}
	return seq.len(), true
}

// MustLen is Len that raises TypeError if v has no length.
func MustLen(b *Budget, v Value) int64 {
	n, ok := Len(b, v)
	RaiseIf(!ok, "TypeError", "a value of type %s has no length", TypeName(v))
	return int64(n)
}

// Append adds an element and charges the budget for it.
func (l *List) Append(b *Budget, v Value) {
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
