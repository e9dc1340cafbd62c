package users

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// CanonicalName is the form in which user names are unique: Unicode NFKC with case folding, without spaces at the ends.
// It alone decides whether two spellings are the same name. Permissions compare ids, not names.
func CanonicalName(name string) string {
	name = strings.TrimSpace(name)
	for range 4 { // each of the two can undo the other; two rounds are enough for every known character
		next := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
		if next == name {
			break
		}
		name = next
	}
	return name
}

// SameName reports whether two spellings are the same user name. Do not use it for permissions if both have an id.
func SameName(a, b string) bool { return CanonicalName(a) == CanonicalName(b) }

// scripts are scripts whose letters can be mistaken for letters of another one.
var scripts = []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek}

// CheckNewName returns an Invalid fault for a name that can be mistaken for another one. It is for new and renamed
// users; stored names are not checked.
func CheckNewName(name string) error {
	if norm.NFKC.String(name) != name {
		return fault.Invalidf("name", "the name has a character with a plainer form: write %q", norm.NFKC.String(name))
	}
	used := 0
	for _, s := range scripts {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(s, r) }) {
			used++
		}
	}
	if used > 1 {
		return fault.Invalidf("name", "the name mixes Latin, Cyrillic or Greek letters: use letters of one script")
	}
	for _, r := range name {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Cc, unicode.Zl,
			unicode.Zp), r == unicode.ReplacementChar,
			!unicode.IsGraphic(r):
			return fault.Invalidf("name", "the name has a character that cannot be seen (%U)", r)
		}
	}
	return nil
}
