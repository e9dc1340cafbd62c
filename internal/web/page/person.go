package page

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// personColours is how many colours of persons the style sheet has: the classes person-0 to person-7.
const personColours = 8

// PersonClass returns the class with the colour of a person, by user name. static/oncall/person.js returns the same.
func PersonClass(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a write to a hash does not fail
	return "person-" + strconv.Itoa(int(h.Sum32()%personColours))
}

// Initials returns the letters of an avatar: those of the first two words of a user name, or its first two letters.
// static/oncall/person.js returns the same.
func Initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch len(words) {
	case 0:
		return "?"
	case 1:
		letters := []rune(words[0])
		return strings.ToUpper(string(letters[:min(2, len(letters))]))
	}
	return strings.ToUpper(first(words[0]) + first(words[1]))
}

func first(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return word[:size]
}
