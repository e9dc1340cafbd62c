package py

import (
	"math/big"
	"strings"
	"unicode/utf8"
)

// GetAttr is obj.name as the sandbox sees it: the attribute, else the item, else Undefined. Attributes that begin with
// an underscore are refused.
func GetAttr(b *Budget, obj Value, name string) Value {
	b.Step(1)
	if u, ok := obj.(*Undefined); ok {
		if everyObjectHas[name] || undefinedHas[name] {
			return unsafe(obj, name)
		}
		u.Raise()
	}
	if v, ok := attribute(b, obj, name); ok {
		if strings.HasPrefix(name, "_") {
			return unsafe(obj, name)
		}
		return v
	}
	if v, err := item(b, obj, name); err == nil {
		return v
	}
	return &Undefined{HasObj: true, Obj: obj, Name: name}
}

// Attr returns an attribute only, never an item; false if there is none.
func Attr(b *Budget, obj Value, name string) (Value, bool) {
	v, ok := attribute(b, obj, name)
	if ok && strings.HasPrefix(name, "_") {
		return unsafe(obj, name), true
	}
	return v, ok
}

// GetItem is obj[key] as the sandbox sees it: the item, else the attribute of that name, else Undefined.
func GetItem(b *Budget, obj, key Value) Value {
	b.Step(1)
	if u, ok := obj.(*Undefined); ok {
		u.Raise()
	}
	v, err := item(b, obj, key)
	if err == nil {
		return v
	}
	if name, ok := AsString(key); ok {
		if v, ok := attribute(b, obj, name); ok {
			if strings.HasPrefix(name, "_") {
				return unsafe(obj, name)
			}
			return v
		}
	}
	return &Undefined{HasObj: true, Obj: obj, Name: key}
}

func unsafe(obj Value, name string) Value {
	return &Undefined{
		Hint:   "access to attribute " + quote(name) + " of " + quote(TypeName(obj)) + " object is unsafe.",
		HasObj: true, Obj: obj, Name: name, Kind: "SecurityError",
	}
}

// item is obj[key]; the error is that of Python, always a TypeError or LookupError.
func item(b *Budget, obj, key Value) (Value, *Error) {
	switch x := obj.(type) {
	case *Dict:
		h, err := hashKey(b, key)
		if err != nil {
			return nil, err
		}
		if v, ok := x.getHash(h); ok {
			return v, nil
		}
		return nil, &Error{Kind: "KeyError", Message: plainRepr(key)}
	case string:
		return stringItem(b, x, key)
	case Markup:
		v, err := stringItem(b, string(x), key)
		if err != nil {
			return nil, err
		}
		return Markup(v.(string)), nil
	case *List:
		return sequenceItem("list", len(x.Items), key, func(i int) Value { return x.Items[i] })
	case *Tuple:
		return sequenceItem("tuple", len(x.Items), key, func(i int) Value { return x.Items[i] })
	case *Range:
		return sequenceItem("range", int(x.Len()), key, func(i int) Value { return x.at(int64(i)) })
	case Bytes:
		return sequenceItem("bytes", len(x), key, func(i int) Value { return int64(x[i]) })
	case *Func:
		if x.Class {
			return nil, fail("TypeError", "type '%s' is not subscriptable", x.Name)
		}
	}
	return nil, fail("TypeError", "'%s' object is not subscriptable", TypeName(obj))
}

// Subscript is obj[key] that raises, for formatting fields and the like.
func Subscript(b *Budget, obj, key Value) Value {
	raiseUndefined(obj)
	v, err := item(b, obj, key)
	if err != nil {
		panic(err)
	}
	return v
}

func sequenceItem(class string, n int, key Value, at func(i int) Value) (Value, *Error) {
	i, ok := index(key)
	if !ok {
		what := " indices must be integers or slices, not "
		return nil, fail("TypeError", "%s", class+what+TypeName(key))
	}
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		if class == "range" {
			return nil, fail("IndexError", "range object index out of range")
		}
		return nil, fail("IndexError", "%s index out of range", class)
	}
	return at(int(i)), nil
}

