package py

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds the nesting of decoded documents.
const maxJSONDepth = 100

// DecodeJSON reads a JSON document as Python's json.loads does: keys keep their order, the last of equal keys counts,
// integers are exact, true, false and null become True, False and None. NaN and infinities are refused, lone surrogates
// become U+FFFD.
func DecodeJSON(data []byte) (Value, error) {
	d := decoder{s: string(data)}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.i < len(d.s) {
		return nil, d.errorf("extra data")
	}
	return v, nil
}

type decoder struct {
	s string
	i int
}

func (d *decoder) errorf(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), d.i)
}

func (d *decoder) space() {
	for d.i < len(d.s) {
		switch d.s[d.i] {
		case ' ', '\t', '\n', '\r':
			d.i++
		default:
			return
		}
	}
}

// peek skips spaces and returns the next byte, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.i < len(d.s) {
		return d.s[d.i]
	}
	return 0
}

func (d *decoder) value(depth int) (Value, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("nested more than %d levels deep", maxJSONDepth)
	}
	switch c := d.peek(); {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		return d.text()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	for word, v := range map[string]Value{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(d.s[d.i:], word) {
			d.i += len(word)
			return v, nil
		}
	}
	if d.i >= len(d.s) {
		return nil, errors.New("unexpected end of JSON")
	}
	return nil, d.errorf("unexpected character %q", d.s[d.i])
}

func (d *decoder) object(depth int) (Value, error) {
	d.i++
	out := NewDict()
	if d.peek() == '}' {
		d.i++
		return out, nil
	}
	for {
		if d.peek() != '"' {
			return nil, d.errorf("expected a key")
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if d.peek() != ':' {
			return nil, d.errorf("expected ':'")
		}
		d.i++
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if i := out.find(key); i >= 0 {
			out.entries[i].val = v
		} else {
			out.add(entry{hash: key, key: key, val: v})
		}
		switch d.peek() {
		case ',':
			d.i++
		case '}':
			d.i++
			return out, nil
		default:
			return nil, d.errorf("expected ',' or '}'")
		}
	}
}

func (d *decoder) array(depth int) (Value, error) {
	d.i++
	out := &List{}
	if d.peek() == ']' {
		d.i++
		return out, nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
		switch d.peek() {
		case ',':
			d.i++
		case ']':
			d.i++
			return out, nil
		default:
			return nil, d.errorf("expected ',' or ']'")
		}
	}
}

// text reads a string; d.s[d.i] is its opening quote.
func (d *decoder) text() (string, error) {
	d.i++
	start := d.i
	for d.i < len(d.s) && d.s[d.i] != '"' && d.s[d.i] != '\\' && d.s[d.i] >= ' ' {
		d.i++
	}
	if d.i < len(d.s) && d.s[d.i] == '"' {
		d.i++
		return strings.ToValidUTF8(d.s[start:d.i-1], "\ufffd"), nil
	}
	var sb strings.Builder
	sb.WriteString(d.s[start:d.i])
	for d.i < len(d.s) {
		c := d.s[d.i]
		switch {
		case c == '"':
			d.i++
			return strings.ToValidUTF8(sb.String(), "\ufffd"), nil
		case c == '\\':
			if err := d.escape(&sb); err != nil {
				return "", err
			}
		case c < ' ':
			return "", d.errorf("control character in a string")
		default:
			sb.WriteByte(c)
			d.i++
		}
	}
	return "", errors.New("unterminated string")
}

func (d *decoder) escape(sb *strings.Builder) error {
	if d.i+1 >= len(d.s) {
		return errors.New("unterminated string")
	}
	c := d.s[d.i+1]
	d.i += 2
	if c == 'u' {
		r, err := d.hex4()
		if err != nil {
			return err
		}
		if utf16.IsSurrogate(r) && strings.HasPrefix(d.s[d.i:], `\u`) {
			back := d.i
			d.i += 2
			low, err := d.hex4()
			if err != nil {
				return err
			}
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r = pair
			} else {
				d.i = back
			}
		}
		sb.WriteRune(r)
		return nil
	}
	i := strings.IndexByte(`"\/bfnrt`, c)
	if i < 0 {
		return d.errorf("invalid escape")
	}
	sb.WriteByte("\"\\/\b\f\n\r\t"[i])
	return nil
}

func (d *decoder) hex4() (rune, error) {
	if d.i+4 > len(d.s) {
		return 0, errors.New("unterminated string")
	}
	n, err := strconv.ParseUint(d.s[d.i:d.i+4], 16, 32)
	if err != nil {
		return 0, d.errorf("invalid escape")
	}
	d.i += 4
	return rune(n), nil
}

