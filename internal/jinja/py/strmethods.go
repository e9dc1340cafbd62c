package py

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// strMethods are the methods of str; Markup shares those that markupMethod does not wrap.
var strMethods = map[string]*method{
	"capitalize": textMethod(Capitalize),
	"casefold":   textMethod(fold),
	"lower":      textMethod(Lower),
	"upper":      textMethod(Upper),
	"title":      textMethod(title),
	"swapcase":   textMethod(swapcase),

	"isalnum":      charTest(isAlnumRune),
	"isalpha":      charTest(unicode.IsLetter),
	"isdecimal":    charTest(func(r rune) bool { return unicode.Is(unicode.Nd, r) }),
	"isdigit":      charTest(isDigitRune),
	"isnumeric":    charTest(isNumericRune),
	"isspace":      charTest(IsSpace),
	"isidentifier": stringTest(isIdentifier),
	"islower":      stringTest(IsLower),
	"isupper":      stringTest(IsUpper),
	"istitle":      stringTest(isTitle),
	"isascii":      stringTest(isASCII),
	"isprintable":  stringTest(func(s string) bool { return s == "" || all(s, unicode.IsPrint) }),

	"center": {min: 1, max: 2, fn: padMethod(true, true)},
	"ljust":  {min: 1, max: 2, fn: padMethod(false, true)},
	"rjust":  {min: 1, max: 2, fn: padMethod(true, false)},
	"zfill":  {min: 1, max: 1, fn: strZfill},

	"strip":  {min: 0, max: 1, fn: stripMethod(true, true)},
	"lstrip": {min: 0, max: 1, fn: stripMethod(true, false)},
	"rstrip": {min: 0, max: 1, fn: stripMethod(false, true)},

	"count":      {min: 1, max: 3, paren: true, fn: strCount},
	"find":       {min: 1, max: 3, paren: true, fn: findMethod(strings.Index, false)},
	"rfind":      {min: 1, max: 3, paren: true, fn: findMethod(strings.LastIndex, false)},
	"index":      {min: 1, max: 3, paren: true, fn: findMethod(strings.Index, true)},
	"rindex":     {min: 1, max: 3, paren: true, fn: findMethod(strings.LastIndex, true)},
	"startswith": {min: 1, max: 3, paren: true, fn: affixMethod("startswith", strings.HasPrefix)},
	"endswith":   {min: 1, max: 3, paren: true, fn: affixMethod("endswith", strings.HasSuffix)},

	"split":        {min: 0, max: 2, kw: []string{"sep", "maxsplit"}, fn: strSplit},
	"rsplit":       {min: 0, max: 2, kw: []string{"sep", "maxsplit"}, fn: strRsplit},
	"splitlines":   {min: 0, max: 1, kw: []string{"keepends"}, fn: strSplitlines},
	"partition":    {min: 1, max: 1, fn: strPartition},
	"rpartition":   {min: 1, max: 1, fn: strRpartition},
	"join":         {min: 1, max: 1, fn: strJoin},
	"replace":      {min: 2, max: 3, fn: strReplace},
	"removeprefix": {min: 1, max: 1, fn: removeMethod("removeprefix", strings.TrimPrefix)},
	"removesuffix": {min: 1, max: 1, fn: removeMethod("removesuffix", strings.TrimSuffix)},
	"expandtabs":   {min: 0, max: 1, kw: []string{"tabsize"}, fn: strExpandtabs},
	"encode":       {min: 0, max: 2, kw: []string{"encoding", "errors"}, fn: strEncode},
	"translate":    {min: 1, max: 1, fn: strTranslate},
	"maketrans":    {min: 1, max: 3, fn: strMaketrans},
}

func self(v Value) string { s, _ := AsString(v); return s }

func textMethod(f func(*Budget, string) string) *method {
	return &method{fn: func(b *Budget, s Value, _ []Value) Value { return f(b, self(s)) }}
}

func charTest(f func(rune) bool) *method { return stringTest(func(s string) bool { return all(s, f) }) }

func stringTest(f func(string) bool) *method {
	return &method{fn: func(b *Budget, s Value, _ []Value) Value {
		b.Scan(len(self(s)))
		return f(self(s))
	}}
}

