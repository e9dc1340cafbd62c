package jinja

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

func textFilters() map[string]*callable {
	return map[string]*callable{
		"upper":      textFilter("do_upper(s)", "upper"),
		"lower":      textFilter("do_lower(s)", "lower"),
		"capitalize": textFilter("do_capitalize(s)", "capitalize"),
		"title":      simple("do_title(s)", titleFilter),
		"center": simple("do_center(value, width=)", func(r *render, a []py.Value) py.Value {
			return callMethod(r, py.SoftStr(r.Budget, a[0]), "center", or(a[1], int64(80)))
		}),
		"trim": simple("do_trim(value, chars=)", func(r *render, a []py.Value) py.Value {
			return callMethod(r, py.SoftStr(r.Budget, a[0]), "strip", or(a[1], nil))
		}),
		"replace":   simple("do_replace(@eval_ctx, s, old, new, count=)", replaceFilter),
		"truncate":  simple("do_truncate(@env, s, length=, killwords=, end=, leeway=)", truncate),
		"wordwrap":  simple("do_wordwrap(@environment, s, width=, break_long_words=, wrapstring=, break_on_hyphens=)", wordwrap),
		"wordcount": simple("do_wordcount(s)", wordcount),
		"indent":    simple("do_indent(s, width=, first=, blank=)", indent),
		"striptags": simple("do_striptags(value)", func(r *render, a []py.Value) py.Value {
			return py.StripTags(r.Budget, py.Str(r.Budget, a[0]))
		}),
		"urlencode": simple("do_urlencode(value)", urlencode),
		"urlize":    simple("do_urlize(@eval_ctx, value, trim_url_limit=, nofollow=, target=, rel=, extra_schemes=)", urlizeFilter),
		"format":    {sig: py.ParseSignature("do_format(value, *args, **kwargs)"), fn: format},
		"xmlattr":   simple("do_xmlattr(@eval_ctx, d, autospace=)", xmlattr),
	}
}

