// Package gsm counts the characters that one SMS segment holds. internal/messages calls it; it imports nothing of Iris.
package gsm

import "strings"

// The characters of one SMS segment: in the GSM alphabet, and with any other character.
const (
	inAlphabet = 160
	inOther    = 70
)

// once are the characters, besides ASCII letters and digits, of the GSM alphabet. With a character of neither once nor twice, a segment
// has room for inOther characters only.
const once = "@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà\n"

// twice are the characters of the GSM alphabet that take the room of two.
const twice = "[]{}^~|\\€"

// Room returns how many characters of a segment are left for text and what follows it.
func Room(text string) int {
	room := inAlphabet
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', strings.ContainsRune(once, r):
		case strings.ContainsRune(twice, r):
			room--
		default:
			return inOther
		}
	}
	return room
}
