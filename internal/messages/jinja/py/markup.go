package py

// markupMethod returns the methods of Markup that differ from those of str: what they make is Markup again, and what
// they take in is escaped.
func markupMethod(m Markup, name string) (*Func, bool) {
	switch name {
	case "striptags":
		return &Func{Name: name, Self: m, Fn: func(b *Budget, _ Args) Value { return StripTags(b, string(m)) }}, true
	case "unescape":
		return &Func{Name: name, Self: m, Fn: func(b *Budget, _ Args) Value { return unescapeHTML(b, string(m)) }}, true
	case "escape":
		return &Func{Name: name, Self: m, Fn: func(b *Budget, a Args) Value {
			if len(a.Pos) != 1 || len(a.Kw) > 0 {
				Raise("TypeError", "Markup.escape() takes 2 positional arguments but %d were given", len(a.Pos)+1)
			}
			return Escape(b, a.Pos[0])
		}}, true
	}
	base, ok := strMethods[name]
	if !ok {
		return nil, false
	}
	wrap, ok := markupWraps[name]
	if !ok {
		return nil, false
	}
	return &Func{Name: name, Self: m, Fn: func(b *Budget, args Args) Value {
		a := base.arguments("str", name, args)
		if wrap >= 0 && wrap < len(a) && a[wrap] != Absent {
			a[wrap] = string(Escape(b, a[wrap]))
		}
		if name == "join" {
			items := Items(b, a[0])
			for i := range items {
				items[i] = Escape(b, items[i])
			}
			a[0] = &List{Items: items}
		}
		return asMarkup(b, base.fn(b, string(m), a))
	}}, true
}

// markupWraps names the methods whose result is Markup; the number is the argument to escape, -1 for none.
var markupWraps = map[string]int{
	"capitalize": -1, "casefold": -1, "lower": -1, "upper": -1, "title": -1, "swapcase": -1,
	"strip": -1, "lstrip": -1, "rstrip": -1, "split": -1, "rsplit": -1, "splitlines": -1, "partition": -1, "rpartition": -1,
	"zfill": -1, "expandtabs": -1, "removeprefix": -1, "removesuffix": -1, "translate": -1, "join": -1,
	"center": 1, "ljust": 1, "rjust": 1, "replace": 1,
}

func asMarkup(b *Budget, v Value) Value {
	switch x := v.(type) {
	case string:
		return Markup(x)
	case *List:
		for i, it := range x.Items {
			x.Items[i] = asMarkup(b, it)
		}
	case *Tuple:
		for i, it := range x.Items {
			x.Items[i] = asMarkup(b, it)
		}
	}
	return v
}
