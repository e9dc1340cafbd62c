package vendors

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDetail is how many bytes of a vendor's text are kept.
const maxDetail = 300

// Clean makes a vendor's text fit to store and show: valid UTF-8 on one line without control characters, at most
// maxDetail bytes, with the given secrets replaced. Secrets of less than 4 bytes are not replaced.
func Clean(text string, secrets ...string) string {
	return Cut(oneLine(mask(text, secrets)), maxDetail)
}

// Token makes a vendor's identifier of a message fit to store: like Clean, but cut at 200 bytes.
func Token(text string) string { return Cut(oneLine(text), 200) }

func mask(text string, secrets []string) string {
	for _, s := range secrets {
		// Very short secrets would match ordinary text.
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	return text
}

func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	b.Grow(min(len(text), 2*maxDetail))
	space := false
	for _, r := range text {
		if unicode.IsControl(r) || unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			space = b.Len() > 0
			continue
		}
		if b.Len() > 2*maxDetail {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Cut shortens text to at most limit bytes without splitting a character. A cut text ends in "...".
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if limit <= 3 {
		return cutBytes(text, max(limit, 0))
	}
	return cutBytes(text, limit-3) + "..."
}

func cutBytes(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// CutRunes shortens text to at most limit characters. A cut text ends in "...".
func CutRunes(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	keep := max(limit-3, 0)
	for i := range text {
		if keep == 0 {
			return text[:i] + "..."[:min(3, limit)]
		}
		keep--
	}
	return text
}

// Text makes s valid to send: it replaces invalid UTF-8, removes NUL, and makes line ends "\n".
func Text(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\x00\r") {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(s)
	}
	return s
}

// Line makes s fit for a header or a title: one line, no control characters, at most limit bytes.
func Line(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\n' || r == '\t' || r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029' ||
			r == '\u0085':
			return ' '
		case unicode.IsControl(r):
			return -1
		default:
			return r
		}
	}, s)
	return Cut(strings.TrimSpace(s), limit)
}
