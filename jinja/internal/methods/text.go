package methods

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

var (
	textMethods   = py.NewFuncs(textBodies)
	markupMethods = newMarkupMethods()
)

// textBodies are the methods of str.
var textBodies = map[string]py.Body{
	"capitalize(self, /)": converted(py.Capitalize),
	"casefold(self, /)":   converted(py.Fold),
	"lower(self, /)":      converted(py.Lower),
	"upper(self, /)":      converted(py.Upper),
	"title(self, /)":      converted(py.Title),
	"swapcase(self, /)":   converted(py.SwapCase),

	"isalnum(self, /)":      tested(characters(py.IsAlnum)),
	"isalpha(self, /)":      tested(characters(unicode.IsLetter)),
	"isdecimal(self, /)":    tested(characters(py.IsDecimal)),
	"isdigit(self, /)":      tested(characters(py.IsDigit)),
	"isnumeric(self, /)":    tested(characters(py.IsNumeric)),
	"isspace(self, /)":      tested(characters(py.IsSpace)),
	"isprintable(self, /)":  tested(func(s string) bool { return s == "" || py.All(s, unicode.IsPrint) }),
	"isidentifier(self, /)": tested(py.IsIdentifier),
	"islower(self, /)":      tested(py.IsLower),
	"isupper(self, /)":      tested(py.IsUpper),
	"istitle(self, /)":      tested(py.IsTitle),
	"isascii(self, /)":      tested(py.IsASCII),

	"center(self, width, fillchar= , /)": padded(true, true),
	"ljust(self, width, fillchar= , /)":  padded(false, true),
	"rjust(self, width, fillchar= , /)":  padded(true, false),
	"zfill(self, width, /)":              zfill,
	"strip(self, chars=none, /)":         stripped(true, true),
	"lstrip(self, chars=none, /)":        stripped(true, false),
	"rstrip(self, chars=none, /)":        stripped(false, true),

	"count(self, sub, start=none, end=none, /)": func(b *py.Budget, a []py.Value) py.Value {
		part, _, ok := window(b, text(a[0]), a)
		sub := py.TextArg(a[1])
		if !ok {
			return int64(0)
		}
		return int64(strings.Count(part, sub))
	},
	"find(self, sub, start=none, end=none, /)":          found(strings.Index, false),
	"rfind(self, sub, start=none, end=none, /)":         found(strings.LastIndex, false),
	"index(self, sub, start=none, end=none, /)":         found(strings.Index, true),
	"rindex(self, sub, start=none, end=none, /)":        found(strings.LastIndex, true),
	"startswith(self, prefix, start=none, end=none, /)": affixed(strings.HasPrefix),
	"endswith(self, suffix, start=none, end=none, /)":   affixed(strings.HasSuffix),

	"split(self, sep=none, maxsplit=-1)":  split,
	"rsplit(self, sep=none, maxsplit=-1)": rsplit,
	"splitlines(self, keepends=0)": func(b *py.Budget, a []py.Value) py.Value {
		return list(b, py.SplitLines(b, text(a[0]), py.IntArg(a[1]) != 0))
	},
	"partition(self, sep, /)":                  partition(strings.Index, false),
	"rpartition(self, sep, /)":                 partition(strings.LastIndex, true),
	"join(self, iterable, /)":                  join,
	"replace(self, old, new, count=-1, /)":     replace,
	"removeprefix(self, prefix, /)":            trimmed(strings.TrimPrefix),
	"removesuffix(self, suffix)":               trimmed(strings.TrimSuffix),
	"expandtabs(self, tabsize=8)":              expandTabs,
	"encode(self, encoding=utf-8, errors='x')": encode,
	"translate(self, table, /)":                translate,
	"maketrans(self, x, y=none, z='', /)":      makeTable,
}

func text(v py.Value) string { s, _ := py.AsString(v); return s }

func converted(f func(*py.Budget, string) string) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value { return f(b, text(a[0])) }
}

