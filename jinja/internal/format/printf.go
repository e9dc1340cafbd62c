package format

import (
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Printf is format % arg for a format that is a str or Markup. Markup escapes the arguments that are not Markup.
func Printf(b *py.Budget, format, arg py.Value) py.Value {
	text, _ := py.AsString(format)
	escape := func(s string) string { return s }
	if _, safe := format.(py.Markup); safe {
		escape = func(s string) string { return py.EscapeText(b, s) }
	}
	return py.WithText(format, printf(b, text, arg, escape))
}

type printer struct {
	py.Writer
	escape  func(string) string
	arg     py.Value
	tuple   []py.Value // arg's elements, or arg alone
	next    int
	mapping bool
}

func printf(b *py.Budget, format string, arg py.Value, escape func(string) string) string {
	p := &printer{Writer: py.Writer{B: b}, escape: escape, arg: arg, tuple: []py.Value{arg}}
	switch x := arg.(type) {
	case *py.Tuple:
		p.tuple = x.Items
	case *py.Dict, *py.List, *py.Undefined, *py.Range, py.Bytes:
		p.mapping = true
	}
	for format != "" {
		text, rest, found := strings.Cut(format, "%")
		p.Write(text)
		if found {
			rest = p.directive(rest)
		}
		format = rest
	}
	if p.next < len(p.tuple) && !p.mapping {
		py.Raise("TypeError", "the text to format has a place for %d values, not %d", p.next, len(p.tuple))
	}
	return p.String()
}

func (p *printer) take() py.Value {
	py.RaiseIf(p.next >= len(p.tuple), "TypeError", "there are only %d values for the text to format", len(p.tuple))
	p.next++
	return p.tuple[p.next-1]
}

// directive is flags, width, precision and verb.
var directive = regexp.MustCompile(`(?s)^([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)`)

// directive formats the directive that follows a % and returns the text after it.
func (p *printer) directive(format string) string {
	if strings.HasPrefix(format, "%") {
		p.Write("%")
		return format[1:]
	}
	value := p.take
	if strings.HasPrefix(format, "(") {
		py.RaiseIf(!p.mapping, "TypeError", "named values for the text to format need a dictionary")
		end := closing(format)
		key := format[1:end]
		format = format[end+1:]
		value = func() py.Value { return py.Subscript(p.B, p.arg, key) }
	}
	m := directive.FindStringSubmatch(format)
	py.RaiseIf(m == nil, "ValueError", "the text to format ends within a %%")
	flags := m[1]
	l := layout{fill: " ", align: ">", alt: strings.Contains(flags, "#"), prec: -1, verb: m[4]}
	l.width = p.size(m[2])
	if m[3] != "" || strings.Contains(m[0], ".") && m[4] != "." {
		l.prec = max(p.size(m[3]), 0)
	}
	switch {
	case strings.Contains(flags, "-") || l.width < 0:
		l.align, l.width = "<", max(l.width, -l.width)
	case strings.Contains(flags, "0") && !strings.Contains("csra", l.verb):
		l.fill, l.align = "0", "="
	}
	for _, sign := range []string{" ", "+"} {
		if strings.Contains(flags, sign) {
			l.sign = sign
		}
	}
	p.Write(p.formatted(l, value()))
	return format[len(m[0]):]
}

// closing returns the index of the parenthesis that closes the one at the start of format.
func closing(format string) int {
	depth := 0
	for i, c := range format {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	py.Raise("ValueError", "the text to format has a parenthesis without its end")
	return 0
}

// size is a width or precision: digits, or * for a value.
func (p *printer) size(s string) int64 {
	if s != "*" {
		return size(s)
	}
	n, ok := p.take().(int64)
	py.RaiseIf(!ok, "TypeError", "* needs an integer")
	return n
}

func (p *printer) formatted(l layout, v py.Value) string {
	text := ""
	switch l.verb {
	case "s":
		text = py.Str(p.B, v)
		if _, safe := v.(py.Markup); !safe {
			text = p.escape(text)
		}
	case "r":
		text = p.escape(py.Repr(p.B, v))
	case "a":
		text = py.ASCII(p.B, v)
	case "c":
		l.prec = -1
		text = character(v)
	case "d", "i", "u", "x", "X", "o":
		i, ok := py.BigInt(v)
		f, isFloat := v.(float64)
		switch {
		case ok:
		case isFloat && strings.Contains("diu", l.verb):
			i = py.Truncate(f)
		case strings.Contains("diu", l.verb):
			py.RealNumber(v) // raises
		default:
			py.Raise("TypeError", "%%%s needs an integer, not %s", l.verb, py.TypeName(v))
		}
		return integer(p.B, i, l)
	case "e", "E", "f", "F", "g", "G":
		return real(p.B, py.RealNumber(v), l)
	default:
		py.Raise("ValueError", "%%%s is not known", l.verb)
	}
	return specText(p.B, text, layout{fill: " ", align: l.align, width: l.width, prec: l.prec})
}
