package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// MaxBody is the largest request body of the APIs' routes, in bytes.
const MaxBody = 1 << 20

// MaxDepth is the maximum nesting of arrays and objects in a body. It bounds the recursion of parsers in PostgreSQL and
// Iris.
const MaxDepth = 200

type bodyKey struct{}

// Body reads the whole body of r. The returned request keeps it for further reads, so that a signature is checked over
// the same bytes that a handler decodes. A body over limit bytes is a TooLarge fault; an incomplete body is an Invalid
// fault.
func Body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *http.Request, error) {
	if kept, ok := r.Context().Value(bodyKey{}).([]byte); ok {
		if int64(len(kept)) > limit {
			return nil, r, tooLarge(limit)
		}
		return kept, r, nil
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, r, nil
	}
	if r.ContentLength > limit {
		drain(r)
		return nil, r, tooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			drain(r)
			return nil, r, tooLarge(limit)
		}
		if fault.Is(err, fault.Unavailable) { // see Bodies
			return nil, r, err
		}
		return nil, r, &fault.Error{Kind: fault.Invalid, Message: "Request body broke off", Err: err}
	}
	r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, r, nil
}

// How many bytes of a body that is too large are still read: from authenticated callers, and from others.
const (
	maxDrain        = 64 << 20
	maxUnknownDrain = 1 << 20
)

// drain reads the rest of a body that is too large. Many clients send the whole body before they read the answer.
// Without drain they would see a broken connection instead of the answer, and retry; mail servers retry for days.
// Clients that send Expect: 100-continue get the answer at once.
func drain(r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	limit := int64(maxUnknownDrain)
	if Actor(r.Context()).Known() {
		limit = maxDrain
	}
	_, _ = io.CopyN(io.Discard, r.Body, limit) // the answer follows in any case
}

func tooLarge(limit int64) error {
	return fault.Newf(fault.TooLarge, "Request body is larger than the limit of %d bytes", limit)
}

// InvalidJSON is the title of the error for a body that is not JSON, or not the kind of JSON that a route expects.
const InvalidJSON = "Invalid json in post body"

// Object decodes a JSON object into its members, whose values stay encoded. Any other body is an Invalid fault that
// names the problem. If members have the same name, the last one counts.
func Object(body []byte) (map[string]json.RawMessage, error) {
	if err := CheckJSON(body); err != nil {
		return nil, err
	}
	if first(body) != '{' {
		return nil, fault.Titled(InvalidJSON, "a JSON object is expected")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fault.Titled(InvalidJSON, err.Error())
	}
	return members, nil
}

// CheckJSON returns an Invalid fault unless the body is exactly one JSON value in UTF-8 with nesting of at most
// MaxDepth.
func CheckJSON(body []byte) error {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return fault.New(fault.Invalid, InvalidJSON)
	case !utf8.Valid(body):
		return fault.Titled(InvalidJSON, "the body is not UTF-8")
	case tooDeep(body):
		return fault.Titled(InvalidJSON, "the body nests too deep")
	case !json.Valid(body):
		return fault.New(fault.Invalid, InvalidJSON)
	}
	return nil
}

func first(body []byte) byte {
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 {
		return b[0]
	}
	return 0
}

// tooDeep reports nesting beyond MaxDepth. It does not recurse.
func tooDeep(body []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}
