// Package run compiles the tree of a template to closures and renders it. Package jinja is its only caller: it bounds the
// source, recovers panics and offers the result as an API.
package run

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/jinja/filters"
	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Program is a compiled template. It is immutable and safe for concurrent use.
type Program struct {
	run  stmt
	fn   *function
	opts Options
	// asks: an output prints a variable other than the metadata.
	asks bool
}

// Options says how a template is compiled.
type Options struct {
	// Marks says how what expressions print is escaped; NoMarks escapes nothing.
	Marks py.Marks
	// Metadata is a variable that describes the rendering and not its subject, except for the attribute MetadataTitle.
	Metadata, MetadataTitle string
}

// Result is what a rendering wrote.
type Result struct {
	Text string
	// Line is the line that was executed last.
	Line int
	// Informative is false when the template prints variables other than the metadata, and none of them had a letter, a digit
	// or a symbol.
	Informative bool
	// Truncated: the output reached its limit.
	Truncated bool
}

// Render renders the program into out. On an error it panics with *py.Error, as package py does; out holds the output so far.
func (p *Program) Render(limits py.Limits, output int, vars *py.Dict, out *Result) {
	r := newRender(limits, p.opts.Marks, vars)
	r.limit = output
	r.Autoescape = p.opts.Marks != py.NoMarks
	defer func() {
		*out = Result{r.root.String(), r.line, r.informative || !p.asks, r.full}
	}()
	p.run(r, p.fn.newEnv(nil))
	if r.root.wrong != "" {
		r.line = 0 // Jinja2 raises this error at the end of the template, without a line
	}
	r.root.text()
}

// render is the state of one rendering.
type render struct {
	filters.Scope
	vars        *py.Dict
	root        sink  // the output
	out         *sink // where text goes now: root, or what a macro or block captures
	limit       int
	full        bool     // the output reached its limit
	informative bool     // a value that was printed says something
	line        int      // being executed
	piped       py.Value // text of the block whose filter begins
}

// sink takes what a template, macro or block writes.
type sink struct {
	strings.Builder
	wrong string // type of the first piece that is not text; "" = none
}

// text returns the output. As in Jinja2, pieces that are not text are refused only at the end.
func (s *sink) text() string {
	if s.wrong != "" {
		py.Raise("TypeError", "a block must end in text, not in a value of type %s", s.wrong)
	}
	return s.String()
}

func newRender(limits py.Limits, marks py.Marks, vars *py.Dict) *render {
	r := &render{vars: vars, line: 1}
	r.Budget = py.NewBudget(limits)
	r.Marks = marks
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

// writeValue writes what a filter or call block made, which ought to be text.
func (r *render) writeValue(v py.Value) {
	if s, ok := py.AsString(v); ok {
		r.write(s)
	} else if r.out.wrong == "" {
		r.out.wrong = py.TypeName(v)
	}
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

// safeIf makes text Markup where text is escaped.
func safeIf(escaped bool, text string) py.Value {
	if escaped {
		return py.Markup(text)
	}
	return text
}
