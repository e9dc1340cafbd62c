package wire

import (
	"bytes"
	"slices"
)

// WithoutNUL replaces escaped NUL characters in JSON by the replacement character. PostgreSQL cannot store NUL, and a
// refused alert would be a lost page. The result may share memory with raw.
func WithoutNUL(raw []byte) []byte {
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
		i++ // skip the escaped character, which may be a backslash
	}
	return out
}