func titleFilter(r *render, a []py.Value) py.Value {
	s := py.Str(r.Budget, a[0])
	r.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	word := func(w string) {
		if w == "" {
			return
		}
		first := firstRune(w)
		sb.WriteString(py.Upper(r.Budget, first))
		sb.WriteString(py.Lower(r.Budget, w[len(first):]))
	}
	start := 0
	for i, c := range s {
		if c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || py.IsSpace(c) {
			word(s[start:i])
			n := len(string(c))
			sb.WriteString(s[i : i+n])
			start = i + n
		}
	}
	word(s[start:])
	return sb.String()
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

func replaceFilter(r *render, a []py.Value) py.Value {
	s, old, repl, count := a[0], a[1], a[2], or(a[3], nil)
	if count == nil {
		count = int64(-1)
	}
	if !r.autoescape {
		b := r.Budget
		return py.Replace(b, py.Str(b, s), py.Str(b, old), py.Str(b, repl), toInt(count))
	}
	_, oldSafe := old.(py.Markup)
	_, newSafe := repl.(py.Markup)
	_, safe := s.(py.Markup)
	if oldSafe || newSafe && !safe {
		s = py.Escape(r.Budget, s)
	} else {
		s = py.SoftStr(r.Budget, s)
	}
	return callMethod(r, s, "replace", py.SoftStr(r.Budget, old), py.SoftStr(r.Budget, repl), count)
}

// length is len(v).
func length(r *render, v py.Value) int64 {
	n, ok := py.Len(r.Budget, v)
	if !ok {
		py.Raise("TypeError", "object of type '%s' has no len()", py.TypeName(v))
	}
	return int64(n)
}

func truncate(r *render, a []py.Value) py.Value {
	b := r.Budget
	s, width, end, leeway := a[0], or(a[1], int64(255)), or(a[3], "..."), or(a[4], nil)
	if leeway == nil {
		leeway = int64(5)
	}
	endLen := length(r, end)
	if !py.Less(b, ">=", width, endLen) {
		py.Raise("AssertionError", "expected length >= %d, got %s", endLen, py.Str(b, width))
	}
	if !py.Less(b, ">=", leeway, int64(0)) {
		py.Raise("AssertionError", "expected leeway >= 0, got %s", py.Str(b, leeway))
	}
	if py.Less(b, "<=", length(r, s), py.Add(b, width, leeway)) {
		return s
	}
	cut := py.Slice(b, s, nil, py.Sub(b, width, endLen), nil)
	if !py.Truth(b, or(a[2], false)) {
		parts := callMethod(r, cut, "rsplit", " ", int64(1))
		cut = py.Subscript(b, parts, int64(0))
	}
	return py.Add(b, cut, end)
}

func wordcount(r *render, a []py.Value) py.Value {
	s := py.Str(r.Budget, a[0])
	r.Scan(len(s))
	n, in := int64(0), false
	for _, c := range s {
		w := py.IsWord(c)
		if w && !in {
			n++
		}
		in = w
	}
	return n
}

func indent(r *render, a []py.Value) py.Value {
	b := r.Budget
	by := or(a[1], int64(4))
	if _, ok := py.AsString(by); !ok {
		by = py.Mul(b, " ", by)
	}
	var newline py.Value = "\n"
	s, isText := py.AsString(a[0])
	m, safe := a[0].(py.Markup)
	if !isText {
		if u, undef := a[0].(*py.Undefined); undef {
			u.Raise()
		}
		switch a[0].(type) {
		case *py.List:
			py.Raise("AttributeError", "'list' object has no attribute 'splitlines'")
		case *py.Tuple, py.Bytes:
			py.Add(b, a[0], "\n") // raises
		}
		py.Raise("TypeError", "unsupported operand type(s) for +=: '%s' and 'str'", py.TypeName(a[0]))
	}
	if safe {
		by, newline, s = toMarkup(r, by), py.Markup("\n"), string(m)
	}
	margin, _ := py.AsString(by)
	blank := py.Truth(b, or(a[3], false))
	lines := py.SplitLines(b, s+"\n", false)
	j := py.NewJoiner(b, "\n")
	for i, line := range lines {
		if i > 0 && (blank || line != "") {
			b.Grow(int64(len(margin)))
			line = margin + line
		}
		j.Add(line)
	}
	out := j.String()
	if py.Truth(b, or(a[2], false)) {
		b.Grow(int64(len(margin) + len(out)))
		out = margin + out
	}
	if _, safe := newline.(py.Markup); safe {
		return py.Markup(out)
	}
	return out
}

func urlencode(r *render, a []py.Value) py.Value {
	b := r.Budget
	if s, ok := py.AsString(a[0]); ok {
		return urlQuote(r, py.Raw(s), false)
	}
	next, ok := py.TryIter(b, a[0])
	if !ok {
		return urlQuote(r, py.Str(b, a[0]), false)
	}
	if _, ok := a[0].(*py.Dict); ok {
		next = py.Iter(b, callMethod(r, a[0], "items"))
	}
	j := py.NewJoiner(b, "&")
	for v, ok := next(); ok; v, ok = next() {
		kv := py.Unpack(b, v, 2)
		j.Add(quoteValue(r, kv[0]) + "=" + quoteValue(r, kv[1]))
	}
	return j.String()
}

func quoteValue(r *render, v py.Value) string {
	if raw, ok := v.(py.Bytes); ok {
		return urlQuote(r, string(raw), true)
	}
	return urlQuote(r, py.Str(r.Budget, v), true)
}

func urlQuote(r *render, s string, query bool) string {
	r.GrowTimes(3, int64(len(s)))
	const hex = "0123456789ABCDEF"
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~", c) >= 0,
			c == '/' && !query:
			sb.WriteByte(c)
		case c == ' ' && query:
			sb.WriteByte('+')
		default:
			sb.WriteByte('%')
			sb.WriteByte(hex[c>>4])
			sb.WriteByte(hex[c&15])
		}
	}
	return sb.String()
}

func format(r *render, a []py.Value, rest py.Args) py.Value {
	if len(rest.Pos) > 0 && len(rest.Kw) > 0 {
		py.Raise("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	}
	var arg py.Value = &py.Tuple{Items: rest.Pos}
	if len(rest.Kw) > 0 {
		d := py.NewDict()
		for _, kw := range rest.Kw {
			d.Set(r.Budget, kw.Name, kw.Value)
		}
		arg = d
	}
	return py.Mod(r.Budget, py.SoftStr(r.Budget, a[0]), arg)
}

func xmlattr(r *render, a []py.Value) py.Value {
	b := r.Budget
	j := py.NewJoiner(b, " ")
	if u, ok := a[0].(*py.Undefined); ok {
		u.Raise()
	}
	next := py.Iter(b, callMethod(r, a[0], "items"))
	for v, ok := next(); ok; v, ok = next() {
		kv := v.(*py.Tuple).Items
		if kv[1] == nil || isUndefined(kv[1]) {
			continue
		}
		key, isText := py.AsString(kv[0])
		if !isText {
			py.Raise("TypeError", "expected string or bytes-like object, got '%s'", py.TypeName(kv[0]))
		}
		if strings.ContainsAny(key, " \t\n\r\f\v/>=") {
			py.Raise("ValueError", "Invalid character in attribute name: %s", py.Quote(key))
		}
		j.Add(string(py.Escape(b, kv[0])) + `="` + string(py.Escape(b, kv[1])) + `"`)
	}
	out := j.String()
	if out != "" && py.Truth(b, or(a[1], true)) {
		out = " " + out
	}
	if r.autoescape {
		return py.Markup(out)
	}
	return out
}
