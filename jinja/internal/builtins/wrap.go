package builtins

import (
	"slices"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// wordWrap wraps each line of a text on its own, as Python's textwrap does.
func wordWrap(b *py.Budget, a []py.Value) py.Value {
	w := wrapper{b: b, width: a[1], breakLong: py.Truth(b, a[2]), hyphens: a[4] == true,
		breakHyphens: py.Truth(b, a[4])}
	sep := a[3]
	if sep == nil {
		sep = "\n"
	}
	methods.Call(b, sep, "join", &py.List{}) // raises if sep is not text
	py.RaiseUndefined(a[0])
	s, ok := py.AsString(a[0])
	py.RaiseIf(!ok, "AttributeError", "a value of type %s has no lines to wrap", py.TypeName(a[0]))
	paragraphs := &py.List{}
	for _, line := range py.SplitLines(b, s, false) {
		lines := &py.List{}
		for _, l := range w.wrap(line) {
			lines.Items = append(lines.Items, l)
		}
		paragraphs.Items = append(paragraphs.Items, methods.Call(b, sep, "join", lines))
	}
	return methods.Call(b, sep, "join", paragraphs)
}

type wrapper struct {
	b         *py.Budget
	width     py.Value // a number, but that is checked only when there is something to wrap
	breakLong bool
	hyphens   bool // words are split after hyphens
	// breakHyphens: a word that is too long is broken after a hyphen. Any true value sets it; hyphens needs the value
	// True.
	breakHyphens bool
}

func isWrapSpace(c rune) bool { return strings.ContainsRune("\t\n\v\f\r ", c) }

func (w *wrapper) wrap(line string) []string {
	b := w.b
	py.RaiseIf(py.Less(b, "<=", w.width, int64(0)), "ValueError", "the width must be more than 0, not %s",
		py.Shown(w.width))
	fits := func(n int) bool { return py.Less(b, "<=", int64(n), w.width) }
	b.GrowTimes(8, int64(len(line)))
	chunks := w.chunks([]rune(line))
	var lines []string
	i := 0
	for i < len(chunks) {
		b.Step(1)
		var cur [][]rune
		curLen := 0
		if isBlank(chunks[i]) && lines != nil {
			i++
		}
		for i < len(chunks) && fits(curLen+len(chunks[i])) {
			cur = append(cur, chunks[i])
			curLen += len(chunks[i])
			i++
		}
		if i < len(chunks) && !fits(len(chunks[i])) {
			head := w.breakWord(chunks[i], curLen, len(cur) == 0)
			if head != nil {
				cur = append(cur, head)
				chunks[i] = chunks[i][len(head):]
				if !w.breakLong {
					i++
				}
			}
		}
		if n := len(cur); n > 0 && isBlank(cur[n-1]) {
			cur = cur[:n-1]
		}
		if len(cur) > 0 {
			text := string(slices.Concat(cur...))
			b.Grow(int64(len(text) + 16))
			lines = append(lines, text)
		}
	}
	return lines
}

// breakWord returns the part of a too long word that goes on this line, or nil if no part does.
func (w *wrapper) breakWord(chunk []rune, curLen int, lineEmpty bool) []rune {
	if !w.breakLong {
		if lineEmpty {
			return chunk
		}
		return nil
	}
	width := py.IntArg(w.width)
	end := int(max(width-int64(curLen), 0))
	if width < 1 {
		end = 1
	}
	if w.breakHyphens && len(chunk) > end {
		head := string(chunk[:end])
		if h := strings.LastIndexByte(head, '-'); h > 0 && strings.Trim(head[:h], "-") != "" {
			return []rune(head[:h+1])
		}
	}
	return chunk[:end]
}

func isBlank(chunk []rune) bool { return strings.TrimFunc(string(chunk), py.IsSpace) == "" }

// chunks splits a line into spaces and words; words may be split after hyphens.
func (w *wrapper) chunks(s []rune) [][]rune {
	var out [][]rune
	for i := 0; i < len(s); {
		w.b.Step(1)
		w.b.Grow(24)
		j := i + 1
		switch {
		case isWrapSpace(s[i]):
			for j < len(s) && isWrapSpace(s[j]) {
				j++
			}
		case !w.hyphens:
			for j < len(s) && !isWrapSpace(s[j]) {
				j++
			}
		case i > 0 && isWordPunct(s[i-1]) && dashesBeforeWord(s, i) > 0:
			j = i + dashesBeforeWord(s, i)
		default:
			j = wordEnd(s, i)
		}
		out = append(out, s[i:j])
		i = j
	}
	return out
}

func isWordPunct(c rune) bool { return py.IsWord(c) || strings.ContainsRune("!\"'&.,?", c) }

// isWrapLetter reports whether s[i] is a letter or an underscore.
func isWrapLetter(s []rune, i int) bool {
	return i >= 0 && i < len(s) && py.IsWord(s[i]) && !unicode.Is(unicode.Nd, s[i])
}

// dashesBeforeWord is the number of dashes at i, if there are at least two and a word follows; else 0.
func dashesBeforeWord(s []rune, i int) int {
	n := 0
	for i+n < len(s) && s[i+n] == '-' {
		n++
	}
	if n < 2 || i+n >= len(s) || !py.IsWord(s[i+n]) {
		return 0
	}
	return n
}

// wordEnd returns the end of the word that begins at i: after a hyphen between letters, at a space, or at a dash.
func wordEnd(s []rune, i int) int {
	for j := i + 1; ; j++ {
		if j >= len(s) || isWrapSpace(s[j]) {
			return j
		}
		if s[j] == '-' {
			before := isWrapLetter(s, j-1) && (isWrapLetter(s, j-2) || j >= 3 && s[j-2] == '-' && isWrapLetter(s, j-3))
			after := isWrapLetter(s, j+1) &&
				(isWrapLetter(s, j+2) || j+2 < len(s) && s[j+2] == '-' && isWrapLetter(s, j+3))
			if before && after {
				return j + 1
			}
			if isWordPunct(s[j-1]) && dashesBeforeWord(s, j) > 0 {
				return j
			}
		}
	}
}
