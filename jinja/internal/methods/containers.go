package methods

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

var listMethods = py.NewFuncs(map[string]py.Body{
	"append(self, object, /)": func(b *py.Budget, a []py.Value) py.Value { a[0].(*py.List).Append(b, a[1]); return nil },
	"clear(self, /)":          func(b *py.Budget, a []py.Value) py.Value { a[0].(*py.List).Items = nil; return nil },
	"copy(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		return &py.List{Items: py.Items(b, a[0])}
	},
	"count(self, value, /)": count,
	"extend(self, iterable, /)": func(b *py.Budget, a []py.Value) py.Value {
		l := a[0].(*py.List)
		l.Items = append(l.Items, py.Items(b, a[1])...)
		return nil
	},
	"index(self, value, start=0, stop=9223372036854775807, /)": index,
	"insert(self, index, object, /)": func(b *py.Budget, a []py.Value) py.Value {
		l := a[0].(*py.List)
		i := position(a[1], len(l.Items))
		b.GrowValues(len(l.Items) + 1)
		l.Items = slices.Insert(l.Items, i, a[2])
		return nil
	},
	"pop(self, index=-1, /)": func(b *py.Budget, a []py.Value) py.Value {
		v := py.Subscript(b, a[0], py.IntArg(a[1]))
		remove(b, a[0].(*py.List), int(py.IntArg(a[1])))
		return v
	},
	"remove(self, value, /)": func(b *py.Budget, a []py.Value) py.Value {
		remove(b, a[0].(*py.List), int(index(b, append(a, int64(0), int64(math.MaxInt64))).(int64)))
		return nil
	},
	"reverse(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		b.Scan(len(a[0].(*py.List).Items))
		slices.Reverse(a[0].(*py.List).Items)
		return nil
	},
	"sort(self, *, key=none, reverse=0)": sortList,
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

func count(b *py.Budget, a []py.Value) py.Value {
	_, n := py.Find(b, py.Items(b, a[0]), a[1])
	return n
}

func index(b *py.Budget, a []py.Value) py.Value {
	items := py.Items(b, a[0])
	from, to := position(a[2], len(items)), position(a[3], len(items))
	i, _ := py.Find(b, items[from:max(from, to)], a[1])
	py.RaiseIf(i < 0, "ValueError", "%s is not in the %s", py.Shown(a[1]), py.TypeName(a[0]))
	return int64(from + i)
}

func sortList(b *py.Budget, a []py.Value) py.Value {
	l := a[0].(*py.List)
	keys := py.Items(b, l)
	if a[1] != nil {
		for i, it := range keys {
			keys[i] = py.Call(b, a[1], py.Args{Pos: []py.Value{it}})
		}
	}
	py.Sort(b, l.Items, keys, py.Flag(a[2]))
	return nil
}

var rangeMethods = py.NewFuncs(map[string]py.Body{
	"count(self, value, /)": count,
	"index(self, value, /)": func(b *py.Budget, a []py.Value) py.Value {
		return index(b, append(a, int64(0), int64(math.MaxInt64)))
	},
})

var tupleMethods = py.NewFuncs(map[string]py.Body{
	"count(self, value, /)": count,
	"index(self, value, start=0, stop=9223372036854775807, /)": index,
})

var dictMethods = py.NewFuncs(map[string]py.Body{
	"clear(self, /)": func(b *py.Budget, a []py.Value) py.Value { *a[0].(*py.Dict) = py.Dict{}; return nil },
	"copy(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		d := py.NewDict()
		d.Update(b, a[0].(*py.Dict))
		return d
	},
	"fromkeys(self, iterable, value=none, /)": func(b *py.Budget, a []py.Value) py.Value {
		return FromKeys.Fn(b, py.Args{Pos: a[1:]})
	},
	"update(self, /, ...)": func(b *py.Budget, a []py.Value) py.Value {
		Update(b, a[0].(*py.Dict), a[1].(py.Args))
		return nil
	},
	"get(self, key, default=none, /)": func(b *py.Budget, a []py.Value) py.Value {
		if v, ok := a[0].(*py.Dict).Get(b, a[1]); ok {
			return v
		}
		return a[2]
	},
	"keys(self, /)":   func(b *py.Budget, a []py.Value) py.Value { return a[0].(*py.Dict).View("keys") },
	"values(self, /)": func(b *py.Budget, a []py.Value) py.Value { return a[0].(*py.Dict).View("values") },
	"items(self, /)":  func(b *py.Budget, a []py.Value) py.Value { return a[0].(*py.Dict).View("items") },
	"pop(self, key, default=, /)": func(b *py.Budget, a []py.Value) py.Value {
		v, ok := a[0].(*py.Dict).Delete(b, a[1])
		switch {
		case ok:
			return v
		case a[2] == py.Absent:
			py.Raise("KeyError", "the dictionary has no key %s", py.Shown(a[1]))
		}
		return a[2]
	},
	"popitem(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		k, v, ok := a[0].(*py.Dict).PopLast(b)
		py.RaiseIf(!ok, "KeyError", "the dictionary is empty")
		b.GrowValues(2)
		return &py.Tuple{Items: []py.Value{k, v}}
	},
	"setdefault(self, key, default=none, /)": func(b *py.Budget, a []py.Value) py.Value {
		d := a[0].(*py.Dict)
		v, ok := d.Get(b, a[1])
		if !ok {
			v = a[2]
			d.Set(b, a[1], v)
		}
		return v
	},
})

