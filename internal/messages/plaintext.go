package messages

import (
	"strings"
	"unicode/utf8"
)

// oneLine replaces line breaks and other control characters by spaces.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimSpace(s)
}

// cutRunes shortens s to n characters. A shortened text ends in "..." if n is more than 3.
func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 3 {
		return s[:runeOffset(s, n)]
	}
	return s[:runeOffset(s, n-3)] + "..."
}

// runeOffset is the byte offset of the n-th character of s.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
