package oncallapi

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire"
)

// body is a decoded JSON object. Its getters name the field in their faults, under the route's title.
type body struct {
	members map[string]json.RawMessage
	title   string
	raw     json.RawMessage
}

// readRaw reads a JSON value, whatever its Content-Type.
func readRaw(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
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

// readBody reads a JSON object. title is that of the faults of its fields.
func readBody(w http.ResponseWriter, r *http.Request, title string) (body, error) {
	raw, err := readRaw(w, r)
	if err != nil {
		return body{}, err
	}
	return parseObject(raw, title)
}

func parseObject(raw json.RawMessage, title string) (body, error) {
	b := body{title: title, raw: raw}
	if len(raw) == 0 || bytes.TrimLeft(raw, " \t\r\n")[0] != '{' {
		return b, fault.Titled("invalid JSON", "failed to decode json: an object is expected")
	}
	err := json.Unmarshal(raw, &b.members)
	if err != nil {
		return b, badJSON(raw, err)
	}
	return b, nil
}

// parseMember reads an object inside of a body; name says which one.
func parseMember(name string, raw json.RawMessage, title string) (body, error) {
	b := body{title: title, raw: raw}
	if json.Unmarshal(raw, &b.members) != nil || b.members == nil {
		return b, b.fault(name, "%s must be an object", name)
	}
	return b, nil
}

// has reports whether the key is there, null or not; given whether it is there with a value.
func (b body) has(name string) bool { _, ok := b.members[name]; return ok }

func (b body) given(name string) bool {
	raw, ok := b.members[name]
	return ok && string(raw) != "null"
}

func (b body) fault(name, format string, args ...any) error {
	f := fault.Invalidf(name, format, args...)
	if b.title != "" {
		f.Message, f.Detail = b.title, f.Message
	}
	return f
}

// missing words the absence of a required field.
func (b body) missing(name string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Missing field", Detail: `"` + name + `" is required`}
}

// text returns a string, "" for null or none.
func (b body) text(name string) (string, error) {
	if !b.given(name) {
		return "", nil
	}
	var s string
	if json.Unmarshal(b.members[name], &s) != nil {
		return "", b.fault(name, "%s must be a string", name)
	}
	return s, nil
}

// textPtr returns a string, nil when the key is not there; null is "".
func (b body) textPtr(name string) (*string, error) {
	if !b.has(name) {
		return nil, nil
	}
	s, err := b.text(name)
	return &s, err
}

// required returns a string that must be there.
func (b body) required(name string) (string, error) {
	if !b.given(name) {
		return "", b.missing(name)
	}
	return b.text(name)
}

// flag returns a JSON boolean, or 0 and 1; ok is false for none and null.
func (b body) flag(name string) (value, ok bool, err error) {
	if !b.given(name) {
		return false, false, nil
	}
	switch string(b.members[name]) {
	case "true", "1":
		return true, true, nil
	case "false", "0":
		return false, true, nil
	}
	return false, false, b.fault(name, "%s must be boolean", name)
}

// number returns a whole number; floats are rounded, strings of digits taken. ok is false for none and null.
func (b body) number(name string) (value int64, ok bool, err error) {
	if !b.given(name) {
		return 0, false, nil
	}
	n, fine := number(b.members[name])
	if !fine {
		return 0, false, b.fault(name, "%s must be a number", name)
	}
	return n, true, nil
}

func number(raw json.RawMessage) (int64, bool) {
	s := string(raw)
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
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e17 {
		return 0, false
	}
	return int64(math.Round(f)), true
}

// farthest is the last second that calendars speak of: the end of the year 9999. Numbers beyond it are usually milliseconds.
const farthest = 253402300799

// at returns an instant from Unix seconds; ok is false for none and null.
func (b body) at(name string) (t time.Time, ok bool, err error) {
	n, ok, err := b.number(name)
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	if n < 0 || n > farthest {
		return time.Time{}, false, b.fault(name, "%s must be Unix seconds between 0 and %d", name, farthest)
	}
	return time.Unix(n, 0).UTC(), true, nil
}

// mustAt is at for a field that must be there.
func (b body) mustAt(name string) (time.Time, error) {
	t, ok, err := b.at(name)
	if err == nil && !ok {
		err = b.missing(name)
	}
	return t, err
}

// texts returns a list of strings; ok is false for none and null.
func (b body) texts(name string) (list []string, ok bool, err error) {
	if !b.given(name) {
		return nil, false, nil
	}
	if json.Unmarshal(b.members[name], &list) != nil {
		return nil, false, b.fault(name, "%s must be a list of strings", name)
	}
	return list, true, nil
}

// fields reads the query's fields parameter against the ones there are. The first unknown one is a fault, or left out where
// refuse is nil. Without any, all are asked for.
func fields(q url.Values, known []string, refuse error) ([]string, error) {
	asked := q["fields"]
	if len(asked) == 0 {
		return known, nil
	}
	var out []string
	for _, f := range asked {
		switch {
		case slices.Contains(known, f):
			out = append(out, f)
		case refuse != nil:
			return nil, refuse
		}
	}
	return out, nil
}

var errBadFields = fault.Titled("Bad fields", "One or more invalid fields")

// pick keeps the asked ones of an object's fields.
func pick(object map[string]any, asked []string) map[string]any {
	out := make(map[string]any, len(asked))
	for _, f := range asked {
		if v, ok := object[f]; ok {
			out[f] = v
		}
	}
	return out
}

func missingParameter(name string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Missing parameter", Detail: `The "` + name + `" parameter is required.`}
}

func invalidParameter(name, why string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Invalid parameter", Detail: `The "` + name + `" parameter is invalid. ` + why}
}

// last returns the last value of a query parameter.
func last(q url.Values, name string) (string, bool) {
	v, ok := q[name]
	if !ok || len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// queryFlag reads a boolean in any of the spellings that clients use.
func queryFlag(q url.Values, name string, otherwise bool) (bool, error) {
	v, ok := last(q, name)
	if !ok {
		return otherwise, nil
	}
	b, ok := parseFlag(v)
	if !ok {
		return false, invalidParameter(name, `The value of the parameter must be "true" or "false".`)
	}
	return b, nil
}

func parseFlag(v string) (value, ok bool) {
	switch strings.ToLower(v) {
	case "true", "yes", "t", "y", "on", "1":
		return true, true
	case "false", "no", "f", "n", "off", "0":
		return false, true
	}
	return false, false
}

// queryNumber reads a whole number of the query; floats are rounded.
func queryNumber(q url.Values, name string) (n int64, ok bool, err error) {
	v, ok := last(q, name)
	if !ok {
		return 0, false, nil
	}
	n, fine := number(json.RawMessage(v))
	if !fine {
		return 0, false, invalidParameter(name, "The value must be an integer.")
	}
	return n, true, nil
}

// queryAt reads an instant of the query.
func queryAt(q url.Values, name string) (t time.Time, ok bool, err error) {
	n, ok, err := queryNumber(q, name)
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	if n < 0 || n > farthest {
		return time.Time{}, false, invalidParameter(name, "The value must be Unix seconds.")
	}
	return time.Unix(n, 0).UTC(), true, nil
}

// badName is what no team's or roster's name may hold (docs/reference/oncall-v0.md 3).
const badName = "!\"#%&'()*+,./;<=>@[\\]^`{|}~"

// nameProblem returns the first run of characters that a name may not hold, "" when it is fine.
func nameProblem(name string) string {
	start := strings.IndexAny(name, badName)
	if start < 0 {
		if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == utf8.RuneError || r == 0x7f }); i >= 0 {
			_, size := utf8.DecodeRuneInString(name[i:])
			return name[i : i+size]
		}
		return ""
	}
	end := start
	for end < len(name) && strings.IndexByte(badName, name[end]) >= 0 {
		end++
	}
	return name[start:end]
}

// maxName is the length of names in bytes.
const maxName = 255

// integrity is Oncall's 422.
func integrity(text string) error {
	return &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: text}
}

// when replaces an error of a kind by another one.
func when(err error, kind fault.Kind, instead error) error {
	if fault.Is(err, kind) {
		return instead
	}
	return err
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// by names the caller for the audit log.
func by(r *http.Request, raw json.RawMessage) oncall.By {
	actor := wire.Actor(r.Context())
	owner := actor.Username
	if owner == "" {
		owner = actor.Application
	}
	return oncall.By{Owner: owner, Body: raw}
}
