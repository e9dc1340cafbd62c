package page

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// DiffLine is a line of a difference. Kind is "same", "add", "del" or "fold". The Text of a fold says how many equal
// lines are left out.
type DiffLine struct{ Kind, Text string }

// diffContext is how many equal lines a difference has around each change.
const diffContext = 3

// maxCompared is how many lines of each text are compared one by one. The time grows with their product.
const maxCompared = 2000

// Diff compares two texts line by line. Equal texts have no difference: nil. If the changed part is too long to
// compare, all its old lines are removed and all its new lines are added, and the first line says so.
func Diff(before, after string) []DiffLine {
	if before == after {
		return nil
	}
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	shorter, start, end := min(len(old), len(now)), 0, 0 // start and end count the equal lines at both ends
	for start < shorter && old[start] == now[start] {
		start++
	}
	for end < shorter-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	var out []DiffLine
	add := func(kind string, lines []string) {
		for _, l := range lines {
			out = append(out, DiffLine{kind, l})
		}
	}
	fold := func(n int) {
		if n > 0 {
			out = append(out, DiffLine{"fold", humanize.Count(n, "equal line", "equal lines")})
		}
	}
	var groups [][]difflib.OpCode
	from, to := max(start-diffContext, 0), max(end-diffContext, 0)
	rest, length := old[from:len(old)-to], len(now)-to-from
	if max(len(old), len(now))-start-end > maxCompared {
		add("fold", []string{fmt.Sprintf("More than %d lines have changed: they are shown as one change.",
			maxCompared)})
		groups = [][]difflib.OpCode{{{Tag: 'r', I1: start - from, I2: len(rest) - (end - to), J1: start - from,
			J2: length - (end - to)}}}
	} else {
		groups = difflib.NewMatcherWithJunk(rest, now[from:len(now)-to], false, nil).GetGroupedOpCodes(diffContext)
	}
	at := -from // of the lines of rest that are written or folded
	for _, group := range groups {
		fold(group[0].I1 - at)
		for _, c := range group {
			if c.Tag == 'e' {
				add("same", rest[c.I1:c.I2])
				continue
			}
			add("del", rest[c.I1:c.I2])
			add("add", now[from+c.J1:from+c.J2])
		}
		at = group[len(group)-1].I2
	}
	fold(len(rest) + to - at)
	return out
}
