package irisapi

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

// body is a decoded JSON object. Its getters name the field in their faults; title is the fault's, when the route has one.
type body struct {
	members map[string]json.RawMessage
	title   string
	where   string // " in step 2": which part of the request this is
}

// readBody reads and decodes the JSON object in a request, whatever its Content-Type.
func readBody(w http.ResponseWriter, r *http.Request, title string) (body, error) {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return body{}, err
	}
	return parseBody(raw, title)
}

func parseBody(raw []byte, title string) (body, error) {
	members, err := wire.Object(raw)
	return body{members: members, title: title}, err
}

// given reports whether the field is there and not null.
func (b body) given(name string) bool {
	raw, ok := b.members[name]
	return ok && !isNull(raw)
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// fault words what is wrong with a field.
func (b body) fault(name, format string, args ...any) error {
	f := fault.Invalidf(name, format, args...)
	f.Message += b.where
	if b.title != "" {
		f.Message, f.Detail = b.title, f.Message
	}
	return f
}

// text returns a required string that the database can store.
func (b body) text(name string) (string, error) {
	if !b.given(name) {
		return "", b.fault(name, "%s is required", name)
	}
	return b.optionalText(name)
}

// optionalText returns a string, "" for null or none.
func (b body) optionalText(name string) (string, error) {
	if !b.given(name) {
		return "", nil
	}
	var s string
	if json.Unmarshal(b.members[name], &s) != nil {
		return "", b.fault(name, "%s must be a string", name)
	}
	if !storable(s) {
		return "", b.fault(name, "%s must not contain NUL characters", name)
	}
	return s, nil
}

// number returns a required whole number between lowest and highest. Clients also send 1.0 and "1".
func (b body) number(name string, lowest, highest int64) (int64, error) {
	if !b.given(name) {
		return 0, b.fault(name, "%s is required", name)
	}
	n, ok := integer(b.members[name])
	if !ok {
		return 0, b.fault(name, "%s must be an integer", name)
	}
	if n < lowest || n > highest {
		return 0, b.fault(name, "%s must be between %d and %d", name, lowest, highest)
	}
	return n, nil
}

// integer reads a JSON number without a fraction, or a string of one, or a boolean as 0 and 1 (as Python does).
func integer(raw json.RawMessage) (int64, bool) {
	s := string(raw)
	switch s {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	var quoted string
	if len(s) > 0 && s[0] == '"' {
		if json.Unmarshal(raw, &quoted) != nil {
			return 0, false
		}
		s = strings.TrimSpace(quoted)
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// truthy decides a JSON value as Python would: false, 0, "", null, [] and {} are false.
func truthy(raw json.RawMessage) bool {
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

// objects decodes a JSON array of objects.
func objects(raw json.RawMessage) ([]map[string]json.RawMessage, bool) {
	var out []map[string]json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &out) != nil {
		return nil, false
	}
	for _, o := range out {
		if o == nil {
			return nil, false
		}
	}
	return out, true
}

// created answers with a bare id and where the new thing is.
func created(w http.ResponseWriter, id int64, collection string) {
	n := strconv.FormatInt(id, 10)
	if collection != "" {
		w.Header().Set("Location", "/"+collection+"/"+n)
	}
	wire.Raw(w, http.StatusCreated, []byte(n))
}

// pathID reads an integer path parameter of any size.
func pathID(r *http.Request, name string) (int64, bool) { return parseInt(wire.Param(r, name)) }

// digits reports whether a name is a number, which means an id where a name may stand as well.
func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}