func (d *decoder) number() (Value, error) {
	start := d.i
	digits := func() int {
		from := d.i
		for d.i < len(d.s) && d.s[d.i] >= '0' && d.s[d.i] <= '9' {
			d.i++
		}
		return d.i - from
	}
	if d.s[d.i] == '-' {
		d.i++
	}
	if d.i < len(d.s) && d.s[d.i] == '0' {
		d.i++
	} else if digits() == 0 {
		return nil, d.errorf("invalid number")
	}
	isInt := true
	if d.i < len(d.s) && d.s[d.i] == '.' {
		d.i++
		isInt = false
		if digits() == 0 {
			return nil, d.errorf("invalid number")
		}
	}
	if d.i < len(d.s) && (d.s[d.i] == 'e' || d.s[d.i] == 'E') {
		d.i++
		isInt = false
		if d.i < len(d.s) && (d.s[d.i] == '+' || d.s[d.i] == '-') {
			d.i++
		}
		if digits() == 0 {
			return nil, d.errorf("invalid number")
		}
	}
	text := d.s[start:d.i]
	if isInt {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
		if len(text) > maxIntDigits {
			return nil, d.errorf("number of more than %d digits", maxIntDigits)
		}
		i, _ := new(big.Int).SetString(text, 10)
		return i, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		return nil, d.errorf("invalid number")
	}
	return f, nil
}

// JSON is json.dumps(v, sort_keys=True) with an indent per level; a nil indent writes one line.
func JSON(b *Budget, v Value, indent *string) string {
	e := encoder{b: b, indent: indent, itemSep: ", "}
	if indent != nil {
		e.itemSep = ","
	}
	e.value(v, "\n")
	return e.sb.String()
}

type encoder struct {
	b       *Budget
	sb      strings.Builder
	indent  *string
	itemSep string
	open    []Value
}

func (e *encoder) w(s string) {
	e.b.Grow(int64(len(s)))
	e.sb.WriteString(s)
}

func (e *encoder) value(v Value, nl string) {
	switch x := v.(type) {
	case nil:
		e.w("null")
	case bool:
		e.w(strconv.FormatBool(x))
	case int64, *big.Int:
		e.w(Str(e.b, v))
	case float64:
		e.w(jsonFloat(x))
	case string:
		if e.b.marks == MarksJSON {
			x = markText(e.b, x)
		}
		e.w(jsonText(e.b, x))
	case Markup:
		e.w(jsonText(e.b, string(x)))
	case *List:
		e.list(v, x.Items, nl)
	case *Tuple:
		e.list(v, x.Items, nl)
	case *Dict:
		e.dict(x, nl)
	default:
		Raise("TypeError", "Object of type %s is not JSON serializable", TypeName(v))
	}
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return FloatRepr(f)
}

func (e *encoder) enter(v Value) {
	for _, o := range e.open {
		if o == v {
			Raise("ValueError", "Circular reference detected")
		}
	}
	e.b.Enter()
	e.open = append(e.open, v)
}

func (e *encoder) leave() {
	e.b.Leave()
	e.open = e.open[:len(e.open)-1]
}

// inner is the line break and indentation one level below nl.
func (e *encoder) inner(nl string) string {
	e.b.Grow(int64(len(nl) + len(*e.indent)))
	return nl + *e.indent
}

func (e *encoder) list(v Value, items []Value, nl string) {
	if len(items) == 0 {
		e.w("[]")
		return
	}
	e.enter(v)
	defer e.leave()
	e.w("[")
	in := nl
	if e.indent != nil {
		in = e.inner(nl)
	}
	for i, it := range items {
		if i > 0 {
			e.w(e.itemSep)
		}
		if e.indent != nil {
			e.w(in)
		}
		e.value(it, in)
	}
	if e.indent != nil {
		e.w(nl)
	}
	e.w("]")
}

func (e *encoder) dict(d *Dict, nl string) {
	if d.Len() == 0 {
		e.w("{}")
		return
	}
	e.enter(d)
	defer e.leave()
	keys := Items(e.b, d)
	Sort(e.b, keys, append([]Value(nil), keys...), false)
	e.w("{")
	in := nl
	if e.indent != nil {
		in = e.inner(nl)
	}
	for i, k := range keys {
		if i > 0 {
			e.w(e.itemSep)
		}
		if e.indent != nil {
			e.w(in)
		}
		e.w(jsonText(e.b, jsonKey(e.b, k)))
		e.w(": ")
		v, _ := d.Get(e.b, k)
		e.value(v, in)
	}
	if e.indent != nil {
		e.w(nl)
	}
	e.w("}")
}

func jsonKey(b *Budget, k Value) string {
	switch x := k.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case int64, *big.Int:
		return Str(b, k)
	case float64:
		return jsonFloat(x)
	}
	s, ok := AsString(k)
	if !ok {
		Raise("TypeError", "keys must be str, int, float, bool or None, not %s", TypeName(k))
	}
	return s
}

func jsonText(b *Budget, s string) string {
	b.GrowTimes(2, int64(len(s)+1))
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case r == '\n':
			sb.WriteString(`\n`)
		case r == '\r':
			sb.WriteString(`\r`)
		case r == '\t':
			sb.WriteString(`\t`)
		case r == '\b':
			sb.WriteString(`\b`)
		case r == '\f':
			sb.WriteString(`\f`)
		case r >= ' ' && r < 0x7f:
			sb.WriteByte(byte(r))
		case r < 0x10000:
			fmt.Fprintf(&sb, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&sb, `\u%04x\u%04x`, hi, lo)
		}
	}
	sb.WriteByte('"')
	return sb.String()
}
