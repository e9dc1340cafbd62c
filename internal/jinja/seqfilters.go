package jinja

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

func sequenceFilters() map[string]*callable {
	return map[string]*callable{
		"first": simple("sync_do_first(@environment, seq)", func(r *render, a []py.Value) py.Value {
			if v, ok := py.Iter(r.Budget, a[0])(); ok {
				return v
			}
			return &py.Undefined{Hint: "No first item, sequence was empty."}
		}),
		"last": simple("do_last(@environment, seq)", func(r *render, a []py.Value) py.Value {
			it, ok := py.Reversed(r.Budget, a[0])
			if !ok {
				py.Raise("TypeError", "'%s' object is not reversible", py.TypeName(a[0]))
			}
			if v, ok := it.Next(); ok {
				return v
			}
			return &py.Undefined{Hint: "No last item, sequence was empty."}
		}),
		"list": simple("sync_do_list(value)", func(r *render, a []py.Value) py.Value {
			return &py.List{Items: py.Items(r.Budget, a[0])}
		}),
		"items":    simple("do_items(value)", items),
		"reverse":  simple("do_reverse(value)", reverse),
		"batch":    simple("do_batch(value, linecount, fill_with=)", batch),
		"slice":    simple("sync_do_slice(value, slices, fill_with=)", slice),
		"sort":     simple("do_sort(@environment, value, reverse=, case_sensitive=, attribute=)", sorted),
		"dictsort": simple("do_dictsort(value, case_sensitive=, by=, reverse=)", dictsort),
		"unique":   simple("sync_do_unique(@environment, value, case_sensitive=, attribute=)", unique),
		"groupby":  simple("sync_do_groupby(@environment, value, attribute, default=, case_sensitive=)", groupby),
		"join":     simple("sync_do_join(@eval_ctx, value, d=, attribute=)", joinFilter),
		"sum":      simple("sync_do_sum(@environment, iterable, attribute=, start=)", sum),
		"min": simple("do_min(@environment, value, case_sensitive=, attribute=)", func(r *render, a []py.Value) py.Value {
			return extreme(r, a, "<")
		}),
		"max": simple("do_max(@environment, value, case_sensitive=, attribute=)", func(r *render, a []py.Value) py.Value {
			return extreme(r, a, ">")
		}),
		"map":        {sig: py.ParseSignature("sync_do_map(@context, value, *args, **kwargs)"), fn: mapFilter},
		"select":     selectFilter("sync_do_select", false, false),
		"reject":     selectFilter("sync_do_reject", true, false),
		"selectattr": selectFilter("sync_do_selectattr", false, true),
		"rejectattr": selectFilter("sync_do_rejectattr", true, true),
	}
}

// lazy is a generator whose first step is made by start: errors in it come when it is walked, not when it is made.
func lazy(name string, start func() func() (py.Value, bool)) *py.Iterator {
	var next func() (py.Value, bool)
	done := false
	return py.Generator(name, func() (py.Value, bool) {
		if done {
			return nil, false
		}
		if next == nil {
			next = start()
		}
		v, ok := next()
		done = !ok
		return v, ok
	})
}

func nothing() (py.Value, bool) { return nil, false }

func items(r *render, a []py.Value) py.Value {
	return lazy("do_items", func() func() (py.Value, bool) {
		if _, undef := a[0].(*py.Undefined); undef {
			return nothing
		}
		if _, ok := a[0].(*py.Dict); !ok {
			py.Raise("TypeError", "Can only get item pairs from a mapping.")
		}
		return py.Iter(r.Budget, callMethod(r, a[0], "items"))
	})
}

func reverse(r *render, a []py.Value) py.Value {
	if _, ok := py.AsString(a[0]); ok {
		return py.Slice(r.Budget, a[0], nil, nil, int64(-1))
	}
	if it, ok := py.Reversed(r.Budget, a[0]); ok {
		return it
	}
	if _, ok := py.TryIter(r.Budget, a[0]); !ok {
		py.Raise("FilterArgumentError", "argument must be iterable")
	}
	var l []py.Value
	if err := py.Try(func() { l = py.Items(r.Budget, a[0]) }); err != nil {
		if err.Kind == "TypeError" { // also one of what is iterated lazily
			py.Raise("FilterArgumentError", "argument must be iterable")
		}
		panic(err)
	}
	for i, j := 0, len(l)-1; i < j; i, j = i+1, j-1 {
		l[i], l[j] = l[j], l[i]
	}
	return &py.List{Items: l}
}

