package jinja

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// pprinter lays a value out over lines of 80 characters, as Python's pprint does.
type pprinter struct {
	r    *render
	sb   strings.Builder
	open []py.Value
}

const pprintWidth = 80

func pprint(r *render, v py.Value) string {
	p := &pprinter{r: r}
	p.format(v, 0, 0, 0)
	return p.sb.String()
}

func (p *pprinter) w(s string) {
	p.r.Grow(int64(len(s)))
	p.sb.WriteString(s)
}

func (p *pprinter) isOpen(v py.Value) bool {
	for _, o := range p.open {
		if o == v {
			return true
		}
	}
	return false
}

func recursionNote(v py.Value) string {
	return "<Recursion on " + py.TypeName(v) + " with id=" + py.Address(v) + ">"
}

// repr is the value on one line, with the keys of dictionaries in order.
func (p *pprinter) repr(v py.Value) string {
	switch v.(type) {
	case *py.List, *py.Tuple, *py.Dict:
	default:
		return py.Repr(p.r.Budget, v)
	}
	if t, ok := v.(*py.Tuple); ok && t.Names != nil {
		return py.Repr(p.r.Budget, v)
	}
	if p.isOpen(v) {
		return recursionNote(v)
	}
	p.r.Enter()
	defer p.r.Leave()
	p.open = append(p.open, v)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	j := py.NewJoiner(p.r.Budget, ", ")
	switch x := v.(type) {
	case *py.List:
		for _, it := range x.Items {
			j.Add(p.repr(it))
		}
		return "[" + j.String() + "]"
	case *py.Tuple:
		for _, it := range x.Items {
			j.Add(p.repr(it))
		}
		if len(x.Items) == 1 {
			return "(" + j.String() + ",)"
		}
		return "(" + j.String() + ")"
	}
	d := v.(*py.Dict)
	for _, k := range p.sortedKeys(d) {
		val, _ := d.Get(p.r.Budget, k)
		j.Add(p.repr(k) + ": " + p.repr(val))
	}
	return "{" + j.String() + "}"
}

func (p *pprinter) sortedKeys(d *py.Dict) []py.Value {
	b := p.r.Budget
	keys := py.Items(b, d)
	was := append([]py.Value(nil), keys...)
	py.SortFunc(b, keys, false, func(i, j int) (less bool) {
		if py.Try(func() { less = py.Less(b, "<", was[i], was[j]) }) != nil {
			less = py.TypeName(was[i]) < py.TypeName(was[j]) // what does not compare is ordered by type
		}
		return less
	})
	return keys
}

func (p *pprinter) format(v py.Value, indent, allowance, level int) {
	if p.isOpen(v) {
		p.w(recursionNote(v))
		return
	}
	rep := p.repr(v)
	if utf8.RuneCountInString(rep) <= pprintWidth-indent-allowance {
		p.w(rep)
		return
	}
	p.r.Enter()
	defer p.r.Leave()
	switch x := v.(type) {
	case *py.List:
		p.w("[")
		p.nested(v, func() { p.items(x.Items, indent, allowance+1, level+1) })
		p.w("]")
	case *py.Tuple:
		if x.Names != nil {
			p.w(rep)
			return
		}
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		p.w("(")
		p.nested(v, func() { p.items(x.Items, indent, allowance+len(end), level+1) })
		p.w(end)
	case *py.Dict:
		p.w("{")
		p.nested(v, func() { p.entries(x, indent, allowance+1, level+1) })
		p.w("}")
	case string:
		p.text(x, rep, indent, allowance, level+1)
	default:
		p.w(rep)
	}
}

func (p *pprinter) nested(v py.Value, body func()) {
	p.open = append(p.open, v)
	body()
	p.open = p.open[:len(p.open)-1]
}

func (p *pprinter) newline(indent int) {
	p.r.Grow(int64(indent))
	p.w("\n" + strings.Repeat(" ", indent))
}

func (p *pprinter) items(items []py.Value, indent, allowance, level int) {
	indent++
	for i, it := range items {
		if i > 0 {
			p.w(",")
			p.newline(indent)
		}
		room := 1
		if i == len(items)-1 {
			room = allowance
		}
		p.format(it, indent, room, level)
	}
}

func (p *pprinter) entries(d *py.Dict, indent, allowance, level int) {
	indent++
	keys := p.sortedKeys(d)
	for i, k := range keys {
		rep := p.repr(k)
		p.w(rep + ": ")
		room := 1
		if i == len(keys)-1 {
			room = allowance
		}
		v, _ := d.Get(p.r.Budget, k)
		p.format(v, indent+utf8.RuneCountInString(rep)+2, room, level)
		if i < len(keys)-1 {
			p.w(",")
			p.newline(indent)
		}
	}
}

// text lays out a long string as several literals.
func (p *pprinter) text(s, rep string, indent, allowance, level int) {
	if level == 1 {
		indent++
		allowance++
	}
	width := pprintWidth - indent
	last := width
	var chunks []string
	lines := py.SplitLines(p.r.Budget, s, true)
	size := func(s string) int {
		p.r.GrowTimes(2, int64(len(s)))
		return utf8.RuneCountInString(py.Quote(s))
	}
	for i, line := range lines {
		if i == len(lines)-1 {
			last -= allowance
		}
		if size(line) <= last {
			chunks = append(chunks, py.Quote(line))
			continue
		}
		parts := wordsWithSpace(line)
		room := width
		cur := ""
		for j, part := range parts {
			if j == len(parts)-1 && i == len(lines)-1 {
				room -= allowance
			}
			if size(cur+part) > room {
				if cur != "" {
					chunks = append(chunks, py.Quote(cur))
				}
				cur = part
			} else {
				cur += part
			}
		}
		if cur != "" {
			chunks = append(chunks, py.Quote(cur))
		}
	}
	if len(chunks) == 1 {
		p.w(py.Quote(lines[len(lines)-1]))
		return
	}
	if level == 1 {
		p.w("(")
	}
	for i, c := range chunks {
		if i > 0 {
			p.newline(indent)
		}
		p.w(c)
	}
	if level == 1 {
		p.w(")")
	}
}

// wordsWithSpace splits text into words, each with the space that follows it.
func wordsWithSpace(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexFunc(s, py.IsSpace)
		if i < 0 {
			return append(out, s)
		}
		n := strings.IndexFunc(s[i:], func(c rune) bool { return !py.IsSpace(c) })
		if n < 0 {
			return append(out, s)
		}
		out = append(out, s[:i+n])
		s = s[i+n:]
	}
	return out
}
