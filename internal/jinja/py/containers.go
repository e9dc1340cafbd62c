package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

var listMethods = map[string]*method{
	"append": {min: 1, max: 1, fn: func(b *Budget, s Value, a []Value) Value { s.(*List).append_(b, a[0]); return nil }},
	"clear":  {fn: func(_ *Budget, s Value, _ []Value) Value { s.(*List).Items = nil; return nil }},
	"copy": {fn: func(b *Budget, s Value, _ []Value) Value {
		return &List{Items: Items(b, s)}
	}},
	"count": {min: 1, max: 1, fn: countItems},
	"extend": {min: 1, max: 1, fn: func(b *Budget, s Value, a []Value) Value {
		l := s.(*List)
		l.Items = append(l.Items, Items(b, a[0])...)
		return nil
	}},
	"index":  {min: 1, max: 3, fn: listIndex},
	"insert": {min: 2, max: 2, fn: listInsert},
	"pop":    {min: 0, max: 1, fn: listPop},
	"remove": {min: 1, max: 1, fn: func(b *Budget, s Value, a []Value) Value {
		l := s.(*List)
		for i, it := range l.Items {
			if same(it, a[0]) || Equal(b, it, a[0]) {
				l.Items = append(l.Items[:i:i], l.Items[i+1:]...)
				b.GrowTimes(valueSize, int64(len(l.Items)))
				return nil
			}
		}
		Raise("ValueError", "list.remove(x): x not in list")
		return nil
	}},
	"reverse": {fn: func(b *Budget, s Value, _ []Value) Value {
		it := s.(*List).Items
		b.Scan(len(it))
		for i, j := 0, len(it)-1; i < j; i, j = i+1, j-1 {
			it[i], it[j] = it[j], it[i]
		}
		return nil
	}},
	"sort": {min: 0, max: 2, kw: []string{"key", "reverse"}, kwOnly: true, fn: listSort},
}

func countItems(b *Budget, s Value, a []Value) Value {
	n := int64(0)
	next := Iter(b, s)
	for {
		it, ok := next()
		if !ok {
			return n
		}
		if same(it, a[0]) || Equal(b, it, a[0]) {
			n++
		}
	}
}

func listIndex(b *Budget, s Value, a []Value) Value {
	items := Items(b, s)
	bound := func(v Value, def int) int {
		if v == Absent {
			return def
		}
		i, ok := index(v)
		if !ok {
			Raise("TypeError", "slice indices must be integers or have an __index__ method")
		}
		if i < 0 {
			i += int64(len(items))
		}
		return int(max(0, min(i, int64(len(items)))))
	}
	from, to := bound(a[1], 0), bound(a[2], len(items))
	for i := from; i < to; i++ {
		if same(items[i], a[0]) || Equal(b, items[i], a[0]) {
			return int64(i)
		}
	}
	switch s.(type) {
	case *List:
		Raise("ValueError", "%s is not in list", plainRepr(a[0]))
	case *Range:
		Raise("ValueError", "%s is not in range", plainRepr(a[0]))
	}
	Raise("ValueError", "tuple.index(x): x not in tuple")
	return nil
}

func listInsert(b *Budget, s Value, a []Value) Value {
	l := s.(*List)
	i := intArg(a[0])
	if i < 0 {
		i += int64(len(l.Items))
	}
	i = max(0, min(i, int64(len(l.Items))))
	b.Scan(len(l.Items))
	l.append_(b, nil)
	copy(l.Items[i+1:], l.Items[i:])
	l.Items[i] = a[1]
	return nil
}

func listPop(b *Budget, s Value, a []Value) Value {
	l := s.(*List)
	i := int64(-1)
	if a[0] != Absent {
		i = intArg(a[0])
	}
	if len(l.Items) == 0 {
		Raise("IndexError", "pop from empty list")
	}
	if i < 0 {
		i += int64(len(l.Items))
	}
	if i < 0 || i >= int64(len(l.Items)) {
		Raise("IndexError", "pop index out of range")
	}
	v := l.Items[i]
	b.Scan(len(l.Items))
	l.Items = append(l.Items[:i], l.Items[i+1:]...)
	return v
}

