package catalog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDestination is the longest destination, in bytes.
const MaxDestination = 1000

// Destination reports whether s can be a destination of messages: one line of 1 to MaxDestination bytes.
func Destination(s string) bool {
	blank := true
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
		blank = blank && unicode.IsSpace(c)
	}
	return !blank && len(s) <= MaxDestination && utf8.ValidString(s)
}

// IsEmail reports whether s can be an e-mail address.
func IsEmail(s string) bool { return Destination(s) && strings.Contains(s, "@") }
