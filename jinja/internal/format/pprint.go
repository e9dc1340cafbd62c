package format

import (
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// pprinter formats a value in lines of at most 80 characters, as Python's pprint does.
type pprinter struct{ py.Writer }

const pprintWidth = 80

// PPrint is pprint.pformat(v).
func PPrint(b *py.Budget, v py.Value) string {
	p := &pprinter{py.Writer{B: b}}
	p.format(v, 0, 0, 0)
	return p.String()
}

// format writes v. allowance is the number of characters that must fit after it on its last line.
func (p *pprinter) format(v py.Value, indent, allowance, level int) {
	rep := py.ReprSorted(p.B, v)
	if py.RuneCount(rep) <= pprintWidth-indent-allowance {
		p.Write(rep)
		return
	}
	switch x := v.(type) {
	case *py.List, *py.Tuple:
		items, _ := py.Elements(v)
		start, end := py.Brackets(v)
		p.items(v, start, end, len(items), indent, allowance, func(i, room int) {
			p.format(items[i], indent+1, room, level+1)
		})
	case *py.Dict:
		keys := py.SortedKeys(p.B, x)
		p.items(v, "{", "}", len(keys), indent, allowance, func(i, room int) {
			key := py.ReprSorted(p.B, keys[i])
			p.Write(key + ": ")
			val, _ := x.Get(p.B, keys[i])
			p.format(val, indent+1+py.RuneCount(key)+2, room, level+1)
		})
	case string:
		p.text(x, indent, allowance, level+1)
	default:
		p.Write(rep)
	}
}

func (p *pprinter) newline(indent int) { p.Write("\n" + strings.Repeat(" ", indent)) }

// items writes a container of n elements, each on a line. An element gets the room that must stay free after it.
func (p *pprinter) items(v py.Value, start, end string, n, indent, allowance int, element func(i, room int)) {
	p.Nested(v, start, ",\n"+strings.Repeat(" ", indent+1), end, n, func(i int) {
		room := 1
		if i == n-1 {
			room = allowance + len(end)
		}
		element(i, room)
	})
}

// text writes a long string as several literals.
func (p *pprinter) text(s string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	lines := py.SplitLines(p.B, s, true)
	var chunks []string
	for i, line := range lines {
		rest := 0
		if i == len(lines)-1 {
			rest = allowance
		}
		chunks = append(chunks, p.chunks(line, pprintWidth-indent, rest)...)
	}
	if level == 1 && len(chunks) > 1 {
		p.Write("(")
		defer func() { p.Write(")") }()
	}
	for i, c := range chunks {
		if i > 0 {
			p.newline(indent)
		}
		p.Write(c)
	}
}

// chunks splits a line into literals of at most width characters. The last has at most width-rest characters.
func (p *pprinter) chunks(line string, width, rest int) []string {
	fits := func(s string, room int) bool {
		p.B.GrowTimes(2, int64(len(s)))
		return py.RuneCount(py.Quote(s)) <= room
	}
	if fits(line, width-rest) {
		return []string{py.Quote(line)}
	}
	var out []string
	cur := ""
	words := py.Words(line)
	for i, word := range words {
		if i == len(words)-1 {
			width -= rest
		}
		if cur != "" && !fits(cur+word, width) {
			out = append(out, py.Quote(cur))
			cur = ""
		}
		cur += word
	}
	return append(out, py.Quote(cur))
}
