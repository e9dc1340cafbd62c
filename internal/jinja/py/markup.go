package py

import "strings"

// markupMethod returns the methods of Markup that differ from those of str: what they make is Markup again, and what
// they take in is escaped.
func markupMethod(m Markup, name string) (*Func, bool) {
	wrap, ok := markupWraps[name]
	if !ok {
		return nil, false
	}
	return &Func{Name: name, Self: m, Fn: func(b *Budget, args Args) Value {
		a, _ := wrap.sig.Bind(args)
		switch name {
		case "striptags":
			return StripTags(b, string(m))
		case "unescape":
			return unescapeHTML(b, string(m))
		case "escape":
			return Escape(b, a[0])
		case "join":
			items := Items(b, a[0])
			for i := range items {
				items[i] = Escape(b, items[i])
			}
			a[0] = &List{Items: items}
		}
		if i := wrap.escaped; i >= 0 && a[i] != Absent {
			a[i] = string(Escape(b, a[i]))
		}
		return asMarkup(b, strMethods[name].fn(b, string(m), a))
	}}, true
}

// wrapped is a method that Markup has instead of that of str: it is written in Python, and complains as such.
type wrapped struct {
	sig     Signature
	escaped int // the argument to escape, -1 for none
}

// markupWraps are the methods whose result is Markup, and those that only Markup has.
var markupWraps = func() map[string]wrapped {
	out := map[string]wrapped{}
	for sig, escaped := range map[string]int{
		"capitalize(@self, /)": -1, "casefold(@self, /)": -1, "lower(@self, /)": -1, "upper(@self, /)": -1, "title(@self, /)": -1,
		"swapcase(@self, /)": -1, "striptags(@self, /)": -1, "unescape(@self, /)": -1, "escape(@cls, s, /)": -1,
		"strip(@self, chars=, /)": -1, "lstrip(@self, chars=, /)": -1, "rstrip(@self, chars=, /)": -1,
		"split(@self, sep=, maxsplit=)": -1, "rsplit(@self, sep=, maxsplit=)": -1, "splitlines(@self, keepends=)": -1,
		"partition(@self, sep, /)": -1, "rpartition(@self, sep, /)": -1, "zfill(@self, width, /)": -1, "expandtabs(@self, tabsize=)": -1,
		"removeprefix(@self, prefix, /)": -1, "removesuffix(@self, suffix)": -1, "translate(@self, table, /)": -1, "join(@self, iterable, /)": -1,
		"center(@self, width, fillchar=, /)": 1, "ljust(@self, width, fillchar=, /)": 1, "rjust(@self, width, fillchar=, /)": 1,
		"replace(@self, old, new, count=, /)": 1,
	} {
		name, _, _ := strings.Cut(sig, "(")
		out[name] = wrapped{ParseSignature("Markup." + sig), escaped}
	}
	return out
}()

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
