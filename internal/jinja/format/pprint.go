package format

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// pprinter formats a value in lines of at most 80 characters, as Python's pprint does.
type pprinter struct {
	b  *py.Budget
	sb strings.Builder
}

const pprintWidth = 80

// PPrint is pprint.pformat(v).
func PPrint(b *py.Budget, v py.Value) string {
	p := &pprinter{b: b}
	p.format(v, 0, 0, 0)
	return p.sb.String()
}

func (p *pprinter) w(s string) {
	p.b.Grow(int64(len(s)))
	p.sb.WriteString(s)
}

// format writes v. allowance is the number of characters that must fit after it on its last line.
func (p *pprinter) format(v py.Value, indent, allowance, level int) {
	rep := py.ReprSorted(p.b, v)
	if py.RuneCount(rep) <= pprintWidth-indent-allowance {
		p.w(rep)
		return
	}
	p.b.Enter()
	defer p.b.Leave()
	switch x := v.(type) {
	case *py.List:
		p.items("[", "]", x.Items, indent, allowance, level+1)
	case *py.Tuple:
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		p.items("(", end, x.Items, indent, allowance, level+1)
	case *py.Dict:
		p.entries(x, indent, allowance+1, level+1)
	case string:
		p.text(x, indent, allowance, level+1)
	default:
		p.w(rep)
	}
}

func (p *pprinter) newline(indent int) { p.w("\n" + strings.Repeat(" ", indent)) }

func (p *pprinter) items(start, end string, items []py.Value, indent, allowance, level int) {
	p.w(start)
	indent++
	for i, it := range items {
		room := 1
		if i == len(items)-1 {
			room = allowance + len(end)
		}
		if i > 0 {
			p.w(",")
			p.newline(indent)
		}
		p.format(it, indent, room, level)
	}
	p.w(end)
}

func (p *pprinter) entries(d *py.Dict, indent, allowance, level int) {
	p.w("{")
	indent++
	keys := py.SortedKeys(p.b, d)
	for i, k := range keys {
		room := 1
		if i == len(keys)-1 {
			room = allowance
		}
		if i > 0 {
			p.w(",")
			p.newline(indent)
		}
		rep := py.ReprSorted(p.b, k)
		p.w(rep + ": ")
		v, _ := d.Get(p.b, k)
		p.format(v, indent+py.RuneCount(rep)+2, room, level)
	}
	p.w("}")
}

// text writes a long string as several literals.
func (p *pprinter) text(s string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	lines := py.SplitLines(p.b, s, true)
	var chunks []string
	for i, line := range lines {
		rest := 0
		if i == len(lines)-1 {
			rest = allowance
		}
		chunks = append(chunks, p.chunks(line, pprintWidth-indent, rest)...)
	}
	if level == 1 && len(chunks) > 1 {
		p.w("(")
		defer func() { p.w(")") }()
	}
	for i, c := range chunks {
		if i > 0 {
			p.newline(indent)
		}
		p.w(c)
	}
}

// chunks splits a line into literals of at most width characters. The last has at most width-rest characters.
func (p *pprinter) chunks(line string, width, rest int) []string {
	fits := func(s string, room int) bool {
		p.b.GrowTimes(2, int64(len(s)))
		return py.RuneCount(py.Quote(s)) <= room
	}
	if fits(line, width-rest) {
		return []string{py.Quote(line)}
	}
	var out []string
	cur := ""
	words := wordsWithSpace(line)
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

// wordsWithSpace splits text into words, each with the space that follows it.
func wordsWithSpace(s string) []string {
	var out []string
	for s != "" {
		word := strings.TrimLeftFunc(s, func(r rune) bool { return !py.IsSpace(r) })
		rest := strings.TrimLeftFunc(word, py.IsSpace)
		out = append(out, s[:len(s)-len(rest)])
		s = rest
	}
	return out
}
