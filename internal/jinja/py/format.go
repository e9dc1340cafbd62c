package py

import (
	"strconv"
	"strings"
)

// formatMethod returns str.format and str.format_map, whose fields look up attributes and items as the sandbox does.
func formatMethod(s Value, name string) (*Func, bool) {
	if name != "format" && name != "format_map" {
		return nil, false
	}
	return &Func{Name: name, Self: s, Fn: func(b *Budget, args Args) Value {
		f := formatter{b: b, pos: args.Pos, kw: args.Kw}
		if name == "format_map" {
			if len(args.Kw) > 0 {
				Raise("TypeError", "format_map() takes no keyword arguments")
			}
			if len(args.Pos) != 1 {
				Raise("TypeError", "format_map() takes exactly one argument (%d given)", len(args.Pos))
			}
			f.pos, f.mapping = nil, args.Pos[0]
		}
		text := self(s)
		_, f.escape = s.(Markup)
		f.format(text, 2)
		if f.escape {
			return Markup(f.out.String())
		}
		return f.out.String()
	}}, true
}

type formatter struct {
	b       *Budget
	pos     []Value
	kw      []Keyword
	mapping Value // of format_map
	escape  bool
	auto    int // next automatic field; -1 = fields are numbered by hand
	out     strings.Builder
}

func (f *formatter) write(s string) {
	f.b.Grow(int64(len(s)))
	f.out.WriteString(s)
}

// format writes text with its fields replaced. depth is how deep fields may still nest.
func (f *formatter) format(text string, depth int) {
	if depth < 0 {
		Raise("ValueError", "Max string recursion exceeded")
	}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			f.write(text)
			return
		}
		f.write(text[:i])
		if i+1 < len(text) && text[i+1] == text[i] {
			f.write(text[i : i+1])
			text = text[i+2:]
			continue
		}
		if text[i] == '}' {
			Raise("ValueError", "Single '}' encountered in format string")
		}
		if i+1 == len(text) {
			Raise("ValueError", "Single '{' encountered in format string")
		}
		text = f.field(text[i+1:], depth)
	}
}

// field writes the replacement field that text begins with, behind the brace, and returns what follows it.
func (f *formatter) field(text string, depth int) string {
	end, open, brackets := 0, 1, false
	nameEnd := -1
	for ; end < len(text) && open > 0; end++ {
		switch c := text[end]; {
		case nameEnd < 0 && c == '[':
			brackets = true
		case nameEnd < 0 && c == ']':
			brackets = false
		case brackets:
		case c == '{' && nameEnd < 0:
			Raise("ValueError", "unexpected '{' in field name")
		case c == '{':
			open++
		case c == '}':
			open--
		case (c == ':' || c == '!') && nameEnd < 0 && open == 1:
			nameEnd = end
		}
	}
	if open > 0 && nameEnd >= 0 {
		Raise("ValueError", "unmatched '{' in format spec")
	}
	if open > 0 {
		Raise("ValueError", "expected '}' before end of string")
	}
	body := text[:end-1]
	name, conversion, spec := body, byte(0), ""
	if nameEnd >= 0 {
		name = body[:nameEnd]
		rest := body[nameEnd:]
		if rest[0] == '!' {
			if len(rest) < 2 {
				Raise("ValueError", "unmatched '{' in format spec")
			}
			conversion = rest[1]
			rest = rest[2:]
			if rest != "" && rest[0] != ':' {
				Raise("ValueError", "expected ':' after conversion specifier")
			}
		}
		spec = strings.TrimPrefix(rest, ":")
	}
	v := f.lookup(name)
	switch conversion {
	case 0:
	case 's':
		v = Str(f.b, v)
	case 'r':
		v = Repr(f.b, v)
	case 'a':
		v = ascii(f.b, v)
	default:
		Raise("ValueError", "Unknown conversion specifier %c", conversion)
	}
	if strings.ContainsAny(spec, "{}") {
		inner := formatter{b: f.b, pos: f.pos, kw: f.kw, mapping: f.mapping, auto: f.auto}
		inner.format(spec, depth-1)
		spec, f.auto = inner.out.String(), inner.auto
	}
	f.write(f.formatted(v, spec))
	return text[end:]
}

func (f *formatter) formatted(v Value, spec string) string {
	if !f.escape {
		return FormatSpec(f.b, v, spec)
	}
	if m, ok := v.(Markup); ok {
		if spec != "" {
			Raise("ValueError", "Unsupported format specification for Markup.")
		}
		return string(m)
	}
	return EscapeText(f.b, FormatSpec(f.b, v, spec))
}

// lookup finds the value a field names: an argument, then attributes and items of it.
func (f *formatter) lookup(name string) Value {
	const mixed = "cannot switch from manual field specification to automatic field numbering"
	if name == "" {
		if f.auto < 0 {
			Raise("ValueError", mixed)
		}
		name = strconv.Itoa(f.auto)
		f.auto++
	} else if isDigits(name) {
		if f.auto > 0 {
			Raise("ValueError", mixed)
		}
		f.auto = -1
	}
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := f.argument(name[:end])
	for rest := name[end:]; rest != ""; {
		f.b.Step(1)
		if rest[0] == '.' {
			n := strings.IndexAny(rest[1:], ".[")
			if n < 0 {
				n = len(rest) - 1
			}
			if n == 0 {
				Raise("ValueError", "Empty attribute in format string")
			}
			v = GetAttr(f.b, v, rest[1:1+n])
			rest = rest[1+n:]
			continue
		}
		n := strings.IndexByte(rest, ']')
		switch {
		case rest[0] != '[':
			Raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier")
		case n < 0:
			Raise("ValueError", "Missing ']' in format string")
		case n == 1:
			Raise("ValueError", "Empty attribute in format string")
		}
		var key Value = rest[1:n]
		if isDigits(rest[1:n]) {
			i, err := strconv.ParseInt(rest[1:n], 10, 64)
			if err != nil {
				Raise("ValueError", "Too many decimal digits in format string")
			}
			key = i
		}
		v = GetItem(f.b, v, key)
		rest = rest[n+1:]
	}
	return v
}

func (f *formatter) argument(name string) Value {
	if isDigits(name) {
		i, err := strconv.Atoi(name)
		if err != nil {
			Raise("ValueError", "Too many decimal digits in format string")
		}
		if i >= len(f.pos) {
			Raise("IndexError", "tuple index out of range")
		}
		return f.pos[i]
	}
	if f.mapping != nil {
		return Subscript(f.b, f.mapping, name)
	}
	for _, kw := range f.kw {
		if kw.Name == name {
			return kw.Value
		}
	}
	panic(&Error{Kind: "KeyError", Message: quote(name)})
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
