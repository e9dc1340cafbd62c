package incidents_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

// pythonSize computes incidents.JSONSize by decoding and encoding again. It is slow and simple.
func pythonSize(t *testing.T, compact []byte) int {
	t.Helper()
	n := 0
	d := json.NewDecoder(bytes.NewReader(compact))
	d.UseNumber()
	plain := 0
	for {
		start := d.InputOffset()
		tok, err := d.Token()
		if err != nil {
			break
		}
		s, ok := tok.(string)
		if !ok {
			continue
		}
		raw := compact[start:d.InputOffset()]
		raw = raw[bytes.IndexByte(raw, '"'):]
		plain += len(raw)
		n += 2
		for _, c := range s {
			switch {
			case strings.ContainsRune("\"\\/\b\f\n\r\t", c):
				n += 2
			case c < 0x20:
				n += 6
			case c < 0x80:
				n++
			case c > 0xffff:
				n += 12
			default:
				n += 6
			}
		}
	}
	return n + len(compact) - plain
}

func TestContextSize(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{}`, `{"a":"/","b":"\/","c":"ü","d":"\u00fc","e":"😀","f":"\ud83d\ude00","g":"\n\u000a\u0001\u0041\u007f\u0022\u002F","h":[1,2.5,null]}`} {
		require.Equal(t, pythonSize(t, []byte(s)), incidents.JSONSize([]byte(s)), s)
	}
	require.Equal(t, len(`{"a":"\ud83d\ude00\/"}`), incidents.JSONSize([]byte(`{"a":"😀/"}`)))
}

func FuzzContextSize(f *testing.F) {
	f.Add(`{"a":"/\u0041\\u0041","b":["ü"]}`)
	f.Fuzz(func(t *testing.T, s string) {
		var buf bytes.Buffer
		if !utf8.ValidString(s) || json.Compact(&buf, []byte(s)) != nil || strings.Contains(s, `\ud`) || strings.Contains(s, `\uD`) {
			return // Go decodes lone surrogates to another character
		}
		require.Equal(t, pythonSize(t, buf.Bytes()), incidents.JSONSize(buf.Bytes()))
	})
}