func batch(r *render, a []py.Value) py.Value {
	fill := or(a[2], nil)
	return lazy("do_batch", func() func() (py.Value, bool) {
		next := py.Iter(r.Budget, a[0])
		var tmp []py.Value
		done := false
		return func() (py.Value, bool) {
			for !done {
				v, ok := next()
				if !ok {
					done = true
					break
				}
				full := py.Equal(r.Budget, int64(len(tmp)), a[1])
				out := tmp
				if full {
					tmp = nil
				}
				r.Grow(48)
				tmp = append(tmp, v)
				if full {
					return &py.List{Items: out}, true
				}
			}
			if len(tmp) == 0 {
				return nil, false
			}
			if fill != nil && py.Less(r.Budget, "<", int64(len(tmp)), a[1]) {
				missing := py.Sub(r.Budget, a[1], int64(len(tmp)))
				tmp = append(tmp, py.Items(r.Budget, py.Mul(r.Budget, &py.List{Items: []py.Value{fill}}, missing))...)
			}
			out := tmp
			tmp = nil
			return &py.List{Items: out}, true
		}
	})
}

func slice(r *render, a []py.Value) py.Value {
	fill := or(a[2], nil)
	return lazy("sync_do_slice", func() func() (py.Value, bool) {
		seq := py.Items(r.Budget, a[0])
		length := int64(len(seq))
		per, extra := py.FloorDiv(r.Budget, length, a[1]), py.Mod(r.Budget, length, a[1])
		slices := toInt(a[1])
		perSlice, withExtra := toInt(per), toInt(extra)
		n, offset := int64(0), int64(0)
		return func() (py.Value, bool) {
			if n >= slices {
				return nil, false
			}
			start := offset + n*perSlice
			if n < withExtra {
				offset++
			}
			end := offset + (n+1)*perSlice
			r.GrowTimes(24, end-start+1)
			out := append([]py.Value(nil), seq[start:end]...)
			if fill != nil && n >= withExtra {
				out = append(out, fill)
			}
			n++
			return &py.List{Items: out}, true
		}
	})
}

// sortBy sorts a copy of values by keys.
func sortBy(r *render, values []py.Value, key func(py.Value) py.Value, reverse bool) []py.Value {
	r.GrowTimes(24, int64(len(values)))
	keys := make([]py.Value, len(values))
	for i, v := range values {
		keys[i] = key(v)
	}
	py.Sort(r.Budget, values, keys, reverse)
	return values
}

func sorted(r *render, a []py.Value) py.Value {
	attribute := or(a[3], nil)
	fold := !py.Truth(r.Budget, or(a[2], false))
	attributes := []py.Value{attribute}
	if s, ok := py.AsString(attribute); ok {
		attributes = nil
		for _, part := range strings.Split(s, ",") {
			attributes = append(attributes, part)
		}
	}
	var getters []func(py.Value) py.Value
	for _, at := range attributes {
		getters = append(getters, getter(r, at, nil, fold))
	}
	key := func(v py.Value) py.Value {
		r.GrowTimes(24, int64(len(getters)))
		k := &py.List{}
		for _, g := range getters {
			k.Items = append(k.Items, g(v))
		}
		return k
	}
	return &py.List{Items: sortBy(r, py.Items(r.Budget, a[0]), key, backwards(a[1]))}
}

// backwards reads the flag of a sort, which must be a number.
func backwards(v py.Value) bool { return py.Flag(or(v, false)) }

