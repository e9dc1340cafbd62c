package py

import "strings"

// A marked character stands for an ASCII character of data in a text of template source and data: code point MarkBase+c, in a
// private plane, for each control and punctuation character c. No markup language gives it a meaning, so data cannot become
// markup, and whoever knows the markup puts the right escape in its place later.
const (
	MarkBase = 0xF0000
	markEnd  = MarkBase + 0x80
)

// Marks says how output of expressions is escaped where text is escaped.
type Marks int

// The ways of escaping.
const (
	NoMarks   Marks = iota // as HTML, like the original
	MarksText              // marked
	MarksHTML              // marked; tojson writes JSON that is safe in a script element
	MarksJSON              // marked, also inside the texts that tojson writes
)

// Mark replaces the punctuation of data by marked characters. Marked characters that data brings along are replaced too.
func Mark(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r > ' ' && r < 0x7f && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z'):
			return MarkBase + r
		case r >= MarkBase && r < markEnd:
			return '\ufffd'
		}
		return r
	}, s)
}

// Unmark replaces each marked character by what escape makes of the character it stands for.
func Unmark(s string, escape func(c byte) string) string {
	if !strings.Contains(s, "\xf3\xb0\x80") && !strings.Contains(s, "\xf3\xb0\x81") {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	for _, r := range s {
		if r >= MarkBase && r < markEnd {
			sb.WriteString(escape(byte(r - MarkBase)))
			continue
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

// Raw is Unmark without any escape: the text as data and source have it.
func Raw(s string) string { return Unmark(s, func(c byte) string { return string(rune(c)) }) }

// markText is Mark, paid for.
func markText(b *Budget, s string) string {
	b.GrowTimes(4, int64(len(s)))
	return Mark(s)
}

// Marking tells that text is escaped by marks. It is set before the budget is used.
func (b *Budget) Marking(m Marks) { b.marks = m }

// Marks tells how text is escaped.
func (b *Budget) Marks() Marks { return b.marks }
