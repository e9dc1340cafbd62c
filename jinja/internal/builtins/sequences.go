package builtins

import (
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

type nextFunc = func() (py.Value, bool)

var sequenceFilters = table{
	"first(seq)": simple(func(b *py.Budget, v py.Value) py.Value {
		if first, ok := py.Iter(b, v)(); ok {
			return first
		}
		return empty("first")
	}),
	"last(seq)": simple(func(b *py.Budget, v py.Value) py.Value {
		it, ok := py.Reversed(b, v)
		py.RaiseIf(!ok, "TypeError", "a value of type %s has no last item", py.TypeName(v))
		if last, ok := it.Next(); ok {
			return last
		}
		return empty("last")
	}),
	"list(value)": simple(func(b *py.Budget, v py.Value) py.Value { return &py.List{Items: py.Items(b, v)} }),
	"items(value)": lazy(func(b *py.Budget, a []py.Value) nextFunc {
		switch d := a[0].(type) {
		case *py.Undefined:
			return nothing
		case *py.Dict:
			return py.Iter(b, d.View("items"))
		}
		py.Raise("TypeError", "only a dictionary has items, not %s", py.TypeName(a[0]))
		return nil
	}),
	"reverse(value)": simple(reverse),
	"batch(value, linecount, fill_with=none)":                          lazy(batch),
	"slice(value, slices, fill_with=none)":                             lazy(slice),
	"sort(value, reverse=false, case_sensitive=false, attribute=none)": sorted,
	"dictsort(value, case_sensitive=false, by=key, reverse=false)":     dictSort,
	"unique(value, case_sensitive=false, attribute=none)":              lazy(unique),
	"groupby(value, attribute, default=none, case_sensitive=false)":    groupBy,
	"join(value, d='', attribute=none)":                                joined,
	"sum(iterable, attribute=none, start=0)":                           sum,
	"min(value, case_sensitive=false, attribute=none)":                 extreme("min", "<"),
	"max(value, case_sensitive=false, attribute=none)":                 extreme("max", ">"),
}

// lazy makes a filter that returns a generator. start is called when the first element is read, so its errors come
// then.
func lazy(start func(b *py.Budget, a []py.Value) nextFunc) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		var next nextFunc
		done := false
		return &py.Iterator{Next: func() (py.Value, bool) {
			if done {
				return nil, false
			}
			if next == nil {
				next = start(b, a)
			}
			v, ok := next()
			done = !ok
			return v, ok
		}}
	}
}

func nothing() (py.Value, bool) { return nil, false }

func reverse(b *py.Budget, v py.Value) py.Value {
	if _, ok := py.AsString(v); ok {
		return py.Slice(b, v, nil, nil, int64(-1))
	}
	if it, ok := py.Reversed(b, v); ok {
		return it
	}
	var items []py.Value
	if !Try(func() { items = py.Items(b, v) }, "TypeError") {
		py.Raise("FilterArgumentError", "a value of type %s cannot be reversed", py.TypeName(v))
	}
	slices.Reverse(items)
	return &py.List{Items: items}
}

func batch(b *py.Budget, a []py.Value) nextFunc {
	next := py.Iter(b, a[0])
	var batch []py.Value
	return func() (py.Value, bool) {
		for v, ok := next(); ok; v, ok = next() {
			b.GrowValues(2)
			if full := batch; py.Equal(b, int64(len(full)), a[1]) {
				batch = []py.Value{v}
				return &py.List{Items: full}, true
			}
			batch = append(batch, v)
		}
		last := batch
		batch, next = nil, nothing
		if a[2] != nil && len(last) > 0 && py.Less(b, "<", int64(len(last)), a[1]) {
			missing := operators.Binary(b, "-", a[1], int64(len(last)))
			last = append(last, py.Items(b, operators.Binary(b, "*", &py.List{Items: a[2:3]}, missing))...)
		}
		return &py.List{Items: last}, len(last) > 0
	}
}

func slice(b *py.Budget, a []py.Value) nextFunc {
	seq := py.Items(b, a[0])
	length := int64(len(seq))
	operators.Binary(b, "//", length, a[1]) // raises if a[1] is zero or not a number
	slices := py.IntArg(a[1])
	size, extra := length/slices, length%slices
	n, start := int64(0), int64(0)
	return func() (py.Value, bool) {
		if n >= slices {
			return nil, false
		}
		end := start + size
		if n < extra {
			end++
		}
		b.GrowTimes(24, end-start+1)
		out := append([]py.Value(nil), seq[start:end]...)
		if a[2] != nil && n >= extra {
			out = append(out, a[2])
		}
		start = end
		n++
		return &py.List{Items: out}, true
	}
}

// getter returns a function that looks up a dotted attribute of an item. def, unless nil, replaces an undefined value.
// caseless makes text lower case.
func getter(b *py.Budget, attribute, def py.Value, caseless bool) func(py.Value) py.Value {
	path := []py.Value{attribute}
	if attribute == nil {
		path = nil
	}
	if s, ok := py.AsString(attribute); ok {
		path = nil
		for _, part := range strings.Split(s, ".") {
			path = append(path, methods.Key(part))
		}
	}
	return func(v py.Value) py.Value {
		for _, p := range path {
			v = methods.GetItem(b, v, p)
			if py.IsUndefined(v) && def != nil {
				v = def
			}
		}
		if caseless {
			return lowered(b, v)
		}
		return v
	}
}

