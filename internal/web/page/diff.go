package page

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/iris-oncall/iris/internal/humanize"
)

// DiffLine is a line of a difference. Kind is same, add, del, or fold: Text then says how many equal lines are left out.
type DiffLine struct{ Kind, Text string }

// diffContext is how many equal lines a difference has around each change.
const diffContext = 3

// Diff compares two texts line by line. Equal texts have no difference: nil.
func Diff(before, after string) []DiffLine {
	if before == after {
		return nil
	}
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
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
	end := 0 // of the lines of old that are written or folded
	for _, group := range difflib.NewMatcherWithJunk(old, now, false, nil).GetGroupedOpCodes(diffContext) {
		fold(group[0].I1 - end)
		for _, c := range group {
			if c.Tag == 'e' {
				add("same", old[c.I1:c.I2])
				continue
			}
			add("del", old[c.I1:c.I2])
			add("add", now[c.J1:c.J2])
		}
		end = group[len(group)-1].I2
	}
	fold(len(old) - end)
	return out
}