func characters(f func(rune) bool) func(string) bool {
	return func(s string) bool { return py.All(s, f) }
}

func tested(f func(string) bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		b.Scan(len(text(a[0])))
		return f(text(a[0]))
	}
}

func padded(left, right bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		width, fill := py.IntArg(a[1]), py.TextArg(a[2])
		py.RaiseIf(py.RuneCount(fill) != 1, "TypeError", "the text to fill with must be one character, not %s",
			py.Shown(fill))
		return py.Pad(b, text(a[0]), width, fill, left, right)
	}
}

func zfill(b *py.Budget, a []py.Value) py.Value {
	s := text(a[0])
	padded := py.Pad(b, s, py.IntArg(a[1]), "0", true, false)
	if n := len(padded) - len(s); n > 0 && s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + padded[:n] + s[1:]
	}
	return padded
}

func stripped(left, right bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value { return py.Strip(b, text(a[0]), a[1], left, right) }
}

func trimmed(trim func(s, affix string) string) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value { return trim(text(a[0]), py.TextArg(a[1])) }
}

// window cuts s to the optional start and end in a[2] and a[3]. off is the number of characters before it; ok is false
// when start is after the end of s.
func window(b *py.Budget, s string, a []py.Value) (sub string, off int, ok bool) {
	b.Scan(len(s))
	if a[2] == nil && a[3] == nil {
		return s, 0, true
	}
	n := py.RuneCount(s)
	lo, hi := 0, n
	if a[2] != nil {
		lo = position(a[2], n)
	}
	if a[3] != nil {
		hi = position(a[3], n)
	}
	if lo > hi || a[2] != nil && py.IntArg(a[2]) > int64(n) {
		return "", 0, false
	}
	return s[py.ByteOffset(s, lo):py.ByteOffset(s, hi)], lo, true
}

func found(find func(s, sub string) int, must bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		s, off, ok := window(b, text(a[0]), a)
		sub := py.TextArg(a[1])
		if i := find(s, sub); ok && i >= 0 {
			return int64(off + py.RuneCount(s[:i]))
		}
		py.RaiseIf(must, "ValueError", "the text does not contain %s", py.Shown(sub))
		return int64(-1)
	}
}

