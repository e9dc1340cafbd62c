package methods

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/operators"
	"github.com/iris-oncall/iris/internal/jinja/py"
)

var listMethods = classOf(map[string]body{
	"append(object, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value { s.(*py.List).Append(b, a[0]); return nil },
	"clear(/)":          func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { s.(*py.List).Items = nil; return nil },
	"copy(/)": func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		return &py.List{Items: py.Items(b, s)}
	},
	"count(value, /)": count,
	"extend(iterable, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		l := s.(*py.List)
		l.Items = append(l.Items, py.Items(b, a[0])...)
		return nil
	},
	"index(value, start=0, stop=9223372036854775807, /)": index,
	"insert(index, object, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		l := s.(*py.List)
		i := position(a[0], len(l.Items))
		b.GrowValues(len(l.Items) + 1)
		l.Items = slices.Insert(l.Items, i, a[1])
		return nil
	},
	"pop(index=-1, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		v := py.Subscript(b, s, py.IntArg(a[0]))
		remove(b, s.(*py.List), int(py.IntArg(a[0])))
		return v
	},
	"remove(value, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		remove(b, s.(*py.List), int(index(b, s, append(a, int64(0), int64(math.MaxInt64))).(int64)))
		return nil
	},
	"reverse(/)": func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		b.Scan(len(s.(*py.List).Items))
		slices.Reverse(s.(*py.List).Items)
		return nil
	},
	"sort(*, key=none, reverse=0)": sortList,
})

func remove(b *py.Budget, l *py.List, i int) {
	if i < 0 {
		i += len(l.Items)
	}
	b.Scan(len(l.Items))
	l.Items = slices.Delete(l.Items, i, i+1)
}

// position returns an index from 0 to n. A negative v counts from the end.
func position(v py.Value, n int) int {
	i := py.IntArg(v)
	if i < 0 {
		i += int64(n)
	}
	return int(max(0, min(i, int64(n))))
}

func count(b *py.Budget, s py.Value, a []py.Value) py.Value {
	_, n := py.Find(b, py.Items(b, s), a[0])
	return n
}

func index(b *py.Budget, s py.Value, a []py.Value) py.Value {
	items := py.Items(b, s)
	from, to := position(a[1], len(items)), position(a[2], len(items))
	i, _ := py.Find(b, items[from:max(from, to)], a[0])
	if i < 0 {
		py.Raise("ValueError", "%s is not in the %s", py.Shown(a[0]), py.TypeName(s))
	}
	return int64(from + i)
}

func sortList(b *py.Budget, s py.Value, a []py.Value) py.Value {
	l := s.(*py.List)
	keys := py.Items(b, l)
	if a[0] != nil {
		for i, it := range keys {
			keys[i] = py.Call(b, a[0], py.Args{Pos: []py.Value{it}})
		}
	}
	py.Sort(b, l.Items, keys, py.Flag(a[1]))
	return nil
}

var rangeMethods = classOf(map[string]body{
	"count(value, /)": count,
	"index(value, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		return index(b, s, append(a, int64(0), int64(math.MaxInt64)))
	},
})

var tupleMethods = classOf(map[string]body{
	"count(value, /)": count,
	"index(value, start=0, stop=9223372036854775807, /)": index,
})

var dictMethods = classOf(map[string]body{
	"clear(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { *s.(*py.Dict) = py.Dict{}; return nil },
	"copy(/)": func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		d := py.NewDict()
		d.Update(b, s.(*py.Dict))
		return d
	},
	"fromkeys(iterable, value=none, /)": FromKeys,
	"get(key, default=none, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		if v, ok := s.(*py.Dict).Get(b, a[0]); ok {
			return v
		}
		return a[1]
	},
	"keys(/)":   func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { return s.(*py.Dict).View("keys") },
	"values(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { return s.(*py.Dict).View("values") },
	"items(/)":  func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { return s.(*py.Dict).View("items") },
	"pop(key, default=, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		v, ok := s.(*py.Dict).Delete(b, a[0])
		switch {
		case ok:
			return v
		case a[1] == py.Absent:
			py.Raise("KeyError", "the dictionary has no key %s", py.Shown(a[0]))
		}
		return a[1]
	},
	"popitem(/)": func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		k, v, ok := s.(*py.Dict).PopLast(b)
		if !ok {
			py.Raise("KeyError", "the dictionary is empty")
		}
		b.GrowValues(2)
		return &py.Tuple{Items: []py.Value{k, v}}
	},
	"setdefault(key, default=none, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		d := s.(*py.Dict)
		v, ok := d.Get(b, a[0])
		if !ok {
			v = a[1]
			d.Set(b, a[0], v)
		}
		return v
	},
})

