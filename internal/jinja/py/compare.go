package py

import (
	"math"
	"math/big"
	"strings"
)

// Equal is x == y.
func Equal(b *Budget, x, y Value) bool {
	b.Step(1)
	switch l := x.(type) {
	case nil:
		return y == nil
	case string, Markup:
		ls, _ := AsString(x)
		rs, ok := AsString(y)
		return ok && ls == rs
	case bool, int64, *big.Int, float64:
		if !isNumber(y) {
			return false
		}
		return compareNumbers(x, y) == 0
	case *List:
		r, ok := y.(*List)
		return ok && (l == r || equalItems(b, l.Items, r.Items))
	case *Tuple:
		r, ok := y.(*Tuple)
		return ok && (l == r || equalItems(b, l.Items, r.Items))
	case *Dict:
		r, ok := y.(*Dict)
		return ok && (l == r || equalDicts(b, l, r))
	case *Undefined:
		_, ok := y.(*Undefined)
		return ok
	case *Range:
		r, ok := y.(*Range)
		if !ok || l.Len() != r.Len() {
			return false
		}
		return l.Len() == 0 || l.Start == r.Start && (l.Len() == 1 || l.Step == r.Step)
	case *View:
		return equalViews(b, l, y)
	case *Func:
		r, ok := y.(*Func)
		return ok && (l == r || l.Self != nil && l.Name == r.Name && same(l.Self, r.Self))
	}
	return same(x, y)
}

func equalItems(b *Budget, x, y []Value) bool {
	if len(x) != len(y) {
		return false
	}
	b.Enter()
	defer b.Leave()
	for i := range x {
		if !same(x[i], y[i]) && !Equal(b, x[i], y[i]) {
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
	equal := true
	for i := range x.entries {
		e := &x.entries[i]
		if e.hash == nil {
			continue
		}
		v, ok := y.getHash(e.hash)
		if !ok || !same(e.val, v) && !Equal(b, e.val, v) {
			return false
		}
	}
	return equal
}

func equalViews(b *Budget, x *View, v Value) bool {
	y, ok := v.(*View)
	if !ok || x.kind == "values" || y.kind == "values" || x.kind != y.kind {
		return ok && x == y
	}
	if x.kind == "items" {
		return equalDicts(b, x.dict, y.dict)
	}
	if x.dict.Len() != y.dict.Len() {
		return false
	}
	for i := range x.dict.entries {
		if h := x.dict.entries[i].hash; h != nil && y.dict.find(h) < 0 {
			return false
		}
	}
	return true
}

// same is x is y. Small values of equal type and content count as one object, as they mostly do in Python.
func same(x, y Value) bool {
	switch l := x.(type) {
	case *big.Int:
		r, ok := y.(*big.Int)
		return ok && l == r
	case float64:
		r, ok := y.(float64)
		return ok && math.Float64bits(l) == math.Float64bits(r) && l == r
	}
	return x == y
}

// Same is x is y.
func Same(x, y Value) bool { return same(x, y) }

func compareNumbers(x, y Value) int {
	i, okI := small(x)
	j, okJ := small(y)
	if okI && okJ {
		switch {
		case i < j:
			return -1
		case i > j:
			return 1
		}
		return 0
	}
	fx, isFx := x.(float64)
	fy, isFy := y.(float64)
	if isFx && math.IsNaN(fx) || isFy && math.IsNaN(fy) {
		return 2 // neither less, equal nor greater
	}
	if isFx && math.IsInf(fx, 0) || isFy && math.IsInf(fy, 0) {
		if !isFx {
			fx = 0
		}
		if !isFy {
			fy = 0
		}
		switch {
		case fx < fy:
			return -1
		case fx > fy:
			return 1
		}
		return 0
	}
	return exact(x).Cmp(exact(y))
}

func exact(v Value) *big.Rat {
	if f, ok := v.(float64); ok {
		return new(big.Rat).SetFloat64(f)
	}
	i, _ := toBig(v)
	return new(big.Rat).SetInt(i)
}

// Less is x op y for the ordering operators <, <=, > and >=.
func Less(b *Budget, op string, x, y Value) bool {
	b.Step(1)
	if isNumber(x) && isNumber(y) {
		return orderBy(op, compareNumbers(x, y))
	}
	if l, ok := AsString(x); ok {
		if r, ok := AsString(y); ok {
			b.Scan(min(len(l), len(r)))
			return orderBy(op, strings.Compare(l, r))
		}
	}
	switch l := x.(type) {
	case *List:
		if r, ok := y.(*List); ok {
			return lessItems(b, op, l.Items, r.Items)
		}
	case *Tuple:
		if r, ok := y.(*Tuple); ok {
			return lessItems(b, op, l.Items, r.Items)
		}
	case Bytes:
		if r, ok := y.(Bytes); ok {
			return orderBy(op, strings.Compare(string(l), string(r)))
		}
	}
	raiseUndefined(x, y)
	Raise("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, TypeName(x), TypeName(y))
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
		if !same(x[i], y[i]) && !Equal(b, x[i], y[i]) {
			return Less(b, op, x[i], y[i])
		}
	}
	switch {
	case len(x) < len(y):
		return orderBy(op, -1)
	case len(x) > len(y):
		return orderBy(op, 1)
	}
	return orderBy(op, 0)
}

// Contains is x in seq.
func Contains(b *Budget, seq, x Value) bool {
	switch s := seq.(type) {
	case string, Markup:
		text, _ := AsString(seq)
		sub, ok := AsString(x)
		if !ok {
			Raise("TypeError", "'in <string>' requires string as left operand, not %s", TypeName(x))
		}
		b.Scan(len(text))
		return strings.Contains(text, sub)
	case *Dict:
		_, ok := s.Get(b, x)
		return ok
	case *View:
		if s.kind == "keys" {
			_, ok := s.dict.Get(b, x)
			return ok
		}
	case *Range:
		if !isNumber(x) {
			return false
		}
		if i, ok := small(x); ok {
			if s.Step > 0 && (i < s.Start || i >= s.Stop) || s.Step < 0 && (i > s.Start || i <= s.Stop) {
				return false
			}
			return (i-s.Start)%s.Step == 0
		}
	case Bytes:
		if i, ok := index(x); ok {
			return i >= 0 && i < 256 && strings.IndexByte(string(s), byte(i)) >= 0
		}
		if sub, ok := x.(Bytes); ok {
			return strings.Contains(string(s), string(sub))
		}
	}
	next, ok := TryIter(b, seq)
	if !ok {
		Raise("TypeError", "argument of type '%s' is not iterable", TypeName(seq))
	}
	for {
		v, ok := next()
		if !ok {
			return false
		}
		if same(v, x) || Equal(b, v, x) {
			return true
		}
	}
}

// Sort sorts items in place as Python's sorted does: stable, by <, with reverse keeping the order of equal ones.
// keys[i] belongs to items[i]; keys may be items itself.
func Sort(b *Budget, items, keys []Value, reverse bool) {
	SortFunc(b, items, reverse, func(i, j int) bool { return Less(b, "<", keys[i], keys[j]) })
}

// SortFunc is Sort by a comparison of two elements, named by their place in items as it was.
func SortFunc(b *Budget, items []Value, reverse bool, less func(i, j int) bool) {
	n := len(items)
	b.GrowTimes(valueSize, int64(n))
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
		if reverse {
			perm[i] = n - 1 - i
		}
	}
	insertionRuns(perm, less)
	if reverse {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			perm[i], perm[j] = perm[j], perm[i]
		}
	}
	b.GrowTimes(valueSize, int64(n))
	out := make([]Value, n)
	for i, p := range perm {
		out[i] = items[p]
	}
	copy(items, out)
}

