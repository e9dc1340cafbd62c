package py

import (
	"unicode/utf8"
)

// Iter walks v; it raises TypeError if v cannot be walked.
func Iter(b *Budget, v Value) func() (Value, bool) {
	next, ok := TryIter(b, v)
	if !ok {
		Raise("TypeError", "'%s' object is not iterable", TypeName(v))
	}
	return next
}

// TryIter is Iter that tells instead of raising.
func TryIter(b *Budget, v Value) (func() (Value, bool), bool) {
	switch x := v.(type) {
	case *List:
		i := 0
		return func() (Value, bool) {
			b.Step(1)
			if i >= len(x.Items) {
				return nil, false
			}
			i++
			return x.Items[i-1], true
		}, true
	case *Tuple:
		i := 0
		return func() (Value, bool) {
			b.Step(1)
			if i >= len(x.Items) {
				return nil, false
			}
			i++
			return x.Items[i-1], true
		}, true
	case string:
		return iterString(b, x), true
	case Markup:
		return iterString(b, string(x)), true
	case Bytes:
		i := 0
		return func() (Value, bool) {
			b.Step(1)
			if i >= len(x) {
				return nil, false
			}
			i++
			return int64(x[i-1]), true
		}, true
	case *Dict:
		return x.iter(b, "keys"), true
	case *View:
		return x.dict.iter(b, x.kind), true
	case *Range:
		i, n := int64(0), x.Len()
		return func() (Value, bool) {
			b.Step(1)
			if i >= n {
				return nil, false
			}
			i++
			return x.at(i - 1), true
		}, true
	case *Iterator:
		return x.Next, true
	case *Undefined:
		return func() (Value, bool) { return nil, false }, true
	case Iterable:
		return x.Iter(b), true
	}
	return nil, false
}

func iterString(b *Budget, s string) func() (Value, bool) {
	return func() (Value, bool) {
		b.Step(1)
		if s == "" {
			return nil, false
		}
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		return c, true
	}
}

// Items is list(v) without the list: all elements, paid for. The slice is the caller's.
func Items(b *Budget, v Value) []Value {
	switch x := v.(type) {
	case *List:
		b.GrowTimes(valueSize, int64(len(x.Items)))
		return append([]Value(nil), x.Items...)
	case *Tuple:
		b.GrowTimes(valueSize, int64(len(x.Items)))
		return append([]Value(nil), x.Items...)
	}
	next := Iter(b, v)
	var out []Value
	for {
		e, ok := next()
		if !ok {
			return out
		}
		b.Grow(2 * valueSize)
		out = append(out, e)
	}
}

// Reversed is reversed(v); false if v cannot be walked backwards.
func Reversed(b *Budget, v Value) (*Iterator, bool) {
	back := func(kind string, n int, at func(i int) Value) (*Iterator, bool) {
		i := n
		return &Iterator{Kind: kind, Next: func() (Value, bool) {
			b.Step(1)
			if i <= 0 {
				return nil, false
			}
			i--
			return at(i), true
		}}, true
	}
	switch x := v.(type) {
	case *List:
		return back("list_reverseiterator", len(x.Items), func(i int) Value {
			if i < len(x.Items) {
				return x.Items[i]
			}
			return nil
		})
	case *Tuple:
		return back("reversed", len(x.Items), func(i int) Value { return x.Items[i] })
	case string:
		r := runes(b, x)
		return back("reversed", len(r), func(i int) Value { return string(r[i]) })
	case Markup:
		r := runes(b, string(x))
		return back("reversed", len(r), func(i int) Value { return Markup(string(r[i])) })
	case *Range:
		return back("range_iterator", int(x.Len()), func(i int) Value { return x.at(int64(i)) })
	case *Dict:
		return &Iterator{Kind: "dict_reversekeyiterator", Next: x.reversed(b, "keys")}, true
	case *Undefined:
		return back("reversed", 0, nil)
	case *View:
		kind := map[string]string{"keys": "key", "values": "value", "items": "item"}[x.kind]
		return &Iterator{Kind: "dict_reverse" + kind + "iterator", Next: x.dict.reversed(b, x.kind)}, true
	}
	return nil, false
}

// Generator wraps a function that yields values as a generator.
func Generator(name string, next func() (Value, bool)) *Iterator {
	return &Iterator{Kind: "generator", Name: name, Next: next}
}

// Unpack returns exactly n elements of v, or raises as tuple unpacking does.
func Unpack(b *Budget, v Value, n int) []Value {
	next, ok := TryIter(b, v)
	if !ok {
		Raise("TypeError", "cannot unpack non-iterable %s object", TypeName(v))
	}
	b.GrowTimes(valueSize, int64(n))
	out := make([]Value, 0, n)
	for {
		e, ok := next()
		if !ok {
			break
		}
		if len(out) == n {
			Raise("ValueError", "too many values to unpack (expected %d)", n)
		}
		out = append(out, e)
	}
	if len(out) < n {
		Raise("ValueError", "not enough values to unpack (expected %d, got %d)", n, len(out))
	}
	return out
}

func runeCount(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return utf8.RuneCountInString(s)
		}
	}
	return len(s)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// runes converts text for work by character, and pays for it.
func runes(b *Budget, s string) []rune {
	b.GrowTimes(4, int64(len(s)))
	return []rune(s)
}