func dictsort(r *render, a []py.Value) py.Value {
	pos := 0
	switch by, _ := py.AsString(or(a[2], "key")); by {
	case "key":
	case "value":
		pos = 1
	default:
		py.Raise("FilterArgumentError", `You can only sort by either "key" or "value"`)
	}
	sensitive := py.Truth(r.Budget, or(a[1], false))
	key := func(v py.Value) py.Value {
		k := v.(*py.Tuple).Items[pos]
		if !sensitive {
			k = ignoreCase(r, k)
		}
		return k
	}
	if u, ok := a[0].(*py.Undefined); ok {
		u.Raise()
	}
	pairs := py.Items(r.Budget, callMethod(r, a[0], "items"))
	return &py.List{Items: sortBy(r, pairs, key, backwards(a[3]))}
}

func unique(r *render, a []py.Value) py.Value {
	return lazy("sync_do_unique", func() func() (py.Value, bool) {
		key := getter(r, or(a[2], nil), nil, !py.Truth(r.Budget, or(a[1], false)))
		seen := py.NewDict()
		next := py.Iter(r.Budget, a[0])
		return func() (py.Value, bool) {
			for {
				v, ok := next()
				if !ok {
					return nil, false
				}
				k := key(v)
				if _, found := seen.Get(r.Budget, k); !found {
					seen.Set(r.Budget, k, nil)
					return v, true
				}
			}
		}
	})
}

func groupby(r *render, a []py.Value) py.Value {
	def := or(a[2], nil)
	fold := !py.Truth(r.Budget, or(a[3], false))
	key := getter(r, a[1], def, fold)
	values := sortBy(r, py.Items(r.Budget, a[0]), key, false)
	out := &py.List{}
	var group *py.List
	var last py.Value
	for _, v := range values {
		k := key(v)
		if group == nil || !py.Equal(r.Budget, last, k) {
			group = &py.List{}
			r.Grow(120)
			out.Items = append(out.Items, &py.Tuple{Items: []py.Value{k, group}, Names: []string{"grouper", "list"}})
			last = k
		}
		r.Grow(48)
		group.Items = append(group.Items, v)
	}
	if fold {
		shown := getter(r, a[1], def, false)
		for _, g := range out.Items {
			t := g.(*py.Tuple)
			t.Items[0] = shown(t.Items[1].(*py.List).Items[0])
		}
	}
	return out
}

func joinFilter(r *render, a []py.Value) py.Value {
	d, value := or(a[1], ""), a[0]
	if attribute := or(a[2], nil); attribute != nil {
		get, next := getter(r, attribute, nil, false), py.Iter(r.Budget, value)
		value = &py.Iterator{Kind: "map", Next: func() (py.Value, bool) {
			v, ok := next()
			if !ok {
				return nil, false
			}
			return get(v), true
		}}
	}
	if !r.autoescape {
		j := py.NewJoiner(r.Budget, py.Str(r.Budget, d))
		next := py.Iter(r.Budget, value)
		for v, ok := next(); ok; v, ok = next() {
			j.Add(py.Str(r.Budget, v))
		}
		return j.String()
	}
	parts := py.Items(r.Budget, value)
	_, safe := d.(py.Markup)
	if !safe {
		d = py.Str(r.Budget, d)
		for _, p := range parts {
			if _, ok := p.(py.Markup); ok {
				safe = true
			}
		}
	}
	for i, p := range parts {
		parts[i] = py.SoftStr(r.Budget, p)
	}
	if safe {
		d = py.Escape(r.Budget, d)
	}
	return callMethod(r, d, "join", &py.List{Items: parts})
}

func sum(r *render, a []py.Value) py.Value {
	get := func(v py.Value) py.Value { return v }
	if attribute := or(a[1], nil); attribute != nil {
		get = getter(r, attribute, nil, false)
	}
	total := or(a[2], int64(0))
	next := py.Iter(r.Budget, a[0])
	switch total.(type) {
	case string, py.Markup:
		py.Raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
	case py.Bytes:
		py.Raise("TypeError", "sum() can't sum bytes [use b''.join(seq) instead]")
	}
	for v, ok := next(); ok; v, ok = next() {
		total = py.Add(r.Budget, total, get(v))
	}
	return total
}

