package py

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"
)

// Equal is x == y.
func Equal(b *Budget, x, y Value) bool {
	b.Step(1)
	if IsNumber(x) && IsNumber(y) {
		return compareNumbers(x, y) == 0
	}
	if l, ok := AsString(x); ok {
		r, ok := AsString(y)
		return ok && l == r
	}
	if Same(x, y) || TypeName(x) != TypeName(y) {
		return Same(x, y)
	}
	if l, ok := Elements(x); ok {
		r, _ := Elements(y)
		return equalItems(b, l, r)
	}
	switch l := x.(type) {
	case *Dict:
		return equalDicts(b, l, y.(*Dict))
	case *Undefined:
		return true
	case *Range:
		r := y.(*Range)
		return l.Len() == r.Len() && (l.Len() == 0 || l.Start == r.Start && (l.Len() == 1 || l.Step == r.Step))
	case *View:
		return l.kind != "values" && equalDicts(b, l.dict, y.(*View).dict)
	}
	return false
}

// is reports whether x is y or equals y. Python compares elements of containers in this way.
func is(b *Budget, x, y Value) bool { return Same(x, y) || Equal(b, x, y) }

func equalItems(b *Budget, x, y []Value) bool {
	if len(x) != len(y) {
		return false
	}
	b.Enter()
	defer b.Leave()
	for i := range x {
		if !is(b, x[i], y[i]) {
			return false
		}
	}
	return true
}

func equalDicts(b *Budget, x, y *Dict) bool {
	if x.Len() != y.Len() {
		return false
	}
	b.Enter()
	defer b.Leave()
	for _, e := range x.entries {
		if v, ok := y.getHash(e.hash); !ok || !is(b, e.val, v) {
			return false
		}
	}
	return true
}

// Same is Python's operator "is". Small values of equal type and content count as one object, as in most cases in
// Python.
func Same(x, y Value) bool { return x == y }

// compareNumbers returns -1, 0 or 1, or 2 if one of the numbers is NaN.
func compareNumbers(x, y Value) int {
	if i, ok := Small(x); ok {
		if j, ok := Small(y); ok {
			return cmp.Compare(i, j)
		}
	}
	l, r := exact(x), exact(y)
	if l == nil || r == nil {
		return 2
	}
	return l.Cmp(r)
}

// exact is a number without rounding, nil for NaN.
func exact(v Value) *big.Float {
	if f, ok := v.(float64); ok {
		if math.IsNaN(f) {
			return nil
		}
		return big.NewFloat(f)
	}
	i, _ := BigInt(v)
	return new(big.Float).SetInt(i)
}

// Less is x op y for the ordering operators <, <=, > and >=.
func Less(b *Budget, op string, x, y Value) bool {
	b.Step(1)
	if IsNumber(x) && IsNumber(y) {
		return orderBy(op, compareNumbers(x, y))
	}
	if l, ok := AsString(x); ok {
		if r, ok := AsString(y); ok {
			b.Scan(min(len(l), len(r)))
			return orderBy(op, strings.Compare(l, r))
		}
	}
	if l, ok := Elements(x); ok && TypeName(x) == TypeName(y) {
		r, _ := Elements(y)
		return lessItems(b, op, l, r)
	}
	if l, ok := x.(Bytes); ok {
		if r, ok := y.(Bytes); ok {
			return orderBy(op, strings.Compare(string(l), string(r)))
		}
	}
	BadOperands(op, x, y)
	return false
}

func orderBy(op string, c int) bool {
	switch op {
	case "<":
		return c == -1
	case "<=":
		return c == -1 || c == 0
	case ">":
		return c == 1
	}
	return c == 1 || c == 0
}

func lessItems(b *Budget, op string, x, y []Value) bool {
	b.Enter()
	defer b.Leave()
	for i := 0; i < len(x) && i < len(y); i++ {
		if !is(b, x[i], y[i]) {
			return Less(b, op, x[i], y[i])
		}
	}
	return orderBy(op, cmp.Compare(len(x), len(y)))
}

// Contains is x in seq.
func Contains(b *Budget, seq, x Value) bool {
	switch s := seq.(type) {
	case string, Markup:
		text, _ := AsString(seq)
		b.Scan(len(text))
		return strings.Contains(text, TextArg(x))
	case *Dict:
		_, ok := s.Get(b, x)
		return ok
	case *View:
		if s.kind == "keys" {
			return Contains(b, s.dict, x)
		}
	case *Range:
		if i, ok := Small(x); ok {
			past := s.Step > 0 && (i < s.Start || i >= s.Stop) || s.Step < 0 && (i > s.Start || i <= s.Stop)
			return !past && (i-s.Start)%s.Step == 0
		}
	case Bytes:
		if sub, ok := x.(Bytes); ok {
			return strings.Contains(string(s), string(sub))
		}
	}
	for v := range Each(b, seq) {
		if is(b, v, x) {
			return true
		}
	}
	return false
}

// Find returns the index of the first element that equals x (-1 = none), and the number of such elements.
func Find(b *Budget, items []Value, x Value) (first int, count int64) {
	first = -1
	for i, it := range items {
		if is(b, it, x) {
			if count++; first < 0 {
				first = i
			}
		}
	}
	return first, count
}

// Sort sorts items in place as Python's sorted does: stable, by <, with reverse keeping the order of equal ones.
// keys[i] belongs to items[i]; keys may be items itself.
func Sort(b *Budget, items, keys []Value, reverse bool) {
	SortFunc(b, items, reverse, func(i, j int) bool { return Less(b, "<", keys[i], keys[j]) })
}

// SortFunc is Sort with a comparison function. less gets the indexes of two elements in the unsorted items.
func SortFunc(b *Budget, items []Value, reverse bool, less func(i, j int) bool) {
	b.GrowTimes(2*valueSize, int64(len(items)))
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		return less(order[i], order[j])
	})
	was := slices.Clone(items)
	for i, from := range order {
		items[i] = was[from]
	}
}
