package v0

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// Body is a JSON object of a request. Its getters refuse NUL characters and fractions, with the texts that clients of /v0
// know; those of other edges replace NUL and round.
type Body struct{ jsonbody.Object }

// ReadBody reads the JSON object in a request, whatever its Content-Type. title is that of the faults of its fields.
func ReadBody(w http.ResponseWriter, r *http.Request, title string) (Body, error) {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return Body{}, err
	}
	return ParseBody(raw, title)
}

// ParseBody reads a JSON object. title is that of the faults of its fields.
func ParseBody(raw []byte, title string) (Body, error) {
	members, err := wire.Object(raw)
	return Of(members, title, ""), err
}

// Of returns an object inside of a body. where ends the texts of its faults.
func Of(members map[string]json.RawMessage, title, where string) Body {
	return Body{jsonbody.Object{Members: members, Title: title, Where: where}}
}

// Required returns a string that must be there.
func (b Body) Required(name string) (string, error) {
	if !b.Given(name) {
		return "", b.Fault(name, "%s is required", name)
	}
	return b.Text(name)
}

// Text returns a string, "" for null or none.
func (b Body) Text(name string) (string, error) {
	s, err := b.Object.Text(name)
	if err == nil && !wire.Storable(s) {
		return "", b.Fault(name, "%s must not contain NUL characters", name)
	}
	return s, err
}

// Whole returns a required whole number between lowest and highest. Clients also send 1.0 and "1".
func (b Body) Whole(name string, lowest, highest int64) (int64, error) {
	if !b.Given(name) {
		return 0, b.Fault(name, "%s is required", name)
	}
	n, ok := jsonbody.ParseWhole(b.Members[name])
	if !ok {
		return 0, b.Fault(name, "%s must be an integer", name)
	}
	if n < lowest || n > highest {
		return 0, b.Fault(name, "%s must be between %d and %d", name, lowest, highest)
	}
	return n, nil
}

// Integer reads a whole number, or a string or boolean that Python takes for one.
func Integer(raw json.RawMessage) (int64, bool) { return jsonbody.ParseWhole(raw) }

// IsNull reports whether a value is null.
func IsNull(raw json.RawMessage) bool { return string(raw) == "null" }

// Truthy decides a JSON value as Python does: false, 0, "", null, [] and {} are false.
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

// Texts decodes a JSON array of strings that can be stored; ok is false for any other value.
func Texts(raw json.RawMessage) (list []string, ok bool) {
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