func extreme(r *render, a []py.Value, op string) py.Value {
	next := py.Iter(r.Budget, a[0])
	best, ok := next()
	if !ok {
		return &py.Undefined{Hint: "No aggregated item, sequence was empty."}
	}
	key := getter(r, or(a[2], nil), nil, !py.Truth(r.Budget, or(a[1], false)))
	bestKey := key(best)
	for v, ok := next(); ok; v, ok = next() {
		if k := key(v); py.Less(r.Budget, op, k, bestKey) {
			best, bestKey = v, k
		}
	}
	return best
}

func mapFilter(r *render, a []py.Value, rest py.Args) py.Value {
	return lazy("sync_do_map", func() func() (py.Value, bool) {
		if !py.Truth(r.Budget, a[0]) {
			return nothing
		}
		fn := prepareMap(r, rest)
		next := py.Iter(r.Budget, a[0])
		return func() (py.Value, bool) {
			v, ok := next()
			if !ok {
				return nil, false
			}
			return fn(v), true
		}
	})
}

func prepareMap(r *render, rest py.Args) func(py.Value) py.Value {
	var attribute, def py.Value
	hasAttribute := false
	var others []py.Keyword
	for _, kw := range rest.Kw {
		switch kw.Name {
		case "attribute":
			attribute, hasAttribute = kw.Value, true
		case "default":
			def = kw.Value
		default:
			others = append(others, kw)
		}
	}
	if len(rest.Pos) == 0 && hasAttribute {
		if others != nil {
			py.Raise("FilterArgumentError", "Unexpected keyword argument %s", py.Quote(others[0].Name))
		}
		return getter(r, attribute, def, false)
	}
	if len(rest.Pos) == 0 {
		py.Raise("FilterArgumentError", "map requires a filter argument")
	}
	name, args := rest.Pos[0], py.Args{Pos: rest.Pos[1:], Kw: rest.Kw}
	return func(v py.Value) py.Value { return applyNamed(r, "filter", r.lib.filters, name, v, args) }
}

// applyNamed calls the filter or test of a name that is known only now.
func applyNamed(r *render, kind string, table map[string]*callable, name, v py.Value, args py.Args) py.Value {
	py.NewDict().Get(r.Budget, name) // raises for what cannot be looked up
	s, _ := py.AsString(name)
	f := table[s]
	if f == nil {
		msg := "No " + kind + " named " + py.Repr(r.Budget, name) + "."
		if u, ok := name.(*py.Undefined); ok {
			msg += " (" + u.Message() + "; did you forget to quote the callable name?)"
		}
		py.Raise("TemplateRuntimeError", "%s", msg)
	}
	r.Grow(int64(24 * (1 + len(args.Pos))))
	return f.call(r, py.Args{Pos: append([]py.Value{v}, args.Pos...), Kw: args.Kw})
}

func selectFilter(name string, negate, attribute bool) *callable {
	return &callable{
		sig: py.ParseSignature(name + "(@context, value, *args, **kwargs)"),
		fn: func(r *render, a []py.Value, rest py.Args) py.Value {
			return lazy("select_or_reject", func() func() (py.Value, bool) {
				if !py.Truth(r.Budget, a[0]) {
					return nothing
				}
				keep := prepareSelect(r, rest, attribute)
				next := py.Iter(r.Budget, a[0])
				return func() (py.Value, bool) {
					for {
						v, ok := next()
						if !ok {
							return nil, false
						}
						if keep(v) != negate {
							return v, true
						}
					}
				}
			})
		},
	}
}

func prepareSelect(r *render, rest py.Args, attribute bool) func(py.Value) bool {
	get := func(v py.Value) py.Value { return v }
	pos := rest.Pos
	if attribute {
		if len(pos) == 0 {
			py.Raise("FilterArgumentError", "Missing parameter for attribute name")
		}
		get = getter(r, pos[0], nil, false)
		pos = pos[1:]
	}
	if len(pos) == 0 {
		return func(v py.Value) bool { return py.Truth(r.Budget, get(v)) }
	}
	args := py.Args{Pos: pos[1:], Kw: rest.Kw}
	return func(v py.Value) bool {
		return py.Truth(r.Budget, applyNamed(r, "test", r.lib.tests, pos[0], get(v), args))
	}
}