// strArg returns an argument that must be str; what is used in the message.
func strArg(v Value, format string, args ...any) string {
	s, ok := AsString(v)
	if !ok {
		Raise("TypeError", format, append(args, TypeName(v))...)
	}
	return s
}

// namedArg is strArg for functions that name the argument, and call None by its name.
func namedArg(v Value, what string) string {
	if v == nil {
		Raise("TypeError", "%s must be str, not None", what)
	}
	return strArg(v, "%s must be str, not %s", what)
}

func padMethod(left, right bool) func(*Budget, Value, []Value) Value {
	return func(b *Budget, s Value, a []Value) Value {
		width, fill := intArg(a[0]), " "
		if a[1] != Absent {
			fill = strArg(a[1], "The fill character must be a unicode character, not %s")
			if runeCount(fill) != 1 {
				Raise("TypeError", "The fill character must be exactly one character long")
			}
		}
		return Pad(b, self(s), width, fill, left, right)
	}
}

func strZfill(b *Budget, v Value, a []Value) Value {
	s := self(v)
	padded := Pad(b, s, intArg(a[0]), "0", true, false)
	if n := len(padded) - len(s); n > 0 && s != "" && (s[0] == '+' || s[0] == '-') {
		return s[:1] + padded[:n] + s[1:]
	}
	return padded
}

func stripMethod(left, right bool) func(*Budget, Value, []Value) Value {
	return func(b *Budget, s Value, a []Value) Value { return Strip(b, self(s), a[0], left, right) }
}

// window cuts s to the optional start and end arguments. off is the number of characters before it; ok is false when
// start lies behind the end of s.
func window(b *Budget, s string, start, end Value) (sub string, off int, ok bool) {
	b.Scan(len(s))
	if (start == Absent || start == nil) && (end == Absent || end == nil) {
		return s, 0, true
	}
	n := runeCount(s)
	bound := func(v Value, def int64) int64 {
		if v == Absent || v == nil {
			return def
		}
		i, isInt := index(v)
		if !isInt {
			Raise("TypeError", "slice indices must be integers or None or have an __index__ method")
		}
		if i < 0 {
			i = max(i+int64(n), 0)
		}
		return i
	}
	lo, hi := bound(start, 0), min(bound(end, int64(n)), int64(n))
	if lo > int64(n) || lo > hi {
		return "", 0, false
	}
	from, to := byteOffset(s, int(lo)), byteOffset(s, int(hi))
	return s[from:to], int(lo), true
}

// byteOffset is where the i-th character of s begins.
func byteOffset(s string, i int) int {
	off := 0
	for ; i > 0 && off < len(s); i-- {
		_, n := utf8.DecodeRuneInString(s[off:])
		off += n
	}
	return off
}

func strCount(b *Budget, v Value, a []Value) Value {
	s, _, ok := window(b, self(v), a[1], a[2])
	sub := strArg(a[0], "must be str, not %s")
	if !ok {
		return int64(0)
	}
	return int64(strings.Count(s, sub))
}

func findMethod(find func(s, sub string) int, mustFind bool) func(*Budget, Value, []Value) Value {
	return func(b *Budget, v Value, a []Value) Value {
		s, off, ok := window(b, self(v), a[1], a[2])
		sub := strArg(a[0], "must be str, not %s")
		i := -1
		if ok {
			i = find(s, sub)
		}
		if i < 0 {
			if mustFind {
				Raise("ValueError", "substring not found")
			}
			return int64(-1)
		}
		return int64(off + runeCount(s[:i]))
	}
}

func affixMethod(name string, has func(s, affix string) bool) func(*Budget, Value, []Value) Value {
	return func(b *Budget, v Value, a []Value) Value {
		s, _, ok := window(b, self(v), a[1], a[2])
		if t, isTuple := a[0].(*Tuple); isTuple {
			for _, it := range t.Items {
				b.Step(1)
				affix := strArg(it, "tuple for "+name+" must only contain str, not %s")
				if ok && has(s, affix) {
					return true
				}
			}
			return false
		}
		affix := strArg(a[0], name+" first arg must be str or a tuple of str, not %s")
		return ok && has(s, affix)
	}
}

