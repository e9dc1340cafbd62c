package imports

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Problems of a text.
const (
	textZeros   = "zero bytes, which PostgreSQL cannot store, were removed"
	textBytes   = "bytes that are not UTF-8 were replaced"
	textEncoded = "the text was probably encoded twice (UTF-8 stored as latin1); it was not changed"
)

// cleanText returns a text from MySQL's UTF-8. problem says what was changed or is suspicious; "" = nothing.
func cleanText(raw []byte) (text, problem string) {
	text = string(raw)
	ascii := true
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf || text[i] == 0 {
			ascii = false
			break
		}
	}
	if ascii {
		return text, ""
	}
	if strings.IndexByte(text, 0) >= 0 {
		text, problem = strings.ReplaceAll(text, "\x00", ""), textZeros
	}
	if !utf8.ValidString(text) {
		return strings.ToValidUTF8(text, "\uFFFD"), textBytes
	}
	if problem == "" && encodedTwice(text) {
		problem = textEncoded
	}
	return text, problem
}

// encodedTwice reports whether the characters of text, encoded as latin1, are valid UTF-8 with characters beyond ASCII.
// Natural texts of western languages are not.
func encodedTwice(text string) bool {
	raw := make([]byte, 0, len(text))
	wide := false
	for _, r := range text {
		b, ok := latin1(r)
		if !ok {
			return false
		}
		wide = wide || b >= utf8.RuneSelf
		raw = append(raw, b)
	}
	return wide && utf8.Valid(raw)
}

// latin1 encodes a character in MySQL's latin1. That is Windows-1252, where each byte that Windows-1252 does not define
// stands for the code point of the same number.
func latin1(r rune) (byte, bool) {
	if r < 0xa0 && charmap.Windows1252.DecodeByte(byte(r)) == utf8.RuneError {
		return byte(r), true
	}
	return charmap.Windows1252.EncodeRune(r)
}

// parseTime parses MySQL's datetime in UTC. ok is false for zero dates, impossible dates and other values.
func parseTime(raw string) (t time.Time, ok bool) {
	layout := "2006-01-02 15:04:05"
	if len(raw) == len("2006-01-02") {
		layout = "2006-01-02"
	}
	t, err := time.Parse(layout, raw)
	// time.Parse accepts a fraction of a second even if the layout has none.
	return t, err == nil && t.Year() > 0
}

// zeroTime reports whether raw is MySQL's zero date, or a date with a zero month or day.
func zeroTime(raw string) bool {
	return strings.HasPrefix(raw, "0000") || len(raw) >= 10 && (raw[5:7] == "00" || raw[8:10] == "00")
}

// python matches strings in JSON, which are kept, and the numbers that only Python writes.
var python = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b`)

// quotePython turns the numbers that only Python reads and writes into texts.
func quotePython(text string) string {
	return python.ReplaceAllStringFunc(text, func(token string) string {
		switch token {
		case "NaN":
			return `"nan"`
		case "Infinity":
			return `"inf"`
		case "-Infinity":
			return `"-inf"`
		}
		return token
	})
}

// Fold returns the form of a name in which names are compared here.
func Fold(name string) string { return strings.ToLower(strings.TrimRight(name, " ")) }
