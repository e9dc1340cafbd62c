package methods

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// textMethods are the methods of str; markup derives its own from them.
var textMethods = classOf(map[string]body{
	"capitalize(/)": converted(py.Capitalize),
	"casefold(/)":   converted(py.Fold),
	"lower(/)":      converted(py.Lower),
	"upper(/)":      converted(py.Upper),
	"title(/)":      converted(py.Title),
	"swapcase(/)":   converted(py.SwapCase),

	"isalnum(/)":      tested(characters(py.IsAlnum)),
	"isalpha(/)":      tested(characters(unicode.IsLetter)),
	"isdecimal(/)":    tested(characters(py.IsDecimal)),
	"isdigit(/)":      tested(characters(py.IsDigit)),
	"isnumeric(/)":    tested(characters(py.IsNumeric)),
	"isspace(/)":      tested(characters(py.IsSpace)),
	"isprintable(/)":  tested(func(s string) bool { return s == "" || py.All(s, unicode.IsPrint) }),
	"isidentifier(/)": tested(py.IsIdentifier),
	"islower(/)":      tested(py.IsLower),
	"isupper(/)":      tested(py.IsUpper),
	"istitle(/)":      tested(py.IsTitle),
	"isascii(/)":      tested(py.IsASCII),

	"center(width, fillchar= , /)": padded(true, true),
	"ljust(width, fillchar= , /)":  padded(false, true),
	"rjust(width, fillchar= , /)":  padded(true, false),
	"zfill(width, /)":              zfill,
	"strip(chars=none, /)":         stripped(true, true),
	"lstrip(chars=none, /)":        stripped(true, false),
	"rstrip(chars=none, /)":        stripped(false, true),

	"count(sub, start=none, end=none, /)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		part, _, ok := window(b, text(s), a)
		sub := py.TextArg(a[0])
		if !ok {
			return int64(0)
		}
		return int64(strings.Count(part, sub))
	},
	"find(sub, start=none, end=none, /)":          found(strings.Index, false),
	"rfind(sub, start=none, end=none, /)":         found(strings.LastIndex, false),
	"index(sub, start=none, end=none, /)":         found(strings.Index, true),
	"rindex(sub, start=none, end=none, /)":        found(strings.LastIndex, true),
	"startswith(prefix, start=none, end=none, /)": affixed(strings.HasPrefix),
	"endswith(suffix, start=none, end=none, /)":   affixed(strings.HasSuffix),

	"split(sep=none, maxsplit=-1)":  split,
	"rsplit(sep=none, maxsplit=-1)": rsplit,
	"splitlines(keepends=0)": func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		return list(b, py.SplitLines(b, text(s), py.IntArg(a[0]) != 0))
	},
	"partition(sep, /)":                  partition(strings.Index, false),
	"rpartition(sep, /)":                 partition(strings.LastIndex, true),
	"join(iterable, /)":                  join,
	"replace(old, new, count=-1, /)":     replace,
	"removeprefix(prefix, /)":            trimmed(strings.TrimPrefix),
	"removesuffix(suffix)":               trimmed(strings.TrimSuffix),
	"expandtabs(tabsize=8)":              expandTabs,
	"encode(encoding=utf-8, errors='x')": encode,
	"translate(table, /)":                translate,
	"maketrans(x, y=none, z='', /)":      makeTable,
})

func text(v py.Value) string { s, _ := py.AsString(v); return s }

func converted(f func(*py.Budget, string) string) body {
	return func(b *py.Budget, s py.Value, _ []py.Value) py.Value { return f(b, text(s)) }
}

func characters(f func(rune) bool) func(string) bool {
	return func(s string) bool { return py.All(s, f) }
}

func tested(f func(string) bool) body {
	return func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		b.Scan(len(text(s)))
		return f(text(s))
	}
}

func padded(left, right bool) body {
	return func(b *py.Budget, s py.Value, a []py.Value) py.Value {
		width, fill := py.IntArg(a[0]), py.TextArg(a[1])
		if py.RuneCount(fill) != 1 {
			py.Raise("TypeError", "the text to fill with must be one character, not %s", py.Shown(fill))
		}
		return py.Pad(b, text(s), width, fill, left, right)
	}
}

func zfill(b *py.Budget, v py.Value, a []py.Value) py.Value {
	s := text(v)
	padded := py.Pad(b, s, py.IntArg(a[0]), "0", true, false)
	if n := len(padded) - len(s); n > 0 && s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + padded[:n] + s[1:]
	}
	return padded
}

func stripped(left, right bool) body {
	return func(b *py.Budget, s py.Value, a []py.Value) py.Value { return py.Strip(b, text(s), a[0], left, right) }
}

