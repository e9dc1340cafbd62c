package methods

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/format"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// formatMethod returns str.format and str.format_map.
func formatMethod(self py.Value, name string) (py.Value, bool) {
	switch name {
	case "format":
		return py.NewFunc("format(self, /, ...)", func(b *py.Budget, a []py.Value) py.Value {
			args := a[1].(py.Args)
			return formatted(formatter{Writer: py.Writer{B: b}, pos: args.Pos, kw: args.Kw}, a)
		}).Method(self), true
	case "format_map":
		return py.NewFunc("format_map(self, mapping, /)", func(b *py.Budget, a []py.Value) py.Value {
			return formatted(formatter{Writer: py.Writer{B: b}, mapping: a[1]}, a)
		}).Method(self), true
	}
	return nil, false
}

// formatted replaces the fields of the text a[0]. Fields reach only the attributes and items that the sandbox allows.
func formatted(f formatter, a []py.Value) py.Value {
	_, f.escape = a[0].(py.Markup)
	f.format(text(a[0]), 2)
	return py.WithText(a[0], f.String())
}

type formatter struct {
	py.Writer
	pos     []py.Value
	kw      []py.Keyword
	mapping py.Value // of format_map
	escape  bool
	auto    int // next automatic field; -1 = fields have explicit numbers
}

func wrong(problem string) { py.Raise("ValueError", "the text to format has %s", problem) }

// format writes text with its fields replaced. depth is how deep fields may still nest.
func (f *formatter) format(text string, depth int) {
	if depth < 0 {
		wrong("fields nested too deeply")
	}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			f.Write(text)
			return
		}
		f.Write(text[:i])
		switch {
		case i+1 < len(text) && text[i+1] == text[i]:
			f.Write(text[i : i+1])
			text = text[i+2:]
		case text[i] == '}' || i+1 == len(text):
			wrong("a single brace")
		default:
			text = f.field(text[i+1:], depth)
		}
	}
}

// field writes the replacement field at the start of text, which begins after the brace. It returns the text after the
// field.
func (f *formatter) field(text string, depth int) string {
	end, nameEnd := fieldEnds(text)
	name, rest := text[:nameEnd], text[nameEnd:end]
	conversion := byte(0)
	if strings.HasPrefix(rest, "!") {
		if len(rest) < 2 || len(rest) > 2 && rest[2] != ':' {
			wrong("a conversion that is not one letter")
		}
		conversion, rest = rest[1], rest[2:]
	}
	v := f.lookup(name)
	if conversion != 0 {
		convert := map[byte]func(*py.Budget, py.Value) string{'s': py.Str, 'r': py.Repr, 'a': py.ASCII}[conversion]
		if convert == nil {
			wrong("the conversion " + string(conversion) + ", which is not known")
		}
		v = convert(f.B, v)
	}
	spec := strings.TrimPrefix(rest, ":")
	if strings.ContainsAny(spec, "{}") {
		inner := formatter{Writer: py.Writer{B: f.B}, pos: f.pos, kw: f.kw, mapping: f.mapping, auto: f.auto}
		inner.format(spec, depth-1)
		spec, f.auto = inner.String(), inner.auto
	}
	f.Write(f.value(v, spec))
	return text[end+1:]
}

// fieldEnds returns the end of the field at the start of text, and the end of its name.
func fieldEnds(text string) (end, nameEnd int) {
	open, brackets := 1, false
	nameEnd = -1
	for i := range len(text) {
		switch c := text[i]; {
		case nameEnd < 0 && (c == '[' || c == ']'):
			brackets = c == '['
		case brackets:
		case c == '{' && nameEnd < 0:
			wrong("a brace in the name of a field")
		case c == '{':
			open++
		case c == '}':
			if open--; open == 0 && nameEnd < 0 {
				nameEnd = i
			}
			if open == 0 {
				return i, nameEnd
			}
		case (c == ':' || c == '!') && nameEnd < 0:
			nameEnd = i
		}
	}
	wrong("a field without its end")
	return 0, 0
}

func (f *formatter) value(v py.Value, spec string) string {
	if !f.escape {
		return format.Spec(f.B, v, spec)
	}
	if m, ok := v.(py.Markup); ok {
		if spec != "" {
			wrong("a format for Markup")
		}
		return string(m)
	}
	return py.EscapeText(f.B, format.Spec(f.B, v, spec))
}

// lookup finds the value a field names: an argument, then attributes and items of it.
func (f *formatter) lookup(name string) py.Value {
	_, notNumber := strconv.Atoi(name)
	switch {
	case name == "" && f.auto >= 0:
		name = strconv.Itoa(f.auto)
		f.auto++
	case name == "" || notNumber == nil && f.auto > 0:
		wrong("both fields that are numbered and fields that are not")
	case notNumber == nil:
		f.auto = -1
	}
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.argument(name[:end])
	for rest := name[end:]; rest != ""; {
		f.B.Step(1)
		m := step.FindStringSubmatch(rest)
		switch {
		case m == nil:
			wrong("a name that is not followed by .name or [key]")
		case m[1] != "":
			v = GetAttr(f.B, v, m[1])
		default:
			v = GetItem(f.B, v, Key(m[2]))
		}
		rest = rest[len(m[0]):]
	}
	return v
}

// step is one attribute or item in the name of a field.
var step = regexp.MustCompile(`^(?s:\.([^.\[]+)|\[([^\]]+)\])`)

// Key returns a key that is written in a text: an integer if it has only digits, else the text.
func Key(key string) py.Value {
	if i, err := strconv.ParseUint(key, 10, 62); err == nil {
		return int64(i)
	}
	return key
}

func (f *formatter) argument(name string) py.Value {
	key := Key(name)
	if _, isNumber := key.(int64); isNumber {
		return py.Subscript(f.B, &py.Tuple{Items: f.pos}, key)
	}
	if f.mapping != nil {
		return py.Subscript(f.B, f.mapping, name)
	}
	for _, kw := range f.kw {
		if kw.Name == name {
			return kw.Value
		}
	}
	py.Raise("KeyError", "the text to format has the field %s, which is not given", py.Shown(name))
	return nil
}