func listSort(b *Budget, s Value, a []Value) Value {
	l := s.(*List)
	keys := l.Items
	if a[0] != Absent && a[0] != nil {
		b.GrowTimes(valueSize, int64(len(l.Items)))
		keys = make([]Value, len(l.Items))
		for i, it := range l.Items {
			keys[i] = Call(b, a[0], Args{Pos: []Value{it}})
		}
	}
	Sort(b, l.Items, append([]Value(nil), keys...), a[1] != Absent && Flag(a[1]))
	return nil
}

var tupleMethods = map[string]*method{
	"count": {min: 1, max: 1, fn: countItems},
	"index": {min: 1, max: 3, fn: listIndex},
}

var rangeMethods = map[string]*method{
	"count": {min: 1, max: 1, fn: countItems},
	"index": {min: 1, max: 1, fn: func(b *Budget, s Value, a []Value) Value {
		return listIndex(b, s, []Value{a[0], Absent, Absent})
	}},
}

var dictMethods = map[string]*method{
	"clear": {fn: func(_ *Budget, s Value, _ []Value) Value { s.(*Dict).clear(); return nil }},
	"copy":  {fn: func(b *Budget, s Value, _ []Value) Value { return s.(*Dict).copy(b) }},
	"fromkeys": {min: 1, max: 2, fn: func(b *Budget, _ Value, a []Value) Value {
		d := NewDict()
		var val Value
		if a[1] != Absent {
			val = a[1]
		}
		next := Iter(b, a[0])
		for k, ok := next(); ok; k, ok = next() {
			d.Set(b, k, val)
		}
		return d
	}},
	"get": {min: 1, max: 2, fn: func(b *Budget, s Value, a []Value) Value {
		if v, ok := s.(*Dict).Get(b, a[0]); ok {
			return v
		}
		if a[1] == Absent {
			return nil
		}
		return a[1]
	}},
	"keys":   viewMethod("keys"),
	"values": viewMethod("values"),
	"items":  viewMethod("items"),
	"pop": {min: 1, max: 2, fn: func(b *Budget, s Value, a []Value) Value {
		v, ok := s.(*Dict).Delete(b, a[0])
		if !ok && a[1] == Absent {
			panic(&Error{Kind: "KeyError", Message: plainRepr(a[0])})
		}
		if !ok {
			return a[1]
		}
		return v
	}},
	"popitem": {fn: func(b *Budget, s Value, _ []Value) Value {
		d := s.(*Dict)
		if d.Len() == 0 {
			panic(&Error{Kind: "KeyError", Message: "'popitem(): dictionary is empty'"})
		}
		i := len(d.entries) - 1
		for d.entries[i].hash == nil {
			i--
		}
		kv := pick(b, "items", d.entries[i].key, d.entries[i].val)
		d.deleteAt(i)
		return kv
	}},
	"setdefault": {min: 1, max: 2, fn: func(b *Budget, s Value, a []Value) Value {
		d := s.(*Dict)
		if v, ok := d.Get(b, a[0]); ok {
			return v
		}
		var v Value
		if a[1] != Absent {
			v = a[1]
		}
		d.Set(b, a[0], v)
		return v
	}},
}

func viewMethod(kind string) *method {
	return &method{fn: func(_ *Budget, s Value, _ []Value) Value { return &View{dict: s.(*Dict), kind: kind} }}
}

var viewMethods = map[string]*method{
	"isdisjoint": {min: 1, max: 1, fn: func(b *Budget, s Value, a []Value) Value {
		next := Iter(b, a[0])
		for v, ok := next(); ok; v, ok = next() {
			if Contains(b, s, v) {
				return false
			}
		}
		return true
	}},
}

// Update is dict.update and the body of dict(): entries of a mapping or pairs, then keywords.
func Update(b *Budget, d *Dict, what string, args Args) {
	if len(args.Pos) > 1 {
		Raise("TypeError", "%s expected at most 1 argument, got %d", what, len(args.Pos))
	}
	if len(args.Pos) == 1 {
		raiseUndefined(args.Pos[0])
		if src, ok := args.Pos[0].(*Dict); ok {
			src.copy(b).Each(func(k, v Value) bool { d.Set(b, k, v); return true })
		} else {
			updatePairs(b, d, args.Pos[0])
		}
	}
	for _, kw := range args.Kw {
		d.Set(b, kw.Name, kw.Value)
	}
}