func splitArgs(a []Value) (sep string, hasSep bool, limit int64) {
	limit = -1
	if a[1] != Absent {
		limit = intArg(a[1])
	}
	if a[0] == Absent || a[0] == nil {
		return "", false, limit
	}
	sep = strArg(a[0], "must be str or None, not %s")
	if sep == "" {
		Raise("ValueError", "empty separator")
	}
	return sep, true, limit
}

func strSplit(b *Budget, v Value, a []Value) Value {
	sep, hasSep, limit := splitArgs(a)
	if !hasSep {
		return stringList(b, Fields(b, self(v), limit))
	}
	s := self(v)
	b.Scan(len(s))
	n := strings.Count(s, sep) + 1
	if limit >= 0 && limit < int64(n)-1 {
		n = int(limit) + 1
	}
	b.GrowTimes(2*valueSize, int64(n))
	return stringList(b, strings.SplitN(s, sep, n))
}

func strRsplit(b *Budget, v Value, a []Value) Value {
	sep, hasSep, limit := splitArgs(a)
	if !hasSep {
		return stringList(b, fieldsRight(b, self(v), limit))
	}
	s := self(v)
	b.Scan(len(s))
	var out []string
	for limit < 0 || int64(len(out)) < limit {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		b.Grow(2 * valueSize)
		out = append(out, s[i+len(sep):])
		s = s[:i]
	}
	out = append(out, s)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return stringList(b, out)
}

func stringList(b *Budget, parts []string) *List {
	b.GrowTimes(2*valueSize, int64(len(parts)))
	items := make([]Value, len(parts))
	for i, p := range parts {
		items[i] = p
	}
	return &List{Items: items}
}

func strSplitlines(b *Budget, v Value, a []Value) Value {
	keep := a[0] != Absent && intArg(a[0]) != 0
	return stringList(b, SplitLines(b, self(v), keep))
}

func strPartition(b *Budget, v Value, a []Value) Value {
	s, sep := self(v), separator(a[0])
	b.Scan(len(s))
	if i := strings.Index(s, sep); i >= 0 {
		return &Tuple{Items: []Value{s[:i], sep, s[i+len(sep):]}}
	}
	return &Tuple{Items: []Value{s, "", ""}}
}

func strRpartition(b *Budget, v Value, a []Value) Value {
	s, sep := self(v), separator(a[0])
	b.Scan(len(s))
	if i := strings.LastIndex(s, sep); i >= 0 {
		return &Tuple{Items: []Value{s[:i], sep, s[i+len(sep):]}}
	}
	return &Tuple{Items: []Value{"", "", s}}
}

func separator(v Value) string {
	sep := strArg(v, "must be str, not %s")
	if sep == "" {
		Raise("ValueError", "empty separator")
	}
	return sep
}

func strJoin(b *Budget, v Value, a []Value) Value {
	next, ok := TryIter(b, a[0])
	if !ok {
		Raise("TypeError", "can only join an iterable")
	}
	sep := self(v)
	j := NewJoiner(b, sep)
	for i := 0; ; i++ {
		it, ok := next()
		if !ok {
			return j.String()
		}
		s, isStr := AsString(it)
		if !isStr {
			Raise("TypeError", "sequence item %d: expected str instance, %s found", i, TypeName(it))
		}
		j.Add(s)
	}
}

// Joiner puts parts together with a separator and pays for the text.
type Joiner struct {
	b   *Budget
	sep string
	n   int
	sb  strings.Builder
}

// NewJoiner returns an empty Joiner.
func NewJoiner(b *Budget, sep string) *Joiner { return &Joiner{b: b, sep: sep} }

// Add appends a part.
func (j *Joiner) Add(part string) {
	if j.n > 0 {
		j.b.Grow(int64(len(j.sep)))
		j.sb.WriteString(j.sep)
	}
	j.b.Grow(int64(len(part)))
	j.sb.WriteString(part)
	j.n++
}

// String is the text so far.
func (j *Joiner) String() string { return j.sb.String() }

func strReplace(b *Budget, v Value, a []Value) Value {
	old := namedArg(a[0], "replace() argument 1")
	repl := namedArg(a[1], "replace() argument 2")
	n := int64(-1)
	if a[2] != Absent {
		n = intArg(a[2])
	}
	return Replace(b, self(v), old, repl, n)
}