func stringItem(b *Budget, s string, key Value) (Value, *Error) {
	i, ok := index(key)
	if !ok {
		return nil, fail("TypeError", "string indices must be integers, not '%s'", TypeName(key))
	}
	b.Scan(len(s))
	n := runeCount(s)
	if i < 0 {
		i += int64(n)
	}
	if i < 0 || i >= int64(n) {
		return nil, fail("IndexError", "string index out of range")
	}
	if n == len(s) {
		return s[i : i+1], nil
	}
	for ; i > 0; i-- {
		_, w := utf8.DecodeRuneInString(s)
		s = s[w:]
	}
	_, w := utf8.DecodeRuneInString(s)
	return s[:w], nil
}

// Slice is obj[start:stop:step]; nil stands for a bound that was left out or is None.
func Slice(b *Budget, obj, start, stop, step Value) Value {
	b.Step(1)
	raiseUndefined(obj)
	switch x := obj.(type) {
	case string:
		return sliceString(b, x, start, stop, step)
	case Markup:
		return Markup(sliceString(b, string(x), start, stop, step))
	case Bytes:
		lo, st, n := sliceBounds(len(x), start, stop, step)
		b.Grow(int64(n))
		out := make([]byte, n)
		for i := range out {
			out[i] = x[lo+i*st]
		}
		return Bytes(out)
	case *List:
		return &List{Items: sliceItems(b, x.Items, start, stop, step)}
	case *Tuple:
		return &Tuple{Items: sliceItems(b, x.Items, start, stop, step)}
	case *Range:
		first, last, st := sliceIndices(int(x.Len()), start, stop, step)
		return &Range{Start: x.Start + first*x.Step, Stop: x.Start + last*x.Step, Step: st * x.Step}
	case *Dict:
		Raise("TypeError", "unhashable type: 'slice'")
	}
	Raise("TypeError", "'%s' object is not subscriptable", TypeName(obj))
	return nil
}

func sliceItems(b *Budget, items []Value, start, stop, step Value) []Value {
	lo, st, n := sliceBounds(len(items), start, stop, step)
	b.GrowTimes(valueSize, int64(n))
	out := make([]Value, n)
	for i := range out {
		out[i] = items[lo+i*st]
	}
	return out
}

func sliceString(b *Budget, s string, start, stop, step Value) string {
	if isASCII(s) {
		lo, st, n := sliceBounds(len(s), start, stop, step)
		b.Grow(int64(n))
		if st == 1 {
			return s[lo : lo+n]
		}
		out := make([]byte, n)
		for i := range out {
			out[i] = s[lo+i*st]
		}
		return string(out)
	}
	r := runes(b, s)
	lo, st, n := sliceBounds(len(r), start, stop, step)
	b.GrowTimes(8, int64(n))
	out := make([]rune, n)
	for i := range out {
		out[i] = r[lo+i*st]
	}
	return string(out)
}

// sliceBounds returns the first index, the step and the number of elements.
func sliceBounds(n int, start, stop, step Value) (lo, st, count int) {
	first, last, s := sliceIndices(n, start, stop, step)
	switch {
	case s > 0 && first < last:
		count = int((last-first-1)/s) + 1
	case s < 0 && first > last:
		count = int((first-last-1)/-s) + 1
	}
	if count == 0 {
		return 0, 1, 0
	}
	return int(first), int(s), count
}

// sliceIndices are the bounds of a slice of n elements as Python computes them: inside 0 to n, or -1 to n-1 backwards.
func sliceIndices(n int, start, stop, step Value) (first, last, s int64) {
	bound := func(v Value, absent int64) int64 {
		if v == nil {
			return absent
		}
		i, ok := index(v)
		if !ok {
			Raise("TypeError", "slice indices must be integers or None or have an __index__ method")
		}
		return i
	}
	s = bound(step, 1)
	if s == 0 {
		Raise("ValueError", "slice step cannot be zero")
	}
	clamp := func(i, low, high int64) int64 {
		if i < 0 {
			i += int64(n)
		}
		return max(low, min(i, high))
	}
	if s > 0 {
		return clamp(bound(start, 0), 0, int64(n)), clamp(bound(stop, int64(n)), 0, int64(n)), s
	}
	first, last = int64(n)-1, -1
	if start != nil {
		first = clamp(bound(start, 0), -1, int64(n)-1)
	}
	if stop != nil {
		last = clamp(bound(stop, 0), -1, int64(n)-1)
	}
	return first, last, s
}

