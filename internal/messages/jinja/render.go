package jinja

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/messages/jinja/py"
)

// render is the state of one rendering.
type render struct {
	*py.Budget
	lib        *library
	vars       *py.Dict
	root       strings.Builder  // the output
	out        *strings.Builder // where text goes now: root, or what a macro or block captures
	limit      int
	full       bool // the output reached its limit
	autoescape bool
	line       int      // being executed
	piped      py.Value // text of the block whose filter begins
}

func newRender(l Limits, vars *py.Dict) *render {
	r := &render{
		Budget: py.NewBudget(py.Limits{Steps: l.Steps, Memory: l.Memory, Depth: l.Depth, Time: l.Time}),
		lib:    builtins,
		vars:   vars,
		limit:  l.Output,
		line:   1,
	}
	r.out = &r.root
	return r
}

func (r *render) write(s string) {
	r.Grow(int64(len(s)))
	if r.out == &r.root && r.root.Len()+len(s) > r.limit {
		r.full = true
		s = s[:r.limit-r.root.Len()]
		for s != "" && !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		r.root.WriteString(s)
		py.Raise(py.LimitError, "the template makes too much text (more than %d bytes)", r.limit)
	}
	r.out.WriteString(s)
}

// capture returns the text that f writes.
func (r *render) capture(f func()) string {
	saved := r.out
	var sb strings.Builder
	r.out = &sb
	f()
	r.out = saved
	return sb.String()
}

// resolve returns the value of a context variable or a global.
func (r *render) resolve(name string) py.Value {
	if r.vars != nil {
		if v, ok := r.vars.GetString(name); ok {
			return v
		}
	}
	if v, ok := globals[name]; ok {
		return v
	}
	return missing
}

func toMarkup(r *render, v py.Value) py.Value {
	if m, ok := v.(py.Markup); ok {
		return m
	}
	return py.Markup(py.Str(r.Budget, v))
}

// method makes a bound method of one of our objects.
func method(self py.Value, name string, fn func(*py.Budget, py.Args) py.Value) *py.Func {
	return &py.Func{Name: name, Self: self, Fn: fn}
}
