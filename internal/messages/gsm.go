// This file counts the characters that one SMS segment holds.

package messages

import (
	"strings"
	"unicode/utf16"
)

// The characters of one SMS segment: in the GSM alphabet, and with any other character.
const (
	inAlphabet = 160
	inOther    = 70
)

// once are the characters, besides ASCII letters and digits, of the GSM alphabet. With a character of neither once nor
// twice, a segment has room for inOther characters only.
const once = "@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà\n"

// twice are the characters of the GSM alphabet that take the room of two.
const twice = "[]{}^~|\\€"

// width returns how many characters of a segment r takes; 0 = it is not in the GSM alphabet.
func width(r rune) int {
	switch {
	case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', strings.ContainsRune(once, r):
		return 1
	case strings.ContainsRune(twice, r):
		return 2
	}
	return 0
}

// Room returns how many characters of a segment are left for text and what follows it.
func Room(text string) int {
	room := inAlphabet
	for _, r := range text {
		w := width(r)
		if w == 0 {
			return inOther
		}
		room -= w - 1
	}
	return room
}

// The characters of one segment of several.
const (
	ofSeveral      = 153
	ofSeveralOther = 67
)

// Count returns into how many segments carriers cut a text, and its length: the characters that it takes in the GSM
// alphabet, else in UTF-16.
func Count(text string) (segments, characters int) {
	one, several := inAlphabet, ofSeveral
	for _, r := range text {
		w := width(r)
		if w == 0 {
			one, several, characters = inOther, ofSeveralOther, len(utf16.Encode([]rune(text)))
			break
		}
		characters += w
	}
	if characters <= one {
		return min(characters, 1), characters
	}
	return (characters + several - 1) / several, characters
}
