package py

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// sequence gives access by index to the elements of a value. Callers read the length again at each step, because a list
// may grow during the iteration.
type sequence struct {
	len func() int
	at  func(i int) Value
}

func fixed(n int, at func(i int) Value) (sequence, bool) {
	return sequence{func() int { return n }, at}, true
}

// sequenceOf returns the elements of v, or false if v cannot be indexed.
func sequenceOf(b *Budget, v Value) (sequence, bool) {
	switch x := v.(type) {
	case *List:
		return sequence{func() int { return len(x.Items) }, func(i int) Value { return x.Items[i] }}, true
	case *Tuple:
		return fixed(len(x.Items), func(i int) Value { return x.Items[i] })
	case Bytes:
		return fixed(len(x), func(i int) Value { return int64(x[i]) })
	case *Range:
		return fixed(int(x.Len()), func(i int) Value { return x.Start + int64(i)*x.Step })
	}
	s, ok := AsString(v)
	if !ok {
		return sequence{}, false
	}
	b.Scan(len(s))
	if IsASCII(s) {
		return fixed(len(s), func(i int) Value { return WithText(v, s[i:i+1]) })
	}
	r := Runes(b, s)
	return fixed(len(r), func(i int) Value { return WithText(v, string(r[i])) })
}

// Item is obj[key]; the error is that of Python, always a TypeError or LookupError.
func Item(b *Budget, obj, key Value) (Value, *Error) {
	if d, ok := obj.(*Dict); ok {
		h, err := hashKey(b, key)
		if err != nil {
			return nil, err
		}
		if v, ok := d.getHash(h); ok {
			return v, nil
		}
		return nil, fail("KeyError", "the dictionary has no key %s", Shown(key))
	}
	seq, ok := sequenceOf(b, obj)
	if !ok {
		return nil, fail("TypeError", "a value of type %s has no items", TypeName(obj))
	}
	i, ok := Index(key)
	if !ok {
		return nil, fail("TypeError", "an index must be an integer, not %s", TypeName(key))
	}
	n := int64(seq.len())
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return nil, fail("IndexError", "the index is beyond the %d elements of the %s", n, TypeName(obj))
	}
	return seq.at(int(i)), nil
}

// Subscript is obj[key] that raises.
func Subscript(b *Budget, obj, key Value) Value {
	RaiseUndefined(obj)
	v, err := Item(b, obj, key)
	if err != nil {
		panic(err)
	}
	return v
}

// Slice is obj[start:stop:step]; nil is a bound that is absent or None.
func Slice(b *Budget, obj, start, stop, step Value) Value {
	b.Step(1)
	RaiseUndefined(obj)
	if s, ok := AsString(obj); ok {
		return WithText(obj, sliceText(b, s, start, stop, step))
	}
	if items, ok := Elements(obj); ok {
		return WithElements(obj, sliced(b, valueSize, items, start, stop, step))
	}
	switch x := obj.(type) {
	case Bytes:
		return Bytes(sliced(b, 1, []byte(x), start, stop, step))
	case *Range:
		first, last, st := sliceIndices(x.Len(), start, stop, step)
		return &Range{Start: x.Start + first*x.Step, Stop: x.Start + last*x.Step, Step: st * x.Step}
	}
	Raise("TypeError", "a value of type %s cannot be sliced", TypeName(obj))
	return nil
}

func sliceText(b *Budget, s string, start, stop, step Value) string {
	if !IsASCII(s) {
		return string(sliced(b, 4, Runes(b, s), start, stop, step))
	}
	if first, last, st := sliceIndices(int64(len(s)), start, stop, step); st == 1 {
		b.Grow(max(last-first, 0))
		return s[first:max(first, last)]
	}
	return string(sliced(b, 1, []byte(s), start, stop, step))
}

func sliced[T any](b *Budget, size int64, items []T, start, stop, step Value) []T {
	first, last, st := sliceIndices(int64(len(items)), start, stop, step)
	n := (&Range{first, last, st}).Len()
	b.GrowTimes(size, n)
	out := make([]T, n)
	for i := range out {
		out[i] = items[first+int64(i)*st]
	}
	return out
}

// sliceIndices returns the bounds of a slice of n elements as Python computes them: from 0 to n, or from -1 to n-1 if
// the step is negative.
func sliceIndices(n int64, start, stop, step Value) (first, last, s int64) {
	s = sliceBound(step, 1)
	low, high := int64(0), n
	if s < 0 {
		low, high = -1, n-1
	}
	clamp := func(v Value, absent int64) int64 {
		if v == nil {
			return absent
		}
		i := sliceBound(v, 0)
		if i < 0 {
			i += n
		}
		return max(low, min(i, high))
	}
	switch {
	case s == 0:
		Raise("ValueError", "the step of a slice cannot be zero")
	case s > 0:
		return clamp(start, 0), clamp(stop, n), s
	}
	return clamp(start, n-1), clamp(stop, -1), s
}

func sliceBound(v Value, absent int64) int64 {
	if v == nil {
		return absent
	}
	i, ok := Index(v)
	RaiseIf(!ok, "TypeError", "the bounds of a slice must be integers, not %s", TypeName(v))
	return i
}

