package jsonbody

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Object is a decoded JSON object. The faults of its getters are Invalid faults that name the field.
type Object struct {
	Members map[string]json.RawMessage
	Title   string // of the faults; "" = none
	// Where is the end of the text of each fault. It names the place of the object in the body, such as " in step 2";
	// "" = the body.
	Where string
	Raw   json.RawMessage
}

// ReadRaw reads a JSON value and ignores the Content-Type. It replaces NUL characters (wire.WithoutNUL).
func ReadRaw(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return nil, err
	}
	if err := wire.CheckJSON(raw); err != nil {
		return nil, badJSON(raw, err)
	}
	return wire.WithoutNUL(raw), nil
}

func badJSON(raw []byte, err error) error {
	why := fault.Public(err)
	var v any
	if syntax := json.Unmarshal(raw, &v); syntax != nil {
		why = syntax.Error()
	}
	return fault.Titled("invalid JSON", "failed to decode json: "+why)
}

// Read reads a JSON object. title is the title of the faults of its fields.
func Read(w http.ResponseWriter, r *http.Request, title string) (Object, error) {
	raw, err := ReadRaw(w, r)
	if err != nil {
		return Object{}, err
	}
	return Parse(raw, title)
}

// Parse reads a JSON object. title is the title of the faults of its fields.
func Parse(raw json.RawMessage, title string) (Object, error) {
	b := Object{Title: title, Raw: raw}
	if len(raw) == 0 || bytes.TrimLeft(raw, " \t\r\n")[0] != '{' {
		return b, fault.Titled("invalid JSON", "failed to decode json: an object is expected")
	}
	err := json.Unmarshal(raw, &b.Members)
	if err != nil {
		return b, badJSON(raw, err)
	}
	return b, nil
}

// ParseMember reads an object inside a body. Faults name it by name.
func ParseMember(name string, raw json.RawMessage, title string) (Object, error) {
	b := Object{Title: title, Raw: raw}
	if json.Unmarshal(raw, &b.Members) != nil || b.Members == nil {
		return b, b.Fault(name, "%s must be an object", name)
	}
	return b, nil
}

// Has reports whether the object has the key, even with the value null.
func (b Object) Has(name string) bool { _, ok := b.Members[name]; return ok }

// Given reports whether the object has the key with a value other than null.
func (b Object) Given(name string) bool {
	raw, ok := b.Members[name]
	return ok && string(raw) != "null"
}

// Fault returns an Invalid fault about a field, under the title of the object.
func (b Object) Fault(name, format string, args ...any) error {
	f := fault.Invalidf(name, format, args...)
	f.Message += b.Where
	if b.Title != "" {
		f.Message, f.Detail = b.Title, f.Message
	}
	return f
}

// Missing returns the fault of an absent required field.
func (b Object) Missing(name string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Missing field", Detail: `"` + name +
		`" is required`}
}

// Text returns a string; "" for null or a missing key.
func (b Object) Text(name string) (string, error) {
	if !b.Given(name) {
		return "", nil
	}
	var s string
	if json.Unmarshal(b.Members[name], &s) != nil {
		return "", b.Fault(name, "%s must be a string", name)
	}
	return s, nil
}

// TextPtr returns a string; nil for a missing key, "" for null.
func (b Object) TextPtr(name string) (*string, error) {
	if !b.Has(name) {
		return nil, nil
	}
	s, err := b.Text(name)
	return &s, err
}

// Required returns a string. Null and a missing key are an Invalid fault.
func (b Object) Required(name string) (string, error) {
	if !b.Given(name) {
		return "", b.Missing(name)
	}
	return b.Text(name)
}

// Flag returns a boolean, which may be written as 0 or 1. ok is false for null and a missing key.
func (b Object) Flag(name string) (value, ok bool, err error) {
	if !b.Given(name) {
		return false, false, nil
	}
	switch string(b.Members[name]) {
	case "true", "1":
		return true, true, nil
	case "false", "0":
		return false, true, nil
	}
	return false, false, b.Fault(name, "%s must be boolean", name)
}

// Number returns a whole number. It rounds fractions and accepts strings of digits. ok is false for null and a missing
// key.
func (b Object) Number(name string) (value int64, ok bool, err error) {
	if !b.Given(name) {
		return 0, false, nil
	}
	n, fine := ParseNumber(b.Members[name])
	if !fine {
		return 0, false, b.Fault(name, "%s must be a number", name)
	}
	return n, true, nil
}

// ParseNumber reads a number and rounds it. A string of digits is a number.
func ParseNumber(raw json.RawMessage) (int64, bool) {
	s, ok := unquoted(raw)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, ok
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e17 {
		return 0, false
	}
	return int64(math.Round(f)), ok
}

// ParseWhole reads a number without a fraction. A string of digits is a number; true is 1 and false is 0, as in Python.
func ParseWhole(raw json.RawMessage) (int64, bool) {
	switch string(raw) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	s, ok := unquoted(raw)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, ok
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), ok
}

// unquoted returns the text of a JSON string, or any other value as it is written.
func unquoted(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return string(raw), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return strings.TrimSpace(s), err == nil
}

// LastSecond is the last second that requests may name: the end of the year 9999. Larger numbers are usually
// milliseconds.
const LastSecond = 253402300799

// Time returns an instant from Unix seconds. ok is false for null and a missing key.
func (b Object) Time(name string) (t time.Time, ok bool, err error) {
	n, ok, err := b.Number(name)
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	if n < 0 || n > LastSecond {
		return time.Time{}, false, b.Fault(name, "%s must be Unix seconds between 0 and %d", name, LastSecond)
	}
	return time.Unix(n, 0).UTC(), true, nil
}

// RequiredTime is Time for a field that must be given.
func (b Object) RequiredTime(name string) (time.Time, error) {
	t, ok, err := b.Time(name)
	if err == nil && !ok {
		err = b.Missing(name)
	}
	return t, err
}

// Next reads a field unless err has the fault of an earlier field. So a handler reads several fields and checks err
// once.
func Next[T any](err *error, read func(name string) (T, error), name string) (value T) {
	if *err == nil {
		value, *err = read(name)
	}
	return value
}

// Texts returns a list of strings. ok is false for null and a missing key.
func (b Object) Texts(name string) (list []string, ok bool, err error) {
	if !b.Given(name) {
		return nil, false, nil
	}
	if json.Unmarshal(b.Members[name], &list) != nil {
		return nil, false, b.Fault(name, "%s must be a list of strings", name)
	}
	return list, true, nil
}

// ReadName reads {"name": ...}.
func ReadName(w http.ResponseWriter, r *http.Request) (string, error) {
	b, err := Read(w, r, "invalid payload")
	if err != nil {
		return "", err
	}
	name, err := b.Required("name")
	if err == nil && strings.TrimSpace(name) == "" {
		err = b.Missing("name")
	}
	return strings.TrimSpace(name), err
}

// Without returns the body without some of its members.
func (b Object) Without(names ...string) Object {
	out := Object{Title: b.Title, Raw: b.Raw, Members: map[string]json.RawMessage{}}
	for k, v := range b.Members {
		if !slices.Contains(names, k) {
			out.Members[k] = v
		}
	}
	return out
}
