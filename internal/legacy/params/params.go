package params

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
)

// Fields returns the known fields that the parameter fields selects; all if the query has none. For an unknown field it
// returns refuse; if refuse is nil it ignores the field.
func Fields(q url.Values, known []string, refuse error) ([]string, error) {
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

// ErrFields is the refusal of an unknown field.
var ErrFields = fault.Titled("Bad fields", "One or more invalid fields")

// Pick returns the requested fields of an object.
func Pick(object map[string]any, asked []string) map[string]any {
	out := make(map[string]any, len(asked))
	for _, f := range asked {
		if v, ok := object[f]; ok {
			out[f] = v
		}
	}
	return out
}

// Missing returns the fault of a query without a required parameter.
func Missing(name string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Missing parameter", Detail: `The "` + name +
		`" parameter is required.`}
}

// Invalid returns the fault of a parameter with a wrong value.
func Invalid(name, why string) error {
	return &fault.Error{Kind: fault.Invalid, Field: name, Message: "Invalid parameter", Detail: `The "` + name +
		`" parameter is invalid. ` + why}
}

// Last returns the last value of a query parameter.
func Last(q url.Values, name string) (string, bool) {
	v, ok := q[name]
	if !ok || len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// Flag reads a boolean in any of the spellings that clients use; otherwise if the query does not have it.
func Flag(q url.Values, name string, otherwise bool) (bool, error) {
	v, ok := Last(q, name)
	if !ok {
		return otherwise, nil
	}
	b, ok := ParseFlag(v)
	if !ok {
		return false, Invalid(name, `The value of the parameter must be "true" or "false".`)
	}
	return b, nil
}

// ParseFlag reads a boolean in any of the spellings that clients use; ok is false for any other text.
func ParseFlag(v string) (value, ok bool) {
	switch strings.ToLower(v) {
	case "true", "yes", "t", "y", "on", "1":
		return true, true
	case "false", "no", "f", "n", "off", "0":
		return false, true
	}
	return false, false
}

// Integer reads a whole number of the query. It rounds fractions.
func Integer(q url.Values, name string) (n int64, ok bool, err error) {
	v, ok := Last(q, name)
	if !ok {
		return 0, false, nil
	}
	n, fine := jsonbody.ParseNumber(json.RawMessage(v))
	if !fine {
		return 0, false, Invalid(name, "The value must be an integer.")
	}
	return n, true, nil
}

// Time reads an instant of the query, in Unix seconds.
func Time(q url.Values, name string) (t time.Time, ok bool, err error) {
	n, ok, err := Integer(q, name)
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	if n < 0 || n > jsonbody.LastSecond {
		return time.Time{}, false, Invalid(name, "The value must be Unix seconds.")
	}
	return time.Unix(n, 0).UTC(), true, nil
}
