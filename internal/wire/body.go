package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/fault"
)

// MaxBody is the largest request body of the APIs' routes, in bytes.
const MaxBody = 1 << 20

// MaxDepth is how deep the arrays and objects of a body may nest. PostgreSQL's and our own parsers are recursive.
const MaxDepth = 200

type bodyKey struct{}

// Body reads the whole body of r once. The request that it returns holds the bytes, and its Body can be read again: a signature
// is checked over the same bytes that a handler decodes. A body over limit bytes is a TooLarge fault, an incomplete body an
// Invalid one.
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
		return nil, r, &fault.Error{Kind: fault.Invalid, Message: "Request body broke off", Err: err}
	}
	r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, r, nil
}

// How much of a body that is too large is still read: from callers that were authenticated, and from others.
const (
	maxDrain        = 64 << 20
	maxUnknownDrain = 1 << 20
)

// drain reads the rest of a body that is too large. Many clients write everything before they read: they would see a broken
// connection, not the answer, and retry, mail servers for days. Clients that send Expect: 100-continue are answered at once.
func drain(r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	limit := int64(maxUnknownDrain)
	if Actor(r.Context()).Known() {
		limit = maxDrain
	}
	_, _ = io.CopyN(io.Discard, r.Body, limit) // whatever ends it, the answer follows
}

func tooLarge(limit int64) error {
	return fault.Newf(fault.TooLarge, "Request body is larger than the limit of %d bytes", limit)
}

// InvalidJSON is the title of the answer to a body that is no JSON, or not the kind of JSON that a route takes.
const InvalidJSON = "Invalid json in post body"

// Object decodes a JSON object into its members, values untouched. Anything else is an Invalid fault that says what is
// wrong. If members have the same name, the last one counts.
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

// CheckJSON reports, as an Invalid fault, a body that is not one whole JSON value in UTF-8 of at most MaxDepth.
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