func updatePairs(b *Budget, d *Dict, v Value) {
	next := Iter(b, v)
	for i := 0; ; i++ {
		pair, ok := next()
		if !ok {
			return
		}
		if _, ok := TryIter(b, pair); !ok {
			Raise("TypeError", "cannot convert dictionary update sequence element #%d to a sequence", i)
		}
		kv := Items(b, pair)
		if len(kv) != 2 {
			Raise("ValueError", "dictionary update sequence element #%d has length %d; 2 is required", i, len(kv))
		}
		d.Set(b, kv[0], kv[1])
	}
}

var intMethods = map[string]*method{
	"bit_length": {fn: func(_ *Budget, s Value, _ []Value) Value { i, _ := toBig(s); return int64(i.BitLen()) }},
	"bit_count": {fn: func(_ *Budget, s Value, _ []Value) Value {
		i, _ := toBig(s)
		return int64(strings.Count(new(big.Int).Abs(i).Text(2), "1"))
	}},
	"conjugate": {fn: func(_ *Budget, s Value, _ []Value) Value { return Pos(s) }},
	"as_integer_ratio": {fn: func(_ *Budget, s Value, _ []Value) Value {
		return &Tuple{Items: []Value{Pos(s), int64(1)}}
	}},
}

func intAttribute(v Value, name string) (Value, bool) {
	switch name {
	case "real", "numerator":
		return Pos(v), true
	case "imag":
		return int64(0), true
	case "denominator":
		return int64(1), true
	}
	return nil, false
}

var floatMethods = map[string]*method{
	"is_integer": {fn: func(_ *Budget, s Value, _ []Value) Value {
		f := s.(float64)
		return !math.IsInf(f, 0) && f == math.Trunc(f)
	}},
	"conjugate": {fn: func(_ *Budget, s Value, _ []Value) Value { return s }},
	"hex":       {fn: func(_ *Budget, s Value, _ []Value) Value { return floatHex(s.(float64)) }},
	"as_integer_ratio": {fn: func(_ *Budget, s Value, _ []Value) Value {
		f := s.(float64)
		if math.IsInf(f, 0) {
			Raise("OverflowError", "cannot convert Infinity to integer ratio")
		}
		if math.IsNaN(f) {
			Raise("ValueError", "cannot convert NaN to integer ratio")
		}
		r := new(big.Rat).SetFloat64(f)
		return &Tuple{Items: []Value{norm(r.Num()), norm(r.Denom())}}
	}},
}

func floatHex(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return FloatRepr(f)
	case f == 0:
		if math.Signbit(f) {
			return "-0x0.0p+0"
		}
		return "0x0.0p+0"
	}
	mant, exp, _ := strings.Cut(strconv.FormatFloat(f, 'x', 13, 64), "p")
	sign, digits := exp[:1], strings.TrimLeft(exp[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mant + "p" + sign + digits
}

var bytesMethods = map[string]*method{
	"decode": {min: 0, max: 2, kw: []string{"encoding", "errors"}, fn: func(b *Budget, s Value, _ []Value) Value {
		text := string(s.(Bytes))
		b.GrowTimes(3, int64(len(text)))
		return strings.ToValidUTF8(text, "\ufffd")
	}},
	"hex": {fn: func(b *Budget, s Value, _ []Value) Value {
		const digits = "0123456789abcdef"
		text := s.(Bytes)
		b.GrowTimes(2, int64(len(text)))
		out := make([]byte, 0, 2*len(text))
		for i := 0; i < len(text); i++ {
			out = append(out, digits[text[i]>>4], digits[text[i]&15])
		}
		return string(out)
	}},
}

var generatorMethods = map[string]*method{
	"close": {fn: func(_ *Budget, s Value, _ []Value) Value {
		s.(*Iterator).Next = func() (Value, bool) { return nil, false }
		return nil
	}},
}