func lowered(b *py.Budget, v py.Value) py.Value {
	if s, ok := py.AsString(v); ok {
		return py.Lower(b, s)
	}
	return v
}

// insensitive returns the negation of the argument case_sensitive.
func insensitive(b *py.Budget, v py.Value) bool { return !py.Truth(b, v) }

// sortBy sorts values in place by keys.
func sortBy(b *py.Budget, values []py.Value, key func(py.Value) py.Value, reverse bool) []py.Value {
	b.GrowValues(len(values))
	keys := make([]py.Value, len(values))
	for i, v := range values {
		keys[i] = key(v)
	}
	py.Sort(b, values, keys, reverse)
	return values
}

func sorted(b *py.Budget, a []py.Value) py.Value {
	attributes := a[3:4]
	if s, ok := py.AsString(a[3]); ok {
		attributes = nil
		for _, part := range strings.Split(s, ",") {
			attributes = append(attributes, part)
		}
	}
	var getters []func(py.Value) py.Value
	for _, attribute := range attributes {
		getters = append(getters, getter(b, attribute, nil, insensitive(b, a[2])))
	}
	key := func(v py.Value) py.Value {
		b.GrowValues(len(getters))
		k := &py.List{}
		for _, get := range getters {
			k.Items = append(k.Items, get(v))
		}
		return k
	}
	return &py.List{Items: sortBy(b, py.Items(b, a[0]), key, py.Flag(a[1]))}
}

func dictSort(b *py.Budget, a []py.Value) py.Value {
	by, _ := py.AsString(a[2])
	pos := slices.Index([]string{"key", "value"}, by)
	py.RaiseIf(pos < 0, "FilterArgumentError", "dictsort sorts by key or by value, not by %s", py.Shown(a[2]))
	key := func(v py.Value) py.Value {
		k := v.(*py.Tuple).Items[pos]
		if insensitive(b, a[1]) {
			return lowered(b, k)
		}
		return k
	}
	pairs := py.Items(b, methods.Call(b, a[0], "items"))
	return &py.List{Items: sortBy(b, pairs, key, py.Flag(a[3]))}
}

func unique(b *py.Budget, a []py.Value) nextFunc {
	key := getter(b, a[2], nil, insensitive(b, a[1]))
	seen := py.NewDict()
	return filtered(b, a[0], func(v py.Value) (py.Value, bool) {
		k := key(v)
		_, found := seen.Get(b, k)
		seen.Set(b, k, nil)
		return v, !found
	})
}

func groupBy(b *py.Budget, a []py.Value) py.Value {
	key := getter(b, a[1], a[2], insensitive(b, a[3]))
	shown := getter(b, a[1], a[2], false)
	out := &py.List{}
	var group *py.List
	var last py.Value
	for _, v := range sortBy(b, py.Items(b, a[0]), key, false) {
		if k := key(v); group == nil || !py.Equal(b, last, k) {
			group, last = &py.List{}, k
			b.GrowValues(4)
			out.Append(b, &py.Tuple{Items: []py.Value{shown(v), group}, Names: []string{"grouper", "list"}})
		}
		group.Append(b, v)
	}
	return out
}

func joined(b *py.Budget, a []py.Value) py.Value {
	get := getter(b, a[2], nil, false)
	if !b.Autoescape {
		j := py.NewJoiner(b, py.Str(b, a[1]))
		for v := range py.Each(b, a[0]) {
			j.Add(py.Str(b, get(v)))
		}
		return j.String()
	}
	parts := &py.List{}
	_, safe := a[1].(py.Markup)
	for v := range py.Each(b, a[0]) {
		part := py.SoftStr(b, get(v))
		if _, ok := part.(py.Markup); ok {
			safe = true
		}
		parts.Append(b, part)
	}
	separator := py.SoftStr(b, a[1])
	if safe {
		separator = py.Escape(b, separator)
	}
	return methods.Call(b, separator, "join", parts)
}

func sum(b *py.Budget, a []py.Value) py.Value {
	get, items, total := getter(b, a[1], nil, false), py.Each(b, a[0]), a[2]
	switch total.(type) {
	case string, py.Markup, py.Bytes:
		py.Raise("TypeError", "the filter sum does not add text: use join")
	}
	for v := range items {
		total = operators.Binary(b, "+", total, get(v))
	}
	return total
}

func extreme(filter, op string) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		next := py.Iter(b, a[0])
		best, ok := next()
		if !ok {
			return empty(filter)
		}
		key := getter(b, a[2], nil, insensitive(b, a[1]))
		bestKey := key(best)
		for v, ok := next(); ok; v, ok = next() {
			if k := key(v); py.Less(b, op, k, bestKey) {
				best, bestKey = v, k
			}
		}
		return best
	}
}