// insertionRuns sorts by runs of up to 64 elements made by binary insertion, merged stably. The order of comparisons of
// short sequences is Python's, so that a failing comparison names the same two types.
func insertionRuns(perm []int, less func(i, j int) bool) {
	const run = 64
	for lo := 0; lo < len(perm); lo += run {
		binaryInsertion(perm[lo:min(lo+run, len(perm))], less)
	}
	buf := make([]int, len(perm))
	for size := run; size < len(perm); size *= 2 {
		for lo := 0; lo+size < len(perm); lo += 2 * size {
			merge(perm[lo:min(lo+2*size, len(perm))], size, buf, less)
		}
	}
}

func binaryInsertion(p []int, less func(i, j int) bool) {
	if len(p) < 2 {
		return
	}
	// An initial run that already ascends, or strictly descends and is turned round.
	n := 2
	if less(p[1], p[0]) {
		for n < len(p) && less(p[n], p[n-1]) {
			n++
		}
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			p[i], p[j] = p[j], p[i]
		}
	} else {
		for n < len(p) && !less(p[n], p[n-1]) {
			n++
		}
	}
	for ; n < len(p); n++ {
		pivot := p[n]
		l, r := 0, n
		for l < r {
			m := l + (r-l)/2
			if less(pivot, p[m]) {
				r = m
			} else {
				l = m + 1
			}
		}
		copy(p[l+1:n+1], p[l:n])
		p[l] = pivot
	}
}

func merge(p []int, mid int, buf []int, less func(i, j int) bool) {
	left := buf[:mid]
	copy(left, p[:mid])
	i, j := 0, mid
	for k := 0; i < len(left); k++ {
		if j < len(p) && less(p[j], left[i]) {
			p[k] = p[j]
			j++
		} else {
			p[k] = left[i]
			i++
		}
	}
}
