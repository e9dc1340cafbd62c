package py

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// IsSpace is str.isspace for one character.
func IsSpace(r rune) bool {
	return r >= 0x1c && r <= 0x1f || unicode.IsSpace(r)
}

// Upper is str.upper.
func Upper(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Lower is str.lower.
func Lower(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und, cases.HandleFinalSigma(true)).String(s)
}

func fold(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

// titleRune is the title case of one character, which may be several.
func titleRune(r rune) string {
	if t := unicode.ToTitle(r); t != r || r < 0x80 {
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
	low := Lower(b, s)
	if _, ln := utf8.DecodeRuneInString(low); ln > 0 && n > 0 {
		return titleRune(r) + Lower(b, s[n:])
	}
	return low
}

func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func title(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	low := Lower(b, s)
	if runeCount(low) != runeCount(s) {
		low = strings.Map(unicode.ToLower, s)
	}
	prev := false
	next := low
	for _, r := range s {
		l, n := utf8.DecodeRuneInString(next)
		next = next[n:]
		if prev {
			sb.WriteRune(l)
		} else {
			sb.WriteString(titleRune(r))
		}
		prev = isCased(r)
	}
	return sb.String()
}

func swapcase(b *Budget, s string) string {
	b.GrowTimes(3, int64(len(s)))
	var sb strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			sb.WriteString(cases.Lower(language.Und).String(string(r)))
		case unicode.IsLower(r):
			sb.WriteString(cases.Upper(language.Und).String(string(r)))
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

func isLowerRune(r rune) bool {
	return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r)
}

func isUpperRune(r rune) bool {
	return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
}

// IsLower is str.islower.
func IsLower(s string) bool { return allCased(s, isLowerRune) }

// IsUpper is str.isupper.
func IsUpper(s string) bool { return allCased(s, isUpperRune) }

func allCased(s string, want func(rune) bool) bool {
	found := false
	for _, r := range s {
		if want(r) {
			found = true
		} else if isCased(r) {
			return false
		}
	}
	return found
}

func isTitle(s string) bool {
	found, prev := false, false
	for _, r := range s {
		switch {
		case isUpperRune(r) || unicode.IsTitle(r):
			if prev {
				return false
			}
			found, prev = true, true
		case isLowerRune(r):
			if !prev {
				return false
			}
			found, prev = true, true
		default:
			prev = false
		}
	}
	return found
}

// Numbers that are digits without being decimal, and characters that have a numeric value without being numbers.
var (
	digitsApart = []rune{
		0xb2, 0xb3, 0xb9, 0x2070, 0x2074, 0x2079, 0x2080, 0x2089, 0x2460, 0x2468, 0x2474, 0x247c, 0x2488, 0x2490,
		0x24ea, 0x24ea, 0x24f5, 0x24fd, 0x24ff, 0x24ff, 0x2776, 0x277e, 0x2780, 0x2788, 0x278a, 0x2792, 0x1f100, 0x1f10a,
	}
	numericIdeographs = "〇一二三四五六七八九十百千万億兆亿零壹贰叁肆伍陆柒捌玖拾佰仟萬两兩参參弐貳廿卅卌"
)

func isDigitRune(r rune) bool {
	if unicode.Is(unicode.Nd, r) || r == 0xb2 || r == 0xb3 || r == 0xb9 || r == 0x2070 {
		return true
	}
	for i := 4; i+1 < len(digitsApart); i += 2 {
		if r >= digitsApart[i] && r <= digitsApart[i+1] {
			return true
		}
	}
	return false
}

func isNumericRune(r rune) bool {
	return unicode.IsNumber(r) || strings.ContainsRune(numericIdeographs, r)
}

func isAlnumRune(r rune) bool { return unicode.IsLetter(r) || isNumericRune(r) }

// IsWord reports whether r matches \w of Python's re.
func IsWord(r rune) bool { return r == '_' || isAlnumRune(r) }

func isIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r)
		if start {
			continue
		}
		more := unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.Is(unicode.Nd, r) ||
			unicode.Is(unicode.Pc, r) || unicode.Is(unicode.Other_ID_Continue, r)
		if i == 0 || !more {
			return false
		}
	}
	return s != ""
}

// IsIdentifier is str.isidentifier.
func IsIdentifier(s string) bool { return isIdentifier(s) }

func all(s string, f func(rune) bool) bool {
	for _, r := range s {
		if !f(r) {
			return false
		}
	}
	return s != ""
}

func isLineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// SplitLines is str.splitlines.
func SplitLines(b *Budget, s string, keepEnds bool) []string {
	b.Scan(len(s))
	var out []string
	start := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isLineBreak(r) {
			i += n
			continue
		}
		end := i
		i += n
		if r == '\r' && i < len(s) && s[i] == '\n' {
			i++
		}
		if keepEnds {
			end = i
		}
		b.Grow(valueSize)
		out = append(out, s[start:end])
		start = i
	}
	if start < len(s) {
		b.Grow(valueSize)
		out = append(out, s[start:])
	}
	return out
}

// Fields is str.split without a separator, with at most limit splits; negative means no bound.
func Fields(b *Budget, s string, limit int64) []string {
	b.Scan(len(s))
	var out []string
	s = strings.TrimLeftFunc(s, IsSpace)
	for s != "" {
		b.Grow(2 * valueSize)
		if limit >= 0 && int64(len(out)) >= limit {
			return append(out, strings.TrimRightFunc(s, IsSpace))
		}
		i := strings.IndexFunc(s, IsSpace)
		if i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		s = strings.TrimLeftFunc(s[i:], IsSpace)
	}
	return out
}

func fieldsRight(b *Budget, s string, limit int64) []string {
	b.Scan(len(s))
	var out []string
	s = strings.TrimRightFunc(s, IsSpace)
	for s != "" {
		b.Grow(2 * valueSize)
		if limit >= 0 && int64(len(out)) >= limit {
			out = append(out, strings.TrimLeftFunc(s, IsSpace))
			break
		}
		i := strings.LastIndexFunc(s, IsSpace)
		if i < 0 {
			out = append(out, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		out = append(out, s[i+n:])
		s = strings.TrimRightFunc(s[:i], IsSpace)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
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

// Strip is str.strip, lstrip (left only) or rstrip (right only) of characters; all selects whitespace.
func Strip(b *Budget, s string, chars Value, left, right bool) string {
	b.Scan(len(s))
	in := IsSpace
	if chars != nil && chars != Absent {
		set, ok := AsString(chars)
		if !ok {
			Raise("TypeError", "%s arg must be None or str", stripName(left, right))
		}
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

func stripName(left, right bool) string {
	switch {
	case !left:
		return "rstrip"
	case !right:
		return "lstrip"
	}
	return "strip"
}

// Pad is str.center (both), str.ljust (right) or str.rjust (left).
func Pad(b *Budget, s string, width int64, fill string, left, right bool) string {
	n := int64(runeCount(s))
	pad := width - n
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