// attribute finds the attributes of built-in classes and objects.
func attribute(b *Budget, obj Value, name string) (Value, bool) {
	if strings.HasPrefix(name, "__") {
		if everyObjectHas[name] {
			return nil, true
		}
		if _, ok := obj.(*Func); ok && functionsHave[name] {
			return nil, true
		}
	}
	switch x := obj.(type) {
	case string:
		if f, ok := formatMethod(obj, name); ok {
			return f, true
		}
		return bound(strMethods, "str", name, obj)
	case Markup:
		if f, ok := formatMethod(obj, name); ok {
			return f, true
		}
		if m, ok := markupMethod(x, name); ok {
			return m, true
		}
		return bound(strMethods, "Markup", name, obj)
	case *Dict:
		if name == "update" {
			return &Func{Name: name, Self: x, Fn: func(b *Budget, a Args) Value {
				Update(b, x, "update", a)
				return nil
			}}, true
		}
		return bound(dictMethods, "dict", name, obj)
	case *List:
		return bound(listMethods, "list", name, obj)
	case *Tuple:
		for i, n := range x.Names {
			if n == name {
				return x.Items[i], true
			}
		}
		return bound(tupleMethods, "tuple", name, obj)
	case bool, int64, *big.Int:
		if v, ok := intAttribute(obj, name); ok {
			return v, true
		}
		return bound(intMethods, TypeName(obj), name, obj)
	case float64:
		switch name {
		case "real":
			return x, true
		case "imag":
			return 0.0, true
		}
		return bound(floatMethods, "float", name, obj)
	case *Range:
		switch name {
		case "start":
			return x.Start, true
		case "stop":
			return x.Stop, true
		case "step":
			return x.Step, true
		}
		return bound(rangeMethods, "range", name, obj)
	case *View:
		return bound(viewMethods, "dict_"+x.kind, name, obj)
	case Bytes:
		return bound(bytesMethods, "bytes", name, obj)
	case *Iterator:
		if x.Kind == "generator" {
			return bound(generatorMethods, "generator", name, obj)
		}
	case *Func:
		v, ok := x.Attrs[name]
		return v, ok
	case Object:
		return x.Attr(b, name)
	}
	return nil, false
}

func bound(table map[string]*method, class, name string, self Value) (Value, bool) {
	m, ok := table[name]
	if !ok {
		return nil, false
	}
	return m.bind(class, name, self), true
}

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// Names that exist on every object, and so are refused rather than undefined.
var (
	everyObjectHas = set(`__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__
		__gt__ __hash__ __init__ __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__
		__setattr__ __sizeof__ __str__ __subclasshook__`)
	undefinedHas = set(`__add__ __aiter__ __bool__ __call__ __complex__ __div__ __float__ __floordiv__ __getattr__ __getitem__ __int__
		__iter__ __len__ __mod__ __module__ __mul__ __neg__ __pos__ __pow__ __radd__ __rdiv__ __rfloordiv__ __rmod__ __rmul__ __rpow__
		__rsub__ __rtruediv__ __slots__ __sub__ __truediv__ _fail_with_undefined_error _undefined_exception _undefined_hint
		_undefined_message _undefined_name _undefined_obj`)
	functionsHave = set(`__call__ __name__ __qualname__ __self__ __module__ __globals__ __code__ __closure__ __dict__
		__defaults__ __text_signature__ __mro__ __bases__ __base__ __subclasses__ __wrapped__ __func__`)
)
