package imports

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// What can be odd about a text.
const (
	oddZeros   = "zero characters, which PostgreSQL cannot store, were taken out of texts"
	oddBytes   = "bytes that are no text in UTF-8 were replaced"
	oddEncoded = "text looks as if it had been encoded twice (UTF-8 stored as latin1); it was taken as it is"
)

// cleanText converts bytes of MySQL to valid UTF-8 text. odd describes the problem of the bytes, "" = none.
func cleanText(raw []byte) (text, odd string) {
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
		text, odd = strings.ReplaceAll(text, "\x00", ""), oddZeros
	}
	if !utf8.ValidString(text) {
		return strings.ToValidUTF8(text, "\uFFFD"), oddBytes
	}
	if odd == "" && encodedTwice(text) {
		odd = oddEncoded
	}
	return text, odd
}

// upper1252 are the characters of MySQL's latin1 (Windows-1252) from 0x80 to 0x9f. The five that Windows does not define
// are control characters.
var upper1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// encodedTwice reports whether the characters of text, stored as latin1, are the bytes of a text with characters
// beyond ASCII in UTF-8. No natural text in a western language is.
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

func latin1(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xa0 && r <= 0xff {
		return byte(r), true
	}
	for i, c := range upper1252 {
		if c == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}

// parseTime reads MySQL's datetime in UTC. ok is false for zero dates, dates that no calendar has, and anything else.
func parseTime(raw string) (t time.Time, ok bool) {
	layout := "2006-01-02 15:04:05"
	if len(raw) == len("2006-01-02") {
		layout = "2006-01-02"
	}
	t, err := time.Parse(layout, raw)
	// Go takes a fraction of a second after the last field whether the layout has one or not.
	return t, err == nil && t.Year() > 0
}

// zeroTime reports whether raw is MySQL's zero date, or one with a zero month or day.
func zeroTime(raw string) bool {
	return strings.HasPrefix(raw, "0000") || len(raw) >= 10 && (raw[5:7] == "00" || raw[8:10] == "00")
}

// python matches strings in JSON, which stay, and the numbers of Python that JSON does not know.
var python = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b`)

// quotePython makes texts of the numbers in a JSON text that only Python reads and writes.
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

// Fold returns a name as names are compared here.
func Fold(name string) string { return strings.ToLower(strings.TrimRight(name, " ")) }
