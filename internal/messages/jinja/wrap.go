package jinja

import (
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/messages/jinja/py"
)

// wordwrap wraps each line of a text on its own, as Python's textwrap does.
func wordwrap(r *render, a []py.Value) py.Value {
	b := r.Budget
	w := wrapper{r: r, width: 79, breakLong: py.Truth(b, or(a[2], true))}
	if a[1] != py.Absent {
		w.width = toInt(a[1])
	}
	w.hyphens = or(a[4], true) == true
	sep := or(a[3], nil)
	if sep == nil {
		sep = "\n"
	}
	s, ok := py.AsString(a[0])
	if !ok {
		callMethod(r, a[0], "splitlines") // raises
		if u, ok := a[0].(*py.Undefined); ok {
			u.Raise()
		}
		py.Raise("AttributeError", "'%s' object has no attribute 'splitlines'", py.TypeName(a[0]))
	}
	var paragraphs []py.Value
	for _, line := range py.SplitLines(b, s, false) {
		lines := &py.List{}
		for _, l := range w.wrap(line) {
			lines.Items = append(lines.Items, l)
		}
		paragraphs = append(paragraphs, callMethod(r, sep, "join", lines))
	}
	return callMethod(r, sep, "join", &py.List{Items: paragraphs})
}

type wrapper struct {
	r         *render
	width     int64
	breakLong bool
	hyphens   bool
}

func isWrapSpace(c rune) bool { return strings.ContainsRune("\t\n\v\f\r ", c) }

func (w *wrapper) wrap(line string) []string {
	if w.width <= 0 {
		py.Raise("ValueError", "invalid width %d (must be > 0)", w.width)
	}
	w.r.GrowTimes(8, int64(len(line)))
	chunks := w.chunks([]rune(line))
	var lines []string
	i := 0
	for i < len(chunks) {
		w.r.Step(1)
		var cur [][]rune
		curLen := int64(0)
		if isBlank(chunks[i]) && lines != nil {
			i++
		}
		for i < len(chunks) && curLen+int64(len(chunks[i])) <= w.width {
			cur = append(cur, chunks[i])
			curLen += int64(len(chunks[i]))
			i++
		}
		if i < len(chunks) && int64(len(chunks[i])) > w.width {
			head := w.breakWord(chunks[i], w.width-curLen, len(cur) == 0)
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
			var sb strings.Builder
			for _, c := range cur {
				sb.WriteString(string(c))
			}
			w.r.Grow(int64(sb.Len() + 16))
			lines = append(lines, sb.String())
		}
	}
	return lines
}

// breakWord returns the part of a word too long for any line that goes on this one, nil for none.
func (w *wrapper) breakWord(chunk []rune, room int64, lineEmpty bool) []rune {
	if !w.breakLong {
		if lineEmpty {
			return chunk
		}
		return nil
	}
	end := int(max(room, 0))
	if w.hyphens && len(chunk) > end {
		for h := end - 1; h > 0; h-- {
			if chunk[h] == '-' {
				if strings.Trim(string(chunk[:h]), "-") != "" {
					end = h + 1
				}
				break
			}
		}
	}
	return chunk[:end]
}

func isBlank(chunk []rune) bool { return strings.TrimFunc(string(chunk), py.IsSpace) == "" }

// chunks splits a line into spaces and words; words may be split behind hyphens.
func (w *wrapper) chunks(s []rune) [][]rune {
	var out [][]rune
	for i := 0; i < len(s); {
		w.r.Step(1)
		w.r.Grow(24)
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

// isWrapLetter is a word character that is not a digit.
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

// wordEnd is where the word that begins at i ends: behind a hyphen between letters, at a space, or at a dash.
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