// Iter iterates v. It raises TypeError if v is not iterable.
func Iter(b *Budget, v Value) func() (Value, bool) {
	next, ok := TryIter(b, v)
	if !ok {
		Raise("TypeError", "a value of type %s cannot be iterated", TypeName(v))
	}
	return next
}

// Each is Iter for range statements.
func Each(b *Budget, v Value) iter.Seq[Value] {
	next := Iter(b, v)
	return func(yield func(Value) bool) {
		for e, ok := next(); ok && yield(e); e, ok = next() {
		}
	}
}

// TryIter is Iter that returns false instead of raising.
func TryIter(b *Budget, v Value) (func() (Value, bool), bool) {
	switch x := v.(type) {
	case *Iterator:
		return x.Next, true
	case Iterable:
		return x.Iter(b), true
	case Markup: // its characters are plain text
		v = string(x)
	}
	seq, ok := elementsOf(b, v)
	if !ok {
		return nil, false
	}
	_, isList := v.(*List)
	i, size := -1, seq.len()
	return func() (Value, bool) {
		b.Step(1)
		n := seq.len()
		RaiseIf(n != size && !isList, "RuntimeError", "a dictionary changed its size while it was iterated")
		if i++; i >= n {
			return nil, false
		}
		return seq.at(i), true
	}, true
}

// elementsOf is sequenceOf that includes dictionaries and their views.
func elementsOf(b *Budget, v Value) (sequence, bool) {
	switch x := v.(type) {
	case *Dict:
		return elementsOf(b, x.View("keys"))
	case *View:
		return sequence{x.dict.Len, func(i int) Value { return x.at(b, i) }}, true
	case *Undefined:
		return fixed(0, nil)
	}
	return sequenceOf(b, v)
}

// Items returns the elements of list(v) and charges the budget for them. The caller owns the slice.
func Items(b *Budget, v Value) []Value {
	if items, ok := Elements(v); ok {
		b.GrowValues(len(items))
		return slices.Clone(items)
	}
	var items []Value
	for e := range Each(b, v) {
		b.Grow(2 * valueSize)
		items = append(items, e)
	}
	return items
}

// Reversed is reversed(v). It returns false if v cannot be iterated backwards.
func Reversed(b *Budget, v Value) (*Iterator, bool) {
	seq, ok := elementsOf(b, v)
	if !ok {
		return nil, false
	}
	i := seq.len()
	return &Iterator{Next: func() (Value, bool) {
		b.Step(1)
		if i = min(i, seq.len()) - 1; i < 0 {
			return nil, false
		}
		return seq.at(i), true
	}}, true
}

// Unpack returns exactly n elements of v, or raises as tuple unpacking does.
func Unpack(b *Budget, v Value, n int) []Value {
	next := Each(b, v)
	b.GrowValues(n)
	out := make([]Value, 0, n)
	for e := range next {
		if len(out) == n {
			Raise("ValueError", "there are more than %d values to unpack", n)
		}
		out = append(out, e)
	}
	RaiseIf(len(out) < n, "ValueError", "%d values are needed to unpack, there are %d", n, len(out))
	return out
}

// RuneCount is the number of characters of s.
func RuneCount(s string) int {
	if IsASCII(s) {
		return len(s)
	}
	return utf8.RuneCountInString(s)
}

// IsASCII is str.isascii.
func IsASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Runes converts text to characters and charges the budget for them.
func Runes(b *Budget, s string) []rune {
	b.GrowTimes(4, int64(len(s)))
	return []rune(s)
}

// Writer collects text and charges the budget for it.
type Writer struct {
	B    *Budget
	sb   strings.Builder
	open []Value // containers that are being written
}

// Write appends text.
func (w *Writer) Write(s string) {
	w.B.Grow(int64(len(s)))
	w.sb.WriteString(s)
}

// String returns the collected text.
func (w *Writer) String() string { return w.sb.String() }

// Nested writes a container of n elements. It returns false if this container is being written already, because it
// contains itself.
func (w *Writer) Nested(v Value, start, separator, end string, n int, element func(i int)) bool {
	if slices.Contains(w.open, v) {
		return false
	}
	w.B.Enter()
	w.open = append(w.open, v)
	defer func() { // also after an error, because Try may go on
		w.open = w.open[:len(w.open)-1]
		w.B.Leave()
	}()
	w.Write(start)
	for i := range n {
		if i > 0 {
			w.Write(separator)
		}
		element(i)
	}
	w.Write(end)
	return true
}

// Joiner joins parts with a separator and charges the budget for the text.
type Joiner struct {
	Writer
	sep   string
	parts bool
}

// NewJoiner returns an empty Joiner.
func NewJoiner(b *Budget, sep string) *Joiner { return &Joiner{Writer: Writer{B: b}, sep: sep} }

// Add appends a part.
func (j *Joiner) Add(part string) {
	if j.parts {
		j.Write(j.sep)
	}
	j.Write(part)
	j.parts = true
}