// FromKeys is dict.fromkeys.
func FromKeys(b *py.Budget, _ py.Value, a []py.Value) py.Value {
	d := py.NewDict()
	next := py.Iter(b, a[0])
	for k, ok := next(); ok; k, ok = next() {
		d.Set(b, k, a[1])
	}
	return d
}

// Update is dict.update and the body of dict(): entries of a mapping or pairs, then keywords.
func Update(b *py.Budget, d *py.Dict, args py.Args) {
	if len(args.Pos) > 1 {
		py.Raise("TypeError", "a dictionary is made from at most 1 argument, not %d", len(args.Pos))
	}
	if len(args.Pos) == 1 {
		py.RaiseUndefined(args.Pos[0])
		if src, ok := args.Pos[0].(*py.Dict); ok {
			d.Update(b, src)
		} else {
			next := py.Iter(b, args.Pos[0])
			for pair, ok := next(); ok; pair, ok = next() {
				kv := py.Unpack(b, pair, 2)
				d.Set(b, kv[0], kv[1])
			}
		}
	}
	for _, kw := range args.Kw {
		d.Set(b, kw.Name, kw.Value)
	}
}

var viewMethods = classOf(map[string]body{
	"isdisjoint(other, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		next := py.Iter(b, a[0])
		for v, ok := next(); ok; v, ok = next() {
			if py.Contains(b, s, v) {
				return false
			}
		}
		return true
	},
})

// numberAttr finds the attributes of integers and floats.
func numberAttr(v py.Value, name string) (py.Value, bool) {
	f, isFloat := v.(float64)
	switch {
	case name == "real":
		return operators.Pos(v), true
	case name == "imag" && isFloat:
		return 0.0, true
	case name == "imag":
		return int64(0), true
	case isFloat:
		return floatMethods.bind(name, f)
	case name == "numerator":
		return operators.Pos(v), true
	case name == "denominator":
		return int64(1), true
	}
	return intMethods.bind(name, v)
}

func itself(_ *py.Budget, s py.Value, _ []py.Value) py.Value { return operators.Pos(s) }

func ratio(_ *py.Budget, s py.Value, _ []py.Value) py.Value {
	f, ok := s.(float64)
	if !ok {
		return &py.Tuple{Items: []py.Value{operators.Pos(s), int64(1)}}
	}
	py.Truncate(f) // raises if f is not finite
	r := new(big.Rat).SetFloat64(f)
	return &py.Tuple{Items: []py.Value{py.FromBig(r.Num()), py.FromBig(r.Denom())}}
}

var intMethods = classOf(map[string]body{
	"bit_length(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value { i, _ := py.BigInt(s); return int64(i.BitLen()) },
	"bit_count(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value {
		i, _ := py.BigInt(s)
		return int64(strings.Count(i.Text(2), "1"))
	},
	"conjugate(/)":        itself,
	"as_integer_ratio(/)": ratio,
})

var floatMethods = classOf(map[string]body{
	"is_integer(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value {
		f := s.(float64)
		return !math.IsInf(f, 0) && f == math.Trunc(f)
	},
	"conjugate(/)":        itself,
	"as_integer_ratio(/)": ratio,
	"hex(/)": func(_ *py.Budget, s py.Value, _ []py.Value) py.Value {
		hex := strconv.FormatFloat(s.(float64), 'x', 13, 64)
		return strings.Replace(strings.Replace(hex, "p+0", "p+", 1), "p-0", "p-", 1)
	},
})
