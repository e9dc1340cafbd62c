package builtins

import (
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

var textFilters = table{
	"upper(s)":                         byMethod("upper"),
	"lower(s)":                         byMethod("lower"),
	"capitalize(s)":                    byMethod("capitalize"),
	"center(value, width=80)":          byMethod("center"),
	"trim(value, chars=none)":          byMethod("strip"),
	"title(s)":                         simple(title),
	"replace(s, old, new, count=none)": replace,
	"truncate(s, length=255, killwords=false, end='...', leeway=none)":                     truncate,
	"wordwrap(s, width=79, break_long_words=true, wrapstring=none, break_on_hyphens=true)": wordWrap,
	"wordcount(s)": simple(wordCount),
	"indent(s, width=4, first=false, blank=false)": indent,
	"striptags(value)": simple(func(b *py.Budget, v py.Value) py.Value { return py.StripTags(b, py.Str(b, v)) }),
	"urlencode(value)": simple(urlEncode),
	"urlize(value, trim_url_limit=none, nofollow=false, target=none, rel=none, extra_schemes=none)": urlize,
	"format(value, ...)":         formatted,
	"xmlattr(d, autospace=true)": xmlAttr,
}

// byMethod makes a filter that calls the method of str with the same arguments. Markup stays Markup.
func byMethod(name string) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value {
		return methods.Call(b, py.SoftStr(b, a[0]), name, a[1:]...)
	}
}

func title(b *py.Budget, v py.Value) py.Value {
	s := py.Str(b, v)
	b.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	for s != "" {
		i := strings.IndexFunc(s, func(c rune) bool { return py.IsSpace(c) || strings.ContainsRune("-({[<", c) })
		if i < 0 {
			i = len(s)
		}
		first := py.ByteOffset(s, 1)
		if i > 0 {
			sb.WriteString(py.Upper(b, s[:first]) + py.Lower(b, s[first:i]))
		} else {
			i = first
			sb.WriteString(s[:i])
		}
		s = s[i:]
	}
	return sb.String()
}

func replace(b *py.Budget, a []py.Value) py.Value {
	b, s, count := b, a[0], a[3]
	if count == nil {
		count = int64(-1)
	}
	if !b.Autoescape {
		return py.Replace(b, py.Str(b, s), py.Str(b, a[1]), py.Str(b, a[2]), py.IntArg(count))
	}
	_, oldSafe := a[1].(py.Markup)
	_, newSafe := a[2].(py.Markup)
	_, safe := s.(py.Markup)
	if s = py.SoftStr(b, s); oldSafe || newSafe && !safe {
		s = py.Escape(b, s)
	}
	return methods.Call(b, s, "replace", py.SoftStr(b, a[1]), py.SoftStr(b, a[2]), count)
}

func truncate(b *py.Budget, a []py.Value) py.Value {
	b, s, width, end, leeway := b, a[0], a[1], a[3], a[4]
	if leeway == nil {
		leeway = int64(5)
	}
	endLen := py.MustLen(b, end)
	if !py.Less(b, ">=", width, endLen) || !py.Less(b, ">=", leeway, int64(0)) {
		py.Raise("AssertionError", "truncate needs a length of at least %d and a leeway of at least 0", endLen)
	}
	if py.Less(b, "<=", py.MustLen(b, s), operators.Binary(b, "+", width, leeway)) {
		return s
	}
	cut := py.Slice(b, s, nil, operators.Binary(b, "-", width, endLen), nil)
	if !py.Truth(b, a[2]) {
		cut = py.Subscript(b, methods.Call(b, cut, "rsplit", " ", int64(1)), int64(0))
	}
	return operators.Binary(b, "+", cut, end)
}

func wordCount(b *py.Budget, v py.Value) py.Value {
	s := py.Str(b, v)
	b.Scan(len(s))
	return int64(len(strings.FieldsFunc(s, func(c rune) bool { return !py.IsWord(c) })))
}

func indent(b *py.Budget, a []py.Value) py.Value {
	margin, isText := py.AsString(a[1])
	if !isText {
		margin = spaces(b, a[1])
	}
	py.RaiseUndefined(a[0])
	s, isText := py.AsString(a[0])
	_, isList := a[0].(*py.List)
	switch {
	case isList:
		py.Raise("AttributeError", "a list cannot be indented")
	case !isText:
		py.Raise("TypeError", "a value of type %s cannot be indented", py.TypeName(a[0]))
	}
	first, blank := py.Truth(b, a[2]), py.Truth(b, a[3])
	j := py.NewJoiner(b, "\n")
	for i, line := range py.SplitLines(b, s+"\n", false) {
		if i == 0 && first || i > 0 && (blank || line != "") {
			b.Grow(int64(len(margin)))
			line = margin + line
		}
		j.Add(line)
	}
	return py.WithText(a[0], j.String())
}

func urlEncode(b *py.Budget, v py.Value) py.Value {
	if s, ok := py.AsString(v); ok {
		return strings.ReplaceAll(strings.ReplaceAll(urlQuote(b, py.Raw(s)), "+", "%20"), "%2F", "/")
	}
	next, ok := py.TryIter(b, v)
	if !ok {
		return urlEncode(b, py.Str(b, v))
	}
	if d, ok := v.(*py.Dict); ok {
		next = py.Iter(b, d.View("items"))
	}
	j := py.NewJoiner(b, "&")
	for v, ok := next(); ok; v, ok = next() {
		kv := py.Unpack(b, v, 2)
		j.Add(urlQuote(b, plain(b, kv[0])) + "=" + urlQuote(b, plain(b, kv[1])))
	}
	return j.String()
}

func plain(b *py.Budget, v py.Value) string {
	if raw, ok := v.(py.Bytes); ok {
		return string(raw)
	}
	return py.Str(b, v)
}

func urlQuote(b *py.Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	return url.QueryEscape(s)
}

func formatted(b *py.Budget, a []py.Value) py.Value {
	rest := a[1].(py.Args)
	py.RaiseIf(len(rest.Pos) > 0 && len(rest.Kw) > 0, "FilterArgumentError",
		"format takes either named arguments or others, not both")
	var arg py.Value = &py.Tuple{Items: rest.Pos}
	if len(rest.Kw) > 0 {
		d := py.NewDict()
		methods.Update(b, d, rest)
		arg = d
	}
	return operators.Binary(b, "%", py.SoftStr(b, a[0]), arg)
}

func xmlAttr(b *py.Budget, a []py.Value) py.Value {
	j := py.NewJoiner(b, " ")
	for v := range py.Each(b, methods.Call(b, a[0], "items")) {
		kv := v.(*py.Tuple).Items
		if kv[1] == nil || py.IsUndefined(kv[1]) {
			continue
		}
		if strings.ContainsAny(py.TextArg(kv[0]), " \t\n\r\f\v/>=") {
			py.Raise("ValueError", "%s cannot be the name of an attribute", py.Shown(kv[0]))
		}
		j.Add(string(py.Escape(b, kv[0])) + `="` + string(py.Escape(b, kv[1])) + `"`)
	}
	out := j.String()
	if out != "" && py.Truth(b, a[1]) {
		out = " " + out
	}
	return py.MarkupIf(b.Autoescape, out)
}
