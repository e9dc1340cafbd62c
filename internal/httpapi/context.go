package httpapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
)

// declared reduces a posted context to the variables that the application declared, in that order; absent ones become
// null. The values keep the sender's bytes, except that NUL characters, which nothing downstream can store, are replaced.
func declared(posted map[string]json.RawMessage, variables []string) (json.RawMessage, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, name := range variables {
		if i > 0 {
			buf.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		buf.Write(key)
		buf.WriteByte(':')
		value, ok := posted[name]
		if !ok {
			value = json.RawMessage("null")
		}
		if err := json.Compact(&buf, withoutNUL(value)); err != nil {
			return nil, err
		}
	}
	buf.WriteByte('}')
	if n := contextSize(buf.Bytes()); n > incidents.MaxContext {
		return nil, fault.Invalidf("context", "Context too large. %d is larger than limit %d", n, incidents.MaxContext)
	}
	return buf.Bytes(), nil
}

// withoutNUL replaces the escape of the NUL character by that of the replacement character.
func withoutNUL(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return raw
	}
	out := slices.Clone(raw)
	for i := 0; i+1 < len(out); i++ {
		if out[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(out[i:], []byte(`\u0000`)) {
			copy(out[i:], `\ufffd`)
		}
		i++ // the escaped character is no backslash of its own
	}
	return out
}

// contextSize counts compact JSON as Iris's clients do: non-ASCII characters as \uXXXX, "/" as "\/".
func contextSize(compact []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		switch {
		case quoted && c == '\\':
			size, used := escapeSize(compact[i:])
			n += size
			i += used - 1
		case c == '"':
			quoted = !quoted
			n++
		case quoted && c == '/':
			n += 2
		case c < 0x80:
			n++
		case c >= 0xf0: // first byte of four: a surrogate pair
			n += 12
		case c >= 0xc0: // first byte of two or three
			n += 6
		} // other bytes continue a character
	}
	return n
}

// escapeSize returns how many characters an escape counts for, and how many bytes it has.
func escapeSize(s []byte) (size, used int) {
	if len(s) < 6 || s[1] != 'u' {
		return 2, 2
	}
	switch hex := strings.ToLower(string(s[2:6])); {
	case !strings.HasPrefix(hex, "00"), hex >= "0080":
		return 6, 6
	case hex == "0008", hex == "0009", hex == "000a", hex == "000c", hex == "000d", hex == "0022", hex == "005c", hex == "002f":
		return 2, 6
	case hex < "0020":
		return 6, 6
	}
	return 1, 6
}