func trimmed(trim func(s, affix string) string) body {
	return func(_ *py.Budget, s py.Value, a []py.Value) py.Value { return trim(text(s), py.TextArg(a[0])) }
}

// window cuts s to the optional start and end in a[1] and a[2]. off is the number of characters before it; ok is false when
// start is after the end of s.
func window(b *py.Budget, s string, a []py.Value) (sub string, off int, ok bool) {
	b.Scan(len(s))
	if a[1] == nil && a[2] == nil {
		return s, 0, true
	}
	n := py.RuneCount(s)
	lo, hi := 0, n
	if a[2] != nil {
		hi = position(a[2], n)
	}
	if a[1] != nil {
		if py.IntArg(a[1]) > int64(n) {
			return "", 0, false
		}
		lo = position(a[1], n)
	}
	if lo > hi {
		return "", 0, false
	}
	return s[py.ByteOffset(s, lo):py.ByteOffset(s, hi)], lo, true
}

func found(find func(s, sub string) int, must bool) body {
	return func(b *py.Budget, v py.Value, a []py.Value) py.Value {
		s, off, ok := window(b, text(v), a)
		sub := py.TextArg(a[0])
		if i := find(s, sub); ok && i >= 0 {
			return int64(off + py.RuneCount(s[:i]))
		}
		if must {
			py.Raise("ValueError", "the text does not contain %s", py.Shown(sub))
		}
		return int64(-1)
	}
}

func affixed(has func(s, affix string) bool) body {
	return func(b *py.Budget, v py.Value, a []py.Value) py.Value {
		s, _, ok := window(b, text(v), a)
		affixes := a[:1]
		if t, isTuple := a[0].(*py.Tuple); isTuple {
			affixes = t.Items
		}
		for _, it := range affixes {
			b.Step(1)
			if affix := py.TextArg(it); ok && has(s, affix) {
				return true
			}
		}
		return false
	}
}

func separator(v py.Value) string {
	sep := py.TextArg(v)
	if sep == "" {
		py.Raise("ValueError", "the separator is empty")
	}
	return sep
}

func split(b *py.Budget, v py.Value, a []py.Value) py.Value {
	s, limit := text(v), py.IntArg(a[1])
	if a[0] == nil {
		return list(b, py.Fields(b, s, limit))
	}
	sep := separator(a[0])
	b.Scan(len(s))
	n := strings.Count(s, sep) + 1
	if limit >= 0 && limit < int64(n)-1 {
		n = int(limit) + 1
	}
	b.GrowValues(2 * n)
	return list(b, strings.SplitN(s, sep, n))
}

func rsplit(b *py.Budget, v py.Value, a []py.Value) py.Value {
	s, limit := text(v), py.IntArg(a[1])
	if a[0] == nil {
		return list(b, py.FieldsRight(b, s, limit))
	}
	sep := separator(a[0])
	b.Scan(len(s))
	var out []string
	for i := strings.LastIndex(s, sep); i >= 0 && limit != 0; i = strings.LastIndex(s, sep) {
		b.GrowValues(2)
		out = append(out, s[i+len(sep):])
		s = s[:i]
		limit--
	}
	out = append(out, s)
	slices.Reverse(out)
	return list(b, out)
}

func list(b *py.Budget, parts []string) *py.List {
	b.GrowValues(2 * len(parts))
	items := make([]py.Value, len(parts))
	for i, p := range parts {
		items[i] = p
	}
	return &py.List{Items: items}
}

func partition(find func(s, sub string) int, last bool) body {
	return func(b *py.Budget, v py.Value, a []py.Value) py.Value {
		s, sep := text(v), separator(a[0])
		b.Scan(len(s))
		parts := []py.Value{s, "", ""}
		if i := find(s, sep); i >= 0 {
			parts = []py.Value{s[:i], sep, s[i+len(sep):]}
		} else if last {
			parts = []py.Value{"", "", s}
		}
		return &py.Tuple{Items: parts}
	}
}

func join(b *py.Budget, v py.Value, a []py.Value) py.Value {
	j := py.NewJoiner(b, text(v))
	next := py.Iter(b, a[0])
	for it, ok := next(); ok; it, ok = next() {
		j.Add(py.TextArg(it))
	}
	return j.String()
}

func replace(b *py.Budget, v py.Value, a []py.Value) py.Value {
	return py.Replace(b, text(v), py.TextArg(a[0]), py.TextArg(a[1]), py.IntArg(a[2]))
}

func expandTabs(b *py.Budget, v py.Value, a []py.Value) py.Value {
	size, col := py.IntArg(a[0]), int64(0)
	var sb strings.Builder
	for _, r := range text(v) {
		if r == '\t' {
			if size > 0 {
				n := size - col%size
				b.Grow(n)
				sb.WriteString(strings.Repeat(" ", int(n)))
				col += n
			}
			continue
		}
		b.Grow(4)
		sb.WriteRune(r)
		if col++; r == '\n' || r == '\r' {
			col = 0
		}
	}
	return sb.String()
}

