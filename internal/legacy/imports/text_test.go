package imports

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		"":                  {"", ""},
		"plain":             {"plain", ""},
		"déjà vu":           {"déjà vu", ""},
		"“quoted” – 漢字 🔥":   {"“quoted” – 漢字 🔥", ""},
		"a\x00b":            {"ab", textZeros},
		"a\x00é":            {"aé", textZeros},
		"caf\xe9":           {"caf\uFFFD", textBytes},
		"a\x00\xff":         {"a\uFFFD", textBytes},
		"cafÃ©":             {"cafÃ©", textEncoded},
		"â€œquotedâ€\u009d": {"â€œquotedâ€\u009d", textEncoded},
		"ÃœbungÂ":           {"ÃœbungÂ", ""}, // its last byte begins a character that is cut off
		"Ã© und 漢字":         {"Ã© und 漢字", ""},
		"\r\n\ttabs":        {"\r\n\ttabs", ""},
	} {
		text, problem := cleanText([]byte(raw))
		require.Equal(t, want, [2]string{text, problem}, "%q", raw)
	}
}

func TestEncodedTwiceFindsUTF8ThatWasReadAsLatin1(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var twice strings.Builder
		for _, b := range []byte(text) {
			if r := charmap.Windows1252.DecodeByte(b); r != utf8.RuneError {
				twice.WriteRune(r)
			} else {
				twice.WriteRune(rune(b))
			}
		}
		plain := !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
		require.Equal(t, !plain, encodedTwice(twice.String()), "%q", text)
	})
}

func TestLatin1HasEveryByte(t *testing.T) {
	t.Parallel()
	seen := map[byte]bool{}
	for r := rune(0); r <= 0x2fff; r++ {
		if b, ok := latin1(r); ok {
			require.False(t, seen[b], "%x", b)
			seen[b] = true
		}
	}
	require.Len(t, seen, 256)
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"2024-02-29 23:59:59":        "2024-02-29T23:59:59Z",
		"2024-02-29 23:59:59.123456": "2024-02-29T23:59:59.123456Z",
		"1969-12-31 00:00:00":        "1969-12-31T00:00:00Z",
		"9999-12-31 23:59:59":        "9999-12-31T23:59:59Z",
		"2024-01-01":                 "2024-01-01T00:00:00Z",
		"0000-00-00 00:00:00":        "zero",
		"0000-00-00":                 "zero",
		"2024-00-10 00:00:00":        "zero",
		"2024-10-00 00:00:00":        "zero",
		"2023-02-29 00:00:00":        "bad",
		"2024-01-01 24:00:00":        "bad",
		"yesterday":                  "bad",
		"":                           "bad",
	} {
		at, ok := parseTime(raw)
		switch want {
		case "zero":
			require.False(t, ok, raw)
			require.True(t, zeroTime(raw), raw)
		case "bad":
			require.False(t, ok, raw)
			require.False(t, zeroTime(raw), raw)
		default:
			require.True(t, ok, raw)
			require.Equal(t, want, at.Format("2006-01-02T15:04:05.999999Z07:00"))
		}
	}
}

func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"", "a\x00b", "caf\xe9", "Ã©", "â‚¬"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, problem := cleanText(raw)
		require.True(t, utf8.ValidString(text) && !strings.Contains(text, "\x00"), "PostgreSQL takes it")
		if problem == "" || problem == textEncoded {
			require.Equal(t, string(raw), text, "a text without a problem is not changed")
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2024-02-29 23:59:59", "0000-00-00 00:00:00", "2024-00-10", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, ok := parseTime(raw)
		zero := zeroTime(raw)
		require.False(t, ok && zero && at.Year() == 0)
		if ok {
			require.Positive(t, at.Year())
		}
	})
}
