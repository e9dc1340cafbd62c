package jinja

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Vars are the variables of a rendering. DecodeVars makes them; the zero value can only be rendered. A rendering may
// change the lists and dictionaries in them. Use Vars for one rendering, or for several in sequence that may share
// changes.
type Vars struct{ dict *py.Dict }

// DecodeVars reads the variables from a JSON object; empty data means no variables.
func DecodeVars(data []byte) (Vars, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return Vars{dict: py.NewDict()}, nil
	}
	v, err := decodeJSON(data)
	if err != nil {
		return Vars{}, err
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return Vars{}, fmt.Errorf("the context is not a JSON object")
	}
	return Vars{dict: d}, nil
}

// Field is a named value: a string, int64, bool or nil.
type Field struct {
	Name  string
	Value any
}

// Set stores a dictionary of the fields as a variable.
func (v Vars) Set(name string, fields []Field) {
	d := py.NewDict()
	for _, f := range fields {
		d.Put(f.Name, f.Value)
	}
	v.dict.Put(name, d)
}

// Get returns a variable as text, as a template would print it; false if there is none.
func (v Vars) Get(name string) (string, bool) {
	x, ok := v.dict.GetString(name)
	if !ok {
		return "", false
	}
	return Text(x), true
}

// At returns the value at a path of names with dots between them, as a template would print it; false if there is none.
// null is "". A number is the place in a list, from 0. It finds no name that has a dot.
func (v Vars) At(path string) (string, bool) {
	var x py.Value = v.dict
	for name := range strings.SplitSeq(path, ".") {
		known := false
		switch in := x.(type) {
		case *py.Dict:
			x, known = in.GetString(name)
		case *py.List:
			n, err := strconv.Atoi(name)
			if known = err == nil && n >= 0 && n < len(in.Items); known {
				x = in.Items[n]
			}
		}
		if !known {
			return "", false
		}
	}
	if x == nil {
		return "", true
	}
	return Text(x), true
}

// Each calls f for every variable, in order, with the Text of its value.
func (v Vars) Each(f func(name, text string)) {
	v.dict.Each(func(k, x py.Value) bool {
		if name, ok := py.AsString(k); ok {
			f(name, Text(x))
		}
		return true
	})
}

// Text returns a value as a template prints it. A value that is not text is "..." if it is nested more than 20 levels
// deep or its text needs more than 16 KiB.
func Text(x any) string {
	if s, ok := py.AsString(x); ok {
		return s
	}
	return py.Brief(py.Limits{Steps: 100_000, Memory: 16 << 10, Depth: 20, Time: time.Second}, x, py.Str)
}

// maxJSONDepth bounds the nesting of decoded documents.
const maxJSONDepth = 100

// decodeJSON reads a JSON document as Python's json.loads does: keys keep their order, the last of equal keys counts,
// integers are exact, true, false and null become True, False and None. NaN and infinities are refused, lone surrogates
// become U+FFFD.
func decodeJSON(data []byte) (v py.Value, err error) {
	if !json.Valid(data) { // the decoder need not check the syntax
		var document json.RawMessage
		return nil, json.Unmarshal(data, &document)
	}
	defer func() {
		if r, ok := recover().(error); ok {
			v, err = nil, r
		}
	}()
	d := decoder{s: strings.ToValidUTF8(string(data), "\ufffd")}
	return d.value(0), nil
}

// decoder reads a document that is known to be well formed. It panics with an error for one that is too large.
type decoder struct{ s string }

// peek skips spaces and separators and returns the next byte.
func (d *decoder) peek() byte {
	i := 0
	for d.s[i] <= ' ' || d.s[i] == ',' || d.s[i] == ':' {
		i++
	}
	d.s = d.s[i:]
	return d.s[0]
}

func (d *decoder) value(depth int) py.Value {
	if depth > maxJSONDepth {
		panic(fmt.Errorf("nested more than %d levels deep", maxJSONDepth))
	}
	switch c := d.peek(); c {
	case '{':
		out := py.NewDict()
		for d.s = d.s[1:]; d.peek() != '}'; {
			key := d.text()
			out.Put(key, d.value(depth+1))
		}
		d.s = d.s[1:]
		return out
	case '[':
		out := &py.List{}
		for d.s = d.s[1:]; d.peek() != ']'; {
			out.Items = append(out.Items, d.value(depth+1))
		}
		d.s = d.s[1:]
		return out
	case '"':
		return d.text()
	case 't':
		d.s = d.s[len("true"):]
		return true
	case 'f':
		d.s = d.s[len("false"):]
		return false
	case 'n':
		d.s = d.s[len("null"):]
		return nil
	}
	return d.number()
}

// text reads a string.
func (d *decoder) text() string {
	end := 1 + strings.IndexByte(d.s[1:], '"')
	if text := d.s[1:end]; strings.IndexByte(text, '\\') < 0 {
		d.s = d.s[end+1:]
		return text
	}
	for end = 1; d.s[end] != '"'; end++ {
		if d.s[end] == '\\' {
			end++
		}
	}
	literal := d.s[:end+1]
	d.s = d.s[end+1:]
	var text string
	if err := json.Unmarshal([]byte(literal), &text); err != nil {
		panic(err)
	}
	return text
}

func (d *decoder) number() py.Value {
	end, whole := 0, true
	for ; end < len(d.s) && strings.IndexByte("+-.0123456789eE", d.s[end]) >= 0; end++ {
		whole = whole && d.s[end] != '.' && d.s[end]|0x20 != 'e'
	}
	text := d.s[:end]
	d.s = d.s[end:]
	if !whole {
		f, _ := strconv.ParseFloat(text, 64) // infinity if it is too large
		return f
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if len(text) > py.MaxIntDigits {
		panic(fmt.Errorf("a number of more than %d digits", py.MaxIntDigits))
	}
	i, _ := new(big.Int).SetString(text, 10)
	return py.FromBig(i)
}