// encode supports UTF-8 only.
func encode(b *py.Budget, v py.Value, a []py.Value) py.Value {
	name := strings.Trim(strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(py.TextArg(a[0]))), "-")
	py.TextArg(a[1])
	if !slices.Contains([]string{"utf-8", "utf8", "utf", "u8"}, name) {
		py.Raise("LookupError", "the encoding %s is not known, only utf-8", py.Shown(name))
	}
	b.Grow(int64(len(text(v))))
	return py.Bytes(text(v))
}

var bytesMethods = classOf(map[string]body{
	"decode(encoding=utf-8, errors='x')": func(b *py.Budget, s py.Value, _ []py.Value) py.Value {
		b.GrowTimes(3, int64(len(s.(py.Bytes))))
		return strings.ToValidUTF8(string(s.(py.Bytes)), "\ufffd")
	},
})

func translate(b *py.Budget, v py.Value, a []py.Value) py.Value {
	var sb strings.Builder
	for _, r := range text(v) {
		b.Grow(4)
		to, err := py.Item(b, a[0], int64(r))
		switch t := to.(type) {
		case nil:
			if err != nil && err.Kind == "TypeError" {
				panic(err)
			}
			if err != nil { // it is not in the table; None removes it
				sb.WriteRune(r)
			}
		case int64:
			if t < 0 || t > unicode.MaxRune {
				py.Raise("ValueError", "%d is not a character", t)
			}
			sb.WriteRune(rune(t))
		default:
			b.Grow(int64(len(py.TextArg(to))))
			sb.WriteString(py.TextArg(to))
		}
	}
	return sb.String()
}

func makeTable(b *py.Budget, _ py.Value, a []py.Value) py.Value {
	out := py.NewDict()
	if a[1] == nil {
		d, ok := a[0].(*py.Dict)
		if !ok {
			py.Raise("TypeError", "a table of characters is made from a dictionary or from two texts, not from %s", py.TypeName(a[0]))
		}
		d.Each(func(k, v py.Value) bool {
			if s, ok := py.AsString(k); ok {
				r, n := utf8.DecodeRuneInString(s)
				if n == 0 || n != len(s) {
					py.Raise("ValueError", "%s is not one character", py.Shown(s))
				}
				k = int64(r)
			}
			out.Set(b, k, v)
			return true
		})
		return out
	}
	from, to := py.Runes(b, py.TextArg(a[0])), py.Runes(b, py.TextArg(a[1]))
	if len(from) != len(to) {
		py.Raise("ValueError", "both texts must have the same number of characters, not %d and %d", len(from), len(to))
	}
	for i, r := range from {
		out.Set(b, int64(r), int64(to[i]))
	}
	for _, r := range py.TextArg(a[2]) {
		out.Set(b, int64(r), nil)
	}
	return out
}

// markup returns a method of Markup. It escapes the texts in the arguments, and its results are Markup.
func markup(name string, m py.Markup) (py.Value, bool) {
	if own, ok := markupMethods.bind(name, m); ok {
		return own, true
	}
	plain, ok := textMethods[name]
	if !ok {
		return nil, false
	}
	return &py.Func{Name: name, Self: m, Fn: func(b *py.Budget, args py.Args) py.Value {
		a, _ := plain.sig.Bind(args)
		switch name {
		case "join":
			items := py.Items(b, a[0])
			for i := range items {
				items[i] = py.Escape(b, items[i])
			}
			a[0] = &py.List{Items: items}
		case "center", "ljust", "rjust", "replace":
			a[1] = string(py.Escape(b, a[1]))
		}
		return asMarkup(plain.fn(b, string(m), a))
	}}, true
}

// markupMethods are the methods that only Markup has.
var markupMethods = classOf(map[string]body{
	"striptags(/)": func(b *py.Budget, s py.Value, _ []py.Value) py.Value { return py.StripTags(b, text(s)) },
	"unescape(/)":  func(b *py.Budget, s py.Value, _ []py.Value) py.Value { return py.UnescapeHTML(b, text(s)) },
	"escape(s, /)": func(b *py.Budget, _ py.Value, a []py.Value) py.Value { return py.Escape(b, a[0]) },
})

func asMarkup(v py.Value) py.Value {
	items := []py.Value(nil)
	switch x := v.(type) {
	case string:
		return py.Markup(x)
	case *py.List:
		items = x.Items
	case *py.Tuple:
		items = x.Items
	}
	for i, it := range items {
		items[i] = asMarkup(it)
	}
	return v
}