func removeMethod(name string, trim func(s, affix string) string) func(*Budget, Value, []Value) Value {
	return func(b *Budget, v Value, a []Value) Value {
		return trim(self(v), namedArg(a[0], name+"() argument"))
	}
}

func strExpandtabs(b *Budget, v Value, a []Value) Value {
	size := int64(8)
	if a[0] != Absent {
		size = intArg(a[0])
	}
	var sb strings.Builder
	col := int64(0)
	for _, r := range self(v) {
		switch r {
		case '\t':
			if size > 0 {
				n := size - col%size
				b.Grow(n)
				sb.WriteString(strings.Repeat(" ", int(n)))
				col += n
			}
			continue
		case '\n', '\r':
			col = -1
		}
		b.Grow(4)
		sb.WriteRune(r)
		col++
	}
	return sb.String()
}

func strEncode(b *Budget, v Value, a []Value) Value {
	enc := "utf-8"
	if a[0] != Absent {
		enc = namedArg(a[0], "encode() argument 'encoding'")
	}
	s := self(v)
	b.GrowTimes(2, int64(len(s)))
	limit, name := rune(0), ""
	switch strings.Trim(strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(enc)), "-") {
	case "utf-8", "utf8", "utf", "u8":
		return Bytes(s)
	case "ascii", "us-ascii":
		limit, name = 0x80, "ascii"
	case "latin-1", "latin1", "iso-8859-1":
		limit, name = 0x100, "latin-1"
	default:
		Raise("LookupError", "unknown encoding: %s", enc)
	}
	errors := "strict"
	if a[1] != Absent {
		errors = namedArg(a[1], "encode() argument 'errors'")
	}
	var out []byte
	pos := 0
	for _, r := range s {
		switch {
		case r < limit:
			out = append(out, byte(r))
		case errors == "ignore":
		case errors == "replace":
			out = append(out, '?')
		default:
			Raise("UnicodeEncodeError", "'%s' codec can't encode character %s in position %d: ordinal not in range(%d)",
				name, ascii(b, string(r)), pos, limit)
		}
		pos++
	}
	return Bytes(out)
}

func strTranslate(b *Budget, v Value, a []Value) Value {
	var sb strings.Builder
	for _, r := range self(v) {
		b.Step(1)
		to, err := item(b, a[0], int64(r))
		if err != nil {
			if err.Kind == "TypeError" {
				panic(err)
			}
			b.Grow(4)
			sb.WriteRune(r)
			continue
		}
		switch t := to.(type) {
		case nil:
		case int64:
			if t < 0 || t > unicode.MaxRune {
				Raise("ValueError", "character mapping must be in range(0x110000)")
			}
			b.Grow(4)
			sb.WriteRune(rune(t))
		default:
			s := strArg(to, "character mapping must return integer, None or str, not %s")
			b.Grow(int64(len(s)))
			sb.WriteString(s)
		}
	}
	return sb.String()
}

func strMaketrans(b *Budget, _ Value, a []Value) Value {
	out := NewDict()
	if a[1] == Absent {
		d, ok := a[0].(*Dict)
		if !ok {
			Raise("TypeError", "if you give only one argument to maketrans it must be a dict")
		}
		d.Each(func(k, v Value) bool {
			if s, ok := AsString(k); ok {
				r, n := utf8.DecodeRuneInString(s)
				if n == 0 || n != len(s) {
					Raise("ValueError", "string keys in translate table must be of length 1")
				}
				k = int64(r)
			}
			out.Set(b, k, v)
			return true
		})
		return out
	}
	from := runes(b, namedArg(a[0], "maketrans() argument 1"))
	to := runes(b, namedArg(a[1], "maketrans() argument 2"))
	if len(from) != len(to) {
		Raise("ValueError", "the first two maketrans arguments must have equal length")
	}
	for i, r := range from {
		out.Set(b, int64(r), int64(to[i]))
	}
	if a[2] != Absent {
		for _, r := range namedArg(a[2], "maketrans() argument 3") {
			out.Set(b, int64(r), nil)
		}
	}
	return out
}