func affixed(has func(s, affix string) bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		s, _, ok := window(b, text(a[0]), a)
		affixes := a[1:2]
		if t, isTuple := a[1].(*py.Tuple); isTuple {
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
	py.RaiseIf(sep == "", "ValueError", "the separator is empty")
	return sep
}

func split(b *py.Budget, a []py.Value) py.Value {
	s, limit := text(a[0]), py.IntArg(a[2])
	if a[1] == nil {
		return list(b, py.Fields(b, s, limit, false))
	}
	sep := separator(a[1])
	b.Scan(len(s))
	n := strings.Count(s, sep) + 1
	if limit >= 0 && limit < int64(n)-1 {
		n = int(limit) + 1
	}
	b.GrowValues(2 * n)
	return list(b, strings.SplitN(s, sep, n))
}

func rsplit(b *py.Budget, a []py.Value) py.Value {
	s, limit := text(a[0]), py.IntArg(a[2])
	if a[1] == nil {
		return list(b, py.Fields(b, s, limit, true))
	}
	sep := separator(a[1])
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

func partition(find func(s, sub string) int, last bool) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		s, sep := text(a[0]), separator(a[1])
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

func join(b *py.Budget, a []py.Value) py.Value {
	j := py.NewJoiner(b, text(a[0]))
	for it := range py.Each(b, a[1]) {
		j.Add(py.TextArg(it))
	}
	return j.String()
}

func replace(b *py.Budget, a []py.Value) py.Value {
	return py.Replace(b, text(a[0]), py.TextArg(a[1]), py.TextArg(a[2]), py.IntArg(a[3]))
}

func expandTabs(b *py.Budget, a []py.Value) py.Value {
	size, col := py.IntArg(a[1]), int64(0)
	var sb strings.Builder
	for _, r := range text(a[0]) {
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
func encode(b *py.Budget, a []py.Value) py.Value {
	name := strings.Trim(strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(py.TextArg(a[1]))), "-")
	py.TextArg(a[2])
	if !slices.Contains([]string{"utf-8", "utf8", "utf", "u8"}, name) {
		py.Raise("LookupError", "the encoding %s is not known, only utf-8", py.Shown(name))
	}
	b.Grow(int64(len(text(a[0]))))
	return py.Bytes(text(a[0]))
}

var bytesMethods = py.NewFuncs(map[string]py.Body{
	"decode(self, encoding=utf-8, errors='x')": func(b *py.Budget, a []py.Value) py.Value {
		b.GrowTimes(3, int64(len(a[0].(py.Bytes))))
		return strings.ToValidUTF8(string(a[0].(py.Bytes)), "\ufffd")
	},
})

func translate(b *py.Budget, a []py.Value) py.Value {
	var sb strings.Builder
	for _, r := range text(a[0]) {
		b.Grow(4)
		to, err := py.Item(b, a[1], int64(r))
		switch t := to.(type) {
		case nil:
			if err != nil && err.Kind == "TypeError" {
				panic(err)
			}
			if err != nil { // it is not in the table; None removes it
				sb.WriteRune(r)
			}
		case int64:
			py.RaiseIf(t < 0 || t > unicode.MaxRune, "ValueError", "%d is not a character", t)
			sb.WriteRune(rune(t))
		default:
			b.Grow(int64(len(py.TextArg(to))))
			sb.WriteString(py.TextArg(to))
		}
	}
	return sb.String()
}

func makeTable(b *py.Budget, a []py.Value) py.Value {
	out := py.NewDict()
	if a[2] == nil {
		d, ok := a[1].(*py.Dict)
		if !ok {
			py.Raise("TypeError", "a table of characters is made from a dictionary or from two texts, not from %s",
				py.TypeName(a[1]))
		}
		d.Each(func(k, v py.Value) bool {
			if s, ok := py.AsString(k); ok {
				r, n := utf8.DecodeRuneInString(s)
				py.RaiseIf(n == 0 || n != len(s), "ValueError", "%s is not one character", py.Shown(s))
				k = int64(r)
			}
			out.Set(b, k, v)
			return true
		})
		return out
	}
	from, to := py.Runes(b, py.TextArg(a[1])), py.Runes(b, py.TextArg(a[2]))
	if len(from) != len(to) {
		py.Raise("ValueError", "both texts must have the same number of characters, not %d and %d", len(from), len(to))
	}
	for i, r := range from {
		out.Set(b, int64(r), int64(to[i]))
	}
	for _, r := range py.TextArg(a[3]) {
		out.Set(b, int64(r), nil)
	}
	return out
}

// newMarkupMethods returns the methods of Markup. Those of str escape the texts in their arguments, and their results
// are Markup.
func newMarkupMethods() map[string]*py.Func {
	bodies := map[string]py.Body{
		"striptags(self, /)": func(b *py.Budget, a []py.Value) py.Value { return py.StripTags(b, text(a[0])) },
		"unescape(self, /)":  func(b *py.Budget, a []py.Value) py.Value { return py.UnescapeHTML(b, text(a[0])) },
		"escape(self, s, /)": func(b *py.Budget, a []py.Value) py.Value { return py.Escape(b, a[1]) },
	}
	for signature, body := range textBodies {
		name, _, _ := strings.Cut(signature, "(")
		bodies[signature] = func(b *py.Budget, a []py.Value) py.Value {
			switch name {
			case "join":
				items := py.Items(b, a[1])
				for i := range items {
					items[i] = py.Escape(b, items[i])
				}
				a[1] = &py.List{Items: items}
			case "center", "ljust", "rjust", "replace":
				a[2] = string(py.Escape(b, a[2]))
			}
			return asMarkup(body(b, a))
		}
	}
	return py.NewFuncs(bodies)
}

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
