package py

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rendered text mixes template source and data. A marked character is an ASCII punctuation character c that came from
// data. Its code point is markBase+c, in a private plane. No markup language gives it a meaning, so data cannot become
// markup. Later the caller, who knows the markup language, replaces the marked character by the right escape.
const (
	markBase = 0xF0000
	markEnd  = markBase + 0x80
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

// Mark replaces the punctuation of data by marked characters. Marked characters in the data itself are replaced too.
func Mark(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r > ' ' && r < 0x7f && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z'):
			return markBase + r
		case r >= markBase && r < markEnd:
			return '\ufffd'
		}
		return r
	}, s)
}

// Unmark replaces each marked character by the escape of its plain character.
func Unmark(s string, escape func(c byte) string) string {
	if !strings.Contains(s, "\xf3\xb0\x80") && !strings.Contains(s, "\xf3\xb0\x81") {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s))
	for _, r := range s {
		if r >= markBase && r < markEnd {
			sb.WriteString(escape(byte(r - markBase)))
			continue
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

// Raw is Unmark without any escape: each marked character becomes its plain character.
func Raw(s string) string { return Unmark(s, func(c byte) string { return string(rune(c)) }) }

var htmlEscaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// Escape makes v safe in HTML; Markup is safe already.
func Escape(b *Budget, v Value) Markup {
	if m, ok := v.(Markup); ok {
		return m
	}
	return Markup(EscapeText(b, Str(b, v)))
}

// EscapeText is Escape for text.
func EscapeText(b *Budget, s string) string {
	if b.Marks != NoMarks {
		b.GrowTimes(4, int64(len(s)))
		return Mark(s)
	}
	return EscapeHTML(b, s)
}

// EscapeHTML is EscapeText for HTML, whatever the marks.
func EscapeHTML(b *Budget, s string) string {
	if !strings.ContainsAny(s, `&<>'"`) {
		b.Scan(len(s))
		return s
	}
	b.GrowTimes(5, int64(len(s)))
	return htmlEscaper.Replace(s)
}

// StripTags is Markup(s).striptags(): comments and tags removed, spaces collapsed, entities replaced.
func StripTags(b *Budget, s string) string {
	s = removeBetween(b, s, "<!--", "-->")
	s = removeBetween(b, s, "<", ">")
	return UnescapeHTML(b, strings.Join(Fields(b, s, -1, false), " "))
}

func removeBetween(b *Budget, s, start, end string) string {
	b.GrowTimes(2, int64(len(s)))
	var sb strings.Builder
	for {
		i := strings.Index(s, start)
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], end)
		if j < 0 {
			break
		}
		// The text before and the text after may form a new start together.
		keep := max(0, i-len(start)+1)
		sb.WriteString(s[:keep])
		if keep < i {
			b.Grow(int64(len(s)))
		}
		s = s[keep:i] + s[i+j+len(end):]
	}
	sb.WriteString(s)
	return sb.String()
}

var numericReference = regexp.MustCompile(`&#(?:[xX][0-9a-fA-F]+|[0-9]+);?`)

// UnescapeHTML replaces character references. References to control characters are removed.
func UnescapeHTML(b *Budget, s string) string {
	b.GrowTimes(2, int64(len(s)))
	var sb strings.Builder
	last := 0
	for _, at := range numericReference.FindAllStringIndex(s, -1) {
		sb.WriteString(html.UnescapeString(s[last:at[0]]))
		text := html.UnescapeString(s[at[0]:at[1]])
		if r, _ := utf8.DecodeRuneInString(text); !unicode.IsControl(r) || IsSpace(r) {
			sb.WriteString(text)
		}
		last = at[1]
	}
	sb.WriteString(html.UnescapeString(s[last:]))
	return sb.String()
}