// FromKeys is dict.fromkeys.
var FromKeys = py.NewFunc("fromkeys(iterable, value=none, /)", func(b *py.Budget, a []py.Value) py.Value {
	d := py.NewDict()
	for k := range py.Each(b, a[0]) {
		d.Set(b, k, a[1])
	}
	return d
})

// Update is dict.update and the body of dict(): entries of a mapping or pairs, then keywords.
func Update(b *py.Budget, d *py.Dict, args py.Args) {
	py.RaiseIf(len(args.Pos) > 1, "TypeError", "a dictionary is made from at most 1 argument, not %d", len(args.Pos))
	if len(args.Pos) == 1 {
		py.RaiseUndefined(args.Pos[0])
		if src, ok := args.Pos[0].(*py.Dict); ok {
			d.Update(b, src)
		} else {
			for pair := range py.Each(b, args.Pos[0]) {
				kv := py.Unpack(b, pair, 2)
				d.Set(b, kv[0], kv[1])
			}
		}
	}
	for _, kw := range args.Kw {
		d.Set(b, kw.Name, kw.Value)
	}
}

var viewMethods = py.NewFuncs(map[string]py.Body{
	"isdisjoint(self, other, /)": func(b *py.Budget, a []py.Value) py.Value {
		for v := range py.Each(b, a[1]) {
			if py.Contains(b, a[0], v) {
				return false
			}
		}
		return true
	},
})

// numberAttr finds the attributes of integers and floats.
func numberAttr(b *py.Budget, v py.Value, name string) (py.Value, bool) {
	f, isFloat := v.(float64)
	switch {
	case name == "real", name == "numerator" && !isFloat:
		return operators.Unary(b, "+", v), true
	case name == "imag" && isFloat:
		return 0.0, true
	case name == "imag":
		return int64(0), true
	case name == "denominator" && !isFloat:
		return int64(1), true
	case isFloat:
		return bind(floatMethods, name, f)
	}
	return bind(intMethods, name, v)
}

func itself(b *py.Budget, a []py.Value) py.Value { return operators.Unary(b, "+", a[0]) }

func ratio(b *py.Budget, a []py.Value) py.Value {
	f, ok := a[0].(float64)
	if !ok {
		return &py.Tuple{Items: []py.Value{operators.Unary(b, "+", a[0]), int64(1)}}
	}
	py.Truncate(f) // raises if f is not finite
	r := new(big.Rat).SetFloat64(f)
	return &py.Tuple{Items: []py.Value{py.FromBig(r.Num()), py.FromBig(r.Denom())}}
}

var intMethods = py.NewFuncs(map[string]py.Body{
	"bit_length(self, /)": func(b *py.Budget, a []py.Value) py.Value { i, _ := py.BigInt(a[0]); return int64(i.BitLen()) },
	"bit_count(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		i, _ := py.BigInt(a[0])
		return int64(strings.Count(i.Text(2), "1"))
	},
	"conjugate(self, /)":        itself,
	"as_integer_ratio(self, /)": ratio,
})

var floatMethods = py.NewFuncs(map[string]py.Body{
	"is_integer(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		f := a[0].(float64)
		return !math.IsInf(f, 0) && f == math.Trunc(f)
	},
	"conjugate(self, /)":        itself,
	"as_integer_ratio(self, /)": ratio,
	"hex(self, /)": func(b *py.Budget, a []py.Value) py.Value {
		hex := strconv.FormatFloat(a[0].(float64), 'x', 13, 64)
		return strings.Replace(strings.Replace(hex, "p+0", "p+", 1), "p-0", "p-", 1)
	},
})
