package irisapi

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Body is a JSON object of a request. Its getters refuse NUL characters and fractions, with the texts that clients of
// /v0 know; those of other edges replace NUL and round. Body keeps the first fault, which Err returns. A getter of a
// wrong field returns the zero value, so a handler reads all fields and checks Err once.
type Body struct {
	jsonbody.Object
	first *error
}

// ReadBody reads the JSON object in a request and ignores the Content-Type. title is the title of the faults of its
// fields.
func ReadBody(w http.ResponseWriter, r *http.Request, title string) Body {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return Body{first: &err}
	}
	b, _ := ParseBody(raw, title)
	return b
}

// ParseBody reads a JSON object. title is the title of the faults of its fields. Err returns the same error.
func ParseBody(raw []byte, title string) (Body, error) {
	members, err := wire.Object(raw)
	return Body{jsonbody.Object{Members: members, Title: title}, &err}, err
}

// Of returns the Body of decoded members. where is the end of the text of each fault.
func Of(members map[string]json.RawMessage, title, where string) Body {
	return Body{jsonbody.Object{Members: members, Title: title, Where: where}, new(error)}
}

// Err returns the first fault of the body; nil = there is none.
func (b Body) Err() error { return *b.first }

// Check records a fault unless ok is true. Faults after the first one are dropped.
func (b Body) Check(ok bool, otherwise error) {
	if !ok && *b.first == nil {
		*b.first = otherwise
	}
}

// In returns an object inside the body. Err of the body also returns its faults. where is the end of the text of each
// fault.
func (b Body) In(members map[string]json.RawMessage, title, where string) Body {
	return Body{jsonbody.Object{Members: members, Title: title, Where: where}, b.first}
}

// Required returns a string. Null and a missing key are a fault.
func (b Body) Required(name string) string {
	b.Check(b.Given(name), b.Fault(name, "%s is required", name))
	return b.Text(name)
}

// Text returns a string; "" for null or a missing key.
func (b Body) Text(name string) string {
	s, err := b.Object.Text(name)
	b.Check(err == nil, err)
	b.Check(wire.Storable(s), b.Fault(name, "%s must not contain NUL characters", name))
	return s
}

// Whole returns a required whole number between lowest and highest. Clients also send 1.0 and "1".
func (b Body) Whole(name string, lowest, highest int64) int64 {
	b.Check(b.Given(name), b.Fault(name, "%s is required", name))
	n, ok := jsonbody.ParseWhole(b.Members[name])
	b.Check(ok, b.Fault(name, "%s must be an integer", name))
	b.Check(n >= lowest && n <= highest, b.Fault(name, "%s must be between %d and %d", name, lowest, highest))
	return n
}

// Integer reads a whole number, or a string or boolean that Python takes for one.
func Integer(raw json.RawMessage) (int64, bool) { return jsonbody.ParseWhole(raw) }

// IsNull reports whether a value is null.
func IsNull(raw json.RawMessage) bool { return string(raw) == "null" }

// Truthy converts a JSON value to a boolean as Python does: false, 0, "", null, [] and {} are false.
func Truthy(raw json.RawMessage) bool {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, err := v.Float64()
		return err != nil || f != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// Objects decodes a JSON array of objects; ok is false for any other value.
func Objects(raw json.RawMessage) (list []map[string]json.RawMessage, ok bool) {
	if IsNull(raw) || json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	for _, o := range list {
		if o == nil {
			return nil, false
		}
	}
	return list, true
}

// texts decodes a JSON array of strings that can be stored; ok is false for any other value.
func texts(raw json.RawMessage) (list []string, ok bool) {
	if raw == nil || IsNull(raw) || json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	for _, s := range list {
		if !wire.Storable(s) {
			return nil, false
		}
	}
	return list, true
}
