package jinja

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// render is the state of one rendering.
type render struct {
	*py.Budget
	lib        *library
	vars       *py.Dict
	root       sink  // the output
	out        *sink // where text goes now: root, or what a macro or block captures
	limit      int
	full       bool // the output reached its limit
	told       bool // a value that was printed says something
	autoescape bool
	line       int      // being executed
	piped      py.Value // text of the block whose filter begins
}

// sink takes what a template, macro or block writes.
type sink struct {
	strings.Builder
	pieces int    // written so far, as the original counts them
	wrong  string // what is wrong with the first piece that is not text; "" = nothing
}

// text is what was written. As in the original, pieces that are not text are refused when all are there.
func (s *sink) text() string {
	if s.wrong != "" {
		py.Raise("TypeError", "%s", s.wrong)
	}
	return s.String()
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
	r.out.pieces++
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

// writeValue writes what a filter or call block made, which ought to be text.
func (r *render) writeValue(v py.Value) {
	if s, ok := py.AsString(v); ok {
		r.write(s)
		return
	}
	if r.out.wrong == "" {
		r.out.wrong = "sequence item " + itoa(r.out.pieces) + ": expected str instance, " + py.TypeName(v) + " found"
	}
	r.out.pieces++
}

// capture returns the text that f writes; last is the line after it.
func (r *render) capture(last int, f func()) string {
	saved := r.out
	var s sink
	r.out = &s
	f()
	r.out = saved
	r.line = last
	return s.text()
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
