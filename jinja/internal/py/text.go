package py

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// IsSpace is str.isspace for one character.
func IsSpace(r rune) bool { return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r) }

// Upper is str.upper.
func Upper(b *Budget, s string) string {
	return convert(b, s, strings.ToUpper, func() cases.Caser { return cases.Upper(language.Und) })
}

// Lower is str.lower.
func Lower(b *Budget, s string) string {
	return convert(b, s, strings.ToLower,
		func() cases.Caser { return cases.Lower(language.Und, cases.HandleFinalSigma(true)) })
}

// Fold is str.casefold.
func Fold(b *Budget, s string) string {
	return convert(b, s, strings.ToLower, func() cases.Caser { return cases.Fold() })
}

func convert(b *Budget, s string, ascii func(string) string, other func() cases.Caser) string {
	b.GrowTimes(3, int64(len(s)))
	if IsASCII(s) {
		return ascii(s)
	}
	return other().String(s)
}

// titleRune is the title case of one character, which may be several.
func titleRune(r rune) string {
	if t := unicode.ToTitle(r); t != r || r < utf8.RuneSelf {
		return string(t)
	}
	return cases.Title(language.Und).String(string(r))
}

// Capitalize is str.capitalize.
func Capitalize(b *Budget, s string) string {
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	return titleRune(r) + Lower(b, s[n:])
}

// Title is str.title.
func Title(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	start, inWord := 0, false
	for i, r := range s + " " {
		if cased := isCased(r); cased != inWord {
			if inWord {
				first, n := utf8.DecodeRuneInString(s[start:])
				sb.WriteString(titleRune(first) + Lower(b, s[start+n:i]))
			} else {
				sb.WriteString(s[start:i])
			}
			start, inWord = i, cased
		}
	}
	sb.WriteString(s[start:])
	return sb.String()
}

// SwapCase is str.swapcase.
func SwapCase(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			sb.WriteString(Lower(b, string(r)))
		case unicode.IsLower(r):
			sb.WriteString(Upper(b, string(r)))
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }

func isCased(r rune) bool { return isUpper(r) || isLower(r) || unicode.IsTitle(r) }

// IsLower is str.islower.
func IsLower(s string) bool { return allCased(s, isLower) }

// IsUpper is str.isupper.
func IsUpper(s string) bool { return allCased(s, isUpper) }

func allCased(s string, want func(rune) bool) bool {
	return strings.ContainsFunc(s, want) && !strings.ContainsFunc(s,
		func(r rune) bool { return isCased(r) && !want(r) })
}

// IsTitle is str.istitle.
func IsTitle(s string) bool {
	inWord := false
	for _, r := range s {
		if isCased(r) && isLower(r) != inWord {
			return false
		}
		inWord = isCased(r)
	}
	return strings.ContainsFunc(s, isCased)
}

// IsDecimal is str.isdecimal for one character.
func IsDecimal(r rune) bool { return unicode.Is(unicode.Nd, r) }

// IsDigit is str.isdigit for one character: digits, superscripts and the like.
func IsDigit(r rune) bool {
	d, n := utf8.DecodeRuneInString(norm.NFKD.String(string(r)))
	return IsDecimal(d) && n == len(norm.NFKD.String(string(r)))
}

// IsNumeric is str.isnumeric for one character, apart from the ideographs for numbers.
func IsNumeric(r rune) bool { return unicode.IsNumber(r) }

// IsAlnum is str.isalnum for one character.
func IsAlnum(r rune) bool { return unicode.IsLetter(r) || IsNumeric(r) }

// IsWord reports whether r matches \w of Python's re.
func IsWord(r rune) bool { return r == '_' || IsAlnum(r) }

// IsIdentifier is str.isidentifier.
func IsIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
		if !start && (i == 0 || !IsIdentifierPart(r)) {
			return false
		}
	}
	return s != ""
}

// IsIdentifierPart reports whether r, which cannot begin an identifier, may continue one.
func IsIdentifierPart(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

// All reports whether f is true for every character, of which there is at least one.
func All(s string, f func(rune) bool) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !f(r) })
}

func isLineBreak(r rune) bool {
	return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r)
}

// SplitLines is str.splitlines.
func SplitLines(b *Budget, s string, keepEnds bool) []string {
	b.Scan(len(s))
	var out []string
	for s != "" {
		b.Grow(valueSize)
		i := strings.IndexFunc(s, isLineBreak)
		if i < 0 {
			return append(out, s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		end := i
		if keepEnds {
			end += n
		}
		out = append(out, s[:end])
		s = s[i+n:]
	}
	return out
}

// Words splits text into words, each with the space that follows it.
func Words(s string) []string {
	var out []string
	for s != "" {
		word := strings.TrimLeftFunc(s, func(r rune) bool { return !IsSpace(r) })
		rest := strings.TrimLeftFunc(word, IsSpace)
		out = append(out, s[:len(s)-len(rest)])
		s = rest
	}
	return out
}

// Fields is str.split without a separator, or str.rsplit from the right. It splits at most limit times; negative means
// no bound.
func Fields(b *Budget, s string, limit int64, right bool) []string {
	b.Scan(len(s))
	words := strings.FieldsFunc(s, IsSpace)
	b.GrowValues(2 * len(words))
	switch {
	case limit < 0 || limit >= int64(len(words)):
		return words
	case right:
		words = words[len(words)-int(limit):]
		for _, w := range slices.Backward(words) {
			s = s[:strings.LastIndex(s, w)]
		}
		return append([]string{strings.TrimRightFunc(s, IsSpace)}, words...)
	}
	words = words[:limit]
	for _, w := range words {
		_, s, _ = strings.Cut(s, w)
	}
	return append(words, strings.TrimLeftFunc(s, IsSpace))
}

// Replace is str.replace; negative n means all.
func Replace(b *Budget, s, old, repl string, n int64) string {
	b.Scan(len(s) + len(old))
	count := int64(strings.Count(s, old))
	if n >= 0 {
		count = min(count, n)
	}
	if count == 0 {
		return s
	}
	b.Grow(int64(len(s)))
	b.GrowTimes(int64(len(repl)), count)
	return strings.Replace(s, old, repl, int(count))
}

// Strip is str.strip, lstrip (left only) or rstrip (right only) of characters; None selects whitespace.
func Strip(b *Budget, s string, chars Value, left, right bool) string {
	b.Scan(len(s))
	in := IsSpace
	if chars != nil {
		set := TextArg(chars)
		b.Step(int64(len(s)) * int64(len(set)) / 256)
		in = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s
}

// Pad is str.center (both), str.ljust (right) or str.rjust (left).
func Pad(b *Budget, s string, width int64, fill string, left, right bool) string {
	pad := width - int64(RuneCount(s))
	if pad <= 0 {
		return s
	}
	b.GrowTimes(int64(len(fill)), pad)
	b.Grow(int64(len(s)))
	l, r := pad, int64(0)
	switch {
	case left && right:
		l = pad/2 + (pad & width & 1)
		r = pad - l
	case right:
		l, r = 0, pad
	}
	return strings.Repeat(fill, int(l)) + s + strings.Repeat(fill, int(r))
}

// ByteOffset is where the i-th character of s begins.
func ByteOffset(s string, i int) int {
	off := 0
	for ; i > 0 && off < len(s); i-- {
		_, n := utf8.DecodeRuneInString(s[off:])
		off += n
	}
	return off
}
